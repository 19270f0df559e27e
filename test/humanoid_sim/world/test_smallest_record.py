# SPDX-License-Identifier: Apache-2.0
"""The smallest record of a kind has the element types and dimensions of its fields."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from humanoid_sim.world.smallest_record import smallest


class Own(NamedTuple):
    """A record."""

    count: int
    names: NDArray[np.int64]
    flags: NDArray[np.bool_]
    places: NDArray[np.float64]


def test_types_come_from_annotations_and_dimensions_from_the_caller() -> None:
    own = smallest(Own, places=3)
    assert own.count == 1
    assert [(array.dtype, array.shape) for array in own[1:]] == [
        (np.dtype(np.int64), (1,)), (np.dtype(np.bool_), (1,)), (np.dtype(np.float64), (1, 1, 1))
    ]  # fmt: skip


def test_a_field_that_is_not_there_is_noticed() -> None:
    with pytest.raises(AssertionError, match="Own has no speeds"):
        smallest(Own, speeds=2)
