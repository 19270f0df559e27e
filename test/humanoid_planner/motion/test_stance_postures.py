# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from humanoid_model import Contact, Stance, load_robot, load_scene
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion import MotionSettings, stances_of, with_reserve

pytestmark = pytest.mark.feature("001-F250")


def test_a_robot_with_reserve_has_smaller_patches_and_weaker_joints() -> None:
    robot = load_robot("hrp2")
    inner = with_reserve(robot, MotionSettings(reserve=0.01, effort=0.8))
    for name, location in robot.contacts.items():
        size = np.ptp(inner.contacts[name].patch, axis=0)
        if len(location.patch) > 2:
            np.testing.assert_allclose(size, np.ptp(location.patch, axis=0) - 0.02, atol=1e-12)
        np.testing.assert_array_equal(location.patch, load_robot("hrp2").contacts[name].patch)
    weak, strong = RobotKinematics(inner).effort, RobotKinematics(robot).effort
    joints = np.isfinite(strong)
    assert joints.sum() == len(robot.joint_names)
    np.testing.assert_allclose(weak[joints], 0.95 * 0.8 * strong[joints])


def test_its_stances_are_those_of_the_robot_itself() -> None:
    robot, scene = load_robot("hrp2"), load_scene("stand")
    inner = with_reserve(robot)
    stance = Stance((Contact(inner.contacts["left_sole"], scene.surfaces[0], 0.1, 0.2, 0.3),))
    (own,) = stances_of(robot, [stance])
    assert own.contacts[0].location is robot.contacts["left_sole"]
    assert (own.contacts[0].x, own.contacts[0].y, own.contacts[0].theta) == pytest.approx((0.1, 0.2, 0.3))
