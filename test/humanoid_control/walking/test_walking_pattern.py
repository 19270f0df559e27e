# SPDX-License-Identifier: Apache-2.0
"""A walk as a motion of the whole robot: it moves as the walk does, and its soles stand where they should."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.execution.motion_check import MotionBounds, sole_faults
from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_model import load_robot
from humanoid_model.whole_body_dynamics import multibody_zero_moment_point


@pytest.mark.slow
def test_its_zero_moment_point_is_the_walks_and_its_soles_stand_still() -> None:
    robot = load_robot("hrp2", geometry=False)
    walk = generate_walk(robot, plan_footsteps(robot, "half_sitting", steps=2, length=0.15), "half_sitting")
    motion = walk.motion(robot)
    assert sole_faults(motion, MotionBounds(slip=1e-4)) == []
    points, _ = multibody_zero_moment_point(robot.model, motion.q, motion.v, motion.a)
    expected = np.array([np.interp(motion.times, walk.times, column) for column in walk.zmp.T]).T
    inner = slice(2, -2)
    np.testing.assert_allclose(points[inner], expected[inner], atol=0.01)
    right = [span for span in motion.contacts if span.location == "right_sole"]
    assert [span.start for span in right] == pytest.approx(walk.times[np.flatnonzero(np.diff(
        np.append(0, walk.support[:, walk.soles.index("right_sole")].astype(int))) == 1)])
    first = pin.XYZQUATToSE3(walk.base[0])
    np.testing.assert_allclose(robot.placement_base(motion.q[0]).homogeneous, first.homogeneous, atol=1e-9)
