# SPDX-License-Identifier: Apache-2.0
"""Vectors and points between the frames of bodies and the world, number by number, for the kernels of distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from humanoid_model.compiling import plain_arguments, uncounted

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a kernel of distances, once for all constants that it is called with.

    They pass a dozen arrays to functions of some 20 ns, where counting took longer than the arithmetic (a walk 430 ns
    with, 160 ns without).
    """
    compiled: Function = plain_arguments(uncounted()(function))
    return compiled


Vector = tuple[float, float, float]
"""A vector as kernels hand it on: three numbers, which need no array."""


class Frames(NamedTuple):
    """Placements of bodies in the world.

    Attributes:
        rotations: orientations, shape (nb, 3, 3).
        origins: shape (nb, 3) [m].
    """

    rotations: NDArray[np.float64]
    origins: NDArray[np.float64]


@kernel
def to_world(frames: Frames, body: int, v: Vector) -> Vector:
    """Return a vector in a body's frame, in the world."""
    rotations = frames.rotations
    x, y, z = v
    return (
        rotations[body, 0, 0] * x + rotations[body, 0, 1] * y + rotations[body, 0, 2] * z,
        rotations[body, 1, 0] * x + rotations[body, 1, 1] * y + rotations[body, 1, 2] * z,
        rotations[body, 2, 0] * x + rotations[body, 2, 1] * y + rotations[body, 2, 2] * z,
    )


@kernel
def to_body(frames: Frames, body: int, v: Vector) -> Vector:
    """Return a vector in the world, in a body's frame."""
    rotations = frames.rotations
    x, y, z = v
    return (
        rotations[body, 0, 0] * x + rotations[body, 1, 0] * y + rotations[body, 2, 0] * z,
        rotations[body, 0, 1] * x + rotations[body, 1, 1] * y + rotations[body, 2, 1] * z,
        rotations[body, 0, 2] * x + rotations[body, 1, 2] * y + rotations[body, 2, 2] * z,
    )


@kernel
def difference(frames: Frames, a: int, b: int, p: Vector, q: Vector) -> Vector:
    """From a point q of body b to a point p of body a, each in its body's frame; the vector is in the world."""
    origins = frames.origins
    x0, x1, x2 = to_world(frames, a, p)
    y0, y1, y2 = to_world(frames, b, q)
    return (
        (origins[a, 0] - origins[b, 0]) + (x0 - y0),
        (origins[a, 1] - origins[b, 1]) + (x1 - y1),
        (origins[a, 2] - origins[b, 2]) + (x2 - y2),
    )


@kernel
def opposite(v: Vector) -> Vector:
    """Return the vector the other way."""
    return -v[0], -v[1], -v[2]


@kernel
def vector(rows: np.ndarray, row: int, first: int) -> Vector:
    """Three numbers of a row of an array (k, n), from a column on."""
    return rows[row, first], rows[row, first + 1], rows[row, first + 2]


@kernel
def vector_of(n: np.ndarray) -> Vector:
    """Return the three numbers of an array (3,)."""
    return n[0], n[1], n[2]
