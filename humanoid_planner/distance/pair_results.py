# SPDX-License-Identifier: Apache-2.0
"""Pairs of volumes and what their distances are, in flat arrays that the kernels of the narrow phase read and write."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class PairList(NamedTuple):
    """Pairs of one kind.

    Attributes:
        pairs: indices of two volumes, or of a volume and of what else the pair has, and more that the kernel of the
            kind wants, shape (k, 2 or 3).
        places: of the pairs' results in the arrays of :class:`PairResults`, shape (k,).
        bodies: that move each volume, shape (n,).
    """

    pairs: NDArray[np.int64]
    places: NDArray[np.int64]
    bodies: NDArray[np.int64]


class PairResults(NamedTuple):
    """Distances of all pairs, of whatever kind.

    Attributes:
        rows: features of the last answers, to start from, -1 for none, shape (m, 2).
        normals: unit outward normals of the second volumes, that is from b to a, in the world, shape (m, 3).
        points: of both volumes in the world, shape (m, 2, 3) [m].
        values: signed distances, shape (m,) [m].
        slopes: derivatives of the values by the distances, shape (m,).
    """

    rows: NDArray[np.int64]
    normals: NDArray[np.float64]
    points: NDArray[np.float64]
    values: NDArray[np.float64]
    slopes: NDArray[np.float64]
