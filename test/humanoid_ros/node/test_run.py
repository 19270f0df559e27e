# SPDX-License-Identifier: Apache-2.0
"""What a node's main function does around it."""

from __future__ import annotations

import gc
import weakref

import pytest

run = pytest.importorskip("humanoid_ros.node.run", reason="ROS 2 is not installed")


class Ring:
    """Refers to itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _unfrozen() -> object:
    yield
    gc.unfreeze()


def test_what_stays_is_looked_at_no_more() -> None:
    before = len(gc.get_objects())
    run.settle_memory()
    assert len(gc.get_objects()) < 0.1 * before


def test_garbage_of_before_is_freed_also_when_it_stayed_once() -> None:
    ring = Ring()
    run.settle_memory()
    gone = weakref.ref(ring)
    del ring
    gc.collect()
    assert gone() is not None  # what this is about
    run.settle_memory()
    assert gone() is None
