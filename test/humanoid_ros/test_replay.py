# SPDX-License-Identifier: Apache-2.0
"""A run is recorded from its topics and played on them once more; a full disk, a second source."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from fixtures.bad_messages import bad_messages  # noqa: E402
from fixtures.ros_domain import claim_domain  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import Imu, JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from humanoid_ros.messages.message_log import MessageLog, RecordedRun  # noqa: E402
from humanoid_ros.node.qos import SENSOR  # noqa: E402
from humanoid_sim import Simulation  # noqa: E402
from humanoid_sim.recording import McapRecorder  # noqa: E402
from test.humanoid_ros.conftest import Client, wait_until  # noqa: E402

POST = """<robot name="post"><link name="foot"/><link name="trunk"/><joint name="waist" type="revolute">
  <parent link="foot"/><child link="trunk"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
</joint></robot>"""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Starts nodes of this checkout in one domain, with a client each."""
    domain, clients = claim_domain(), []

    def begin(name: str, *parameters: str) -> Client:
        words = [part for parameter in parameters for part in ("-p", parameter)]
        with (tmp_path / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"humanoid_ros.{name}", "--ros-args", *words],
                env={**os.environ, "ROS_DOMAIN_ID": str(domain)}, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        clients.append(Client(process, domain))
        return clients[-1]

    yield begin
    for client in clients:
        client.close()
        if client.process.poll() is None:
            client.process.kill()
            client.process.wait()


def end(client: Client) -> None:
    client.process.send_signal(signal.SIGINT)
    assert client.process.wait(60.0) == 0


@pytest.mark.feature("000-F024")
def test_what_was_recorded_is_played_once_more(start: Callable[..., Client], tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    recorder = start("recorder", f"path:={path}")
    description = recorder.node.create_publisher(String, "robot_description", LATCHED)
    hidden = recorder.node.create_publisher(String, "lift/_action/feedback", LATCHED)  # as rosbag2 leaves it out
    for publisher in (hidden, description):
        publisher.publish(String(data="a robot"))
    joints, command = (recorder.publisher(kind, topic) for kind, topic in (
        (JointState, "joint_states"), (JointTrajectory, "head_controller/joint_trajectory"),
    ))  # fmt: skip
    wait_until(lambda: description.get_subscription_count() > 0, "the description isn't recorded")
    imu = recorder.publisher(Imu, "imu", SENSOR)
    for k in range(20):
        imu.publish(Imu())
        joints.publish(JointState(name=["knee"], position=[0.1 * k]))
        command.publish(JointTrajectory(joint_names=["knee"]))
        time.sleep(0.05)
    told = tmp_path / "recorder.log"
    wait_until(lambda: "recorded so far: " in told.read_text(), "nothing is told while it records")
    end(recorder)
    written = re.search(rf"written: {path}, (\d+) messages of (\d+) topics, \d+\.\d MB", told.read_text())
    assert written is not None
    found = list(RecordedRun(path).messages())
    assert (int(written[1]), int(written[2])) == (len(found), len({message.topic for message in found}))
    for publisher in (hidden, description, joints, command, imu):
        recorder.node.destroy_publisher(publisher)
    recorded = [
        deserialize_message(message.data, JointState).position[0]
        for message in RecordedRun(path).messages()
        if message.topic.endswith("joint_states")
    ]
    assert {message.topic for message in RecordedRun(path).messages() if "lift" in message.topic} == set()
    # A recorder that is found hasn't always found us, and may end before it has taken the last ones.
    assert len(recorded) > 1
    np.testing.assert_allclose(recorded, recorded[0] + 0.1 * np.arange(len(recorded)), atol=1e-12)
    replay = start("replay", f"path:={path}", "speed:=2.0")
    heard = replay.listen(JointState, "joint_states", 100)
    commands = replay.listen(JointTrajectory, "head_controller/joint_trajectory")
    assert replay.listen(String, "robot_description", LATCHED).wait().data == "a robot"
    assert replay.offered("imu").qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    assert replay.offered("joint_states").qos_profile.reliability == ReliabilityPolicy.RELIABLE
    log = tmp_path / "replay.log"
    length = 1e-9 * (found[-1].time - found[0].time)
    wait_until(lambda: f"plays {path}: {length:.1f} s" in log.read_text(), "it doesn't say what it plays")

    def ends() -> int:
        return log.read_text().count("the end; reset plays it once more")

    wait_until(lambda: ends() == 1, "it isn't played by itself")

    def once_more() -> list[float]:
        before = ends()
        heard.clear()
        assert replay.call(Trigger, "reset", Trigger.Request()).success
        wait_until(lambda: ends() > before, "reset doesn't play it")
        return [message.position[0] for message in heard.messages]

    # It plays to whom it has found, and finds us when it does.
    wait_until(lambda: once_more() == pytest.approx(recorded), "what is heard isn't what was recorded")
    assert not commands.messages
    assert replay.call(SetBool, "pause", SetBool.Request(data=True)).success
    heard.clear()
    assert replay.call(Trigger, "reset", Trigger.Request()).success
    assert not heard.heard(0.3) or len(heard.messages) < 20
    end(replay)


def test_a_recording_of_the_library_moves_the_links(start: Callable[..., Client], tmp_path: Path) -> None:
    path = tmp_path / "stand.mcap"
    simulation = Simulation("stand")
    recorder = McapRecorder(path, every=10)
    simulation.add_module(recorder)
    simulation.robots["hrp2"].set_position_target([0.5], joints=["LARM_JOINT3"])
    simulation.run(0.5)
    simulation.remove_module(recorder.name)
    replay = start("replay", f"path:={path}", "loop:=true")
    clock, moving = replay.listen(Clock, "/clock", 100), replay.listen(TFMessage, "/tf", 100)
    last = moving.wait(lambda m: m.transforms[0].header.stamp.nanosec == 500_000_000)
    robot, places = simulation.robots["hrp2"], {"world": pin.SE3.Identity()}
    for told in last.transforms:  # along the tree
        move, turn = told.transform.translation, told.transform.rotation
        place = pin.XYZQUATToSE3(np.array([move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w]))
        places[told.child_frame_id] = places[told.header.frame_id] * place
    for link in ("WAIST", "LARM_LINK3", "RLEG_LINK5"):
        assert places[link].isApprox(robot.placement(link), 1e-9), link
    clock.wait(lambda m: m.clock.nanosec == 500_000_000)
    end(replay)


def test_it_doesnt_play_beside_another_source(start: Callable[..., Client], tmp_path: Path) -> None:
    path = tmp_path / "stand.mcap"
    simulation = Simulation("stand")
    recorder = McapRecorder(path)
    simulation.add_module(recorder)
    simulation.run(0.05)
    simulation.remove_module(recorder.name)
    replay = start("replay", f"path:={path}", "loop:=true")
    replay.node.create_publisher(JointState, "joint_states", 10)
    # Before the first message if the other one is found by then, else once it is.
    words = re.compile(r"topics: /joint_states is published by (test_client|another node)\. End that node")
    wait_until(lambda: words.search((tmp_path / "replay.log").read_text()) is not None, "it plays")
    if replay.process.poll() is None:
        heard = replay.listen(Clock, "/clock")
        assert not heard.heard(1.0)


def test_what_cant_be_used_in_a_recording_is_told_and_the_rest_played(
    start: Callable[..., Client], tmp_path: Path
) -> None:
    path = tmp_path / "bad.mcap"
    log = MessageLog(str(path))

    def write(topic: str, kind: Any, *messages: Any) -> None:
        name = f"{kind.__module__.partition('.')[0]}/msg/{kind.__name__}"
        for message in messages:
            log.write(topic, name, bytes(serialize_message(message)), time.time_ns())
        log.write(topic, name, b"\0\1\0\0short", time.time_ns())

    for text in (POST, "<robot", "no such thing", POST):
        write("robot_description", String, String(data=text))
        for topic, kind in (("joint_states", JointState), ("odometry", Odometry)):
            write(topic, kind, *(message for _, message in bad_messages(kind)))
    write("joint_states", JointState, JointState(name=["waist"], position=[0.5]))
    log.close()
    replay = start("replay", f"path:={path}", "loop:=true")
    moving = replay.listen(TFMessage, "/tf", 100)
    last = moving.wait(lambda m: abs(m.transforms[-1].transform.rotation.z - np.sin(0.25)) < 1e-9)
    assert last.transforms[-1].child_frame_id == "trunk"
    told = tmp_path / "replay.log"
    wait_until(lambda: re.search(r"replayed \d\.\d of \d\.\d s", told.read_text()), "nothing is told meanwhile")
    end(replay)
    text = told.read_text()
    assert "Traceback" not in text, text[text.index("Traceback") :][:3000]
    assert "refused: robot_description: URDF text:1: not well-formed XML" in text


def test_a_full_disk_ends_the_file_and_not_the_node(start: Callable[..., Client], tmp_path: Path) -> None:
    path = tmp_path / "full.mcap"
    path.symlink_to("/dev/full")
    recorder = start("recorder", f"path:={path}", "diagnostics_rate:=10.0")
    words = recorder.publisher(String, "words")
    diagnostics = recorder.listen(DiagnosticArray, "/diagnostics")

    def told(message: Any) -> dict[str, str]:
        return {value.key: value.value for value in message.status[0].values}

    def is_full() -> bool:
        words.publish(String(data="x" * 1_000_000))
        return bool(told(diagnostics.wait_new())["recording"] == "no")

    wait_until(is_full, "it is recorded for ever")
    message = diagnostics.wait_new()
    assert "the log can't be written any more: No space left on device" in told(message)["last refusal"]
    words.publish(String(data="on it goes"))
    end(recorder)
