# SPDX-License-Identifier: Apache-2.0
"""Points at which a robot is held up: places, frames, friction, and the facets that friction cones are cut into.

Pyramids lie inside or around the quadratic cones (specification 001 section 4.10).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_array
from humanoid_model.contact import Contact, Stance
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.cone_simplex import FRICTIONLESS
from humanoid_planner.equilibrium.support_polygon import contact_area


def _array(value: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return a contiguous array of a given shape.

    Raises:
        InputError: the shape is another one, or an entry is not finite.
    """
    return np.array(check_array(value, name, shape), order="C")


#: Beyond this coefficient the normal part of a force on its cone is lost in rounding; ten is already unheard of.
MAX_FRICTION = 1e4


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """Contact points, at each of which the surroundings exert a force on the robot.

    Attributes:
        positions: (k, 3) in the world, m.
        frames: (k, 3, 3) columns t1, t2, n of right-handed frames in the world; n is normal to the touched surface
            and points out of it into the robot.
        friction: (k,) Coulomb coefficients.
        bilateral: (k,) True where the force may have any direction, as in a grasp.
    """

    positions: NDArray[np.float64]
    frames: NDArray[np.float64]
    friction: NDArray[np.float64]
    bilateral: NDArray[np.bool_]
    packed: NDArray[np.float64] = field(init=False, repr=False)
    """(8, k) the same for compiled code, see :mod:`humanoid_planner.equilibrium.cone_simplex`."""

    def __post_init__(self) -> None:
        """Check what was given.

        Raises:
            InputError: shapes don't fit, something isn't finite, a frame isn't right-handed and orthonormal, or a
                coefficient of friction is negative or above 10000.
        """
        k = len(np.asarray(self.positions))
        positions = _array(self.positions, "positions", (k, 3))
        frames = _array(self.frames, "frames", (k, 3, 3))
        friction = _array(self.friction, "friction", (k,))
        bilateral = np.array(self.bilateral, dtype=bool)
        if bilateral.shape != (k,):
            raise InputError(
                f"shape {bilateral.shape}", element="bilateral", remedy=f"Give an array of shape {(k,)}"
            )
        products = np.einsum("kji,kjl->kil", frames, frames)
        for i in range(k):
            if np.abs(products[i] - np.eye(3)).max() > 1e-6 or np.linalg.det(frames[i]) < 0.0:
                raise InputError(
                    f"frame {i} is {frames[i].tolist()}",
                    element="frames",
                    remedy="Give right-handed frames of orthogonal unit vectors, columns t1, t2, n",
                )
        bad = (friction < 0.0) | (friction > MAX_FRICTION)
        if bad.any():
            i = int(np.argmax(bad))
            raise InputError(
                f"coefficient {i} is {friction[i]:g}",
                element="friction",
                remedy=f"Give coefficients from 0 to {MAX_FRICTION:g}",
            )
        packed = np.empty((8, k))
        packed[0:3] = positions.T
        packed[3:6] = frames[:, :, 2].T
        packed[6] = np.where(bilateral, -1.0, friction)
        packed[7] = 1.0 / np.sqrt(1.0 + friction**2)
        for name, value in (
            ("positions", positions),
            ("frames", frames),
            ("friction", friction),
            ("bilateral", bilateral),
            ("packed", packed),
        ):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.positions)

    @property
    def normals(self) -> NDArray[np.float64]:
        """(k, 3) unit normals out of the touched surfaces."""
        return self.frames[:, :, 2]

    @classmethod
    def of_normals(
        cls, positions: ArrayLike, normals: ArrayLike, friction: ArrayLike, bilateral: ArrayLike = False
    ) -> ContactPoints:
        """Return points of which only the normals are known; tangents are chosen.

        Args:
            positions: (k, 3) m.
            normals: (k, 3) of any length above zero, or one (3,) for all.
            friction: (k,) or one for all.
            bilateral: (k,) or one for all.

        Raises:
            InputError: a normal is zero, and as the class.
        """
        places = np.asarray(positions, dtype=float).reshape(-1, 3)
        k = len(places)
        try:
            directions = np.broadcast_to(np.asarray(normals, dtype=float), (k, 3))
        except ValueError:
            raise InputError(
                f"shape {np.shape(normals)}", element="normals", remedy=f"Give an array of shape {(k, 3)}"
            ) from None
        frames = np.empty((k, 3, 3))
        for i, direction in enumerate(directions):
            length = float(np.linalg.norm(direction))
            if not length > 0.0:
                raise InputError(
                    f"normal {i} is {direction.tolist()}", element="normals", remedy="Give vectors of non-zero length"
                )
            frames[i] = frame_of_normal(direction / length)
        return cls(
            places,
            frames,
            np.broadcast_to(np.asarray(friction, dtype=float), (k,)),
            np.broadcast_to(np.asarray(bilateral, dtype=bool), (k,)),
        )

    @classmethod
    def of_stance(
        cls,
        stance: Stance,
        placement_world_body: Callable[[str], pin.SE3],
        friction: float | Callable[[Contact], float],
    ) -> ContactPoints:
        """Return corners of the areas in which the patches of a stance touch their surfaces.

        Contacts that bear no force (pre-contacts and released ones) give no points. A sliding contact gives the
        points of the placement that the stance names.

        Args:
            stance: the contacts.
            placement_world_body: placement of a body of the scene in the world, by name.
            friction: Coulomb coefficient, of all contacts or by contact.

        Raises:
            InputError: a patch doesn't touch its surface at all.
        """
        positions, frames, coefficients, bilateral = [], [], [], []
        for contact in stance.contacts:
            if not contact.kind.bears:
                continue
            area = contact_area(contact)
            placement = placement_world_body(contact.surface.body) * contact.surface.placement_body_surface
            frame = placement.rotation @ contact.placement_surface_patch.rotation
            for x, y in area:
                positions.append(placement.act(contact.surface.place(x, y, 0.0).translation))
                frames.append(frame)
                coefficients.append(friction(contact) if callable(friction) else friction)
                bilateral.append(contact.bilateral)
        k = len(positions)
        return cls(
            np.reshape(positions, (k, 3)),
            np.reshape(frames, (k, 3, 3)),
            np.array(coefficients, dtype=float),
            np.array(bilateral, dtype=bool),
        )

    def joined(self, other: ContactPoints) -> ContactPoints:
        """Return these points and others."""
        return ContactPoints(
            np.concatenate([self.positions, other.positions]),
            np.concatenate([self.frames, other.frames]),
            np.concatenate([self.friction, other.friction]),
            np.concatenate([self.bilateral, other.bilateral]),
        )

    def horizontal(self, vertical: ArrayLike = (0.0, 0.0, 1.0), tolerance: float = 1e-6) -> bool:
        """Return whether all surfaces are level and only push up, so that the support polygon decides (section 4.9).

        Args:
            vertical: (3,) unit vector against gravity.
            tolerance: largest angle between a normal and the vertical, rad.
        """
        if self.bilateral.any():
            return False
        tilts = np.linalg.norm(np.cross(self.normals, np.asarray(vertical, dtype=float)), axis=1)
        return bool((tilts <= np.sin(tolerance)).all() and (self.normals @ np.asarray(vertical, dtype=float) > 0).all())


def frame_of_normal(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3, 3) right-handed frame whose third column is a unit normal; of Duff et al. 2017, without branches."""
    x, y, z = normal
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array([[1.0 + sign * x * x * a, b, x], [sign * b, sign + y * y * a, y], [-sign * x, -y, z]])


def pyramid(friction: float, facets: int, *, inscribed: bool = True) -> NDArray[np.float64]:
    """Return edges of a pyramid that replaces a friction cone.

    Args:
        friction: Coulomb coefficient.
        facets: of the pyramid, at least 3.
        inscribed: inside the cone, its edges on it, so that tests with it are conservative; else around it.

    Returns:
        (facets, 3) unit vectors in the contact frame (t1, t2, n), counter-clockwise; one edge of an inscribed pyramid
        and the middle of one facet of a circumscribed one lie in the plane of t1 and n. One vector without friction.

    Raises:
        InputError: fewer than 3 facets.
    """
    if facets < 3:
        raise InputError(f"{facets} facets", element="facets", remedy="Give 3 or more")
    if friction < FRICTIONLESS:
        return np.array([[0.0, 0.0, 1.0]])
    angles = 2.0 * math.pi * np.arange(facets) / facets
    slope = friction
    if not inscribed:
        angles += math.pi / facets
        slope /= math.cos(math.pi / facets)
    rays = np.column_stack([slope * np.cos(angles), slope * np.sin(angles), np.ones(facets)])
    return np.asarray(rays / math.sqrt(1.0 + slope**2))


def pyramid_halfspaces(friction: float, facets: int, *, inscribed: bool = True) -> NDArray[np.float64]:
    """(facets, 3) outward unit normals of the same pyramid's facets: forces f in the contact frame fulfil a.f <= 0.

    Raises:
        InputError: fewer than 3 facets.
    """
    if facets < 3:
        raise InputError(f"{facets} facets", element="facets", remedy="Give 3 or more")
    if friction < FRICTIONLESS:
        return np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, 0, 0], [0, -1.0, 0], [0, 0, -1.0]])
    angles = 2.0 * math.pi * np.arange(facets) / facets
    slope = friction
    if inscribed:
        angles += math.pi / facets
        slope *= math.cos(math.pi / facets)
    rows = np.column_stack([np.cos(angles), np.sin(angles), np.full(facets, -slope)])
    return np.asarray(rows / math.sqrt(1.0 + slope**2))


def force_generators(
    contacts: ContactPoints, facets: int, *, inscribed: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges of the pyramids of all contact points, u_ij of (6.23); the six directions of the axes where bilateral.

    Returns:
        (g, 3) unit forces in the world and (g,) the number of the point of each.
    """
    forces, owners = [], []
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    for i in range(len(contacts)):
        local = axes if contacts.bilateral[i] else pyramid(float(contacts.friction[i]), facets, inscribed=inscribed)
        forces.append(local @ contacts.frames[i].T)
        owners.append(np.full(len(local), i, dtype=np.int64))
    if not forces:
        return np.zeros((0, 3)), np.zeros(0, dtype=np.int64)
    return np.concatenate(forces), np.concatenate(owners)


def wrench_generators(contacts: ContactPoints, facets: int, *, inscribed: bool = True) -> NDArray[np.float64]:
    """(g, 6) wrenches a_ij of these forces about the world's origin: force, then moment OA x f (section 7.6.5)."""
    forces, owners = force_generators(contacts, facets, inscribed=inscribed)
    return np.hstack([forces, np.cross(contacts.positions[owners], forces)])
