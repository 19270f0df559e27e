# SPDX-License-Identifier: Apache-2.0
"""A simulator with a bridge before it, in one ROS domain."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fixtures.bridges import MIXED
from fixtures.ros_processes import start_program


@pytest.fixture(scope="module")
def start_bridge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts bridges; each has to end well after SIGINT, unless a test has killed it."""
    started: list[tuple[subprocess.Popen[bytes], Path]] = []

    def start(domain: int, config: str, *arguments: str, sim_time: bool = True) -> subprocess.Popen[bytes]:
        folder = tmp_path_factory.mktemp("bridge")
        file = folder / "bridge.yaml"
        file.write_text(config)
        words = ["-p", f"config:={file}", "-p", f"use_sim_time:={str(sim_time).lower()}", *arguments]
        with (folder / "log").open("wb") as log:
            started.append((start_program("controller_bridge", domain, *words, log=log), folder / "log"))
        return started[-1][0]

    yield start
    for process, log in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            code = process.wait(60.0)
            assert code == 0, log.read_text(errors="replace")
        assert "Traceback" not in log.read_text(errors="replace"), log.read_text(errors="replace")


@pytest.fixture(scope="module")
def bridged(simulator: Any, start_bridge: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The client of a simulator that has a bridge before it; ``bridge`` is its process, ``log`` its log."""
    simulator.log = tmp_path_factory.mktemp("log") / "bridge.mcap"
    simulator.bridge = start_bridge(simulator.domain, MIXED, "-p", f"log:={simulator.log}")
    return simulator

