# SPDX-License-Identifier: Apache-2.0
"""Places of the robot that may touch, surfaces that may be touched, and what holds on what."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from enum import Enum, IntEnum

import numpy as np
import pinocchio as pin

from humanoid_model.convex_polygon import edges_cross
from humanoid_model.value_equality import ValueEquality

#: How near to a line a corner of a patch counts as on it [m].
_ON_LINE = 1e-9


@dataclass(frozen=True, eq=False)
class ContactLocation(ValueEquality):
    """A place on a robot that may carry load (specification 001 section 1.5: body, point, normal, tangent, patch).

    Attributes:
        name: unique name within the robot.
        link: link that it is fixed to.
        placement_link_patch: patch frame in the link frame; z is the robot's inward normal, which points out
            of the touched surface into the robot.
        patch: (k, 2) vertices of the convex patch in the xy plane of the patch frame, counter-clockwise,
            metres; k = 1 is a point, k = 2 an edge.
        support: the robot stands on it (a sole): postures put it on the ground, and its vertices are contact
            points of the simulator.
    """

    name: str
    link: str
    placement_link_patch: pin.SE3
    patch: np.ndarray
    support: bool = False

    @property
    def vertices_link(self) -> np.ndarray:
        """(k, 3) patch vertices in the link frame."""
        local = np.column_stack([self.patch, np.zeros(len(self.patch))])
        placement = self.placement_link_patch
        return np.asarray(local @ placement.rotation.T + placement.translation)


class SurfaceForm(Enum):
    """How a surface is curved."""

    PLANE = "plane"
    CYLINDER = "cylinder"
    SPHERE = "sphere"


@dataclass(frozen=True, eq=False)
class Surface(ValueEquality):
    """A face of a body that may be touched: a plane, or a part of a cylinder or of a sphere (section 7.1).

    Places on it are (x, y, theta): lengths along the surface from its frame's origin, and the angle about the normal
    from the tangential part of the frame's x axis, d_0. On a cylinder, whose axis is parallel to that, and on a sphere
    y is the length of an arc about the axis through the centre; on a sphere x is that of an arc towards the pole.

    Attributes:
        name: unique name within the scene.
        body: name of the body that it belongs to.
        placement_body_surface: surface frame in the body frame; z is the outward normal.
        polygon: (k, 2) vertices of the convex outline in x and y, counter-clockwise, metres; None for an unbounded
            surface. Of a curved one it is a rectangle, at most half way round.
        form: plane, cylinder or sphere.
        radius: of the cylinder or sphere [m].
    """

    name: str
    body: str
    placement_body_surface: pin.SE3
    polygon: np.ndarray | None = None
    form: SurfaceForm = SurfaceForm.PLANE
    radius: float = math.inf

    def place(self, x: float, y: float, theta: float) -> pin.SE3:
        """Return the frame of a place in the surface's: origin p(x, y), axes d(x, y, theta), n x d and n."""
        turn = pin.utils.rotate("z", theta)
        if self.form is SurfaceForm.PLANE:
            return pin.SE3(turn, np.array([x, y, 0.0]))
        up = x / self.radius if self.form is SurfaceForm.SPHERE else 0.0
        frame = pin.utils.rotate("x", -y / self.radius) @ pin.utils.rotate("y", up)
        origin = self.radius * frame[:, 2] - np.array([0.0, 0.0, self.radius])
        if self.form is SurfaceForm.CYLINDER:
            origin[0] = x
        return pin.SE3(frame @ turn, origin)

    @property
    def outline(self) -> np.ndarray:
        """(k, 2) the polygon, bent edges in parts of ten degrees at most [m]; empty for an unbounded surface."""
        if self.polygon is None:
            return np.zeros((0, 2))
        parts = []
        for corner, following in zip(self.polygon, np.roll(self.polygon, -1, axis=0), strict=True):
            edge = np.asarray(following - corner, dtype=float)
            bent = abs(edge[1]) if self.form is SurfaceForm.CYLINDER else float(np.linalg.norm(edge))
            count = max(math.ceil(bent / self.radius / math.radians(10.0) - 1e-9), 1)
            parts.append(corner + np.linspace(0.0, 1.0, count, endpoint=False)[:, None] * edge)
        return np.vstack(parts)

    def coordinates(self, point: np.ndarray, direction: np.ndarray) -> tuple[float, float, float]:
        """Return (x, y, theta) of the place nearest to a point (3,), its x axis along a direction (3,)."""
        x, y, z = point.tolist()
        if self.form is not SurfaceForm.PLANE:
            if self.form is SurfaceForm.SPHERE:
                x = self.radius * math.atan2(x, math.hypot(y, z + self.radius))
            y = self.radius * math.atan2(y, z + self.radius)
        d = self.place(x, y, 0.0).rotation.T @ direction
        return x, y, math.atan2(d[1], d[0])


class ContactKind(IntEnum):
    """What a contact fixes (specification 001 section 4.6)."""

    FIXED = 0
    """Position and orientation: the thesis' strong contact."""
    SLIDING = 1
    """In the surface, but free along it and about its normal: the thesis' light contact."""
    RELAXED = 2
    """Position, and the normals within a tolerance of each other: a compliant surface."""
    PRE_CONTACT = 3
    """Parallel to the surface, at most a distance above it, and without force."""
    RELEASED = 4
    """Geometry as FIXED, but without force: the contact is about to be made or broken."""

    @property
    def bears(self) -> bool:
        """Whether such a contact carries force."""
        return self not in (ContactKind.PRE_CONTACT, ContactKind.RELEASED)


@dataclass(frozen=True)
class Contact:
    """A robot location held on a surface.

    Attributes:
        location: the place on the robot.
        surface: the touched surface.
        x: of the patch frame's origin in the surface frame, metres.
        y: likewise.
        theta: angle of the patch frame's x axis from the surface's, about the outward normal, rad.
        kind: what the contact fixes.
        bilateral: it may also pull, like a grasp.
        tolerance: largest angle between the normals [rad], RELAXED only.
        distance: largest distance to the plane [m], PRE_CONTACT only.
    """

    location: ContactLocation
    surface: Surface
    x: float
    y: float
    theta: float
    kind: ContactKind = ContactKind.FIXED
    bilateral: bool = False
    tolerance: float = 0.0
    distance: float = 0.0

    @property
    def place(self) -> tuple[str, str, float, float, float]:
        """What makes two contacts the same, whatever they fix: location, surface, x, y [m] and theta [rad]."""
        return self.location.name, self.surface.name, self.x, self.y, self.theta

    @property
    def placement_surface_patch(self) -> pin.SE3:
        """Patch frame in the surface frame; its z axis is the surface's normal there."""
        return self.surface.place(self.x, self.y, self.theta)

    @property
    def touching(self) -> np.ndarray:
        """(k, 2) corners of what touches, in the patch frame [m]; empty where nothing does.

        On a plane that is the patch, on a cylinder the part of it along the axis, on a sphere the frame's origin.
        """
        patch = np.asarray(self.location.patch, dtype=float)
        if self.surface.form is SurfaceForm.PLANE:
            return patch
        along = np.array([math.cos(self.theta), -math.sin(self.theta)])
        aside, ahead = patch @ [along[1], -along[0]], patch @ along
        ends = ahead[np.abs(aside) < _ON_LINE].tolist()
        for a, b, start, end in zip(aside, np.roll(aside, -1), ahead, np.roll(ahead, -1), strict=True):
            if min(a, b) < -_ON_LINE and max(a, b) > _ON_LINE:
                ends.append(float(start + (end - start) * a / (a - b)))
        if self.surface.form is SurfaceForm.SPHERE:
            return np.zeros((1 if ends and min(ends) <= _ON_LINE and max(ends) >= -_ON_LINE else 0, 2))
        return np.unique([min(ends), max(ends)])[:, None] * along if ends else np.zeros((0, 2))


@dataclass(frozen=True)
class Stance:
    """A set of contacts (the thesis of specification 001 says contact set), sorted by location name.

    Raises:
        ValueError: a location holds on two surfaces at once.
    """

    contacts: tuple[Contact, ...]

    def __post_init__(self) -> None:
        contacts = tuple(sorted(self.contacts, key=lambda contact: contact.location.name))
        for one, other in itertools.pairwise(contacts):
            if one.location.name == other.location.name:
                raise ValueError(f"location '{one.location.name}' is used by two contacts of a stance")
        object.__setattr__(self, "contacts", contacts)

    def __len__(self) -> int:
        return len(self.contacts)

    def find(self, location: str) -> Contact | None:
        """Return the contact of a location, None when it is free."""
        return next((c for c in self.contacts if c.location.name == location), None)

    def adding(self, contact: Contact) -> Stance:
        """Return this stance with one contact more."""
        return Stance((*self.contacts, contact))

    def removing(self, location: str) -> Stance:
        """Return this stance without the contact of a location."""
        return Stance(tuple(c for c in self.contacts if c.location.name != location))

    def lacking_in(self, other: Stance) -> tuple[Contact, ...]:
        """Return the contacts that another stance doesn't have at their places."""
        there = {contact.place for contact in other.contacts}
        return tuple(contact for contact in self.contacts if contact.place not in there)

    def is_neighbour(self, other: Stance, changes: int = 1) -> bool:
        """Return whether so many contacts at most go or come between two stances (specification 001, 5.19).

        A contact that moves is two changes. What contacts fix doesn't count.
        """
        return len(self.lacking_in(other)) + len(other.lacking_in(self)) <= changes


def curve_problem(polygon: np.ndarray | None, form: SurfaceForm, radius: float) -> str | None:
    """Say why an outline is none of a curved surface: a rectangle, at most half way round, clear of a sphere's poles.

    Args:
        polygon: (k, 2) in x and y of the surface [m], None without one.
        form: cylinder or sphere.
        radius: of it [m].
    """
    if not 0.0 < radius < math.inf:
        return f"the radius is {radius:g} m"
    if polygon is None:
        return "there is none"
    corners = sorted({(float(x), float(y)) for x, y in polygon})
    (x0, y0), (x1, y1) = corners[0], corners[-1]
    if len(polygon) != 4 or corners != [(x0, y0), (x0, y1), (x1, y0), (x1, y1)]:
        return "it is no rectangle along x and y"
    if y1 - y0 > math.pi * radius * (1 + 1e-9):
        return f"it is {y1 - y0:g} m wide in y, and half way round is {math.pi * radius:g} m"
    if form is SurfaceForm.SPHERE and max(-x0, x1) >= 0.5 * math.pi * radius:
        return f"it reaches to {max(-x0, x1):g} m in x, and the poles are at {0.5 * math.pi * radius:g} m"
    return None


def polygon_problem(vertices: np.ndarray, convex: bool = True) -> str | None:
    """Say why points are no convex counter-clockwise outline; None when they are one.

    One point and two different points pass too: a point and an edge.

    Args:
        vertices: (k, 2).
        convex: False allows inner corners.
    """
    following = np.roll(vertices, -1, axis=0)
    edges = following - vertices
    lengths = np.linalg.norm(edges, axis=1)
    if len(vertices) > 1 and lengths.min() < 1e-9:
        return "two vertices coincide"
    if len(vertices) < 3:
        return None
    turns = edges[:, 0] * np.roll(edges[:, 1], -1) - edges[:, 1] * np.roll(edges[:, 0], -1)
    angles = np.arctan2(turns, np.einsum("ij,ij->i", edges, np.roll(edges, -1, axis=0)))
    # Left turns only, once around: a pentagram turns left everywhere but goes around twice.
    if (convex and angles.min() < -1e-9) or abs(angles.sum() - 2 * math.pi) > 1e-6:
        return f"vertices are not {'a convex' if convex else 'an'} outline in counter-clockwise order"
    if not convex and edges_cross(vertices):
        return "edges cross"
    return None
