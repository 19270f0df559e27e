# SPDX-License-Identifier: Apache-2.0
"""What a shape of a description collides as."""

from __future__ import annotations

from humanoid_model.description import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from humanoid_sim.detection.polytope import Polytope
from humanoid_sim.detection.shape_table import SolidShape


def solids_of(shape: Shape) -> list[SolidShape]:
    """The convex parts or the mesh that a shape collides as.

    Raises:
        InputError: a mesh file can't be read.
    """
    if isinstance(shape, Mesh):
        return [Polytope.of_shape(shape)]
    assert isinstance(shape, (Box, Sphere, Capsule, Cylinder))
    return [shape]
