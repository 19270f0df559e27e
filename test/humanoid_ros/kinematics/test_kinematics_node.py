# SPDX-License-Identifier: Apache-2.0
"""The kinematics node over DDS: loaded, driven, edited, switched, recorded, replayed, and told nonsense."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus  # noqa: E402
from geometry_msgs.msg import PoseStamped, Twist  # noqa: E402
from humanoid_stack.action import ReplayMotion  # noqa: E402
from humanoid_stack.msg import (  # noqa: E402
    DeviceState,
    MechanismCommand,
    MechanismLink,
    MechanismState,
    MechanismTarget,
)
from humanoid_stack.srv import LoadMechanism, SelectDevice, SetMechanismParameters  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParametersAtomically  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from sensor_msgs.msg import JointState, Joy  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

pytestmark = pytest.mark.ros
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NAN = float("nan")
CROSS = {"name": "cross_test"}


def load(node: Any, path: str = "", text: str = "", name: str = "") -> Any:
    return node.call(LoadMechanism, "load_mechanism", LoadMechanism.Request(path=path, text=text, name=name))


def set_parameter(node: Any, **values: Any) -> Any:
    parameters = []
    for name, value in values.items():
        if isinstance(value, list):
            wrapped = ParameterValue(type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=value)
        else:
            wrapped = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)
        parameters.append(Parameter(name=name, value=wrapped))
    request = SetParametersAtomically.Request(parameters=parameters)
    return node.call(SetParametersAtomically, "kinematics/set_parameters_atomically", request).result


def position(joints: JointState, name: str) -> float:
    return float(joints.position[list(joints.name).index(name)])


def place(state: MechanismState, name: str) -> float:
    return float(state.joint_positions[list(state.joint_names).index(name)])


@pytest.fixture
def fourbar(kinematics: Any) -> Any:
    """The node with a fresh four-bar, and what it tells."""
    answer = load(kinematics, "fourbar")
    assert answer.success, answer.message
    return kinematics


def crank_closed(joints: JointState) -> float:
    """How far the four-bar's coupler is from its rocker, by plane trigonometry [m]."""
    crank, coupler, rocker = (position(joints, f"joint_{n}") for n in (1, 2, 3))
    a = 0.1 * np.exp(1j * crank) + 0.26 * np.exp(1j * (crank + coupler))
    return abs(a - (0.32 + 0.24 * np.exp(1j * rocker)))


def test_it_tells_what_it_loaded(kinematics: Any) -> None:
    answer = load(kinematics, "cross")
    assert answer.success
    assert (answer.names, answer.loops, answer.mobility) == (["crossdelta"], 2, 3)
    assert len(answer.joint_names) == 15
    assert answer.closure < 1e-9


def test_a_velocity_moves_a_joint_as_long_as_it_comes_and_the_loop_stays_closed(fourbar: Any) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    begin = position(joints.wait(), "joint_1")
    command = MechanismCommand(joint_names=["joint_1"], joint_velocities=[1.0])
    publisher = fourbar.publisher(MechanismCommand, "fourbar/command")
    publisher.publish(command)
    moved = joints.wait(lambda message: position(message, "joint_1") > begin + 0.1)
    assert crank_closed(moved) < 1e-9
    assert max(abs(v) for v in moved.velocity) > 0.9
    still = joints.wait_new(lambda message: max(abs(v) for v in message.velocity) == 0.0)
    assert 0.2 < position(still, "joint_1") - begin < 0.5  # 0.25 s after the only message


def test_transforms_are_those_of_the_closed_loop(fourbar: Any) -> None:
    moved = fourbar.listen(TFMessage, "/tf").wait(
        lambda message: any(each.child_frame_id == "fourbar/link_3" for each in message.transforms)
    )
    rocker = next(each for each in moved.transforms if each.child_frame_id == "fourbar/link_3")
    assert rocker.transform.translation.x == pytest.approx(0.32)
