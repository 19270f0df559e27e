# SPDX-License-Identifier: Apache-2.0
"""The process that cancels a bridge's goals when the bridge is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.srv import CancelGoal  # noqa: E402

from humanoid_ros.controller_bridge.guard import ARM, FOUND, READY  # noqa: E402

pytestmark = pytest.mark.feature("000-F029")

ACTION = "/limb/follow_joint_trajectory"


class Controller:
    """Hears requests to cancel all goals; one goal comes to it late, between the first request and the second."""

    def __init__(self, domain: int, late: bool) -> None:
        self.domain, self.context = domain, rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("controller", context=self.context)
        self.moving, self.late, self.asked = not late, late, 0
        self.node.create_service(CancelGoal, f"{ACTION}/_action/cancel_goal", self._cancel)
        self.executor = rclpy.executors.SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._spin)
        self.thread.start()

    def _spin(self) -> None:
        while not self.ended.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def _cancel(self, _: Any, answer: CancelGoal.Response) -> CancelGoal.Response:
        self.asked += 1
        if self.moving:
            answer.goals_canceling.append(CancelGoal.Request().goal_info)
        self.moving, self.late = self.late, False
        return answer

    def close(self) -> None:
        self.ended.set()
        self.thread.join()
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture(params=[False, True], ids=["moving", "late"])
def controller(request: pytest.FixtureRequest) -> Iterator[Controller]:
    controller = Controller(claim_domain(), request.param)
    yield controller
    controller.close()


def test_goals_of_a_bridge_that_is_gone_are_cancelled_also_those_that_come_late(controller: Any) -> None:
    environment = {**os.environ, "ROS_DOMAIN_ID": str(controller.domain)}
    command = [sys.executable, "-m", "humanoid_ros.controller_bridge.guard", "5.0", ACTION]
    process = subprocess.Popen(command, stdin=-1, stdout=-1, bufsize=0, env=environment)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.read(1) == READY
        assert process.stdout.read(1) == FOUND
        process.stdin.write(ARM)
        time.sleep(0.5)
        assert controller.asked == 0  # the bridge lives
        process.stdin.close()
        assert process.wait(30.0) == 0
        assert not controller.moving
        assert not controller.late
    finally:
        process.kill()
        process.wait()
