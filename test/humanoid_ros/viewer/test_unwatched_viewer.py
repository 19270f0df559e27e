# SPDX-License-Identifier: Apache-2.0
"""A viewer that nobody watches: it lets messages lie, and who comes sees the present and what was before."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fixtures.page_client import PageClient, wait_for, wait_for_place
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.page_partner import spun_node  # noqa: E402
from geometry_msgs.msg import TransformStamped  # noqa: E402
from humanoid_stack.msg import ContactForce, ContactForces, SimulationStatus  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from humanoid_ros.viewer.viewer_node import ViewerNode  # noqa: E402

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
URDF = """
<robot name="stone">
  <link name="stone">
    <inertial><mass value="10"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>
  </link>
</robot>
"""
RATE = 100.0


class Stone(Node):
    """A stone that tells 100 times a second where it lies, and on what; its clock is its own count."""

    def __init__(self, context: Any) -> None:
        super().__init__("stone", context=context)
        self.told = 0
        self.speaking = False
        self.force = 25.0
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._status = self.create_publisher(SimulationStatus, "status", LATCHED)
        self._tf = self.create_publisher(TFMessage, "/tf", 100)
        self._contacts = self.create_publisher(ContactForces, "contacts", 10)
        self._joints = self.create_publisher(JointState, "joint_states", 10)
        self._description.publish(String(data=URDF))
        self.create_timer(1.0 / RATE, self._tell)
        self.create_timer(0.2, lambda: self._status.publish(SimulationStatus(scene="stand")))

    def _tell(self) -> None:
        if not self.speaking:
            return
        self.told += 1
        place = TransformStamped(child_frame_id="stone")
        place.header.frame_id = "world"
        place.header.stamp.sec, place.header.stamp.nanosec = divmod(self.told * 10_000_000, 1_000_000_000)
        place.transform.translation.x = 1e-3 * self.told
        place.transform.rotation.w = 1.0
        self._tf.publish(TFMessage(transforms=[place]))
        contacts = ContactForces(header=place.header)
        for x in (-0.1, 0.1):
            contact = ContactForce(body_a="stone/stone", body_b="floor", friction=0.5)
            contact.position.x, contact.normal.z, contact.force.z = x, 1.0, self.force
            contacts.contacts.append(contact)
        self._contacts.publish(contacts)
        self._joints.publish(JointState(header=place.header))


class Running:
    """A viewer in this process, whose executor counts how often it wakes up.

    Attributes:
        node: the viewer.
        wakes: of its executor.
    """

    def __init__(self, domain: int) -> None:
        self.wakes = 0
        rclpy.init(args=["--ros-args", "-p", "port:=0"], domain_id=domain)
        self.node = ViewerNode()
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self) -> None:
        while not self._stop.is_set():
            self._executor.spin_once(timeout_sec=0.5)
            self.wakes += 1

    def close(self) -> None:
        self._stop.set()
        self._executor.wake()
        self._thread.join(10.0)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown()


@pytest.fixture(scope="module")
def domain() -> int:
    return claim_domain()


@pytest.fixture(scope="module")
def stone(domain: int) -> Iterator[Stone]:
    with spun_node(Stone, domain) as stone:
        yield stone


@pytest.fixture(scope="module")
def running(domain: int, stone: Stone) -> Iterator[Running]:
    running = Running(domain)
    yield running
    running.close()


@pytest.mark.feature("000-F020")
def test_nobody_is_woken_up_by_what_nobody_looks_at_and_who_comes_sees_it_all(stone: Stone, running: Running) -> None:
    """300 messages a second come; the present and the plot of the last seconds are there when all has fallen silent."""
    wait_for(lambda: stone.count_subscribers("/joint_states") and stone.count_subscribers("/tf"), "it listens")
    stone.speaking = True
    wait_for(lambda: stone.told > 100, "it has been told of the stone")
    wakes, told, begin = running.wakes, stone.told, time.monotonic()
    time.sleep(3.0)
    woken, seconds = running.wakes - wakes, time.monotonic() - begin
    told = 3 * (stone.told - told)
    stone.speaking = False
    assert told > 100, "a machine that is too busy to tell anything shows nothing"
    # Three timers of a second, and the time limits of this test; not one a message.
    assert woken < 10.0 * seconds + 10
    page = PageClient(running.node.page.address)
    try:
        wait_for(lambda: running.node.page.watched, "somebody watches")
        wait_for_place(page, "/robots/stone/stone", [1e-3 * stone.told, 0.0, 0.0])
        wait_for(lambda: "/contacts/cones" in page.nodes, "so are its contacts")
        wait_for(lambda: "50.0 N of 98.1 N" in page.status, "and its forces")
        wait_for(lambda: "GuiUplotMessage" in page.controls, "they are plotted")
        times, forces = running.node._panel.plot._chart.data[:2]
        assert times[-1] - times[0] > 1.0, "what came while nobody looked"
        np.testing.assert_array_equal(forces, 50.0)
    finally:
        page.close()
    wait_for(lambda: not running.node.page.watched, "the browser has left")


@pytest.mark.feature("000-F020")
def test_what_can_not_be_drawn_is_told_once_and_stops_nothing_else(
    stone: Stone, running: Running, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = PageClient(running.node.page.address)
    stone.speaking = True
    try:
        wait_for(lambda: "running" in page.status, "it is shown")
        broken: list[int] = []

        def fail(*_: Any) -> None:
            broken.append(1)
            raise OverflowError("cannot convert float infinity to integer")

        with monkeypatch.context() as patched:
            patched.setattr(running.node._contacts, "update", fail)
            wait_for(lambda: "contacts: OverflowError" in page.texts, "that is told")
            wait_for(lambda: len(broken) > 5, "it fails again and again")
            ahead = 1e-3 * stone.told
            wait_for(lambda: page.nodes["/robots/stone/stone"]["position"][0] > ahead, "the stone is drawn")
        stone.force = 40.0
        wait_for(lambda: "80.0 N of 98.1 N" in page.status, "the next contacts are drawn")
        assert capfd.readouterr().err.count("contacts can't be drawn: Traceback") == 1
    finally:
        stone.speaking = False
        page.close()


@pytest.mark.parametrize("words", ["dictionary changed size during iteration", "deque mutated during iteration"])
def test_a_browser_that_comes_while_something_is_drawn_costs_no_drawing(
    running: Running, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr(running.node, "_say", said.append)
    errors = [RuntimeError(words)]

    def draw() -> None:
        if errors:
            raise errors.pop()
        said.append("drawn")

    running.node._try("part", draw)
    assert said == ["drawn"]
