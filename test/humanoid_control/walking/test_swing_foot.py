# SPDX-License-Identifier: Apache-2.0
"""The path of a swinging foot."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.testing import assert_allclose

from humanoid_control.walking import Footstep
from humanoid_control.walking.walking_pattern import swing_placement


def test_it_leaves_and_lands_at_rest() -> None:
    """Ends in place with zero velocity and acceleration, by differences; 5 cm high half way; turns the short way."""
    origin, goal = Footstep("sole", 0.1, 0.2, math.radians(170.0)), Footstep("sole", 0.5, 0.1, math.radians(-170.0))
    path = [swing_placement(origin, goal, 0.05, float(s)) for s in np.linspace(0.0, 1.0, 1001)]
    assert_allclose(path[0].homogeneous, origin.placement.homogeneous, atol=1e-12)
    assert_allclose(path[-1].homogeneous, goal.placement.homogeneous, atol=1e-12)
    assert_allclose(path[500].translation, [0.3, 0.15, 0.05], atol=1e-12)
    assert_allclose(path[500].rotation, pin.utils.rotate("z", math.pi), atol=1e-12)
    places = np.array([placement.translation for placement in path])
    velocity = np.gradient(places, 1e-3, axis=0)
    acceleration = np.gradient(velocity, 1e-3, axis=0)
    for end in (0, -1):
        assert np.abs(velocity[end]).max() < 1e-4
        assert np.abs(acceleration[end]).max() < 0.05
    assert np.abs(np.diff(acceleration, axis=0)).max() < 0.05
    assert places[:, 2].min() >= 0.0
