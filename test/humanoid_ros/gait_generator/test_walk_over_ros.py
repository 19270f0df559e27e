# SPDX-License-Identifier: Apache-2.0
"""A whole robot's walk over DDS: planned by the gait generator, played to look at, walked by the simulator."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from humanoid_stack.action import GenerateGait  # noqa: E402
from humanoid_stack.msg import ContactForces, Gait, GaitRequest, GaitSolverOptions, WholeBodyTrajectory  # noqa: E402
from humanoid_stack.srv import SetState  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from humanoid_model import load_robot  # noqa: E402
from humanoid_ros.gait_generator.gait_replay import trajectory_posture  # noqa: E402
from humanoid_ros.messages.conversions import array  # noqa: E402

pytestmark = [pytest.mark.ros, pytest.mark.slow]
SIMULATOR_ARGUMENTS = ("-p", "scene:=bip_walk", "-p", "real_time_factor:=0.0")
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
REQUEST = GaitRequest(model="bip", lift=True, options=GaitSolverOptions(method="direct", time_limit=Duration(sec=300)))


@pytest.fixture(scope="module")
def gait(gait_generator: Any) -> Gait:
    told: list[Any] = []
    action = gait_generator.action(GenerateGait, "generate_gait")
    goal = GenerateGait.Goal(request=REQUEST)
    handle = gait_generator.result(action.send_goal_async(goal, lambda item: told.append(item.feedback)))
    answer = gait_generator.result(handle.get_result_async(), 300.0)
    assert answer.result.success, answer.result.message
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert any(item.stage.startswith("lift: filter pass") for item in told)
    return answer.result.gait


def test_it_is_played_in_space(gait_generator: Any, gait: Gait) -> None:
    trajectory = gait_generator.listen(WholeBodyTrajectory, "trajectory", LATCHED).wait()
    assert len(trajectory.base) == len(gait.trajectory.base)
    bases = gait_generator.listen(PoseStamped, "gait_base", 1000)
    joints = gait_generator.listen(JointState, "gait_joint_states", 1000)
    contacts = gait_generator.listen(ContactForces, "gait_contacts", 1000)
    frames = gait_generator.listen(TFMessage, "/tf", 1000)
    assert gait_generator.call(Trigger, "replay_gait", Trigger.Request()).success
    end = array(trajectory.base[-1].position)
    bases.wait(lambda message: np.allclose(array(message.pose.position), end, atol=1e-9))
    y = [message.pose.position.y for message in bases.messages]
    assert min(y) < -0.02 < 0.02 < max(y)
    roll = trajectory.joints.joint_names.index("r_hip_roll")
    assert np.ptp([message.position[roll] for message in joints.messages]) > 0.05
    pushed = [sum(force.force.z for force in message.contacts) for message in contacts.messages]
    assert min(pushed) > 600.0
    robot = load_robot("bip")
    places = robot.link_placements(trajectory_posture(trajectory, robot, len(trajectory.base) - 1))
    root = robot.description.root

    def arrived(message: TFMessage) -> bool:
        ends = [item.transform.translation for item in message.transforms if item.child_frame_id == f"gait/{root}"]
        return bool(ends) and np.allclose(array(ends[0]), places[root].translation, atol=1e-6)

    frames.wait(arrived)


def test_a_cancel_ends_a_lift_and_gives_the_phases(gait_generator: Any, gait: Gait) -> None:
    told: list[Any] = []
    action = gait_generator.action(GenerateGait, "generate_gait")
    goal = GenerateGait.Goal(request=REQUEST)
    handle = gait_generator.result(action.send_goal_async(goal, lambda item: told.append(item.feedback)))
    pending = handle.get_result_async()
    end = time.monotonic() + 300.0
    while not any(item.stage.startswith("lift") for item in told):
        assert time.monotonic() < end
        time.sleep(0.01)
    gait_generator.result(handle.cancel_goal_async(), 60.0)
    answer = gait_generator.result(pending, 60.0)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.message == "Cancelled."
    assert len(answer.result.gait.phases) == len(gait.phases)
    assert not answer.result.gait.trajectory.joints.points


@pytest.mark.feature("003-F111")
def test_the_simulators_controller_walks_it(simulator: Any, gait: Gait) -> None:
    trajectory = gait.trajectory
    places = simulator.listen(Odometry, "odometry", 1000)
    request = SetState.Request(name="bip", set_pose=True, pose=trajectory.base[0])
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
