# SPDX-License-Identifier: Apache-2.0
"""Static equilibrium as tasks on the centre of mass alone, and the choice among them.

Above the polygon of level contacts, in the polytope of their wrenches or in the region of its horizontal positions
(specification 001 sections 4.9, 4.10); above the line between two feet that both slide; over one contact whose place
isn't known before the posture is. Equilibrium by contact forces is in ``force_tasks``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humanoid_model.checks import check_number
from humanoid_model.contact import ContactKind, ContactLocation
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.body_equilibrium import centre_of_mass_region
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.equilibrium.wrench_cone import WrenchCone
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.contact import PlacedContact
from humanoid_planner.posture.tasks.geometric_rows import COM
from humanoid_planner.posture.tasks.state import ForceModel, Load, PostureState
from humanoid_planner.posture.tasks.task import GeometricTask, Row, Task


class CentreOfMassOnLine(Task):
    """The centre of mass projects between two points of the robot, on the line through them (thesis section 3.6.2.2).

    Where patches slide, the support polygon isn't known before the posture is; the line lies in every polygon that
    they can make.
    """

    def __init__(
        self,
        kinematics: RobotKinematics,
        first: tuple[str, NDArray[np.float64]],
        second: tuple[str, NDArray[np.float64]],
        margin: float = 0.0,
    ) -> None:
        """Take the two points.

        Args:
            kinematics: of the robot.
            first: link, and point (3,) in its frame [m].
            second: likewise.
            margin: smallest distance from the projection to the two points [m].
        """
        self._points = (first, second)
        for link, _ in self._points:
            kinematics.body_of(link)
        super().__init__(
            "centre of mass on the line between the feet", [0.0, margin, margin], [0.0, math.inf, math.inf], unit="m"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"{self.name}: {what}" for what in ("off the line", "beyond the first", "beyond the second"))

    def _parts(self, state: PostureState) -> tuple[NDArray[np.float64], ...]:
        kinematics = state.kinematics
        A, B = (kinematics.point(link, point)[:2] for link, point in self._points)
        G = kinematics.centre_of_mass()[:2]
        along = B - A
        length = max(float(np.hypot(*along)), 1e-9)
        return A, B, G, along / length, np.array(length)

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(3,) distances: beside the line, from the first point along it, from the second back along it [m]."""
        A, B, G, t, _ = self._parts(state)
        d = G - A
        return np.array([t[0] * d[1] - t[1] * d[0], t @ d, t @ (B - G)])

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(3, state.size) derivative."""
        A, B, G, t, length = self._parts(state)
        kinematics = state.kinematics
        nx = kinematics.size
        JA, JB = (kinematics.point_jacobian(link, point)[:2] for link, point in self._points)
        JG = kinematics.centre_of_mass_jacobian()[:2]
        # The unit vector turns by the part of B - A's motion that is across it.
        Jt = (np.eye(2) - np.outer(t, t)) @ (JB - JA) / length
        d, e = G - A, B - G
        J = np.zeros((3, state.size))
        J[0, :nx] = Jt[0] * d[1] + t[0] * (JG - JA)[1] - Jt[1] * d[0] - t[1] * (JG - JA)[0]
        J[1, :nx] = d @ Jt + t @ (JG - JA)
        J[2, :nx] = e @ Jt + t @ (JB - JG)
        return J


class CentreOfMassOverPatch(GeometricTask):
    """The centre of mass is above one contact patch, wherever that is (3.63, E-07).

    The robot then stands on this contact alone. The edges move with the patch, which other tasks keep horizontal; so
    a sliding contact needs no force variables to be balanced on.
    """

    def __init__(self, kinematics: RobotKinematics, location: ContactLocation, margin: float = 0.0) -> None:
        """Make the task.

        Args:
            kinematics: of the robot.
            location: with a patch of at least three points.
            margin: distance to keep from the patch's edges [m].

        Raises:
            InputError: a patch without area, or a margin that isn't a number of at least 0.
        """
        check_number(margin, "margin")
        patch = np.asarray(location.patch, dtype=float)
        if len(patch) < 3:
            raise InputError(
                f"the patch of '{location.name}' has {len(patch)} points",
                element="centre of mass over a patch",
                remedy="Give a location with a face",
            )
        body, placement_body_link = kinematics.body_of(location.link)
        placement = placement_body_link * location.placement_link_patch
        rows = []
        for edge, (start, end) in enumerate(zip(patch, np.roll(patch, -1, axis=0), strict=True)):
            outward = np.array([end[1] - start[1], start[0] - end[0], 0.0]) / np.linalg.norm(end - start)
            rows.append(
                Row(
                    COM,
                    f"edge {edge}",
                    -math.inf,
                    -margin,
                    b=body,
                    Q=placement.act(np.array([*start, 0.0])),
                    w=placement.rotation @ outward,
                )
            )
        super().__init__(f"centre of mass over {location.name}", rows)


#: Facets of a friction cone in the wrench polytope (specification 001 Appendix B, planning).
FACETS = 4
#: How well the region of centres of mass in equilibrium is known [m].
_REGION_TOLERANCE = 2e-3


def choose_stability(contacts: Sequence[PlacedContact], loads: Sequence[Load], gravity: NDArray[np.float64]) -> str:
    """Take "polygon" where it is exact or conservative, "forces" otherwise (section 4.10, choice rule).

    The polygon needs bearing contacts whose place is known, on horizontal surfaces of the world, that only push; and
    no loads.
    """
    up = -gravity / max(float(np.linalg.norm(gravity)), 1e-12)
    for placed in contacts:
        if not placed.contact.kind.bears:
            continue
        normal = placed.placement_ground_contact.rotation[:, 2]
        if not placed.fixed_in_world or placed.contact.bilateral or float(normal @ up) < 1 - 1e-9:
            return "forces"
    return "forces" if loads else "polygon"


def polygon_task(
    kinematics: RobotKinematics, contacts: Sequence[PlacedContact], gravity: NDArray[np.float64], margin: float
) -> Task:
    """Centre of mass above the convex hull of the contact points (3.63, E-07), at least ``margin`` [m] inside.

    Two contacts that both slide have no polygon that is known beforehand; the centre of mass is then kept on the line
    between their middles (section 3.6.2.2 of the thesis), which lies in every polygon that they can make.

    Raises:
        InputError: gravity isn't along z, other sliding contacts, no bearing contact, a margin that leaves nothing.
    """
    if abs(gravity[0]) + abs(gravity[1]) > 1e-9 * abs(gravity[2]) or gravity[2] >= 0:
        raise InputError(
            f"gravity is {gravity.tolist()}",
            element="stability polygon",
            remedy="Let gravity point along -z, or choose the stability forces",
        )
    bearing = [placed for placed in contacts if placed.contact.kind.bears]
    if not bearing:
        raise InputError("no contact bears load", element="stability polygon", remedy="Give a contact that does")
    if len(bearing) == 2 and all(placed.contact.kind == ContactKind.SLIDING for placed in bearing):
        first, second = ((placed.contact.location.link, _middle(placed)) for placed in bearing)
        return CentreOfMassOnLine(kinematics, first, second, margin)
    for placed in bearing:
        if not placed.fixed_in_world:
            raise InputError(
                f"{placed.label} has no place that is known before the posture is",
                element="stability polygon",
                remedy="Choose the stability forces",
            )
    points = np.array(
        [placed.placement_ground_contact.act(np.array([x, y, 0.0])) for placed in bearing for x, y in placed.bearing]
    )
    polygon = SupportPolygon.of_points(points)
    if margin > 0 and len(polygon.vertices) > 2 and margin > polygon.largest_circle()[1]:
        raise InputError(
            f"the stability margin of {margin:g} m leaves nothing of the support polygon",
            element="stability margin",
            remedy=f"Give at most {polygon.largest_circle()[1]:.4g} m",
        )
    return GeometricTask("centre of mass in the support polygon", _edge_rows(polygon, margin))


def _edge_rows(polygon: SupportPolygon, margin: float) -> list[Row]:
    """Centre of mass above a polygon, a margin [m] inside each edge."""
    return [
        Row(COM, f"edge {edge}", -math.inf, offset - margin, w=np.array([*normal, 0.0]))
        for edge, (normal, offset) in enumerate(zip(polygon.normals, polygon.offsets, strict=True))
    ]


def _middle(placed: PlacedContact) -> NDArray[np.float64]:
    """Return the middle of the patch in the link frame."""
    return np.asarray(placed.contact.location.vertices_link.mean(axis=0))


def polytope_task(
    model: ForceModel, mass: float, loads: Sequence[Load], margin: float, facets: int = FACETS
) -> GeometricTask:
    """Gravity's wrench in the polytope of those that inscribed friction cones bear (section 4.10, 3).

    Raises:
        InputError: a contact whose place isn't known beforehand, loads, or contacts that bear no wrench at all.
    """
    if loads:
        raise InputError("there are loads", element="stability polytope", remedy="Choose the stability forces")
    if not model.points:
        raise InputError("no contact bears load", element="stability polytope", remedy="Give a contact that does")
    for point in model.points:
        if not point.placed.fixed_in_world:
            raise InputError(
                f"{point.placed.label} has no place that is known before the posture is",
                element="stability polytope",
                remedy="Choose the stability forces",
            )
    cone = WrenchCone.of_contacts(contact_points(model), facets=facets)
    A, b = cone.centre_of_mass_halfspaces(mass, model.gravity, np.zeros(6))
    rows = []
    for facet, (normal, offset) in enumerate(zip(A, b, strict=True)):
        size = float(np.linalg.norm(normal))
        if size < 1e-9 * model.weight:
            # The centre of mass has no say: the facet holds everywhere or nowhere.
            rows.append(Row(COM, f"facet {facet}", -math.inf, offset - margin, "N", scale=model.weight))
        else:
            # Divided by the normal the row is a distance of the centre of mass.
            rows.append(Row(COM, f"facet {facet}", -math.inf, (offset - margin) / size, "m", w=normal / size))
    return GeometricTask("weight in the wrench polytope", rows)


def region_task(model: ForceModel, mass: float, loads: Sequence[Load], margin: float) -> GeometricTask:
    """Centre of mass, seen from above, in the region where the contacts balance the weight, ``margin`` [m] inside.

    On level contacts that only push the region is taken to be their hull, which lies within it. Elsewhere it is known
    to ``_REGION_TOLERANCE``, from inside. The joints' efforts don't count.

    Raises:
        InputError: a contact whose place isn't known beforehand, loads, or gravity that isn't along z.
    """
    if loads or np.abs(model.gravity[:2]).max() > 0.0:
        raise InputError(
            "there are loads, or gravity isn't along z",
            element="centre_margin",
            remedy="Give a stability_margin in newtons",
        )
    points = contact_points(model)
    corners: NDArray[np.float64] = points.positions
    if choose_stability([point.placed for point in model.points], loads, model.gravity) != "polygon":
        corners = centre_of_mass_region(points, mass, gravity=model.gravity, tolerance=_REGION_TOLERANCE)
    # Without corners no forces balance the weight, which other rows say.
    rows = _edge_rows(SupportPolygon.of_points(corners), margin) if len(corners) else []
    return GeometricTask("centre of mass in the region of balance", rows)


def contact_points(model: ForceModel) -> ContactPoints:
    """Contact points of a force model whose contacts all have places in the world that are known.

    Raises:
        InputError: one hasn't.
    """
    frames = []
    positions = []
    for point in model.points:
        placed = point.placed
        if not placed.fixed_in_world:
            raise InputError(
                f"{placed.label} has no place that is known before the posture is",
                element="equilibrium",
                remedy="Give contacts that are fixed in the world",
            )
        E = placed.placement_ground_contact
        positions.append(E.act(placed.placement_body_patch.actInv(point.local)))
        frames.append(E.rotation)
    count = len(positions)
    return ContactPoints(
        np.array(positions, dtype=float).reshape(count, 3),
        np.array(frames, dtype=float).reshape(count, 3, 3),
        np.array(model.friction, dtype=float),
        np.array(model.bilateral, dtype=bool),
    )
