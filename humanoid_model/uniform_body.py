# SPDX-License-Identifier: Apache-2.0
"""Mass properties of bodies of uniform density."""

from __future__ import annotations

from collections.abc import Sequence

import coal
import numpy as np
import pinocchio as pin

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Geometry, HalfSpace, HeightField, Mesh


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
