# SPDX-License-Identifier: Apache-2.0
"""Mass properties of bodies of uniform density."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Geometry, HalfSpace


def uniform_inertia(geometries: Sequence[Geometry], mass: float) -> pin.Inertia | None:
    """Inertia of shapes that share a mass by their volumes, in the body frame.

    Args:
        geometries: shapes placed in the body frame; overlaps count twice.
        mass: total mass, kg.

    Returns:
        None where the shapes enclose no volume, or an endless one.

    Raises:
        InputError: a mesh can't be read.
    """
    solids = []
    for geometry in geometries:
        if isinstance(geometry.shape, HalfSpace):
            return None
        solid = coal_geometry(geometry.shape)
        solids.append((float(solid.computeVolume()), geometry.placement, solid))
    volume = sum(part for part, _, _ in solids)
    if not (np.isfinite(volume) and volume > 0.0):
        return None
    total = pin.Inertia.Zero()
    for part, placement, solid in solids:
        # coal gives the moments of unit density.
        unit = np.array(solid.computeMomentofInertiaRelatedToCOM())
        share = pin.Inertia(
            mass * part / volume, np.array(solid.computeCOM()).reshape(3), mass / volume * unit
        )
        total = total + share.se3Action(placement)
    return total
