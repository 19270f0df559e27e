# SPDX-License-Identifier: Apache-2.0
"""The kinematics node over DDS: loaded, driven, edited, switched, recorded, replayed, and told nonsense."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, Twist, Vector3  # noqa: E402
from humanoid_stack.action import ReplayMotion  # noqa: E402
from humanoid_stack.msg import DeviceState, MechanismCommand, MechanismLink, MechanismState, MechanismTarget  # noqa: E402
from humanoid_stack.srv import LoadMechanism, SelectDevice, SetMechanismParameters  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParametersAtomically  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from sensor_msgs.msg import JointState, Joy  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from humanoid_kinematics import MechanismSolver, load_mechanism  # noqa: E402
from humanoid_model.files import find_resource  # noqa: E402
from test.humanoid_ros.conftest import wait_until  # noqa: E402

pytestmark = [pytest.mark.ros, pytest.mark.filterwarnings("ignore:.*E10")]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NAN = float("nan")
TRIANGLE = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]], dtype="<f4")
KINEMATICS_ARGUMENTS = ("-p", "devices:=['hand:tracker']", "-p", "diagnostics_rate:=20.0")
CROSS = load_mechanism("cross")
CROSS_TURN = MechanismSolver(CROSS).placement("link_5").rotation  # the plate never turns
FOURBAR = MechanismSolver(load_mechanism("fourbar"))
FOURBAR_ROOT = f"fourbar/{FOURBAR.mechanism.robot.description.root}"
ROUND = [(t, *FOURBAR.q) for t in (0.0, 0.1, 0.2)]


def load(node: Any, path: str = "", text: str = "", name: str = "") -> Any:
    return node.call(LoadMechanism, "load_mechanism", LoadMechanism.Request(path=path, text=text, name=name))


def set_parameter(node: Any, **values: Any) -> Any:
    parameters = []
    for name, value in values.items():
        if isinstance(value, list):
            wrapped = ParameterValue(type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=value)
        elif isinstance(value, bool):
            wrapped = ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=value)
        else:
            wrapped = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)
        parameters.append(Parameter(name=name, value=wrapped))
    request = SetParametersAtomically.Request(parameters=parameters)
    return node.call(SetParametersAtomically, "kinematics/set_parameters_atomically", request).result


def position(joints: JointState, name: str) -> float:
    return float(joints.position[list(joints.name).index(name)])


def place(state: MechanismState, name: str) -> float:
    return float(state.joint_positions[list(state.joint_names).index(name)])


def plate(joints: JointState) -> np.ndarray:
    """Where the cross-Delta's plate is, by Pinocchio [m]."""
    q = np.array([position(joints, name) for name in CROSS.robot.joint_names])
    return np.array(CROSS.robot.link_placements(q)["link_5"].translation)


def edit(node: Any, *links: MechanismLink) -> Any:
    request = SetMechanismParameters.Request(links=links)
    return node.call(SetMechanismParameters, "set_mechanism_parameters", request)


def select(client: Any, /, **values: Any) -> Any:
    return client.call(SelectDevice, "select_device", SelectDevice.Request(**values))


def replay(node: Any, feedback: Any, **goal: Any) -> Any:
    client = node.action(ReplayMotion, "replay_motion")
    return node.result(client.send_goal_async(ReplayMotion.Goal(**goal), feedback_callback=feedback))


def targets(**values: Any) -> MechanismCommand:
    return MechanismCommand(targets=[MechanismTarget(**values)])


def last_refusal(message: DiagnosticArray) -> str:
    return next((item.value for item in message.status[0].values if item.key == "last refusal"), "")


@pytest.fixture
def cross(kinematics: Any) -> Any:
    """The node with a fresh cross-Delta."""
    assert load(kinematics, "cross").success
    return kinematics


@pytest.fixture
def fourbar(kinematics: Any) -> Any:
    """The node with a fresh four-bar, and what it tells."""
    answer = load(kinematics, "fourbar")
    assert answer.success, answer.message
    return kinematics


def crank_closed(joints: JointState, length: float = 0.1) -> float:
    """How far the four-bar's coupler is from its rocker, by plane trigonometry, with a crank of a length [m]."""
    crank, coupler, rocker = (position(joints, f"joint_{n}") for n in (1, 2, 3))
    a = length * np.exp(1j * crank) + 0.26 * np.exp(1j * (crank + coupler))
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


def test_of_two_clients_at_once_the_newest_command_counts_and_the_one_that_stays_is_followed(fourbar: Any) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    begin = position(joints.wait(), "joint_1")
    goals = {fourbar.publisher(MechanismCommand, "fourbar/command"): begin + away for away in (-0.3, 0.3)}

    def told() -> float:
        message = joints.wait_new()
        assert crank_closed(message) < 1e-9
        return position(message, "joint_1")

    for _ in range(20):
        for publisher, goal in goals.items():
            publisher.publish(MechanismCommand(joint_names=["joint_1"], joint_positions=[goal]))
        assert begin - 0.31 < told() < begin + 0.31
    stays, goal = goals.popitem()

    def reached() -> bool:
        stays.publish(MechanismCommand(joint_names=["joint_1"], joint_positions=[goal]))
        return abs(told() - goal) < 1e-3

    wait_until(reached, "the client that stays isn't followed")


@pytest.mark.feature("002-F180")
def test_transforms_are_those_of_the_closed_loop(fourbar: Any) -> None:
    moved = fourbar.listen(TFMessage, "/tf").wait(
        lambda message: any(each.child_frame_id == "fourbar/link_3" for each in message.transforms)
    )
    rocker = next(each for each in moved.transforms if each.child_frame_id == "fourbar/link_3")
    assert rocker.transform.translation.x == pytest.approx(0.32)


@pytest.mark.feature("002-F104")
def test_plain_twists_move_a_tool_and_a_pose_is_kept(cross: Any) -> None:
    joints = cross.listen(JointState, "crossdelta/joint_states")
    states = cross.listen(MechanismState, "crossdelta/state")
    begin = plate(joints.wait())
    cross.publisher(Twist, "crossdelta/link_5/twist").publish(Twist(linear=Vector3(z=-0.2)))
    joints.wait(lambda message: plate(message)[2] < begin[2] - 0.03)
    still = joints.wait_new(lambda message: max(map(abs, message.velocity)) == 0.0)
    assert plate(still) == pytest.approx(begin - [0.0, 0.0, 0.05], abs=0.01)  # 0.25 s of 0.2 m/s
    target = MechanismTarget(node="link_5", kind=MechanismTarget.POSE, mask=[True] * 3 + [False] * 3)
    target.pose.position = Point(x=begin[0], y=begin[1] + 0.02, z=begin[2])
    cross.publisher(MechanismCommand, "crossdelta/command").publish(MechanismCommand(targets=[target]))
    reached = joints.wait(lambda message: np.abs(plate(message) - begin - [0.0, 0.02, 0.0]).max() < 1e-6)
    state = states.wait_new()
    assert (state.rows, state.columns, state.rank, state.mobility) == (15, 15, 15, 3)
    assert len(state.command_residuals) == 6
    assert max(map(abs, state.command_residuals)) < 1e-6
    assert max(map(abs, state.loop_residuals)) < 1e-9
    assert place(state, "joint_1") == pytest.approx(position(reached, "joint_1"), abs=1e-6)
    goal = PoseStamped()
    goal.header.frame_id = "link_5"
    goal.pose.position.x = 0.01  # from where it is, along its own axes
    cross.publisher(PoseStamped, "crossdelta/link_5/pose").publish(goal)
    there = plate(reached) + CROSS_TURN @ [0.01, 0.0, 0.0]
    joints.wait_new(lambda message: np.abs(plate(message) - there).max() < 1e-6)


def test_sliders_and_trajectories_move_joints(fourbar: Any) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    fourbar.publisher(JointState, "fourbar/joint_commands").publish(JointState(name=["joint_1"], position=[1.5]))
    there = joints.wait(lambda message: abs(position(message, "joint_1") - 1.5) < 1e-6)
    assert crank_closed(there) < 1e-9
    path = JointTrajectory(joint_names=["joint_1"])
    for at, crank in ((0, 1.5), (2, 2.5)):
        path.points.append(JointTrajectoryPoint(positions=[crank], time_from_start=Duration(sec=at)))
    fourbar.publisher(JointTrajectory, "fourbar/joint_trajectory").publish(path)
    on_the_way = joints.wait(lambda message: 1.6 < position(message, "joint_1") < 2.4)
    assert on_the_way.velocity[list(on_the_way.name).index("joint_1")] == pytest.approx(0.5, abs=0.15)
    joints.wait(lambda message: abs(position(message, "joint_1") - 2.5) < 1e-6)


@pytest.mark.feature("002-F046")
def test_links_are_edited_while_it_runs_all_or_none(fourbar: Any) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    descriptions = fourbar.listen(String, "mechanism_description", LATCHED)
    longer = MechanismLink(name="link_2", type=MechanismLink.REVOLUTE, d=0.12)
    answer = edit(fourbar, longer)
    assert answer.success, answer.message
    assert answer.closure < 1e-9
    assert crank_closed(joints.wait_new(lambda message: crank_closed(message, 0.12) < 1e-9)) > 0.01
    assert "d 120" in descriptions.wait(lambda message: "d 120" in message.data).data
    before = position(joints.wait_new(), "joint_3")
    apart = MechanismLink(name="link_3", type=MechanismLink.REVOLUTE, d=5.0)
    for links, words in (
        ([MechanismLink(name="link_2", type=MechanismLink.REVOLUTE, d=0.1), apart], "no longer close"),
        ([longer, MechanismLink(name="link_9", type=2)], "link_9"),
        ([longer, MechanismLink(name="link_1", type=2, d=NAN)], "d is nan"),
        ([MechanismLink(name="link_1", type=7)], "type is 7"),
        ([MechanismLink(name="link_1", limited=True, lower=1.0, upper=-1.0)], "lower one first"),
    ):
        answer = edit(fourbar, *links)
        assert not answer.success
        assert words in answer.message
    after = joints.wait_new()
    assert position(after, "joint_3") == before
    assert crank_closed(after, 0.12) < 1e-9


def test_a_joint_is_limited_and_locked_while_it_runs(fourbar: Any) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    states = fourbar.listen(MechanismState, "fourbar/state")
    begin = position(joints.wait(), "joint_1")
    assert edit(fourbar, MechanismLink(name="link_1", limited=True, lower=0.0, upper=begin + 0.2)).success
    commands = fourbar.publisher(JointState, "fourbar/joint_commands")
    commands.publish(JointState(name=["joint_1"], position=[begin + 1.0]))
    stopped = states.wait(lambda state: state.at_limit[0])
    assert place(stopped, "joint_1") == pytest.approx(begin + 0.2, abs=1e-9)
    assert edit(fourbar, MechanismLink(name="link_3", locked=True)).success
    assert list(states.wait(lambda state: any(state.locked)).locked) == [False, False, True]
    commands.publish(JointState(name=["joint_1"], position=[begin - 1.0]))
    states.wait_new()
    assert place(states.wait_new(), "joint_1") == pytest.approx(begin + 0.2, abs=1e-6)


@pytest.mark.feature("002-F090")
def test_loops_and_profile_are_switched_while_it_runs(fourbar: Any) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    states = fourbar.listen(MechanismState, "fourbar/state")
    begin = joints.wait()
    loop = "frame_4-frame_5"
    assert set_parameter(fourbar, open_loops=[loop]).successful
    fourbar.publisher(JointState, "fourbar/joint_commands").publish(JointState(name=["joint_1"], position=[2.0]))
    opened = joints.wait(lambda message: abs(position(message, "joint_1") - 2.0) < 1e-6)
    assert position(opened, "joint_3") == pytest.approx(position(begin, "joint_3"), abs=1e-12)
    assert states.wait_new().mobility == 3
    refused = set_parameter(fourbar, profile="thesis")
    assert not refused.successful
    assert loop in refused.reason
    assert set_parameter(fourbar, open_loops=[""], profile="thesis").successful
    assert crank_closed(joints.wait_new(lambda message: crank_closed(message) < 1e-6)) < 1e-6
    assert states.wait_new(lambda state: state.profile == "thesis").rows == 3
    for wrong in ({"profile": "best"}, {"open_loops": ["loop_7"]}):
        refused = set_parameter(fourbar, **wrong)
        assert not refused.successful
        assert "loop_7" in refused.reason or "best" in refused.reason
    assert set_parameter(fourbar, profile="robust").successful


@pytest.mark.feature("002-F104")
def test_devices_of_the_file_and_a_joystick_drive_its_tool(cross: Any) -> None:
    joints = cross.listen(JointState, "crossdelta/joint_states")
    begin = plate(joints.wait())
    mouse = cross.publisher(DeviceState, "devices/sensor_1")
    mouse.publish(DeviceState(twist=Twist(linear=Vector3(x=0.1))))
    moved = joints.wait(lambda message: plate(message)[0] > begin[0] + 0.02)
    assert np.abs(plate(moved) - begin)[1:].max() < 1e-6
    assert select(cross, device="joy", node="link_5", frame_id="world", linear_scale=2.0).success
    begin = plate(joints.wait_new(lambda message: max(map(abs, message.velocity)) == 0.0))
    cross.publisher(Joy, "joy").publish(Joy(axes=[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]))
    moving = joints.wait(lambda message: plate(message)[1] > begin[1] + 0.02)
    assert abs(plate(moving)[0] - begin[0]) < 1e-6
    assert not select(cross, device="glove", node="link_5").success
    assert "link_77" in select(cross, device="joy", node="link_77").message
    assert not select(cross, device="joy", node="link_5", mask=[True]).success
    assert not select(cross, device="joy", node="link_5", frame_id="moon").success
    assert select(cross, device="", node="link_5").success


@pytest.mark.feature("002-F104")
def test_a_device_that_jumps_moves_nothing(cross: Any) -> None:
    joints = cross.listen(JointState, "crossdelta/joint_states")
    problems = cross.listen(DiagnosticArray, "/diagnostics")
    assert select(cross, device="hand", node="link_5").success
    hand = cross.publisher(DeviceState, "devices/hand")
    begin = plate(joints.wait())
    hand.publish(DeviceState(pose=Pose(position=Point(x=0.0))))  # ways count from the first place that is seen
    for _ in range(2):
        problems.wait_new()  # the node goes on: it has taken what came before
    for x in np.linspace(0.0, 0.01, 10):
        hand.publish(DeviceState(pose=Pose(position=Point(x=x))))
        time.sleep(0.02)
    joints.wait(lambda message: plate(message)[0] > begin[0] + 0.01 - 1e-6)
    hand.publish(DeviceState(pose=Pose(position=Point(x=30.0))))  # too far, however late it is seen
    problems.wait(lambda message: "jump" in last_refusal(message))
    assert plate(joints.wait_new()) == pytest.approx(begin + np.array([0.01, 0.0, 0.0]), abs=1e-6)


@pytest.mark.feature("002-F168")
@pytest.mark.parametrize("ending", ["csv", "mcap"])
def test_what_is_recorded_is_replayed(fourbar: Any, tmp_path: Path, ending: str) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    path = str(tmp_path / f"motion.{ending}")
    assert set_parameter(fourbar, record=path).successful
    commands = fourbar.publisher(JointState, "fourbar/joint_commands")
    commands.publish(JointState(name=["joint_1"], position=[1.5]))
    end = joints.wait(lambda message: abs(position(message, "joint_1") - 1.5) < 1e-6)
    joints.wait_new()
    assert set_parameter(fourbar, record="").successful
    commands.publish(JointState(name=["joint_1"], position=[0.8]))
    joints.wait_new(lambda message: abs(position(message, "joint_1") - 0.8) < 1e-6)
    feedback: list[Any] = []
    handle = replay(fourbar, feedback.append, mechanism="fourbar", path=path, speed_scale=0.5)
    result = fourbar.result(handle.get_result_async()).result
    assert result.success, result.message
    assert 0.0 < result.max_closure < 0.02  # between instants, on straight lines
    assert feedback[-1].feedback.duration > 0.1
    shown = joints.wait_new()
    assert position(shown, "joint_1") == pytest.approx(1.5, abs=1e-6)
    assert position(shown, "joint_3") == pytest.approx(position(end, "joint_3"), abs=1e-6)


@pytest.mark.feature("002-F168")
def test_a_recording_replaces_nothing_and_lies_where_requests_may_write(fourbar: Any, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as elsewhere:
        for ending in ("csv", "mcap"):
            path = tmp_path / f"kept.{ending}"
            path.write_text("kept")
            for name, words in ((path, "is there already"), (f"{elsewhere}/a.{ending}", "requests may write to")):
                answer = set_parameter(fourbar, record=str(name))
                assert not answer.successful
                assert words in answer.reason
            assert path.read_text() == "kept"
            assert set_parameter(fourbar, record=str(path), overwrite=True).successful
            assert not set_parameter(fourbar, record=f"{elsewhere}/a.{ending}").successful
            assert set_parameter(fourbar, record="", overwrite=False).successful
            assert not path.read_bytes().startswith(b"kept")
        assert not list(Path(elsewhere).iterdir())


@pytest.mark.feature("002-F011")
def test_drawings_elsewhere_are_left_out_when_a_text_is_loaded_and_when_it_is_edited(
    kinematics: Any, tmp_path: Path
) -> None:
    text = find_resource("urdf/mechanisms/fourbar.mad").read_text()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as elsewhere:
        for folder, told in ((tmp_path, True), (Path(elsewhere), False)):
            drawing = folder / "drawing.stl"
            drawing.write_bytes(bytes(80) + (1).to_bytes(4, "little") + bytes(12) + TRIANGLE.tobytes() + bytes(2))
            answer = load(kinematics, text=text.replace("auto", f'"{drawing}"'))
            assert answer.success, answer.message
            for changes in (), (MechanismLink(name="link_1", limited=True, lower=0.0, upper=2.0),):
                answer = edit(kinematics, *changes)
                assert answer.success, answer.message
                description = kinematics.listen(String, "fourbar/robot_description", LATCHED).wait()
                assert (str(drawing) in description.data) == told


def test_a_replay_that_goes_round_is_cancelled_and_what_can_not_be_replayed_is_told(
    fourbar: Any, tmp_path: Path
) -> None:
    path = tmp_path / "round.csv"
    path.write_text("time,q0,q1,q2\n" + "".join(f"{t},{c},{k},{r}\n" for t, c, k, r in ROUND))
    handle = replay(fourbar, None, mechanism="fourbar", path=str(path), loop=True)
    cancelled = fourbar.result(handle.cancel_goal_async())
    assert cancelled.goals_canceling
    answer = fourbar.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_CANCELED
    (tmp_path / "other.csv").write_text("time,q0\n0.0,1.0\n")
    (tmp_path / "torn.csv").write_text("time,q0,q1,q2\n0.0,1.0\n")
    (tmp_path / "no.mcap").write_bytes(b"nothing")
    for file, words in (
        ("other.csv", "coordinates"), ("torn.csv", "torn.csv:2"), ("no.mcap", "MCAP"), ("absent.csv", "no such file"),
        ("motion.txt", ".csv or .mcap"),
    ):  # fmt: skip
        result = fourbar.result(replay(fourbar, None, path=str(tmp_path / file)).get_result_async()).result
        assert not result.success
        assert words in result.message
    assert not set_parameter(fourbar, record=str(tmp_path / "no" / "where.csv")).successful


COMMANDS: tuple[tuple[Callable[[], Any], str], ...] = (
    (lambda: targets(node="link_1", twist=Twist(linear=Vector3(x=NAN))), "nan"),
    (lambda: targets(node="link_9"), "link_9"),
    (lambda: targets(node="link_1", frame_id="moon"), "moon"),
    (lambda: targets(node="link_1", mask=[True]), "mask"),
    (lambda: targets(node="link_1", kind=5), "kind"),
    (lambda: targets(node="link_1", kind=1, pose=Pose(orientation=Quaternion(w=0.5))), "length"),
    (lambda: MechanismCommand(joint_names=["joint_9"], joint_positions=[0.0]), "joint_9"),
    (lambda: MechanismCommand(joint_names=["joint_1"], joint_positions=[math.inf]), "inf"),
    (lambda: MechanismCommand(joint_names=["joint_1"], joint_positions=[0.0, 1.0]), "joint_positions"),
    (lambda: MechanismCommand(joint_names=["joint_1"]), "no numbers"),
)  # fmt: skip


def test_commands_that_can_not_be_used_are_told_and_move_nothing(fourbar: Any) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    problems = fourbar.listen(DiagnosticArray, "/diagnostics")
    publisher = fourbar.publisher(MechanismCommand, "fourbar/command")
    begin = joints.wait()
    for make, words in COMMANDS:
        message = make()
        message.joint_names = [*message.joint_names] or ["joint_1"]
        message.joint_velocities = [] if len(message.joint_positions) or words == "no numbers" else [1.0]
        publisher.publish(message)
        problems.wait(lambda message, words=words: words in last_refusal(message))
    assert list(joints.wait_new().position) == list(begin.position)


@pytest.mark.feature("002-F182")
def test_what_is_refused_is_a_warning_of_diagnostics_shortened_and_the_next_one_is_none(fourbar: Any) -> None:
    health = fourbar.listen(DiagnosticArray, "/diagnostics")
    health.wait(lambda message: message.status[0].level == DiagnosticStatus.OK)
    message = MechanismCommand(joint_names=["j" * 2_000_000], joint_positions=[0.0])
    fourbar.publisher(MechanismCommand, "fourbar/command").publish(message)
    told = health.wait(lambda message: message.status[0].level == DiagnosticStatus.WARN).status[0]
    assert told.message.startswith("refused 1, the last fourbar/command: ")
    assert "characters ...]" in told.message
    assert len(told.message) < 3000
    assert max(len(item.value) for item in told.values) < 3000
    assert health.wait_new(lambda message: message.status[0].level == DiagnosticStatus.OK)
    for _ in range(3):
        assert load(fourbar, "fourbar").success
        health.wait_new(lambda message: message.status[0].level == DiagnosticStatus.OK)


@pytest.mark.feature("002-F182")
def test_two_mechanisms_or_tools_whose_topics_would_be_the_same_are_refused(kinematics: Any) -> None:
    link = "link 1 {{ parameters {{ theta 0 r 0 alpha 0 d 0 }} type 2 pred 0 }}"
    robot = "robot {name} {{ base {{ }} " + link + " }} "
    answer = load(kinematics, text="RAFF v1.1 x " + robot.format(name="1a") + robot.format(name="_1a"))
    assert not answer.success
    assert "mechanism '_1a': would have the topics of mechanism '1a', '_1a/...'" in answer.message


@pytest.mark.feature("002-F182")
def test_a_name_that_another_node_has_too_is_a_warning(fourbar: Any) -> None:
    health = fourbar.listen(DiagnosticArray, "/diagnostics")
    words = "another node publishes fourbar/joint_states too: give one of them another name"
    other = fourbar.node.create_publisher(JointState, "fourbar/joint_states", 10)
    told = health.wait(lambda message: message.status[0].message == words)
    assert told.status[0].level == DiagnosticStatus.WARN
    fourbar.node.destroy_publisher(other)
    health.wait_new(lambda message: message.status[0].level == DiagnosticStatus.OK)


@pytest.mark.feature("002-F047")
def test_what_can_not_be_loaded_is_told_and_the_last_mechanism_runs_on(fourbar: Any, tmp_path: Path) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    begin = joints.wait()
    links = "link 1 { parameters { theta 0 r 0 alpha 0 d 0 } type 2 pred 0 } "
    apart = "frame 2 { pos { 100 0 0 } ori { 0 0 0 } pred 1 } frame 3 { pos { 300 0 0 } ori { 0 0 0 } pred 0 } "
    for request, words in (
        ({"text": "RAFF v1.1 x robot a { base { } link 1 { parameters { theta 0 } type 2 pred 0 } }"}, "text:1:"),
        ({"text": "RAFF v1.1 x robot a { base { } " + links.replace("pred 0", "pred 7") + "}"}, "7"),
        ({"text": "RAFF v1.1 x robot a { base { } " + links + apart + "rotule { frame 2 frame 3 } }"}, "don't close"),
        ({"text": "<robot name='a'><link name='b'/>"}, "XML"),
        ({"text": "RAFF v1.1 x sensor 0 { }"}, "no mechanism"),
        ({"path": str(tmp_path / "absent.mad")}, "absent.mad"),
        ({}, "is empty"),
    ):
        answer = load(fourbar, **request)
        assert not answer.success
        assert words in answer.message
        assert not answer.names
    assert list(joints.wait_new().position) == list(begin.position)


def test_a_text_is_loaded_under_a_name_of_ones_own(kinematics: Any) -> None:
    robot = (
        "<robot name='arm'><link name='a'/><link name='b'/><joint name='j' type='continuous'><parent link='a'/>"
        "<child link='b'/><axis xyz='0 0 1'/></joint></robot>"
    )
    answer = load(kinematics, text=robot, name="mine")
    assert answer.success, answer.message
    assert (list(answer.names), list(answer.joint_names)) == (["mine"], ["j"])
    assert list(kinematics.listen(JointState, "mine/joint_states").wait().name) == ["j"]
    two = load(kinematics, "two_robots", name="both")
    assert list(two.names) == ["both_left", "both_right"]
    assert two.joint_names[0] == "both_left/joint_1"


def test_a_start_that_can_not_be_is_told(
    start_badly: Callable[[str, Sequence[str]], dict[str, tuple[int, str]]],
) -> None:
    wanted = {
        "mechanism:=nothing": "unknown mechanism 'nothing'",
        "joystick:=broom": "'broom'",
        "devices:=['a:broom']": "'a:broom'",
        "relay:=drives": "no driven joints",
    }
    answers = start_badly("kinematics", tuple(wanted))
    for parameter, (code, printed) in answers.items():
        words = wanted[parameter]
        assert code == 1
        assert words in printed
        assert "Traceback" not in printed


def obstacle(z: float, **values: Any) -> MarkerArray:
    marker = Marker(ns="wall", id=1, type=Marker.CUBE, scale=Vector3(x=20.0, y=20.0, z=0.2), **values)
    marker.pose.position.z = z
    return MarkerArray(markers=[marker])


@pytest.mark.feature("002-F050", "002-F180", "002-F183")
def test_a_base_that_is_streamed_carries_links_tools_and_goals_stay_the_worlds(fourbar: Any) -> None:
    base = PoseStamped()
    base.pose.position.x, base.pose.orientation = 1.0, Quaternion(z=np.sqrt(0.5), w=np.sqrt(0.5))
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    before = list(joints.wait().position)
    transforms = fourbar.listen(TFMessage, "/tf")
    fourbar.publisher(PoseStamped, "fourbar/base").publish(base)

    def root(message: TFMessage) -> Any:
        return next(each.transform for each in message.transforms if each.child_frame_id == FOURBAR_ROOT)

    moved = root(transforms.wait(lambda message: root(message).translation.x == 1.0))
    assert moved.rotation.z == pytest.approx(np.sqrt(0.5))
    assert list(joints.wait_new().position) == pytest.approx(before, abs=1e-9)
    # The crank's tip is commanded in the world, a bit further round the base that stands turned by a right angle.
    tip = FOURBAR.placement("link_2").translation
    turned = math.atan2(tip[1], tip[0]) + 0.1
    x, y = 0.1 * math.cos(turned), 0.1 * math.sin(turned)
    target = MechanismTarget(node="link_2", kind=MechanismTarget.POSE, mask=[True] * 3 + [False] * 3)
    target.pose.position = Point(x=1.0 - y, y=x)
    fourbar.publisher(MechanismCommand, "fourbar/command").publish(MechanismCommand(targets=[target]))
    joints.wait(lambda message: abs(position(message, "joint_1") - turned) < 1e-6)
    problems = fourbar.listen(DiagnosticArray, "/diagnostics")
    base.pose.position.x = NAN
    fourbar.publisher(PoseStamped, "fourbar/base").publish(base)
    problems.wait(lambda message: "fourbar/base" in last_refusal(message) or "nan" in last_refusal(message))


@pytest.mark.feature("002-F165", "002-F183")
def test_the_distance_to_the_nearest_obstacle_is_told_and_goes_with_it(fourbar: Any) -> None:
    states = fourbar.listen(MechanismState, "fourbar/state")
    assert math.isnan(states.wait().obstacle_distance)
    walls = fourbar.publisher(MarkerArray, "obstacles", LATCHED)
    walls.publish(obstacle(1.1))
    near = states.wait(lambda message: message.obstacle == "wall/1")
    walls.publish(obstacle(1.4))
    far = states.wait(lambda message: message.obstacle_distance > near.obstacle_distance + 0.1)
    assert far.obstacle_distance - near.obstacle_distance == pytest.approx(0.3, abs=1e-6)
    hub = 1.0 - near.obstacle_distance  # the wall's underside is at 1 m
    assert 0.0 < hub < 0.1
    assert near.obstacle_link.startswith(("link_", "base"))
    problems = fourbar.listen(DiagnosticArray, "/diagnostics")
    odd, gone = Marker(ns="odd", type=Marker.POINTS), Marker(ns="wall", id=1, action=Marker.DELETE)
    walls.publish(MarkerArray(markers=[odd, gone]))
    assert math.isnan(states.wait_new(lambda message: math.isnan(message.obstacle_distance)).obstacle_distance)
    problems.wait(lambda message: "marker odd/0" in last_refusal(message))


@pytest.mark.feature("002-F068")
def test_a_point_of_a_part_is_commanded_and_what_is_in_its_way_is_named(fourbar: Any) -> None:
    joints = fourbar.listen(JointState, "fourbar/joint_states")
    states = fourbar.listen(MechanismState, "fourbar/state")
    target = MechanismTarget(node="link_1", kind=MechanismTarget.POSE, mask=[True, True] + [False] * 4)
    target.point.x, turned = 0.05, 1.4  # the middle of the crank
    target.pose.position = Point(x=0.05 * math.cos(turned), y=0.05 * math.sin(turned))
    commands = fourbar.publisher(MechanismCommand, "fourbar/command")
    commands.publish(MechanismCommand(targets=[target]))
    joints.wait(lambda message: abs(position(message, "joint_1") - turned) < 1e-6)
    state = states.wait_new(lambda message: message.status == "reached")
    assert (list(state.in_the_way), list(state.loop_open)) == ([], [False])
    target.pose.position.x = 0.2  # further from its axis than the crank is long
    commands.publish(MechanismCommand(targets=[target]))
    assert list(states.wait(lambda message: len(message.in_the_way) > 0).in_the_way)
    (loop,) = state.loop_names
    assert set_parameter(fourbar, open_loops=[loop]).successful
    states.wait(lambda message: list(message.loop_open) == [True])


def test_a_text_may_be_mjcf(kinematics: Any) -> None:
    crank = '<body name="b"><joint name="turn" axis="0 0 1"/><geom size="0.1"/><site name="tip" pos="0.3 0 0"/></body>'
    answer = load(kinematics, text=f'<mujoco model="arm"><worldbody>{crank}</worldbody></mujoco>')
    assert answer.success, answer.message
    assert (answer.names, answer.joint_names, answer.mobility) == (["arm"], ["turn"], 1)
    assert "worldbody" in load(kinematics, text="<mujoco><worldbody/></mujoco>").message
