# SPDX-License-Identifier: Apache-2.0
"""Records of arrays for compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys
from numpy.typing import NDArray

from humanoid_sim import Simulation
from humanoid_sim.world.borrowed_arrays import BorrowedRecord, BorrowedType, smallest


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


class Blocks(NamedTuple):
    factor: int
    matrices: NDArray[np.float64]
    chosen: NDArray[np.bool_]
    traces: NDArray[np.float64]


KIND = BorrowedType("Example", {"blocks": Blocks(1, np.zeros((1, 1, 1)), np.zeros(1, dtype=bool), np.zeros(1))})


def _fill_traces(record):
    blocks = record.blocks
    for i in range(blocks.traces.size):
        matrix = blocks.matrices[i]
        if blocks.chosen[i]:
            for r in range(matrix.shape[0]):
                blocks.traces[i] += blocks.factor * matrix[r, r]


@pytest.mark.parametrize("counts", [True, False])
def test_compiled_code_reads_and_writes_the_arrays_and_counts_no_references(counts):
    blocks = Blocks(3, np.arange(60.0).reshape(4, 3, 5)[:, :, :3].copy(), np.arange(4) % 2 == 0, np.zeros(4))
    kernel = njit(_nrt=counts)(_fill_traces)
    kernel(BorrowedRecord(KIND, {"blocks": blocks}))
    expected = np.where(blocks.chosen, 3.0 * np.trace(blocks.matrices, axis1=1, axis2=2), 0.0)
    np.testing.assert_array_equal(blocks.traces, expected)
    assert "call void @NRT_" not in kernel.inspect_llvm(kernel.signatures[0])


def test_arrays_of_another_type_are_refused_by_name():
    blocks = Blocks(3, np.zeros((1, 1)), np.zeros(1, dtype=bool), np.zeros(1))
    with pytest.raises(TypeError, match=r"'blocks' is .*2d.*, not .*3d"):
        BorrowedRecord(KIND, {"blocks": blocks})


@pytest.mark.parametrize("scene", ["stand", "bip_screws_stand", "boxes"])
def test_steps_leave_no_memory_behind(scene):
    simulation = Simulation(scene)
    simulation.run(0.05)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        simulation.run(0.05)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc > before.alloc
    assert after.alloc - before.alloc == after.free - before.free
