# SPDX-License-Identifier: Apache-2.0
"""How low a geometry reaches."""

from __future__ import annotations

import math

import coal
import numpy as np
import pinocchio as pin


def lowest_point(geometry: coal.CollisionGeometry, placement: pin.SE3) -> float:
    """Smallest z in metres of a geometry at a placement; minus infinity for a half-space.

    Args:
        geometry: box, sphere, capsule, cylinder, ellipsoid, half-space or mesh.
        placement: of the geometry in the frame whose z counts.
    """
    down = -placement.rotation[2]  # the frame's -z, in the geometry's axes
    z = float(placement.translation[2])
    if isinstance(geometry, coal.Box):
        return z - float(np.abs(down) @ geometry.halfSide)
    if isinstance(geometry, coal.Sphere):
        return z - float(geometry.radius)
    if isinstance(geometry, coal.Capsule):
        return z - float(geometry.radius + geometry.halfLength * abs(down[2]))
    if isinstance(geometry, coal.Cylinder):
        across = math.hypot(down[0], down[1])
        return z - float(geometry.radius * across + geometry.halfLength * abs(down[2]))
    if isinstance(geometry, coal.Ellipsoid):
        return z - float(np.linalg.norm(down * geometry.radii))
    if isinstance(geometry, coal.Halfspace):
        return -math.inf
    return z - float((geometry.vertices() @ down).max())
