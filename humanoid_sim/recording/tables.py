# SPDX-License-Identifier: Apache-2.0
"""Tables of recorded signals: what a simulation puts into them, and logs as CSV files (specification 000, F024)."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_model.whole_body_dynamics import zero_moment_point
from humanoid_sim.module import Module
from humanoid_sim.stepping.contacts import Contacts, ContactState

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


def robot_zero_moment_point(contacts: Contacts, robot: str, up: NDArray[np.float64]) -> NDArray[np.float64]:
    """Zero-moment point of all contact forces on a robot.

    Args:
        contacts: of the last step.
        robot: name of the robot; only what others exert on it counts.
        up: unit vector against gravity, in the world, shape (3,).

    Returns:
        The point in the world [m], shape (3,); NaN where nothing carries the robot.
    """
    prefix = f"{robot}/"
    signs = np.array([a.startswith(prefix) * 1.0 - b.startswith(prefix) for a, b in contacts.bodies])
    rows = signs != 0.0  # contacts between the robot's own links cancel
    return zero_moment_point(contacts.position[rows], signs[rows, None] * contacts.force[rows], up)


Row = tuple[object, ...]


@dataclass(frozen=True)
class Table:
    """A group of signals: one row per instant and thing, one column per signal.

    Attributes:
        name: of the group.
        columns: names of the columns; the first is the simulated time.
        units: of each column; empty for words, ``"-"`` for numbers without unit.
        rows: rows of the present instant without the time.
    """

    name: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    rows: Callable[[Simulation], Iterator[Row]]

    @property
    def header(self) -> list[str]:
        """Names of the columns with their units: ``force_x [N]``."""
        return [f"{name} [{unit}]" if unit else name for name, unit in zip(self.columns, self.units, strict=True)]


def _contacts(simulation: Simulation) -> Iterator[Row]:
    contacts = simulation.contacts
    numbers = np.hstack(
        [
            contacts.position,
            contacts.normal,
            contacts.force,
            contacts.torque,
            contacts.gap[:, None],
            contacts.friction[:, None],
        ]
    ).tolist()
    for (a, b), values, state in zip(contacts.bodies, numbers, contacts.state.tolist(), strict=True):
        yield (a, b, *values, ContactState(state).name.lower())


def _balance(simulation: Simulation) -> Iterator[Row]:
    contacts, gravity = simulation.contacts, np.asarray(simulation.scene.gravity)
    size = float(np.linalg.norm(gravity))
    for name, robot in simulation.robots.items():
        com = robot.centre_of_mass.tolist()
        zmp = robot_zero_moment_point(contacts, name, -gravity / size) if size > 0.0 else np.full(3, np.nan)
        yield (name, *com, *zmp.tolist())


def _joints(simulation: Simulation) -> Iterator[Row]:
    for name, robot in simulation.robots.items():
        yield from zip(
            [name] * len(robot.joint_names),
            robot.joint_names,
            robot.joint_positions.tolist(),
            robot.joint_velocities.tolist(),
            robot.joint_efforts.tolist(),
            strict=True,
        )


def moving_bodies(simulation: Simulation) -> Iterator[tuple[str, pin.SE3, np.ndarray]]:
    """Yield the base links that float, and free bodies: name, placement, twist in the body's frame, shape (6,)."""
    for name, robot in simulation.robots.items():
        base = robot.robot.base_joint
        if base is not None:
            link = next(link for link, part in robot.robot.parts.links.items() if part.joint_id == base)
            yield f"{name}/{link}", robot.placement(link), robot.twist_base
    for name, body in simulation.bodies.items():
        if not body.fixed:
            yield name, body.placement_world_body, body.twist


def _bodies(simulation: Simulation) -> Iterator[Row]:
    for name, placement, twist in moving_bodies(simulation):
        pose = pin.SE3ToXYZQUAT(placement).tolist()
        yield (name, *pose, *twist.tolist())


def _sensors(simulation: Simulation) -> Iterator[Row]:
    for name, robot in simulation.robots.items():
        for sensor in robot.robot.sensors.values():
            if sensor.type == "force_torque":
                yield (name, sensor.name, *robot.wrench(sensor.name).tolist())


def _energy(simulation: Simulation) -> Iterator[Row]:
    energy = simulation.energy()
    yield energy.kinetic, energy.potential, energy.total


def _solver(simulation: Simulation) -> Iterator[Row]:
    result = simulation.solver
    if result is None:
        yield simulation.method, "no_contact", 0, 0, 0.0, 0.0, 0.0, 0.0
        return
    yield (
        simulation.method,
        result.status.name.lower(),
        len(result.impulses),
        int(result.iterations),
        float(result.residuals.complementarity),
        float(result.residuals.cone),
        float(result.residuals.dissipation),
        float(result.time),
    )


def _profile(simulation: Simulation) -> Iterator[Row]:
    yield from simulation.profile.last.items()


_XYZ = ("x", "y", "z")


def _vector(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{axis}" for axis in _XYZ)


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "contacts",
            (
                "time",
                "body_a",
                "body_b",
                *_vector("position"),
                *_vector("normal"),
                *_vector("force"),
                *_vector("torque"),
                "gap",
                "friction",
                "state",
            ),
            ("s", "", "", *["m"] * 3, *["-"] * 3, *["N"] * 3, *["N m"] * 3, "m", "-", ""),
            _contacts,
        ),
        Table(
            "balance",
            ("time", "robot", *_vector("com"), *_vector("zmp")),
            ("s", "", *["m"] * 6),
            _balance,
        ),
        Table(
            "joints",
            ("time", "robot", "joint", "position", "velocity", "effort"),
            ("s", "", "", "rad or m", "rad/s or m/s", "N m or N"),
            _joints,
        ),
        Table(
            "bodies",
            (
                "time",
                "body",
                *_vector("position"),
                *_vector("quaternion"),
                "quaternion_w",
                *_vector("velocity"),
                *_vector("angular_velocity"),
            ),
            ("s", "", *["m"] * 3, *["-"] * 4, *["m/s"] * 3, *["rad/s"] * 3),
            _bodies,
        ),
        Table(
            "sensors",
            ("time", "robot", "sensor", *_vector("force"), *_vector("torque")),
            ("s", "", "", *["N"] * 3, *["N m"] * 3),
            _sensors,
        ),
        Table("energy", ("time", "kinetic", "potential", "total"), ("s", "J", "J", "J"), _energy),
        Table(
            "solver",
            ("time", "method", "status", "contacts", "iterations", "complementarity", "cone", "dissipation", "seconds"),
            ("s", "", "", "-", "-", "N s m/s", "N s", "N s m/s", "s"),
            _solver,
        ),
        Table("profile", ("time", "stage", "seconds"), ("s", "", "s"), _profile),
    )
}
"""Everything that is recorded, by name of the group. Velocities of bodies are in the body's own frame."""


class Recorder(Module):
    """Writes signals of every n-th step to a file.

    A recorder has no memory that decides anything: a restored simulation goes on recording where it is.

    Attributes:
        name: of the module.
        path: file or folder that it writes.
        every: steps from one record to the next.
        groups: names of the groups of signals.
    """

    def __init__(self, name: str, path: str | Path, every: int, groups: Sequence[str] | None) -> None:
        """Check what a user asked for.

        Args:
            name: of the module.
            path: of the file or folder.
            every: number of steps, 1 or more.
            groups: of :data:`TABLES`; all if not given.

        Raises:
            InputError: ``every`` is less than 1, or a group is unknown.
        """
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InputError(f"every is {every!r}", element="every", remedy="Give a number of steps, 1 or more")
        self.name = name
        self.path = Path(path)
        self.every = every
        self.groups = tuple(TABLES if groups is None else groups)
        for group in self.groups:
            check_known(group, TABLES, "groups", "group of signals")

    def after_step(self, simulation: Simulation) -> None:
        """Record the step if it is its turn."""
        if simulation.step_count % self.every == 0:
            self.record(simulation)

    def record(self, simulation: Simulation) -> None:
        """Write what the last step gave."""
        raise NotImplementedError


class CsvRecorder(Recorder):
    """Writes a folder of tidy tables: ``contacts.csv``, ``joints.csv``, ...

    A table has a row per instant and thing, its header names the units (``force_x [N]``). Numbers are written so that
    reading them gives the same ones.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        every: int = 1,
        groups: Sequence[str] | None = None,
        name: str = "csv",
    ) -> None:
        """Record into a folder, which is made when the module is added.

        Args:
            folder: tables of the same names in it are replaced.
            every: steps from one row to the next.
            groups: of :data:`TABLES`; all if not given.
            name: of the module.

        Raises:
            InputError: see :class:`Recorder`.
        """
        super().__init__(name, folder, every, groups)
        self._writers: dict[str, Any] = {}
        self._files = ExitStack()

    def attach(self, simulation: Simulation) -> None:
        """Open the tables and write their headers.

        Raises:
            InputError: the folder can't be made or written to.
        """
        with ExitStack() as files:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                for group in self.groups:
                    file = files.enter_context((self.path / f"{group}.csv").open("w", newline="", encoding="utf-8"))
                    self._writers[group] = csv.writer(file)
                    self._writers[group].writerow(TABLES[group].header)
            except OSError as problem:
                raise InputError(
                    f"no tables can be written there: {problem.strerror}",
                    source=self.path,
                    element="csv",
                    remedy="Name a folder to write to",
                ) from problem
            self._files = files.pop_all()

    def record(self, simulation: Simulation) -> None:
        """Write the rows of the last step."""
        time = simulation.time
        for group in self.groups:
            self._writers[group].writerows((time, *row) for row in TABLES[group].rows(simulation))

    def detach(self, simulation: Simulation) -> None:
        """Close the tables."""
        self._files.close()
