# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from humanoid_sim import Simulation
from humanoid_studies.simulator.leaning import JointGoal, joint_trajectory, lean


def test_goals_are_reached_by_both_sides_and_the_others_stay() -> None:
    names = ("RARM_JOINT0", "LARM_JOINT0", "HEAD_JOINT0")
    goals = [JointGoal(1.0, {"*ARM_JOINT0": -0.5}), JointGoal(2.0, {"HEAD_JOINT0": 0.3})]
    trajectory = joint_trajectory(names, np.array([0.1, 0.2, 0.0]), goals)
    np.testing.assert_allclose(trajectory.at(1.0).positions, [-0.5, -0.5, 0.0])
    np.testing.assert_allclose(trajectory.at(2.0).positions, [-0.5, -0.5, 0.3])
    np.testing.assert_allclose(trajectory.at(1.0).velocities, 0.0, atol=1e-12)


def test_what_is_seen_of_a_robot_that_just_stands() -> None:
    simulation = Simulation("lean_over_table")
    seen = lean(simulation, [JointGoal(0.05, {})], 0.1, instants=(0.1,))
    assert seen.time[-1] == pytest.approx(0.1)
    assert seen.feet_load[-1] == pytest.approx(58.0 * 9.8, rel=0.05)
    assert np.abs(seen.slip).max() < 1e-4
    assert np.abs(seen.heel_height).max() < 1e-3
    assert seen.hand_load.max() == seen.legs_load.max() == 0.0
    assert np.isnan(seen.first(seen.legs_load > 0.0))
    assert seen.first(seen.feet_load > 0.0, after=0.05) == pytest.approx(0.05)
    (panel,) = seen.views
    assert len(panel.curves) > 30
