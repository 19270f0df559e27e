# SPDX-License-Identifier: Apache-2.0
"""Places of the robot that may touch, surfaces that may be touched, and what holds on what."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pinocchio as pin

from humanoid_model.convex_polygon import edges_cross
from humanoid_model.value_equality import ValueEquality


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


@dataclass(frozen=True, eq=False)
class Surface(ValueEquality):
    """A plane face of a body that may be touched.

    Attributes:
        name: unique name within the scene.
        body: name of the body that it belongs to.
        placement_body_surface: surface frame in the body frame; z is the outward normal.
        polygon: (k, 2) vertices of the convex outline in the surface's xy plane, counter-clockwise, metres;
            None for an unbounded surface.
    """

    name: str
    body: str
    placement_body_surface: pin.SE3
    polygon: np.ndarray | None = None


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
    def placement_surface_patch(self) -> pin.SE3:
        """Patch frame in the surface frame; both z axes coincide."""
        turn = pin.utils.rotate("z", self.theta)
        return pin.SE3(turn, np.array([self.x, self.y, 0.0]))


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
