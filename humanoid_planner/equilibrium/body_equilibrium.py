# SPDX-License-Identifier: Apache-2.0
"""Whether points of contact hold a body: three tests of equilibrium behind one function."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.centre_of_mass_region import centre_of_mass_region
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.equilibrium.force_distribution import check_equilibrium
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.equilibrium.wrench_cone import WrenchCone

STILL = np.zeros(3)
UNLOADED = np.zeros(6)
FACETS = 8
"""Facets of the pyramids that stand for friction cones in the polytope."""


class EquilibriumMethod(str, Enum):
    """How equilibrium is tested: by the polygon below, by a search for forces, by the polytope of all wrenches."""

    SUPPORT_POLYGON = "polygon"
    CONTACT_FORCES = "forces"
    FORCE_POLYTOPE = "polytope"


@dataclass(frozen=True)
class HeldBody:
    """What contacts have to hold up; world frame.

    Attributes:
        mass: [kg].
        centre_of_mass: (3,) [m].
        gravity: (3,) [m/s^2].
        acceleration: (3,) of the centre of mass [m/s^2].
        wrench: (6,) of known loads, force [N] and moment about the world's origin [N m].
    """

    mass: float
    centre_of_mass: NDArray[np.float64]
    gravity: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    wrench: NDArray[np.float64]


@dataclass(frozen=True)
class BodyEquilibrium:
    """What a test says.

    Attributes:
        equilibrium: yes or no.
        margin: [m] of the support polygon, [N] of the others; negative without equilibrium.
        forces: (k, 3) at the contact points, world frame [N]; empty without equilibrium.
        region: (h, 3) vertices of the places that the centre of mass may be at, counter-clockwise, drawn at the height
            of the lowest contact point [m].
    """

    equilibrium: bool
    margin: float
    forces: NDArray[np.float64]
    region: NDArray[np.float64]


def check_body(
    method: EquilibriumMethod,
    points: ContactPoints,
    body: HeldBody,
    torque_limits: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> BodyEquilibrium:
    """Test whether contacts hold a body.

    Args:
        method: of the test.
        points: of the contacts.
        body: what they hold.
        torque_limits: A (m, 3 k) and b (m,) of ``A f + b <= 0`` on the forces; CONTACT_FORCES only.

    Raises:
        InputError: the method can't answer that.
    """
    if len(points) == 0:
        raise InputError(
            "no contact bears force", element="stance", remedy="Give a contact of kind FIXED, SLIDING or RELAXED"
        )
    if method is EquilibriumMethod.SUPPORT_POLYGON:
        polygon = SupportPolygon.of_points(points.positions)
        margin = polygon.margin(body.centre_of_mass)
        good = polygon.contains(body.centre_of_mass)
        # What forces there would be is another question, which friction may answer with none.
        return BodyEquilibrium(good, margin, np.zeros((0, 3)), _at_height(polygon.vertices, points))
    balance = check_equilibrium(
        points,
        body.mass,
        body.centre_of_mass,
        gravity=body.gravity,
        acceleration=body.acceleration,
        external_wrench=body.wrench,
        torque_limits=torque_limits,
    )
    good, margin = bool(balance.equilibrium), float(balance.margin)
    if method is EquilibriumMethod.FORCE_POLYTOPE:
        cone = WrenchCone.of_contacts(points, facets=FACETS)
        push = body.mass * (body.acceleration - body.gravity)
        wrench = np.concatenate([push, np.cross(body.centre_of_mass, push)]) - body.wrench
        good, margin = cone.contains(wrench), cone.margin(wrench)
    region = centre_of_mass_region(
        points,
        body.mass,
        gravity=body.gravity,
        acceleration=body.acceleration,
        external_wrench=body.wrench,
        torque_limits=torque_limits,
        height=float(body.centre_of_mass[2]),
    )
    # Pyramids are inside the cones: where they bear a wrench, cones do too.
    forces = balance.forces if good and balance.equilibrium else np.zeros((0, 3))
    return BodyEquilibrium(good, margin, forces, _at_height(region, points))


def _at_height(vertices: NDArray[np.float64], points: ContactPoints) -> NDArray[np.float64]:
    lowest = float(points.positions[:, 2].min())
    return np.column_stack([vertices, np.full(len(vertices), lowest)])
