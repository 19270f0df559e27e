# SPDX-License-Identifier: Apache-2.0
"""The page commands walks and pushes, and shows the balance that a controller tells, over DDS."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fixtures.asked_feature import Asked, at_once
from fixtures.ros_domain import claim_domain

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from geometry_msgs.msg import Point, TwistStamped
from humanoid_stack.msg import ControllerStatus
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_ros.viewer import walk_studio
from humanoid_ros.viewer.feature import View
from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.planner_calls import PresentRobot
from humanoid_ros.viewer.simulator_calls import SimulatorCalls
from humanoid_ros.viewer.walk_studio import WalkStudio

pytestmark = [pytest.mark.ros, pytest.mark.feature("000-F029")]


class Bench:
    """A page's walk, and a controller that is played by the test."""

    def __init__(self, page: Page) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=claim_domain())
        self.node = rclpy.create_node("viewer", context=self.context)
        self.partner = rclpy.create_node("controller", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.partner)
        self.asked = Asked(SimulatorCalls)
        given: Any = {"robots": Robots(), "simulator": self.asked, "later": at_once}
        self.studio = WalkStudio(View(self.node, page, present=PresentRobot(), **given))
        self.panel = self.studio._panel
        self.statuses = self.partner.create_publisher(ControllerStatus, "controller/status", 10)
        self.markers = self.partner.create_publisher(MarkerArray, "controller/markers", 10)
        self.odometry = self.partner.create_publisher(Odometry, "odom", 10)
        self.velocities: list[TwistStamped] = []
        self.partner.create_subscription(TwistStamped, "cmd_vel", self.velocities.append, 10)
        self.now = 0.0

    def until(self, condition: Callable[[], bool], say: Callable[[], None] = lambda: None) -> None:
        end = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < end
            say()
            self.now += 0.05
            self.studio.update(self.now)
            self.executor.spin_once(timeout_sec=0.01)

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        self.partner.destroy_node()
        self.context.try_shutdown()


class Robots(list[Any]):
    """One robot of 50 kg."""

    mass = 50.0

    def __init__(self) -> None:
        super().__init__()
        drawing = SimpleNamespace(description=SimpleNamespace(root="WAIST"))
        self.append(SimpleNamespace(prefix="hrp2/", drawing=drawing))


@pytest.fixture
def bench(page: Page) -> Iterator[Bench]:
    page.watched = True
    bench = Bench(page)
    yield bench
    bench.close()


def status() -> ControllerStatus:
    return ControllerStatus(mode=ControllerStatus.STEPPING, margin=-0.012, ticks=500, late_ticks=3, faults=["<lost>"])


def test_the_folder_is_there_while_a_controller_is_heard(bench: Bench) -> None:
    assert not bench.panel.folder.visible
    bench.until(lambda: bench.panel.folder.visible, lambda: bench.statuses.publish(status()))
    text = bench.panel._text.content
    for words in ("steps", "-1.2 cm inside", "3 of 500 late", "&lt;lost&gt;"):
        assert words in text
    bench.until(lambda: not bench.panel.folder.visible)


def test_velocities_are_said_again_until_they_are_zero_which_is_said_once(bench: Bench) -> None:
    bench.until(lambda: bench.partner.count_publishers("cmd_vel") > 0)
    bench.panel.ahead.value, bench.panel.turn.value = 0.2, -0.1
    bench.until(lambda: len(bench.velocities) > 3)
    twist = bench.velocities[-1].twist
    assert (twist.linear.x, twist.linear.y, twist.angular.z) == pytest.approx((0.2, 0.0, -0.1))
    for callback in bench.panel.stop._impl.update_cb:
        callback(SimpleNamespace(target=bench.panel.stop))
    bench.until(lambda: bench.velocities[-1].twist.linear.x == 0.0)
    count = len(bench.velocities)
    for _ in range(30):
        bench.until(lambda: True)
        bench.now += 0.1
        bench.studio.update(bench.now)
    assert len(bench.velocities) == count


def test_a_push_goes_where_the_robot_looks(bench: Bench) -> None:
    odometry = Odometry()
    odometry.pose.pose.orientation.z = odometry.pose.pose.orientation.w = float(np.sqrt(0.5))  # to the left
    bench.until(lambda: abs(bench.studio._heading - 0.5 * np.pi) < 1e-6, lambda: bench.odometry.publish(odometry))
    bench.panel.strength.value = 0.4
    for callback in bench.panel.push._impl.update_cb:
        callback(SimpleNamespace(target=SimpleNamespace(value="←")))
    ((name, body, force, duration),) = bench.asked
    assert (name, body, duration) == ("push", "hrp2/WAIST", walk_studio.DURATION)
    np.testing.assert_allclose(force, [-50.0 * 0.4 / 0.1, 0.0, 0.0], atol=1e-9)


def test_lines_and_balls_are_drawn_where_they_are_told(bench: Bench) -> None:
    line = Marker(ns="support", type=Marker.LINE_STRIP, color=ColorRGBA(g=1.0, a=1.0))
    line.points = [Point(x=0.0), Point(x=1.0), Point(x=1.0, y=1.0)]
    ball = Marker(ns="dcm", type=Marker.SPHERE, color=ColorRGBA(b=1.0, a=1.0))
    ball.pose.position = Point(x=0.3, y=-0.1, z=0.2)
    ball.pose.orientation.w, ball.scale.x = 1.0, 0.03
    lost = Marker(ns="zmp", type=Marker.SPHERE, action=Marker.DELETE)

    def say() -> None:
        bench.statuses.publish(status())
        bench.markers.publish(MarkerArray(markers=[line, ball, lost]))

    bench.until(lambda: "dcm" in bench.studio._solids, say)
    assert len(bench.studio._lines) == 1
    np.testing.assert_allclose(bench.studio._solids["dcm"].position, [0.3, -0.1, 0.2])
    assert not bench.studio._solids["zmp"].visible
    bench.until(lambda: not bench.studio._solids["dcm"].visible)
    assert len(bench.studio._lines) == 0
