# SPDX-License-Identifier: Apache-2.0
"""Whether points of contact hold a body: three tests of equilibrium behind one function.

And where its centre of mass may be, the region of its horizontal positions in equilibrium. With uneven contacts the
support polygon is neither necessary nor sufficient. The region in which contact forces in their friction cones balance
the load is convex; the iterative projection of T. Bretl and S. Lall, "Testing static equilibrium for legged robots",
IEEE T-RO 24(4), 2008, grows a polygon inside it and shrinks one around it until they agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_array, check_number, check_positive
from humanoid_model.convex_polygon import convex_hull
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.cone_simplex import farthest_centre
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.equilibrium.force_distribution import check_equilibrium
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.equilibrium.wrench_cone import WrenchCone


def centre_of_mass_region(
    contacts: ContactPoints,
    mass: float,
    *,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    acceleration: ArrayLike = (0.0, 0.0, 0.0),
    external_wrench: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    torque_limits: tuple[ArrayLike, ArrayLike] | None = None,
    height: float = 0.0,
    extent: float = 10.0,
    tolerance: float = 1e-3,
) -> NDArray[np.float64]:
    """Return corners of the region, from inside: every point of the polygon is in equilibrium.

    Args:
        contacts: the points; their friction cones are exact.
        mass: of the robot, kg.
        gravity: (3,) m/s^2.
        acceleration: (3,) of the centre of mass, m/s^2.
        external_wrench: (6,) known force on the robot and its moment about the world's origin, N and N m.
        torque_limits: A (m, 3k) and b (m,) of ``A f + b <= 0``, as for
            :func:`humanoid_planner.equilibrium.force_distribution.check_equilibrium`.
        height: of the centre of mass in the world, m; has no effect when the load is vertical.
        extent: the region is cut off this far in x and y from the middle of the contact points, m; between the
            walls of a chimney it has no end.
        tolerance: largest distance of a point of the region from the polygon, m.

    Returns:
        (h, 2) x and y, counter-clockwise, m; (0, 2) when there is no equilibrium wherever the centre of mass is. One or
        two corners when the region is a point or a segment.

    Raises:
        InputError: a shape is wrong, a number isn't finite, the mass is negative, or a tolerance or extent isn't
            positive.
    """
    k = len(contacts)
    check_number(float(mass), "mass")
    inputs = {
        "gravity": (np.asarray(gravity, dtype=float), (3,)),
        "acceleration": (np.asarray(acceleration, dtype=float), (3,)),
        "external_wrench": (np.asarray(external_wrench, dtype=float), (6,)),
        "height": (np.asarray(float(height)), ()),
    }
    A: NDArray[np.float64] = np.zeros((0, 3 * k))
    b: NDArray[np.float64] = np.zeros(0)
    if torque_limits is not None:
        A, b = (np.ascontiguousarray(part, dtype=np.float64) for part in torque_limits)
        inputs["torque_limits b"] = (b, (b.size,))
        inputs["torque_limits A"] = (A, (b.size, 3 * k))
    for name, (value, shape) in inputs.items():
        check_array(value, name, shape)
    for name, limit in (("extent", extent), ("tolerance", tolerance)):
        check_positive(limit, name, "length in metres")
    if k == 0:
        return np.zeros((0, 2))
    push = float(mass) * (inputs["acceleration"][0] - inputs["gravity"][0])
    couple = np.ascontiguousarray(-inputs["external_wrench"][0])

    def farthest(direction: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        reach, x, y = farthest_centre(
            contacts.packed, push, couple, A, b, float(height), float(extent), np.ascontiguousarray(direction)
        )
        return reach, np.array([x, y])

    # Each corner comes with the direction in which it is extreme: lines across these bound the region from outside.
    corners: list[NDArray[np.float64]] = []
    normals: list[NDArray[np.float64]] = []
    for angle in (0.0, 2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0):
        normal = np.array([math.cos(angle), math.sin(angle)])
        reach, corner = farthest(normal)
        if reach == -math.inf:
            return np.zeros((0, 2))
        corners.append(corner)
        normals.append(normal)
    i = 0
    while i < len(corners):
        following = (i + 1) % len(corners)
        if _overhang(corners[i], normals[i], corners[following], normals[following]) <= tolerance:
            i += 1
            continue
        edge = corners[following] - corners[i]
        length = math.hypot(*edge)
        bisector = normals[i] + normals[following]
        normal = np.array([edge[1], -edge[0]]) / length if length > 1e-12 else bisector / math.hypot(*bisector)
        reach, corner = farthest(normal)
        if reach - normal @ corners[i] <= tolerance:  # the edge is on the boundary
            i += 1
            continue
        corners.insert(i + 1, corner)
        normals.insert(i + 1, normal)
    return convex_hull(corners)


def _overhang(
    start: NDArray[np.float64],
    start_normal: NDArray[np.float64],
    end: NDArray[np.float64],
    end_normal: NDArray[np.float64],
) -> float:
    """How far the region can reach beyond the edge from one corner to the next, knowing their supporting lines."""
    edge = end - start
    length = math.hypot(*edge)
    sine = start_normal[0] * end_normal[1] - start_normal[1] * end_normal[0]
    if length < 1e-12:
        return 0.0
    outward = np.array([edge[1], -edge[0]]) / length
    if abs(sine) < 1e-12:
        return math.inf if start_normal @ end_normal < 0.0 else max(float(start_normal @ edge), 0.0)
    meeting = np.linalg.solve(
        np.array([start_normal, end_normal]), np.array([start_normal @ start, end_normal @ end])
    )
    return float(outward @ (meeting - start))


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
