# SPDX-License-Identifier: Apache-2.0
"""Shapes of a robot or scene as nodes of the page: each made once, then only moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
import viser

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from humanoid_model.shape_triangles import Triangles, textured_mesh, triangles


def wxyz(placement: pin.SE3) -> np.ndarray:
    """Return the orientation of a placement as viser's quaternion (w, x, y, z)."""
    x, y, z, w = pin.SE3ToXYZQUAT(placement)[3:]
    return np.array([w, x, y, z])


def add_shape(
    scene: viser.SceneApi,
    name: str,
    shape: Shape | Triangles,
    placement: pin.SE3,
    colour: Sequence[float] | np.ndarray,
    cast_shadow: bool = True,
) -> viser.SceneNodeHandle:
    """Draw one shape.

    Args:
        scene: Scene of the page or of one of its clients.
        name: Path of the node, e.g. "/robots/hrp2/WAIST/0".
        shape: A shape of a robot description or of a scene; sizes in metres.
        placement: Placement of the shape in its parent node.
        colour: (4,) red, green, blue and opacity, each in [0, 1].
        cast_shadow: Whether it throws a shadow.

    Returns:
        The node, which the caller moves or removes.

    Raises:
        InputError: A mesh can't be read, or the shape is of an unknown kind.
    """
    red, green, blue, opacity = (float(c) for c in colour)
    common: dict[str, Any] = {
        "color": (red, green, blue),
        "opacity": None if opacity >= 1.0 else opacity,
        "position": placement.translation,
        "wxyz": wxyz(placement),
        "cast_shadow": cast_shadow,
    }
    if isinstance(shape, Box):
        return scene.add_box(name, dimensions=tuple(shape.size), **common)
    if isinstance(shape, Sphere):
        return scene.add_icosphere(name, radius=float(shape.radius), **common)
    if isinstance(shape, Cylinder):
        return scene.add_cylinder(name, radius=float(shape.radius), height=float(shape.length), **common)
    textured = textured_mesh(shape)
    if textured is not None:
        return scene.add_mesh_trimesh(
            name, textured, position=placement.translation, wxyz=wxyz(placement), cast_shadow=cast_shadow
        )
    mesh = triangles(shape)
    return scene.add_mesh_simple(
        name,
        mesh.vertices,
        mesh.faces,
        flat_shading=not isinstance(shape, (Capsule, Ellipsoid)),
        side="double" if isinstance(shape, Triangles) else "front",
        **common,
    )
