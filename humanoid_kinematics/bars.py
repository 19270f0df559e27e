# SPDX-License-Identifier: Apache-2.0
"""Shapes and masses for mechanisms described by their joints alone: hubs on the joints, bars between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_model.description import DEFAULT_COLOUR, Cylinder, Geometry, Inertial
from humanoid_model.uniform_body import uniform_inertia

#: Density of the bars [kg/m^3]: aluminium.
DENSITY = 2700.0


def bars(ends: Sequence[np.ndarray], radius: float) -> tuple[Geometry, ...]:
    """Return a hub along z at the origin and a bar from there to each end.

    Args:
        ends: (3,) points in the link's frame [m].
        radius: of the bars [m]; the hub is twice as thick and four times as long.
    """
    colour = np.array(DEFAULT_COLOUR)
    shapes = [Geometry("hub", Cylinder(2 * radius, 4 * radius), pin.SE3.Identity(), colour)]
    for index, end in enumerate(ends):
        length = float(np.linalg.norm(end))
        if length > 4 * radius:  # else it is inside the hub
            turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), np.asarray(end) / length)
            shapes.append(Geometry(f"bar_{index}", Cylinder(radius, length), pin.SE3(turn.matrix(), end / 2), colour))
    return tuple(shapes)


def bar_inertial(shapes: Sequence[Geometry]) -> Inertial:
    """Return the mass properties of aluminium hubs and bars; overlaps count twice."""
    volume = sum(
        np.pi * shape.shape.radius**2 * shape.shape.length for shape in shapes if isinstance(shape.shape, Cylinder)
    )
    body = uniform_inertia(shapes, DENSITY * volume)
    assert body is not None  # cylinders have a volume
    return Inertial(body.mass, pin.SE3(np.eye(3), body.lever), body.inertia)
