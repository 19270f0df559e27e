# SPDX-License-Identifier: Apache-2.0
"""The end of a process is known at once, that of one that lives never; who waits for a killed node is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.srv import CancelGoal  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from fixtures.ros_domain import claim_domain  # noqa: E402

from humanoid_model.progress import Progress  # noqa: E402
from humanoid_ros.client.connection import Connection, StackError  # noqa: E402
from humanoid_ros.node import process_mark  # noqa: E402
from humanoid_ros.node.process_mark import has_ended, mark_process  # noqa: E402

MARKED = """
import sys, time
from humanoid_ros.node.process_mark import mark_process
mark_process(bytes.fromhex(sys.argv[1]))
print("marked", flush=True)
time.sleep(600.0)
"""
HANGING = """
import rclpy, time
from action_msgs.srv import CancelGoal
from control_msgs.action import FollowJointTrajectory
from humanoid_ros.node.answering_node import AnsweringActionServer
from humanoid_ros.node.answering_node import AnsweringNode

def hang(*_):
    print("asked", flush=True)
    time.sleep(600.0)

rclpy.init()
node = AnsweringNode("hanging")
node.create_service(CancelGoal, "ask", hang)
server = AnsweringActionServer(node, FollowJointTrajectory, "follow", hang)
rclpy.spin(node)
"""


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Starts programs in this process' own ROS domain."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(claim_domain()))
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parents[3]}:{os.environ.get('PYTHONPATH', '')}")
    started = []

    def begin(program: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", program, *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An own place for marks."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / f"humanoid_stack_{os.getuid()}"


@pytest.mark.feature("000-F029")
def test_a_killed_process_has_ended_and_one_that_lives_or_hangs_has_not(start: Any, folder: Path) -> None:
    one, other = bytes(range(16)), bytes(range(100, 116))
    marked = start(MARKED, one.hex())
    assert marked.stdout.readline() == "marked\n"
    assert not has_ended(one)
    assert not has_ended(other)  # nobody knows it
    marked.send_signal(signal.SIGSTOP)
    assert not has_ended(one)
    marked.kill()  # it isn't waited for: one that nobody has waited for has ended too
    end = time.monotonic() + 60.0
    while not has_ended(one):
        assert time.monotonic() < end, "its end isn't noticed"
    mark_process(other)
    assert has_ended(one)  # though another one has begun
    assert not has_ended(other)


def test_what_tells_of_an_end_is_kept_for_a_while(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark_process(b"a" * 16)
    file = folder / (b"a" * 12).hex()
    os.close(process_mark._held.pop(b"a" * 12))
    for first in b"bc":
        mark_process(bytes([first]) * 16)
        assert has_ended(b"a" * 16)
    os.utime(file, (0.0, 0.0))
    mark_process(b"d" * 16)
    assert not file.exists()
    assert len(list(folder.iterdir())) == 3


@pytest.mark.feature("000-F029")
def test_a_folder_that_others_can_write_to_is_not_believed(folder: Path) -> None:
    mark_process(b"e" * 16)
    os.close(process_mark._held.pop(b"e" * 12))
    assert has_ended(b"e" * 16)
    folder.chmod(0o777)
    assert not has_ended(b"e" * 16)
    mark_process(b"f" * 16)
    assert len(list(folder.iterdir())) == 1


@pytest.mark.feature("000-F029")
def test_who_waits_for_a_killed_node_is_told_soon(start: Any) -> None:
    """The middleware's lease is 20 s here."""
    connection = Connection("", 60.0, lambda: None)
    try:
        for ask in (ask_service, ask_action):
            hanging = start(HANGING)
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(ask, connection)
                assert hanging.stdout.readline() == "asked\n"
                assert not waiting.done()
                hanging.kill()
                began = time.monotonic()
                with pytest.raises(StackError, match="has ended, and the work with it"):
                    waiting.result(60.0)
                assert time.monotonic() - began < 6.0
    finally:
        connection.close()


def ask_service(connection: Connection) -> Any:
    return connection.call(CancelGoal, "ask", CancelGoal.Request(), timeout=60.0)


def ask_action(connection: Connection) -> Any:
    goal = FollowJointTrajectory.Goal()
    task = connection.start(FollowJointTrajectory, "follow", goal, lambda *_: None, lambda _: Progress(""))
    return task.result(timeout=60.0)


def test_where_no_file_can_be_made_nothing_is_known_and_nothing_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    mark_process(bytes(range(16)))
    assert not has_ended(bytes(range(16)))
