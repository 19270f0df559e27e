# SPDX-License-Identifier: Apache-2.0
"""Patterns of Jacobians that are made of dense blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse


def block_pattern(blocks: Sequence[tuple[int, int, int, int]], shape: tuple[int, int]) -> scipy.sparse.coo_array:
    """Return the pattern of a matrix of dense blocks, whose entries come block by block and row by row within a block.

    Args:
        blocks: first row, number of rows, first column and number of columns of each block; no two overlap.
        shape: of the whole matrix.
    """
    rows = [np.repeat(np.arange(row, row + height), width) for row, height, _, width in blocks]
    columns = [np.tile(np.arange(column, column + width), height) for _, height, column, width in blocks]
    indices = np.concatenate([np.zeros(0, dtype=np.int64), *rows]), np.concatenate([np.zeros(0, np.int64), *columns])
    return scipy.sparse.coo_array((np.ones(len(indices[0])), indices), shape=shape)
