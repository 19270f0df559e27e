# SPDX-License-Identifier: Apache-2.0
"""How a robot stands: centre of mass, points of pressure, support polygon (specification 000, F150).

Monitors record it and what the ground does to each sole over time, and draw it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.convex_polygon import convex_hull, polygon_margin
from humanoid_model.errors import InputError
from humanoid_model.whole_body_dynamics import zero_moment_point
from humanoid_sim.module import Module
from humanoid_sim.monitoring.zero_moment_point import (
    CentroidalMomentum,
    MomentumMeter,
    capture_point,
    centre_of_pressure,
)
from humanoid_sim.stepping.contacts import ContactState

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


STEEPEST = 0.5
"""A contact supports where the cosine of the angle between its normal and the vertical is at least this."""
TOUCHING = 1e-5
"""A contact supports while its gap is no larger than this [m], loaded or not: which of four corners bears how much is
undetermined, and a solver may leave one without any."""


@dataclass(frozen=True)
class Balance:
    """A robot's balance after a step. Points are in the world.

    Attributes:
        momentum: centre of mass and momentum at the end of the step.
        force: sum of the contact forces on the robot during the step [N], shape (3,).
        zero_moment_point: of all contact forces on the robot, in the plane of the ground [m], shape (3,); NaN without.
        centres_of_pressure: of each link that presses on something [m], shape (3,) each, by the link's name.
        capture_point: on the ground [m], shape (3,).
        support: corners of the support polygon in the horizontal axes [m], counter-clockwise, shape (k, 2).
        margin: of the zero-moment point within the support polygon [m]; negative outside, NaN without support.
        axes: horizontal axes of ``support``, shape (2, 3): x and y of the world where gravity is along z.
        ground: height of the ground against gravity: the mean of the supporting points [m].
    """

    momentum: CentroidalMomentum
    force: NDArray[np.float64]
    zero_moment_point: NDArray[np.float64]
    centres_of_pressure: Mapping[str, NDArray[np.float64]]
    capture_point: NDArray[np.float64]
    support: NDArray[np.float64]
    margin: float
    axes: NDArray[np.float64]
    ground: float

    @property
    def centre_of_mass(self) -> NDArray[np.float64]:
        """m, shape (3,)."""
        return self.momentum.position

    def horizontal(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return coordinates of a point in the axes of ``support``, shape (2,)."""
        return self.axes @ point


def horizontal_axes(gravity: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Direction against gravity, shape (3,), and two axes across it, shape (2, 3), the first as near to x as can be.

    Raises:
        InputError: gravity is zero.
    """
    g = float(np.linalg.norm(gravity))
    if not g > 0.0:
        raise InputError("gravity is zero", element="gravity", remedy="Balance has no meaning without weight")
    up = -np.asarray(gravity, dtype=float) / g
    along = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
    first = along - (along @ up) * up
    first /= np.linalg.norm(first)
    return up, np.array([first, np.cross(up, first)])


def robot_balance(simulation: Simulation, robot: str, meter: MomentumMeter | None = None) -> Balance:
    """Return the balance of a robot after the last step.

    The support polygon is the hull of the points where contacts that are loaded, or touch, hold the robot up from
    below; it means most on flat ground. Where nothing supports, the ground is at the height of the world's origin.

    Args:
        simulation: after at least one step.
        robot: name in the scene.
        meter: of the same robot, to save making it again; made if not given.

    Raises:
        InputError: there is no robot of that name, or no gravity.
    """
    meter = MomentumMeter(simulation, robot) if meter is None else meter
    gravity = np.asarray(simulation.scene.gravity, dtype=float)
    up, axes = horizontal_axes(gravity)
    momentum = meter.measure(simulation)
    contacts, prefix = simulation.contacts, f"{robot}/"
    sides = np.array([float(a.startswith(prefix)) - b.startswith(prefix) for a, b in contacts.bodies])
    rows = np.flatnonzero((sides != 0.0) & (contacts.state != ContactState.OPEN))
    signs = sides[rows]
    positions = contacts.position[rows]
    forces = signs[:, None] * contacts.force[rows]
    pressures = contacts.normal_force[rows]
    touching = (sides != 0.0) & ((contacts.state != ContactState.OPEN) | (contacts.gap <= TOUCHING))
    supporting = contacts.position[touching & (sides * (contacts.normal @ up) >= STEEPEST)]
    ground = float((supporting @ up).mean()) if len(supporting) else 0.0
    links = [contacts.bodies[i][0 if side > 0.0 else 1] for i, side in zip(rows, signs, strict=True)]
    centres = {}
    for link in dict.fromkeys(links):
        own = np.array([name == link for name in links])
        centres[link] = centre_of_pressure(positions[own], pressures[own])
    point = zero_moment_point(positions, forces, up, ground)
    support = convex_hull(supporting @ axes.T)
    return Balance(
        momentum=momentum,
        force=forces.sum(axis=0),
        zero_moment_point=point,
        centres_of_pressure=centres,
        capture_point=capture_point(momentum.position, momentum.velocity, gravity, ground),
        support=support,
        margin=polygon_margin(support, axes @ point) if len(support) and np.all(np.isfinite(point)) else np.nan,
        axes=axes,
        ground=ground,
    )


@dataclass(frozen=True)
class BalanceSeries:
    """A robot's balance over time; NaN where something isn't defined, as a centre of pressure in the air.

    Attributes:
        time: s, shape (k,).
        centre_of_mass: m, shape (k, 3).
        velocity: of the centre of mass [m/s], shape (k, 3).
        angular_momentum: about the centre of mass [kg m^2/s], shape (k, 3).
        force: sum of the contact forces [N], shape (k, 3).
        zero_moment_point: m, shape (k, 3).
        capture_point: m, shape (k, 3).
        margin: of the zero-moment point within the support polygon [m], shape (k,).
        centres_of_pressure: m, shape (k, 3) each, by the link's name.
    """

    time: NDArray[np.float64]
    centre_of_mass: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_momentum: NDArray[np.float64]
    force: NDArray[np.float64]
    zero_moment_point: NDArray[np.float64]
    capture_point: NDArray[np.float64]
    margin: NDArray[np.float64]
    centres_of_pressure: Mapping[str, NDArray[np.float64]]


class BalanceMonitor(Module):
    """Watches how a robot stands.

    For example::

        monitor = BalanceMonitor("hrp2", interval=5)
        simulation.add_module(monitor)
        simulation.run(2.0)
        monitor.series.margin.min(), monitor.last.support

    Attributes:
        name: ``"balance/<robot>"``.
    """

    def __init__(self, robot: str, interval: int = 1) -> None:
        """Choose robot and recording.

        Args:
            robot: name in the scene.
            interval: steps from one sample to the next.

        Raises:
            InputError: an interval below 1.
        """
        if interval < 1:
            raise InputError(f"interval is {interval}", element="interval", remedy="Give a number of steps, 1 or more")
        self.name = f"balance/{robot}"
        self._robot = robot
        self._interval = interval
        self._rows: list[tuple[float, Balance]] = []
        self._meter: MomentumMeter | None = None

    def attach(self, simulation: Simulation) -> None:
        """Find the robot.

        Raises:
            InputError: there is no robot of that name, or no gravity.
        """
        horizontal_axes(np.asarray(simulation.scene.gravity))
        self._meter = MomentumMeter(simulation, self._robot)
        self._rows.clear()

    def after_step(self, simulation: Simulation) -> None:
        """Take a sample when it is due."""
        if simulation.step_count % self._interval == 0:
            self._rows.append((simulation.time, robot_balance(simulation, self._robot, self._meter)))

    @property
    def last(self) -> Balance | None:
        """The last sample; None before the first one."""
        return self._rows[-1][1] if self._rows else None

    @property
    def series(self) -> BalanceSeries:
        """All samples so far."""
        samples = [balance for _, balance in self._rows]
        nothing = np.full(3, np.nan)
        links = dict.fromkeys(link for balance in samples for link in balance.centres_of_pressure)

        def column(rows: list[NDArray[np.float64]]) -> NDArray[np.float64]:
            return np.array(rows, dtype=float).reshape(-1, 3)

        return BalanceSeries(
            time=np.array([time for time, _ in self._rows]),
            centre_of_mass=column([balance.centre_of_mass for balance in samples]),
            velocity=column([balance.momentum.velocity for balance in samples]),
            angular_momentum=column([balance.momentum.angular for balance in samples]),
            force=column([balance.force for balance in samples]),
            zero_moment_point=column([balance.zero_moment_point for balance in samples]),
            capture_point=column([balance.capture_point for balance in samples]),
            margin=np.array([balance.margin for balance in samples]),
            centres_of_pressure={
                link: column([balance.centres_of_pressure.get(link, nothing) for balance in samples])
                for link in links
            },
        )

    def save(self) -> object:
        """Return how many samples there are; later ones are dropped when this is restored."""
        return len(self._rows)

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, int)
        del self._rows[state:]


def plot_balance(monitor: BalanceMonitor, path: str | Path) -> None:
    """Draw the way of the points over the last support polygon, their courses, the margin and the angular momentum.

    Args:
        monitor: what has recorded.
        path: picture to write, of any kind that matplotlib knows.

    Raises:
        InputError: nothing has been recorded.
    """
    import matplotlib.pyplot as plt  # takes a second, and only pictures need it

    last = monitor.last
    if last is None:
        raise InputError("nothing has been recorded", element=monitor.name, remedy="Run the simulation first")
    series = monitor.series
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained")
    above = axes[0, 0]
    if len(last.support):
        closed = np.vstack([last.support, last.support[:1]])
        above.fill(closed[:, 0], closed[:, 1], color="#dddddd")
        above.plot(closed[:, 0], closed[:, 1], color="grey", linewidth=0.8, label="support polygon")
    points = {
        "centre of mass": (series.centre_of_mass, "#1f77b4"),
        "zero-moment point": (series.zero_moment_point, "#d62728"),
        "capture point": (series.capture_point, "#2ca02c"),
    }
    for name, (course, colour) in points.items():
        flat = course @ last.axes.T
        above.plot(flat[:, 0], flat[:, 1], color=colour, linewidth=0.9, label=name)
        axes[0, 1].plot(series.time, flat[:, 0], color=colour, linewidth=0.9, label=f"{name}, x")
        axes[0, 1].plot(series.time, flat[:, 1], color=colour, linewidth=0.9, linestyle="--", label=f"{name}, y")
    for link, course in series.centres_of_pressure.items():
        flat = course @ last.axes.T
        above.plot(flat[:, 0], flat[:, 1], ".", markersize=2, label=f"pressure, {link}")
    above.set(xlabel="x [m]", ylabel="y [m]", title="from above")
    above.set_aspect("equal", adjustable="datalim")
    above.legend(fontsize=7)
    axes[0, 1].set(xlabel="time [s]", ylabel="position [m]", title="courses")
    axes[0, 1].legend(fontsize=7)
    axes[1, 0].plot(series.time, 1e3 * series.margin, color="#d62728")
    axes[1, 0].axhline(0.0, color="black", linewidth=0.8)
    axes[1, 0].set(xlabel="time [s]", ylabel="margin [mm]", title="zero-moment point within the support polygon")
    axes[1, 1].plot(series.time, series.angular_momentum, label=["x", "y", "z"])
    axes[1, 1].set(xlabel="time [s]", ylabel="[kg m²/s]", title="angular momentum about the centre of mass")
    axes[1, 1].legend(fontsize=7)
    figure.savefig(path, dpi=120)
    plt.close(figure)


@dataclass(frozen=True)
class FootForceSeries:
    """Forces on a robot's soles over k steps, by the names of its support contacts.

    Attributes:
        time: middles of the steps, over which the forces are means [s], shape (k,).
        force: in the world [N], shape (k, 3) each.
        centre_of_pressure: in the world, NaN where nothing presses [m], shape (k, 3) each.
    """

    time: NDArray[np.float64]
    force: Mapping[str, NDArray[np.float64]]
    centre_of_pressure: Mapping[str, NDArray[np.float64]]


class FootForceMonitor(Module):
    """Watches the forces that bodies other than the robot exert on the links of its soles.

    For example::

        monitor = FootForceMonitor("hrp2")
        simulation.add_module(monitor)
        simulation.run(2.0)
        monitor.series.force["left_sole"][:, 2].max()

    Attributes:
        name: ``"foot_forces/<robot>"``.
    """

    def __init__(self, robot: str) -> None:
        """Choose the robot.

        Args:
            robot: name in the scene.
        """
        self.name = f"foot_forces/{robot}"
        self._robot = robot
        self._links: dict[str, str] = {}
        self._times: list[float] = []
        self._rows: list[NDArray[np.float64]] = []

    def attach(self, simulation: Simulation) -> None:
        """Find the soles.

        Raises:
            InputError: there is no robot of that name, or it has no support contact.
        """
        contacts = simulation.robots[self._robot].robot.contacts
        self._links = {
            contact.name: f"{self._robot}/{contact.link}" for contact in contacts.values() if contact.support
        }
        if not self._links:
            raise InputError(
                "has no support contact",
                element=f"robot '{self._robot}'",
                remedy="Mark its soles in the robot's YAML with support: true",
            )
        self._times.clear()
        self._rows.clear()

    def after_step(self, simulation: Simulation) -> None:
        """Sum up the contacts of each sole."""
        contacts = simulation.contacts
        pressing = contacts.normal_force
        row = np.zeros((len(self._links), 7))  # force, normal force, places weighted with it
        own = f"{self._robot}/"
        for index, link in enumerate(self._links.values()):
            for i, (first, second) in enumerate(contacts.bodies):
                if first.startswith(own) and second.startswith(own):
                    continue
                if link in (first, second):
                    row[index, :3] += contacts.force[i] if first == link else -contacts.force[i]
                    row[index, 3] += pressing[i]
                    row[index, 4:] += pressing[i] * contacts.position[i]
        self._times.append(simulation.time - 0.5 * simulation.dt)
        self._rows.append(row)

    @property
    def series(self) -> FootForceSeries:
        """All steps so far."""
        rows = np.array(self._rows).reshape(-1, len(self._links), 7)
        force, pressure = {}, {}
        for index, name in enumerate(self._links):
            force[name] = rows[:, index, :3]
            with np.errstate(divide="ignore", invalid="ignore"):
                mean = rows[:, index, 4:] / rows[:, index, 3:4]
            pressure[name] = np.where(rows[:, index, 3:4] > 0.0, mean, np.nan)
        return FootForceSeries(np.array(self._times), force, pressure)

    def save(self) -> object:
        """Return how many steps there are; later ones are dropped when this is restored."""
        return len(self._rows)

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, int)
        del self._times[state:]
        del self._rows[state:]
