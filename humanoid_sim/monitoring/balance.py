# SPDX-License-Identifier: Apache-2.0
"""How a robot stands: centre of mass, points of pressure, support polygon (specification 000, F150)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.convex_polygon import convex_hull, polygon_margin
from humanoid_model.errors import InputError
from humanoid_sim.monitoring.centroidal_momentum import CentroidalMomentum, MomentumMeter
from humanoid_sim.monitoring.zero_moment_point import capture_point, centre_of_pressure, zero_moment_point
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
