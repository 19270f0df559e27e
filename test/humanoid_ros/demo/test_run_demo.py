# SPDX-License-Identifier: Apache-2.0
"""The demo's parts, its faults, and (slow) the whole of it as `make demo HEADLESS=1` runs it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures.ros_domain import claim_domain
from PIL import Image

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.msg import ContactForce, ContactForces

from humanoid_model import HumanoidError, load_robot
from humanoid_model.robot import Robot
from humanoid_ros.demo import run_demo as demo
from humanoid_ros.demo.demo_observer import DemoError
from humanoid_ros.demo.headless_browser import BrowserError, find_browser
from humanoid_ros.demo.run_demo import Demo, feet, free_port, take_picture

DOMAIN = claim_domain()


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2")


def standing(robot: Robot, turn: np.ndarray | None = None, height: float = 0.0) -> Any:
    """An observer that sees the robot in half-sitting, its waist turned or lowered."""
    q = robot.postures["half_sitting"]
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    waist = data.oMf[robot.model.getFrameId(robot.description.root)]
    move = waist * pin.SE3(np.eye(3) if turn is None else turn, np.zeros(3)) * waist.inverse()
    move.translation[2] += height
    placements = {link: move * data.oMf[robot.model.getFrameId(link)] for link in robot.description.links}
    contacts = ContactForces()
    for link in feet(robot).values():
        contact = ContactForce(body_a=f"hrp2/{link}", body_b="floor", friction=0.8)
        contact.position.x, contact.position.y, _ = placements[link].translation.tolist()
        contact.normal.z, contact.force.z = 1.0, 284.0
        contacts.contacts.append(contact)
    return SimpleNamespace(
        placement=placements.get,
        placements=lambda links: {link: placements[link] for link in links},
        contacts=contacts,
    )


def make_demo(robot: Robot, observer: Any, simulators: int = 1) -> Demo:
    stack: Any = SimpleNamespace(node=SimpleNamespace(get_publishers_info_by_topic=lambda topic: [topic] * simulators))
    return Demo(robot, stack, observer, lambda: None)


def test_free_port_steps_over_a_taken_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) > port


def test_feet_are_the_last_links_of_the_legs(robot: Robot) -> None:
    assert feet(robot) == {"right foot": "RLEG_LINK5", "left foot": "LLEG_LINK5"}


def test_standing_robot_passes_the_check(robot: Robot) -> None:
    make_demo(robot, standing(robot)).check()


def test_another_simulator_is_a_fault(robot: Robot) -> None:
    with pytest.raises(HumanoidError, match="Another simulator runs in ROS domain"):
        make_demo(robot, standing(robot), simulators=2).check()


@pytest.mark.parametrize(("turn", "height"), [(pin.utils.rotate("y", 1.2), 0.0), (None, -0.45)], ids=["leans", "low"])
def test_fallen_robot_is_a_fault(robot: Robot, turn: np.ndarray | None, height: float) -> None:
    with pytest.raises(DemoError, match="hrp2 fell"):
        make_demo(robot, standing(robot, turn, height)).check()


def test_without_a_browser_the_scene_is_drawn_all_the_same(
    robot: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_browser(*_: object) -> None:
        raise BrowserError("no browser found")

    monkeypatch.setattr(demo, "HeadlessBrowser", no_browser)
    monkeypatch.setattr(Demo, "pause", lambda self, paused: paused_by.append(paused))
    paused_by: list[bool] = []
    path = tmp_path / "out" / "demo.png"
    drawn = take_picture("http://127.0.0.1:9", path, make_demo(robot, standing(robot)))
    assert "sketch" in drawn
    assert "no browser found" in drawn
    assert paused_by[-1] is False
    picture = np.asarray(Image.open(path).convert("L"), dtype=float)
    assert picture.shape == (900, 1600)
    assert (picture < 150).mean() > 0.01  # dark parts of the robot in the middle


@pytest.mark.parametrize("error", [DemoError("a node died"), DemoError("hrp2 fell")])
def test_fault_is_printed_and_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: DemoError
) -> None:
    def fail(headless: bool) -> None:
        raise error

    monkeypatch.setattr(demo, "show", fail)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert demo.main([]) == 1
    assert str(error) in capsys.readouterr().err


def start_demo(folder: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "humanoid_ros.demo"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), **environment},
    )


@pytest.mark.slow
def test_headless_demo_ends_well_and_leaves_picture_and_report(tmp_path: Path) -> None:
    start = time.monotonic()
    process = start_demo(tmp_path, HEADLESS="1")
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert time.monotonic() - start < 240
    picture = Image.open(tmp_path / "out" / "demo.png")
    assert picture.size == (1600, 900)
    report = (tmp_path / "out" / "report.md").read_text()
    assert ("headless Chromium" in report) == (find_browser() is not None)
    ratios = [float(value) for value in re.findall(r"N = ([\d.]+)", report)]
    assert len(ratios) == 2
    np.testing.assert_allclose(ratios, 1.0, atol=0.01)


@pytest.mark.slow
def test_demo_whose_simulator_dies_says_so_and_stops_the_viewer(tmp_path: Path) -> None:
    process = start_demo(tmp_path, HEADLESS="1")
    try:
        simulator = child_of(process.pid, "simulator")
        viewer = child_of(process.pid, "viewer")
        os.kill(simulator, signal.SIGKILL)
        output, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 1
    assert "simulator was killed by SIGKILL" in output
    with pytest.raises(ProcessLookupError):
        os.kill(viewer, 0)


def child_of(parent: int, word: str, timeout: float = 60.0) -> int:
    """Process id of a child whose program is named by a word."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        for entry in Path("/proc").iterdir():
            try:
                status = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                command = (entry / "cmdline").read_bytes().split(b"\0")
            except (OSError, IndexError):
                continue
            if int(status[1]) == parent and any(
                word.encode() == Path(os.fsdecode(part)).name.encode() for part in command[:3]
            ):
                return int(entry.name)
        time.sleep(0.1)
    pytest.fail(f"no {word} was started")
