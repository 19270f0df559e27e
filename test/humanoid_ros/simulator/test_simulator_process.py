# SPDX-License-Identifier: Apache-2.0
"""The simulator node as a process: how it starts and how it ends. No other simulator runs meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fixtures.ros_domain import claim_domain

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

BAD_STARTS = {
    "scene:=atlantis": "atlantis",
    "robot:=nobody": "nobody",
    "real_time_factor:=-1.0": "real_time_factor",
    "scene:=3.5": "scene",
}
"""Parameters that the node can't use, and what it names."""


@pytest.fixture(scope="module")
def bad_starts(start_badly: Callable[..., Any]) -> dict[str, tuple[int, str]]:
    return start_badly("simulator", list(BAD_STARTS))


@pytest.mark.parametrize("parameter", BAD_STARTS)
def test_bad_start_ends_with_a_message(bad_starts: dict[str, tuple[int, str]], parameter: str) -> None:
    code, text = bad_starts[parameter]
    assert code == 1
    assert BAD_STARTS[parameter] in text
    assert "Traceback" not in text


@pytest.mark.feature("000-F018")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_cleanly(number: signal.Signals, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    process = start("-p", "real_time_factor:=0.0")
    assert process.stdout is not None
    line = process.stdout.readline().decode()
    assert "scene 'stand'" in line
    process.send_signal(number)
    text, _ = process.communicate(timeout=60.0)
    assert process.returncode == 0
    assert text.decode() == ""


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts simulators, with piped output, in a domain of their own."""
    from ament_index_python.packages import get_package_prefix

    domain = claim_domain()
    processes = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        program = f"{get_package_prefix('humanoid_stack')}/lib/humanoid_stack/simulator"
        process = subprocess.Popen(
            [program, "--ros-args", *arguments],
            env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.wait()
