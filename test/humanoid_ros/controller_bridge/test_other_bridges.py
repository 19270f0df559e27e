# SPDX-License-Identifier: Apache-2.0
"""Two bridges that answer one action move nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from fixtures.bridges import MIXED

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from humanoid_stack.action import ExecuteTrajectory

from test.humanoid_ros.conftest import wait_until
from test.humanoid_ros.controller_bridge.test_controller_bridge_node import Execute, moved

pytestmark = [pytest.mark.ros, pytest.mark.feature("000-F029")]
Result = ExecuteTrajectory.Result


def test_no_goal_is_taken_while_two_bridges_answer_and_a_killed_one_is_none(
    bridged: Any, start_bridge: Callable[..., subprocess.Popen[bytes]]
) -> None:
    diagnostics = bridged.listen(DiagnosticArray, "/diagnostics")
    ready = Execute(bridged, moved(1.0), dry_run=True).result()[1]
    while ready.code in (Result.NO_CONTROLLER, Result.STALE_STATE):  # its guard and its robot are still being found
        ready = Execute(bridged, moved(1.0), dry_run=True).result()[1]
    assert ready.success, ready.message
    other = start_bridge(bridged.domain, MIXED)

    def told() -> bool:
        bridges = [s for array in diagnostics.messages for s in array.status if "bridge" in s.name]
        return any(s.level == DiagnosticStatus.ERROR and "is also answered by" in s.message for s in bridges)

    wait_until(told, "nobody tells of two bridges")
    refused = Execute(bridged, moved(1.0)).result()[1]
    assert refused.code == Result.BUSY
    assert "execute_trajectory is also answered by /controller_bridge: both would move the robot" in refused.message

    other.kill()
    other.wait()
    # The middleware knows the killed one for 20 s more.
    moves = partial(Execute, bridged, moved(1.0, amount=0.1))
    wait_until(lambda: moves().result()[1].success, "the killed one still counts", timeout=15.0)
