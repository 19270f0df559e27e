# SPDX-License-Identifier: Apache-2.0
"""A walk over DDS: planned by the gait generator, walked by the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from humanoid_stack.action import GenerateGait  # noqa: E402
from humanoid_stack.msg import Gait, GaitRequest  # noqa: E402
from humanoid_stack.srv import SetState  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402

from humanoid_ros.messages.conversions import array  # noqa: E402

pytestmark = [pytest.mark.ros, pytest.mark.slow]
SIMULATOR_ARGUMENTS = ("-p", "scene:=stand", "-p", "real_time_factor:=0.0")
REQUEST = GaitRequest(robot="hrp2", length=0.25, steps=2, start=True, stop=True, time_limit=Duration(sec=300))


@pytest.fixture(scope="module")
def gait(gait_generator: Any) -> Gait:
    action = gait_generator.action(GenerateGait, "generate_gait")
    handle = gait_generator.result(action.send_goal_async(GenerateGait.Goal(request=REQUEST)))
    answer = gait_generator.result(handle.get_result_async(), 300.0)
    assert answer.result.success, answer.result.message
    return answer.result.gait


@pytest.mark.feature("003-F111")
def test_the_simulators_controller_walks_it(simulator: Any, gait: Gait) -> None:
    trajectory = gait.trajectory
    places = simulator.listen(Odometry, "odometry", 1000)
    request = SetState.Request(name="hrp2", set_pose=True, pose=trajectory.base[0])
    request.joint_names = trajectory.joints.joint_names
    request.joint_positions = trajectory.joints.points[0].positions
    answer = simulator.call(SetState, "set_state", request)
    assert answer.success, answer.message
    action = simulator.action(FollowJointTrajectory, "whole_body_controller/follow_joint_trajectory")
    handle = simulator.result(action.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory.joints)))
    result = simulator.result(handle.get_result_async(), 120.0).result
    assert result.error_code == FollowJointTrajectory.Result.SUCCESSFUL, result.error_string
    after = places.messages[-1].header.stamp.sec
    stood = places.wait_new(lambda message: message.header.stamp.sec > after + 2, 200.0)
    np.testing.assert_allclose(array(stood.pose.pose.position), array(trajectory.base[-1].position), atol=0.01)
    assert np.abs(array(stood.twist.twist.linear)).max() < 0.01
