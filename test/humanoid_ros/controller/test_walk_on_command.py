# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks over ROS on noisy sensors, is pushed and stops: simulator, controller and client, each on its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.ros_processes import start_program

from humanoid_ros.bringup.node_list import list_nodes

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.feature("000-F029")]
ROOT = Path(__file__).parents[3]


def arguments(name: str, **more: object) -> list[str]:
    """Arguments that a launch file gives to a node."""
    listed = list_nodes("sim", {"scene": "walk", "controller": "true"})
    given = {**next(node.parameters for node in listed if node.name == name), **more}
    return [word for key, value in given.items() for word in ("-p", f"{key}:={str(value).lower()}")]


SIMULATOR_ARGUMENTS = tuple(arguments("simulator", lockstep=60.0))
"""Time waits for as long as the tests' machine is busy."""


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
