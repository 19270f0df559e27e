# SPDX-License-Identifier: Apache-2.0
"""Compiled code reads the same clock as Python."""

import time

import numpy as np
import pytest

from humanoid_sim.contact.clock import seconds


def test_it_is_the_clock_of_python() -> None:
    work = np.zeros(2, dtype=np.int64)
    first = seconds(work)
    before = time.perf_counter()
    time.sleep(0.05)
    elapsed = time.perf_counter() - before
    second = seconds(work)
    assert second - first == pytest.approx(elapsed, abs=0.02)
