# SPDX-License-Identifier: Apache-2.0
"""Arrays that the kernels of distances work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_POINTS = 480
"""Corners of the polytope that grows in penetration; coaxial bodies, with many directions equal, use all of them."""
MAX_FACES = 2 * MAX_POINTS
"""At least the faces of a closed triangulated surface with so many corners."""


class Workspace(NamedTuple):
    """Arrays for one call at a time.

    Attributes:
        simplex: corners of GJK's simplex, each with a number, the point nearest to the origin, and scratch, shape
            (6, 4).
        n: unit vector to start from, and normal found, shape (3,).
        witnesses: points of two polyhedra that their distance is taken between, each in its body's frame, shape (2, 3).
        points: corners of the polytope, shape (MAX_POINTS, 3).
        planes: outward normals and offsets of its faces, shape (MAX_FACES, 4).
        corners: of its faces, shape (MAX_FACES, 3).
        rim: directed edges around the faces that go, shape (3 MAX_FACES, 2).
        best: greatest gap of the cores in penetration [m] and the unit vector across it, shape (4,).
        rows: features under the last direction, features of the best, features that the last walk started from,
            shape (6,).
    """

    simplex: NDArray[np.float64]
    n: NDArray[np.float64]
    witnesses: NDArray[np.float64]
    points: NDArray[np.float64]
    planes: NDArray[np.float64]
    corners: NDArray[np.int64]
    rim: NDArray[np.int64]
    best: NDArray[np.float64]
    rows: NDArray[np.int64]


def workspace() -> Workspace:
    """Return the new arrays, contents undefined."""
    return Workspace(
        simplex=np.zeros((6, 4)),
        n=np.empty(3),
        witnesses=np.empty((2, 3)),
        points=np.empty((MAX_POINTS, 3)),
        planes=np.empty((MAX_FACES, 4)),
        corners=np.empty((MAX_FACES, 3), dtype=np.int64),
        rim=np.empty((3 * MAX_FACES, 2), dtype=np.int64),
        best=np.empty(4),
        rows=np.empty(6, dtype=np.int64),
    )
