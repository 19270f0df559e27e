# SPDX-License-Identifier: Apache-2.0
"""Vectors and points between the frames of bodies and the world, number by number."""

from __future__ import annotations

import numpy as np

from humanoid_planner.distance.kernel import kernel


@kernel
def to_world(rotations: np.ndarray, body: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector in a body's frame, in the world; rotations of shape (nb, 3, 3)."""
    return (
        rotations[body, 0, 0] * x + rotations[body, 0, 1] * y + rotations[body, 0, 2] * z,
        rotations[body, 1, 0] * x + rotations[body, 1, 1] * y + rotations[body, 1, 2] * z,
        rotations[body, 2, 0] * x + rotations[body, 2, 1] * y + rotations[body, 2, 2] * z,
    )


@kernel
def to_body(rotations: np.ndarray, body: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector in the world, in a body's frame."""
    return (
        rotations[body, 0, 0] * x + rotations[body, 1, 0] * y + rotations[body, 2, 0] * z,
        rotations[body, 0, 1] * x + rotations[body, 1, 1] * y + rotations[body, 2, 1] * z,
        rotations[body, 0, 2] * x + rotations[body, 1, 2] * y + rotations[body, 2, 2] * z,
    )


@kernel
def difference(
    rotations: np.ndarray,
    origins: np.ndarray,
    a: int,
    b: int,
    p0: float,
    p1: float,
    p2: float,
    q0: float,
    q1: float,
    q2: float,
) -> tuple[float, float, float]:
    """From a point q of body b to a point p of body a, each in its body's frame; the vector is in the world."""
    x0, x1, x2 = to_world(rotations, a, p0, p1, p2)
    y0, y1, y2 = to_world(rotations, b, q0, q1, q2)
    return (
        (origins[a, 0] - origins[b, 0]) + (x0 - y0),
        (origins[a, 1] - origins[b, 1]) + (x1 - y1),
        (origins[a, 2] - origins[b, 2]) + (x2 - y2),
    )
