# SPDX-License-Identifier: Apache-2.0
"""Order of the entries of block patterns."""

import numpy as np
import scipy.sparse
from numpy.testing import assert_array_equal

from humanoid_planner.optimisation.program import block_pattern


def test_entries_come_block_by_block_and_row_by_row() -> None:
    first, second = np.arange(1, 7).reshape(2, 3), np.arange(7, 9).reshape(2, 1)
    pattern = block_pattern([(1, 2, 0, 3), (0, 2, 4, 1), (2, 0, 0, 2)], (3, 5))
    values = np.concatenate([first.ravel(), second.ravel()])
    matrix = scipy.sparse.coo_array((values, (pattern.row, pattern.col)), shape=pattern.shape).toarray()
    expected = np.zeros((3, 5))
    expected[1:3, 0:3] = first
    expected[0:2, 4:5] = second
    assert_array_equal(matrix, expected)


def test_no_block() -> None:
    assert block_pattern([], (2, 3)).nnz == 0
