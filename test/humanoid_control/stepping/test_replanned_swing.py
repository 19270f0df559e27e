# SPDX-License-Identifier: Apache-2.0
"""The way of a swinging foot is the quintic, and goes on smoothly when its goal moves."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control.stepping.replanned_swing import ReplannedSwing

START, GOAL = np.array([0.0, 0.1, 0.0, 0.0]), np.array([0.3, 0.15, 0.0, 0.2])


def test_towards_a_goal_that_stays_it_is_the_quintic():
    foot, dt, duration = ReplannedSwing(START, 0.06, 0.0), 1e-4, 0.5
    for k in range(2500):
        foot.advance(GOAL, k * dt, duration, dt, 0.0)
    s = 0.5
    quintic = START + (GOAL - START) * (10 * s**3 - 15 * s**4 + 6 * s**5)
    np.testing.assert_allclose(foot.position[[0, 1, 3]], quintic[[0, 1, 3]], atol=1e-4)
    speed = (GOAL - START) / duration * (30 * s**2 - 60 * s**3 + 30 * s**4)
    np.testing.assert_allclose(foot.velocity[[0, 1, 3]], speed[[0, 1, 3]], atol=1e-3)


def test_it_clears_the_ground_and_lands_on_time_at_its_speed():
    foot, dt, heights = ReplannedSwing(START, 0.06, 0.0), 1e-3, []
    for k in range(500):
        foot.advance(GOAL, k * dt, 0.5, dt, 0.1)
        heights.append(foot.position[2])
    assert max(heights) == pytest.approx(0.06, abs=2e-3)
    assert foot.position[2] == pytest.approx(0.0, abs=1e-3)
    np.testing.assert_allclose(foot.position[:2], GOAL[:2], atol=1e-3)
    assert -0.12 < foot.velocity[2] < 0.0
    before = foot.position[2]
    for k in range(500, 600):
        foot.advance(GOAL, k * dt, 0.5, dt, 0.1)
    assert before - foot.position[2] > 0.02, "it goes on down where there is no ground, ever faster"
    assert foot.velocity[2] < -0.4
    np.testing.assert_allclose(foot.position[:2], GOAL[:2], atol=1e-3)


def test_a_goal_that_moves_bends_the_way_without_a_jump():
    foot, dt = ReplannedSwing(START, 0.06, 0.0), 1e-3
    before = foot.velocity.copy()
    for k in range(500):
        foot.advance(GOAL + (k > 200) * np.array([0.1, -0.02, 0.0, 0.0]), k * dt, 0.5, dt, 0.1)
        assert np.abs(foot.velocity - before).max() < 0.03
        before = foot.velocity.copy()
    np.testing.assert_allclose(foot.position[:2], [0.4, 0.13], atol=2e-3)
