# SPDX-License-Identifier: Apache-2.0
"""The gait generator node over DDS: gaits, progress, cancel, what it shows, what it refuses, how it ends."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from humanoid_stack.action import GenerateGait as GaitAction  # noqa: E402
from humanoid_stack.msg import ContactForces, Gait, GaitRequest, WholeBodyTrajectory  # noqa: E402
from humanoid_stack.srv import GenerateGait  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import DescribeParameters, ListParameters, SetParameters  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from humanoid_model import load_robot  # noqa: E402
from humanoid_model.files import find_resource  # noqa: E402
from humanoid_ros.gait_generator.gait_replay import trajectory_posture  # noqa: E402
from test.humanoid_ros.conftest import wait_until  # noqa: E402
from test.humanoid_ros.gait_generator.conftest import COARSE  # noqa: E402

pytestmark = pytest.mark.ros
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SOON = 0.5
"""A cancel is answered within so long [s]; a busy machine takes some times that."""


def generated(node: Any, **fields: Any) -> Any:
    request = GenerateGait.Request(request=GaitRequest(**{**COARSE, **fields}))
    return node.call(GenerateGait, "generate_gait", request, 300.0)


def begun(node: Any, told: list[Any], **fields: Any) -> Any:
    """A goal of the action under way, some iterations old."""
    action = node.action(GaitAction, "generate_gait")
    goal = GaitAction.Goal(request=GaitRequest(**{**COARSE, **fields}))
    handle = node.result(action.send_goal_async(goal, lambda item: told.append(item.feedback)))
    assert handle.accepted
    end = time.monotonic() + 300.0
    while not any(item.iteration > 0 for item in told):
        assert time.monotonic() < end
        time.sleep(0.01)
    return handle


@pytest.fixture(scope="module")
def answer(gait_generator: Any) -> Any:
    found = generated(gait_generator)
    assert found.success, found.message
    return found


def test_the_action_tells_how_far_it_is(gait_generator: Any, answer: Any) -> None:
    told: list[Any] = []
    found = gait_generator.result(begun(gait_generator, told).get_result_async(), 300.0)
    assert (found.status, found.result.success) == (GoalStatus.STATUS_SUCCEEDED, True)
    own = [item for item in told if item.stage == "cycle: iterates"]
    assert own[-1].iteration > own[0].iteration
    assert own[-1].residual < own[0].residual
    assert np.isfinite(own[-1].cost)
    assert found.result.gait.cost == pytest.approx(answer.gait.cost, rel=1e-9)


def test_a_cancel_ends_a_solve_and_the_next_one_is_answered(gait_generator: Any) -> None:
    handle = begun(gait_generator, [])
    pending = handle.get_result_async()
    began = time.monotonic()
    gait_generator.result(handle.cancel_goal_async(), 60.0)
    found = gait_generator.result(pending, 60.0)
    assert time.monotonic() - began < 20.0 * SOON
    assert found.status == GoalStatus.STATUS_CANCELED
    assert (found.result.success, found.result.message) == (False, "Cancelled.")
    assert generated(gait_generator).success


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"robot": "nobody"}, "'nobody'"),
        ({"robot": "/dev/zero"}, "robot: '/dev/zero'"),
        ({"robot": "robot_2r_a"}, "robot 'robot_2r_a': has no two soles"),
        ({"length": float("nan")}, "length: is nan"),
        ({"double_support": [0.3, 0.1]}, "double_support: is (0.3, 0.1)"),
        ({"intervals": [1, 2, 3]}, "intervals: are [1, 2, 3]"),
        ({"steps": 0}, "steps: is 0. Give a number from 1 to 1000"),
        ({"turn": 0.3, "rise": 0.1}, "turn: is 0.3. Turn on level ground"),
        ({"time_limit": Duration(sec=-1)}, "time_limit: is -1 s"),
    ],
)
def test_bad_requests_are_answered(gait_generator: Any, fields: dict[str, Any], message: str) -> None:
    found = generated(gait_generator, **fields)
    assert not found.success
    assert message in found.message
    assert not found.gait.trajectory.joints.points


def test_what_is_not_solved_in_time_says_so(gait_generator: Any) -> None:
    found = generated(gait_generator, time_limit=Duration(nanosec=10_000_000))
    assert not found.success
    # The solver says so, or on a busy machine the node, before the program is made.
    assert "the time limit of" in found.message or found.message == "time_limit: 0.01 s were not enough"


# What is shown ----------------------------------------------------------------------------------------------------


def test_the_last_gait_is_there_for_those_who_come_late(gait_generator: Any) -> None:
    answer = generated(gait_generator)
    gait = gait_generator.listen(Gait, "gait", LATCHED).wait()
    assert repr(gait) == repr(answer.gait)  # NaN and all
    trajectory = gait_generator.listen(WholeBodyTrajectory, "trajectory", LATCHED).wait()
    assert repr(trajectory) == repr(answer.gait.trajectory)
    joints = gait_generator.listen(JointTrajectory, "joint_trajectory", LATCHED).wait()
    assert joints.points == answer.gait.trajectory.joints.points
    markers = gait_generator.listen(MarkerArray, "gait_markers", LATCHED).wait()
    assert {marker.ns for marker in markers.markers} >= {"foot_forces", "footprints", "base"}


def test_a_gait_is_played_in_real_time(gait_generator: Any, answer: Any) -> None:
    joints = gait_generator.listen(JointState, "gait_joint_states")
    base = gait_generator.listen(PoseStamped, "gait_base")
    contacts = gait_generator.listen(ContactForces, "gait_contacts")
    frames = gait_generator.listen(TFMessage, "/tf", 100)
    description = gait_generator.listen(String, "gait_description", LATCHED)
    trajectory = answer.gait.trajectory
    end = trajectory.base[-1].position.x
    assert gait_generator.call(Trigger, "replay_gait", Trigger.Request()).success
    last = joints.wait(lambda message: list(message.position) == list(trajectory.joints.points[-1].positions))
    assert list(last.effort) == list(trajectory.joints.points[-1].effort)
    assert last.header.frame_id == "world"
    assert contacts.wait().contacts
    robot = load_robot("hrp2", geometry=False)
    assert 'name="hrp2"' in description.wait().data
    links = robot.link_placements(trajectory_posture(trajectory, robot, len(trajectory.base) - 1))
    root = robot.description.root

    def arrived(message: TFMessage) -> bool:
        ends = [one.transform.translation.x for one in message.transforms if one.child_frame_id == f"gait/{root}"]
        return bool(ends) and abs(ends[0] - links[root].translation[0]) < 1e-6

    assert {frame.child_frame_id for frame in frames.wait(arrived).transforms} <= {f"gait/{link}" for link in links}

    def goes_back() -> bool:
        base.clear()
        assert gait_generator.call(Trigger, "replay_gait", Trigger.Request()).success
        base.wait(lambda message: message.pose.position.x > end - 1e-6)
        return any(message.pose.position.x < end - 0.3 for message in base.messages)

    wait_until(goes_back, "it isn't played once more")


def test_rviz_shows_what_is_drawn(gait_generator: Any) -> None:
    with open(find_resource("config/humanoid_stack.rviz"), encoding="utf-8") as file:
        displays = yaml.safe_load(file)["Visualization Manager"]["Displays"]
    for title, key, kind in (
        ("Gait", "Topic", "visualization_msgs/msg/MarkerArray"),
        ("Walking robot", "Description Topic", "std_msgs/msg/String"),
    ):
        (topic,) = (display[key] for display in displays if display["Name"] == title)
        offered = gait_generator.offered(topic["Value"])
        assert offered.topic_type == kind
        latched = offered.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        assert topic["Durability Policy"] == ("Transient Local" if latched else "Volatile")


def test_diagnostics_count(gait_generator: Any) -> None:
    listener = gait_generator.listen(DiagnosticArray, "/diagnostics")
    generated(gait_generator, robot="nobody")

    def refused(message: DiagnosticArray) -> bool:
        values = {value.key: value.value for value in message.status[0].values}
        return "'nobody'" in values["last refusal"] and int(values["requests refused"]) > 0

    assert listener.wait(refused).status[0].name == "gait_generator: gaits"


# Parameters and process -------------------------------------------------------------------------------------------


def set_parameter(node: Any, name: str, value: ParameterValue) -> Any:
    request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
    return node.call(SetParameters, "gait_generator/set_parameters", request).results[0]


def test_parameters_are_typed_ranged_and_described(gait_generator: Any) -> None:
    listed = gait_generator.call(ListParameters, "gait_generator/list_parameters", ListParameters.Request())
    rclpys = ("use_sim_time", "start_type", "qos_overrides")
    names = [name for name in listed.result.names if not name.startswith(rclpys)]
    assert {"robot", "time_limit", "processes", "figures", "replay"} <= set(names)
    request = DescribeParameters.Request(names=names)
    for descriptor in gait_generator.call(
        DescribeParameters, "gait_generator/describe_parameters", request
    ).descriptors:
        assert descriptor.description, descriptor.name
        if descriptor.type == ParameterType.PARAMETER_DOUBLE:
            assert descriptor.floating_point_range, descriptor.name
        if descriptor.type == ParameterType.PARAMETER_INTEGER:
            assert descriptor.integer_range, descriptor.name


def test_parameters_are_the_defaults_of_requests(gait_generator: Any) -> None:
    def text(value: str) -> ParameterValue:
        return ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)

    for name, value, problem in (
        ("robot", "nobody", "'nobody'"),
        ("replay", "twice", "there is no way to play 'twice'"),
    ):
        result = set_parameter(gait_generator, name, text(value))
        assert not result.successful
        assert problem in result.reason
    assert set_parameter(gait_generator, "robot", text("bip_planar")).successful
    assert "bip_planar" in generated(gait_generator, robot="").message  # whose base doesn't float
    assert set_parameter(gait_generator, "robot", text("hrp2")).successful
    assert generated(gait_generator, robot="").gait.robot == "hrp2"


def processes_below(pid: int) -> list[int]:
    """A process' children, and theirs."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found += [int(entry.name), *processes_below(int(entry.name))]
    return found


def alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.feature("003-F111")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_node_that_ends_in_the_middle_of_a_request(
    start_node: Callable[..., Any], number: signal.Signals
) -> None:
    client = start_node("gait_generator")
    assert processes_below(client.process.pid) == []  # they come with requests
    told: list[Any] = []
    pending = begun(client, told).get_result_async()
    assert told[0].stage == "starting a worker"
    workers = processes_below(client.process.pid)
    assert workers
    os.kill(client.process.pid, number)
    code = client.process.wait(60.0)
    if number == signal.SIGTERM:
        assert code == 0
        answer = client.result(pending, 60.0).result
        assert (answer.success, answer.message) == (False, "The node is shut down.")
    end = time.monotonic() + 60.0
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < end, "a worker goes on"
        time.sleep(0.05)


BAD_STARTS = {"robot:=nobody": "'nobody'", "time_limit:=-1.0": "time_limit"}
"""Parameters that the node can't use, and what it says."""


@pytest.fixture(scope="module")
def bad_starts(start_badly: Callable[..., Any]) -> dict[str, tuple[int, str]]:
    return start_badly("gait_generator", list(BAD_STARTS))


@pytest.mark.parametrize("parameter", BAD_STARTS)
def test_a_bad_start_ends_with_a_message(bad_starts: dict[str, tuple[int, str]], parameter: str) -> None:
    code, text = bad_starts[parameter]
    assert code == 1
    assert BAD_STARTS[parameter] in text
    assert "Traceback" not in text
