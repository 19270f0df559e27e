# SPDX-License-Identifier: Apache-2.0
"""Nodes are killed in the middle of their work and started again: who waits is told, and nothing old moves."""

from __future__ import annotations

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.bridges import MIXED, kill  # noqa: E402
from fixtures.page_client import PageClient, start_viewer, wait_for  # noqa: E402
from fixtures.ros_domain import claim_domain  # noqa: E402
from fixtures.ros_processes import children, start_program  # noqa: E402
from humanoid_stack.action import ExecuteTrajectory  # noqa: E402
from humanoid_stack.msg import MechanismCommand, PostureTask  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from humanoid_gait import WalkRequest  # noqa: E402
from humanoid_model import Contact, Stance, load_scene  # noqa: E402
from humanoid_model.errors import InputError  # noqa: E402
from humanoid_model.files import find_resource  # noqa: E402
from humanoid_ros.client import HumanoidStack, StackError  # noqa: E402
from humanoid_ros.messages.message_log import RecordedRun  # noqa: E402
from test.humanoid_ros.conftest import Client, wait_until  # noqa: E402
from test.humanoid_ros.controller_bridge.test_controller_bridge_node import (  # noqa: E402
    Execute,
    begin,
    moved,
    positions,
    since,
    wait_ready,
)

LEASE = """      <builtin>
        <discovery_config>
          <leaseDuration><sec>4</sec></leaseDuration><leaseAnnouncement><sec>1</sec></leaseAnnouncement>
        </discovery_config>
"""
"""After so long the middleware takes a silent process for dead; 20 s unless it is told otherwise."""


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts nodes in this process' own domain; their logs hold no traceback at the end."""
    profile = tmp_path / "lease.xml"
    profile.write_text(find_resource("config/dds/this_machine.xml").read_text().replace("      <builtin>\n", LEASE))
    domain = claim_domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", str(profile))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")  # what the profile says is left as it is
    processes: list[subprocess.Popen[bytes]] = []

    def begin(name: str, *parameters: str) -> subprocess.Popen[bytes]:
        words = [part for parameter in parameters for part in ("-p", parameter)]
        with (tmp_path / f"{name}_{len(processes)}.log").open("wb") as log:
            processes.append(start_program(name, domain, *words, log=log))
        return processes[-1]

    begin.domain = domain  # type: ignore[attr-defined]
    yield begin
    for process in processes:
        if process.poll() is None:
            kill(process)
    for log in tmp_path.glob("*.log"):
        assert "Traceback" not in log.read_text(errors="replace"), log.read_text(errors="replace")


@pytest.fixture
def joined(start: Any) -> Iterator[Callable[[subprocess.Popen[bytes]], Client]]:
    """A client for a node that was started."""
    clients = []

    def join(process: subprocess.Popen[bytes]) -> Client:
        clients.append(Client(process, start.domain))
        return clients[-1]

    yield join
    for client in clients:
        client.close()


def far_plan(stack: HumanoidStack) -> Any:
    """A plan that nobody finds soon."""
    floor = next(surface for surface in load_scene("stand").surfaces if surface.name == "floor")
    soles = [stack.robot.contacts[name] for name in ("left_sole", "right_sole")]
    feet = Stance(tuple(Contact(sole, floor, 0.0, y, 0.0) for sole, y in zip(soles, (0.1, -0.1), strict=True)))
    goal = [{"kind": PostureTask.CENTRE_OF_MASS, "target": (3.0, 0.0, 0.75), "tolerance": 0.1}]
    return stack.begin_plan(feet, goal, scene="stand", max_nodes=100_000, time_limit=600.0, collisions=False)


def fine_gait(stack: HumanoidStack) -> Any:
    return stack.begin_gait(WalkRequest(0.2), time_limit=600.0)


@pytest.mark.parametrize(("name", "ask"), [("contact_planner", far_plan), ("gait_generator", fine_gait)])
def test_who_waits_for_a_killed_planner_is_told_and_its_successor_answers(start: Any, name: str, ask: Any) -> None:
    planner = start(name)
    with HumanoidStack("hrp2", patience=120.0) as stack:
        task = ask(stack)
        wait_until(lambda: task.feedback is not None, "it doesn't begin", 120.0)
        workers = children(planner.pid)
        kill(planner)
        successor = start(name)
        with pytest.raises(StackError, match="has ended, and the work with it"):
            task.result(timeout=120.0)
        assert workers
        wait_until(lambda: not any(Path(f"/proc/{pid}/stat").exists() for pid in workers), "its workers go on")
        again = ask(stack)
        wait_until(lambda: again.feedback is not None, "the successor doesn't begin", 120.0)
        again.cancel()
        assert not again.result(timeout=120.0).success
        assert successor.poll() is None


def test_who_waits_for_a_killed_model_generator_is_told_and_its_successor_answers(start: Any) -> None:
    generator = start("model_generator")
    with HumanoidStack("hrp2", patience=120.0) as stack, ThreadPoolExecutor(1) as pool:
        assert stack.inverse_dynamics({"HEAD_JOINT0": 0.0}, timeout=120.0)
        generator.send_signal(signal.SIGSTOP)  # so that the request is under way for sure
        asked = pool.submit(stack.model, "c", ["inverse_dynamics"], timeout=120.0)
        time.sleep(0.5)
        kill(generator)
        start("model_generator")
        with pytest.raises(StackError, match=r"offers generate_model has ended, and the work with it"):
            asked.result(120.0)
        assert "inverse_dynamics" in "".join(stack.model("c", ["inverse_dynamics"], timeout=120.0).values())


def test_what_a_killed_recorder_had_heard_is_kept_and_its_successor_records(start: Any, tmp_path: Path) -> None:
    start("simulator")
    for name in ("first", "second"):
        file = tmp_path / f"{name}.mcap"
        recorder = start("recorder", f"path:={file}", "topics:=[joint_states, robot_description]")

        def written(file: Path = file) -> bool:
            heard = stamps(file) if file.exists() else Counter[str]()
            return heard["/joint_states"] > 20 and heard["/robot_description"] > 0

        wait_until(written, "nothing is written")
        before = stamps(file)
        kill(recorder)
        assert stamps(file) == before | {"/joint_states": stamps(file)["/joint_states"]}
        assert before["/robot_description"] == 1


def stamps(file: Path) -> Counter[str]:
    """How many messages of each topic a file holds."""
    try:
        return Counter(message.topic for message in RecordedRun(file).messages())
    except InputError:  # it holds none yet
        return Counter()


def test_a_killed_simulator_ends_the_motion_and_its_successor_stands(start: Any, joined: Any, tmp_path: Path) -> None:
    file = tmp_path / "bridge.yaml"
    file.write_text(MIXED)
    simulator, bridge = start("simulator"), start("controller_bridge", f"config:={file}", "use_sim_time:=true")
    client = joined(bridge)
    wait_ready(client)
    execute = Execute(client, moved(6.0))
    execute.wait(1.0)
    kill(simulator)
    result = execute.result()[1]
    codes = ExecuteTrajectory.Result
    assert result.code in (codes.STALE_STATE, codes.CONTROLLER_LOST), result.message
    start("simulator")
    joints = client.listen(JointState, "joint_states", 1)
    first = joints.wait()
    later = joints.wait_new(lambda message: since(message, first) > 1.0)
    np.testing.assert_allclose(positions(later), begin(), atol=0.01)
    wait_ready(client)
    result = Execute(client, moved(0.5)).result()[1]
    assert result.success, result.message
    assert bridge.poll() is None


def test_a_killed_mechanism_begins_anew_and_stands(start: Any, joined: Any) -> None:
    first = start("kinematics", "mechanism:=fourbar")
    client = joined(first)
    joints = client.listen(JointState, "fourbar/joint_states", 1)
    home = np.array(joints.wait().position)
    push = client.publisher(MechanismCommand, "fourbar/command")
    push.publish(MechanismCommand(joint_names=["joint_1"], joint_velocities=[1.0]))
    joints.wait(lambda message: np.abs(np.array(message.position) - home).max() > 0.05)
    kill(first)
    joints.clear()
    start("kinematics", "mechanism:=fourbar")
    joints.wait()
    for _ in range(20):
        np.testing.assert_allclose(joints.wait_new().position, home, atol=1e-9)


def test_a_killed_page_comes_back_with_all_that_is_there(start: Any) -> None:
    start("simulator")
    for _ in range(2):
        viewer, address, output = start_viewer(start.domain)
        page = PageClient(address)
        try:
            wait_for(lambda page=page: "running" in page.status, "the page says that the simulation runs", 60.0)
            wait_for(lambda page=page: any("CHEST_LINK1" in name for name in list(page.nodes)), "the robot is there")
        finally:
            page.close()
            kill(viewer)
        assert "Traceback" not in "".join(output)
