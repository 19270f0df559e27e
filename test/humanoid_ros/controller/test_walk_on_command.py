# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks over ROS on noisy sensors, on command and by a motion: simulator, controller, client, each on its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.ros_processes import start_program
from humanoid_stack.msg import ControllerStatus

from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_model import load_robot
from humanoid_ros.bringup.node_list import list_nodes
from humanoid_ros.client import HumanoidStack

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.feature("000-F029")]
ROOT = Path(__file__).parents[3]


def arguments(name: str, **more: object) -> list[str]:
    """Arguments that a launch file gives to a node."""
    listed = list_nodes("sim", {"scene": "walk", "controller": "true"})
    given = {**next(node.parameters for node in listed if node.name == name), **more}
    return [word for key, value in given.items() for word in ("-p", f"{key}:={str(value).lower()}")]


SIMULATOR_ARGUMENTS = tuple(arguments("simulator", lockstep=60.0))
"""Time waits for as long as the tests' machine is busy."""


def test_a_walk_is_carried_out(simulator: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(simulator.domain))
    robot = load_robot("hrp2")
    motion = generate_walk(robot, plan_footsteps(robot, "half_sitting"), "half_sitting").motion(robot)
    way = motion.q[-1][:2] - motion.q[0][:2]
    with (tmp_path / "log").open("wb") as log:
        controller = start_program("controller", simulator.domain, *arguments("controller"), log=log)
        try:
            with HumanoidStack("hrp2", patience=120.0) as stack:
                stack.reset()
                while stack.balance.mode != ControllerStatus.STANDING:
                    stack.run(0.1)
                stack.activate_controller(active=False)
                stack.run(0.3)
                assert stack.state.base.rotation[2, 2] > 0.999, "the drives hold"
                stack.activate_controller()
                while stack.balance.mode != ControllerStatus.STANDING:
                    stack.run(0.1)
                start, told = stack.state.base, []
                result = stack.carry_out(motion, progress=lambda news: bool(told.append(news.fraction)), timeout=600.0)
                assert result.success, result.message
                assert told == sorted(told)
                end = stack.state.base
        finally:
            controller.terminate()
            assert controller.wait(30.0) == 0
    np.testing.assert_allclose((end.translation - start.translation)[:2], way, atol=0.05)
    assert end.rotation[2, 2] > 0.99
    assert "Traceback" not in (tmp_path / "log").read_text(errors="replace")


def test_it_walks_is_pushed_and_stands(simulator: Any, tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        controller = start_program("controller", simulator.domain, *arguments("controller"), log=log)
        try:
            ended = subprocess.run(
                [sys.executable, str(ROOT / "examples/walk_on_command.py")],
                env={**os.environ, "ROS_DOMAIN_ID": str(simulator.domain)},
                capture_output=True, text=True, timeout=900.0, check=False,
            )  # fmt: skip
        finally:
            controller.terminate()
            assert controller.wait(30.0) == 0
    assert ended.returncode == 0, ended.stdout + ended.stderr
    walked = re.search(r"walked (-?[\d.]+) m, ([-+][\d.]+) m aside; (\w+)", ended.stdout)
    assert walked is not None, ended.stdout
    assert 0.6 < float(walked[1]) < 1.8
    assert walked[3] == "stands"
    assert "Traceback" not in (tmp_path / "log").read_text(errors="replace")
