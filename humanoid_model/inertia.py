# SPDX-License-Identifier: Apache-2.0
"""Mass properties of bodies of uniform density, and whether a matrix can be the rotational inertia of a body."""

from __future__ import annotations

from collections.abc import Sequence

import coal
import numpy as np
import pinocchio as pin

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Geometry, HalfSpace, HeightField, Mesh

#: Published tensors are rounded: a principal moment may miss the bound by this share of the largest one.
_RELATIVE_TOLERANCE = 0.02


def inertia_problem(inertia: np.ndarray) -> str | None:
    """Say why a symmetric matrix is no rotational inertia about a centre of mass; None when it is one.

    A body's principal moments are not negative, and none exceeds the sum of the two others (its density is
    nowhere negative). Both are tested up to 2 % of the largest moment.

    Args:
        inertia: (3, 3) symmetric, kg m^2.
    """
    moments = np.linalg.eigvalsh(inertia)
    tolerance = _RELATIVE_TOLERANCE * np.abs(moments).max() + 1e-12
    named = "(" + ", ".join(f"{moment:.6g}" for moment in moments) + ")"
    if moments[0] < -tolerance:
        return f"inertia is not positive: its principal moments are {named}"
    if moments[2] > moments[0] + moments[1] + tolerance:
        return (
            f"inertia violates the triangle inequality: of its principal moments {named} "
            "the largest exceeds the sum of the others"
        )
    return None


def is_positive(inertia: np.ndarray) -> bool:
    """Return whether no principal moment is negative, up to 2 % of the largest: dynamics can be computed with it.

    Args:
        inertia: (3, 3) symmetric, kg m^2.
    """
    moments = np.linalg.eigvalsh(inertia)
    return bool(moments[0] >= -_RELATIVE_TOLERANCE * np.abs(moments).max() - 1e-12)


def spatial_inertia(mass: float, centre: np.ndarray, inertia: np.ndarray) -> pin.Inertia:
    """Pinocchio's inertia of a body, its numbers as they are: the constructor refuses a moment of -1e-20.

    Args:
        mass: kg.
        centre: (3,) centre of mass, m.
        inertia: (3, 3) about the centre of mass, in the axes of the frame, kg m^2.
    """
    body = pin.Inertia.Zero()
    body.mass = mass
    body.lever = np.array(centre)
    body.inertia = np.array(inertia)
    return body


def uniform_inertia(geometries: Sequence[Geometry], mass: float) -> pin.Inertia | None:
    """Return the inertia of shapes that share a mass by their volumes, in the body frame.

    Args:
        geometries: shapes placed in the body frame; overlaps count twice.
        mass: total mass, kg.

    Returns:
        None where the shapes enclose no volume or an endless one: a half-space, a height field,
        a mesh that is open or inside out.

    Raises:
        InputError: a mesh can't be read.
    """
    total = pin.Inertia.Zero()
    for geometry in geometries:
        solid = solid_inertia(geometry)
        if solid is None:
            return None
        total = total + solid
    if not total.mass > 0.0:
        return None
    return pin.Inertia(mass, total.lever, mass / total.mass * total.inertia)


def solid_inertia(geometry: Geometry) -> pin.Inertia | None:
    """Return the inertia of a shape of density 1 kg/m^3 in the body frame; None as in :func:`uniform_inertia`.

    Raises:
        InputError: a mesh can't be read.
    """
    if isinstance(geometry.shape, (HalfSpace, HeightField)):
        return None
    solid = coal_geometry(geometry.shape)
    volume = float(solid.computeVolume())
    if (isinstance(geometry.shape, Mesh) and not _closed(solid)) or not volume > 0.0:
        return None
    centre = np.array(solid.computeCOM()).reshape(3)
    inertia = pin.Inertia(volume, centre, np.array(solid.computeMomentofInertiaRelatedToCOM()))
    return inertia.se3Action(geometry.placement)


def _closed(mesh: coal.BVHModelBase) -> bool:
    """Whether the mesh's triangles, as vectors of area, sum up to nothing, as those of every closed surface do."""
    corners = np.array([[mesh.tri_indices(i)[k] for k in range(3)] for i in range(mesh.num_tris)])
    points = np.asarray(mesh.vertices())[corners]
    areas = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    total = np.linalg.norm(areas, axis=1).sum()
    return bool(np.linalg.norm(areas.sum(axis=0)) < 1e-6 * total)
