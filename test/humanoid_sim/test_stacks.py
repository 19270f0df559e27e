# SPDX-License-Identifier: Apache-2.0
"""Boxes on each other, face to face."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.scenes import box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_sim import Simulation


@pytest.mark.parametrize("masses", [np.ones(10), np.logspace(0.0, 2.0, 10)])
def test_a_stack_touches_with_four_corners_and_rests(masses: np.ndarray) -> None:
    """Each face carries what is above it, by its corners; forces of one step solve the next, and nothing sinks."""
    boxes = [box(f"box{i}", (0.2, 0.2, 0.2), place(0, 0, 0.1 + 0.2 * i), m) for i, m in enumerate(masses.tolist())]
    stack = Simulation(scene(floor(), *boxes))
    stack.run(0.2)
    before = stack.q
    idle = 0
    for _ in range(50):
        stack.step()
        assert len(stack.contacts) == 40
        assert stack.residual <= 1e-9
        idle += int(stack.stepping.stepper.groups.iterations[0] == 0)
    assert idle >= 20
    assert_allclose(stack.q, before, atol=1e-9)
    assert_allclose(np.abs(stack.contacts.position[:, :2]), 0.1, atol=1e-6)
    heights = stack.contacts.position[:, 2]
    for i in range(10):
        carried = stack.contacts.force[np.abs(heights - 0.2 * i) < 0.01, 2].sum()
        assert_allclose(abs(carried), 9.8 * masses[i:].sum(), rtol=1e-5)
