# SPDX-License-Identifier: Apache-2.0
"""A call ends with its answer, or with the node that was asked."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.srv import CancelGoal  # noqa: E402

from humanoid_ros.node.watched_calls import WatchedCalls  # noqa: E402
from test.humanoid_ros.node.test_process_mark import HANGING, start  # noqa: E402, F401


@pytest.mark.feature("000-F019")
def test_a_call_ends_with_its_answer_or_with_the_node_that_was_asked(
    start: Callable[..., subprocess.Popen[str]],  # noqa: F811
) -> None:
    rclpy.init()
    node = rclpy.create_node("asking")
    try:
        told: list[Any] = []
        calls, client = WatchedCalls(node), node.create_client(CancelGoal, "ask")

        def ask() -> Any:
            return calls.call(client, CancelGoal.Request(), told.append, told.append)

        def spin_until(done: Callable[[], bool], limit: float) -> None:
            end = time.monotonic() + limit
            while not done():
                assert time.monotonic() < end, told
                rclpy.spin_once(node, timeout_sec=0.05)

        assert ask() is None
        assert told == ["No node offers ask."]
        quick = start(HANGING.replace("time.sleep(600.0)", "return _[1]"))
        spin_until(lambda: ask() is not None, 60.0)
        spin_until(lambda: isinstance(told[-1], CancelGoal.Response), 60.0)
        quick.kill()
        spin_until(lambda: ask() is None, 6.0)  # soon nothing is asked of it any more
        hanging = start(HANGING)
        spin_until(lambda: ask() is not None, 60.0)
        assert hanging.stdout is not None
        assert hanging.stdout.readline() == "asked\n"
        told.clear()
        hanging.kill()
        spin_until(lambda: bool(told), 6.0)
        assert set(told) == {"The node that offers ask has ended."}
    finally:
        node.destroy_node()
        rclpy.shutdown()
