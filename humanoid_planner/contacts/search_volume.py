# SPDX-License-Identifier: Apache-2.0
"""Places and directions where a couple may hold: a convex polygon times an interval of angles (section 7.2).

The posture generator places a contact within such a volume (specification 001 (6.1)-(6.6)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.contact import Contact, ContactKind, ContactLocation, Surface, SurfaceForm
from humanoid_model.errors import InputError
from humanoid_model.scene import Scene
from humanoid_planner.contacts.stance import Hold, PlannedStance, wrapped
from humanoid_planner.equilibrium.support_polygon import clip_convex
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.contact import PlacedContact, place_contact
from humanoid_planner.posture.tasks.geometric_rows import DOT, POINT
from humanoid_planner.posture.tasks.task import GeometricTask, Row

WHOLE_TURN = 2 * math.pi
#: Pieces thinner than this are dropped [m] or [rad].
_THIN = 1e-6


@dataclass(frozen=True, eq=False)
class SearchVolume:
    """Upsilon: the patch frame's origin in a polygon of the surface, its direction in an interval.

    Attributes:
        polygon: (k, 2) convex, counter-clockwise, surface frame [m].
        low: smallest angle [rad].
        high: largest angle; low + 2 pi at most, which is all directions.
    """

    polygon: NDArray[np.float64]
    low: float = -math.pi
    high: float = math.pi

    def __post_init__(self) -> None:
        polygon = np.asarray(self.polygon, dtype=float)
        if polygon.ndim != 2 or len(polygon) < 3 or not np.isfinite(polygon).all():
            raise InputError(
                f"has the shape {polygon.shape}",
                element="polygon of a search volume",
                remedy="Give three finite vertices or more, counter-clockwise",
            )
        if not (math.isfinite(self.low) and 0 < self.high - self.low <= WHOLE_TURN + 1e-9):
            raise InputError(
                f"are from {self.low} to {self.high}",
                element="angles of a search volume",
                remedy="Give an interval of at most a turn",
            )
        object.__setattr__(self, "polygon", polygon)

    @property
    def area(self) -> float:
        """Of the polygon [m^2]."""
        x, y = self.polygon.T
        return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))

    @property
    def measure(self) -> float:
        """Area times angle [m^2 rad]."""
        return self.area * (self.high - self.low)

    @property
    def whole(self) -> bool:
        """Whether all directions are in it."""
        return self.high - self.low >= WHOLE_TURN - 1e-9

    def contains(self, x: float, y: float, theta: float, tolerance: float = 0.0) -> bool:
        """Return whether a place and direction are in it, or that near [m] and [rad]."""
        start, end = self.polygon, np.roll(self.polygon, -1, axis=0)
        edges = end - start
        inward = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
        if float(np.einsum("ij,ij->i", [x, y] - start, inward).min()) < -tolerance:
            return False
        turn = (theta - self.low + tolerance) % WHOLE_TURN
        return self.whole or turn <= self.high - self.low + 2 * tolerance

    def without_box(self, x: float, y: float, theta: float, size: float, angle: float) -> list[SearchVolume]:
        """Convex pieces that cover it without a box about a point: at most two in angle, two in x and two in y.

        A volume that the box doesn't touch stays whole.

        Args:
            x: of the box's centre [m].
            y: likewise.
            theta: likewise [rad].
            size: delta l, width of the box [m].
            angle: delta theta, its range of directions [rad].

        Raises:
            InputError: a size that isn't above zero: pieces would never end.
        """
        for name, value in (("size", size), ("angle", angle)):
            if not 0 < value < math.inf:
                raise InputError(f"is {value}", element=f"{name} of the removed box", remedy="Give a number above 0")
        pieces, low, high = self._beside(theta, angle)
        left, middle, right = _cut(self.polygon, 0, x - 0.5 * size, x + 0.5 * size)
        under, box, above = _cut(middle, 1, y - 0.5 * size, y + 0.5 * size)
        if high - low <= _THIN or len(box) < 3 or SearchVolume(box).area <= _THIN**2:
            return [self]
        pieces += [SearchVolume(part, low, high) for part in (left, right, under, above) if len(part) >= 3]
        return [piece for piece in pieces if piece.area > _THIN**2]

    def halves(self) -> list[SearchVolume]:
        """Itself, or its parts of half a turn at most where it has more: angles between two half-planes."""
        span = self.high - self.low
        if self.whole or span <= math.pi:
            return [self]
        middle = 0.5 * (self.low + self.high)
        return [SearchVolume(self.polygon, self.low, middle), SearchVolume(self.polygon, middle, self.high)]

    def _beside(self, theta: float, angle: float) -> tuple[list[SearchVolume], float, float]:
        """Return parts of other directions, and the interval of the box's directions."""
        if angle >= WHOLE_TURN:
            return [], self.low, self.high
        if self.whole:
            low, high = theta - 0.5 * angle, theta + 0.5 * angle
            return [SearchVolume(self.polygon, high, low + WHOLE_TURN)], low, high
        inside = self.low + (theta - self.low) % WHOLE_TURN
        if inside > self.high + math.pi - 0.5 * (self.high - self.low):
            inside -= WHOLE_TURN  # just below the interval rather than far above it
        low, high = max(self.low, inside - 0.5 * angle), min(self.high, inside + 0.5 * angle)
        spans = ((self.low, low), (high, self.high))
        return [SearchVolume(self.polygon, a, b) for a, b in spans if b - a > _THIN], low, high


def _cut(polygon: NDArray[np.float64], axis: int, low: float, high: float) -> list[NDArray[np.float64]]:
    """Return parts of a polygon below, between and above two values of a coordinate."""
    if len(polygon) < 3:
        return [np.zeros((0, 2))] * 3
    least, most = polygon.min(axis=0) - 1.0, polygon.max(axis=0) + 1.0
    parts = []
    for a, b in ((least[axis], low), (low, high), (high, most[axis])):
        start, end = least.copy(), most.copy()
        start[axis], end[axis] = max(a, least[axis]), min(b, most[axis])
        box = [(start[0], start[1]), (end[0], start[1]), (end[0], end[1]), (start[0], end[1])]
        empty = end[axis] - start[axis] <= _THIN
        parts.append(np.zeros((0, 2)) if empty else clip_convex(polygon, np.array(box)))
    return parts


def surface_volume(polygon: ArrayLike | None, around: ArrayLike, radius: float) -> SearchVolume | None:
    """Return the upsilon of a surface; one without an outline is taken in a square about a point.

    Args:
        polygon: (k, 2) outline of the surface, None where it is unbounded.
        around: (2,) point of the surface [m].
        radius: half the width of the square [m].

    Returns:
        The volume, None where a bounded surface has none of its outline in the square.
    """
    x, y = np.asarray(around, dtype=float)
    square = np.array(
        [(x - radius, y - radius), (x + radius, y - radius), (x + radius, y + radius), (x - radius, y + radius)]
    )
    if polygon is None:
        return SearchVolume(square)
    outline = np.asarray(polygon, dtype=float)
    if (outline.max(axis=0) < square[0]).any() or (outline.min(axis=0) > square[2]).any():
        return None
    part = clip_convex(outline, square)
    return SearchVolume(part) if len(part) >= 3 else None


@dataclass(frozen=True, eq=False)
class StancePosture:
    """A stance and its witness.

    Attributes:
        stance: contacts with their roles.
        q: (nq,) posture that shows that the stance, and the way to it from its parent, exist.
        at_goal: whether the goal's tasks are fulfilled: the end of a plan.
        born: volume that the posture generator chose the new contact's place in, for VBFP.
    """

    stance: PlannedStance
    q: NDArray[np.float64]
    at_goal: bool = False
    born: SearchVolume | None = None

    def plain(self) -> list[Any]:
        """Return numbers for a file, of which :meth:`of_plain` makes it again."""
        born = self.born and [self.born.polygon.tolist(), self.born.low, self.born.high]
        return [self.stance.plain(), self.q.tolist(), self.at_goal, born]

    @classmethod
    def of_plain(cls, data: list[Any]) -> StancePosture:
        """Return a stance and its witness of their numbers."""
        holds, q, at_goal, born = data
        volume = None if born is None else SearchVolume(np.array(born[0], dtype=float), float(born[1]), float(born[2]))
        return cls(PlannedStance.of_plain(holds), np.array(q, dtype=float), bool(at_goal), volume)


def light_contact(location: ContactLocation, surface: Surface, volume: SearchVolume, distance: float = 0.0) -> Contact:
    """Return a contact without force that slides with its origin in a volume's polygon: a pre-contact on the surface.

    Args:
        location: of the robot.
        surface: of the scene.
        volume: where it may be.
        distance: at most, above the surface [m].
    """
    return Contact(
        location,
        replace(surface, polygon=volume.polygon),
        0.0,
        0.0,
        0.0,
        ContactKind.PRE_CONTACT,
        distance=distance,
    )


def bounds_task(
    contact: Contact, surface: Surface, volume: SearchVolume, kinematics: RobotKinematics, scene: Scene
) -> GeometricTask | None:
    """Return what a light contact fulfils besides: its patch on the whole surface, its direction within the angles.

    The angles (6.6, E-17) are two half-planes, for half a turn at most: wider intervals are halved before.

    Args:
        contact: made by :func:`light_contact`.
        surface: the whole one.
        volume: where it may be.
        kinematics: of the robot.
        scene: of the surface.

    Returns:
        The task; None where an unbounded surface and all directions leave nothing to fulfil.
    """
    placed = place_contact(contact, kinematics, scene)
    rows = _vertex_rows(placed, surface)
    if not volume.whole:
        d = np.array(placed.placement_body_patch.rotation[:, 0])
        b, x_axis = np.array(placed.placement_body_patch.rotation[:, 1]), placed.placement_ground_surface.rotation[:, 0]
        for label, angle, sense in (("from", volume.low, 1.0), ("to", volume.high, -1.0)):
            side = sense * np.array([-math.sin(angle), math.cos(angle), 0.0])
            u, w = d, placed.placement_ground_surface.rotation @ side
            if surface.form is not SurfaceForm.PLANE:
                # The surface's y direction changes from place to place: d . y = -b . x, times the same positive number.
                u, w = side[0] * d - side[1] * b, np.array(x_axis)
            rows.append(Row(DOT, f"direction {label}", 0.0, math.inf, "", a=placed.body, b=placed.ground, u=u, w=w))
    return GeometricTask(f"{placed.label} in its volume", rows) if rows else None


def _vertex_rows(placed: PlacedContact, surface: Surface) -> list[Row]:
    """Every vertex of the patch within every edge of the surface (6.5)."""
    if surface.polygon is None or surface.form is not SurfaceForm.PLANE:
        return []
    S, rows = placed.placement_ground_surface, []
    polygon = np.asarray(surface.polygon, dtype=float)
    for edge, (start, end) in enumerate(zip(polygon, np.roll(polygon, -1, axis=0), strict=True)):
        outward = np.array([end[1] - start[1], start[0] - end[0], 0.0]) / np.linalg.norm(end - start)
        for vertex, (x, y) in enumerate(placed.contact.location.patch):
            P = placed.placement_body_patch.act(np.array([x, y, 0.0]))
            Q = S.act(np.array([*start, 0.0]))
            label = f"vertex {vertex} inside edge {edge}"
            rows.append(
                Row(POINT, label, -math.inf, 0.0, a=placed.body, b=placed.ground, P=P, Q=Q, w=S.rotation @ outward)
            )
    return rows


def hold_at(
    couple: int,
    location: ContactLocation,
    surface: Surface,
    placement_world_surface: pin.SE3,
    kinematics: RobotKinematics,
) -> Hold:
    """Return the strong contact at the place that a light one took in the kinematics' configuration.

    Args:
        couple: its number.
        location: that holds.
        surface: it holds on.
        placement_world_surface: of the surface.
        kinematics: at the posture that was found.
    """
    R, p = kinematics.placement(location.link)
    point = placement_world_surface.actInv(p + R @ location.placement_link_patch.translation)
    x_axis = R @ location.placement_link_patch.rotation[:, 0]
    x, y, theta = surface.coordinates(point, placement_world_surface.rotation.T @ x_axis)
    return Hold(couple, x, y, wrapped(theta))
