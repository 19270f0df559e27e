# SPDX-License-Identifier: Apache-2.0
"""Sight and touch at once (specification 000, F030): the page shows a robot that a device holds at 1 kHz."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fixtures.page_client import PageClient, start_viewer, wait_for

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import WrenchStamped
from humanoid_stack.msg import DeviceState
from humanoid_stack.srv import AttachDevice
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_srvs.srv import SetBool, Trigger

HAND = "hrp2/RARM_LINK6"
SIMULATOR_ARGUMENTS = (
    "-p", "scene:=soft_soles", "-p", "paused:=true", "-p", "device_rate:=1000.0", "-p", f"traces:=['{HAND}']",
    "-p", "real_time_factor:=0.2",
)  # fmt: skip


@pytest.fixture
def page(simulator: Any) -> Iterator[PageClient]:
    process, address, output = start_viewer(simulator.domain)
    client = PageClient(address)
    wait_for(lambda: "paused" in client.status, "the page hears the simulator")
    yield client
    client.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(60.0) == 0
    assert "Traceback" not in "".join(output)


@pytest.mark.feature("000-F030")
def test_the_page_shows_what_a_device_moves_at_its_own_rate(simulator: Any, page: PageClient) -> None:
    request = AttachDevice.Request(device="omni", mode=AttachDevice.Request.ATTACH, body=HAND, stiffness=2000.0)
    answer = simulator.call(AttachDevice, "attach_device", request)
    assert answer.success, answer.message
    forces = simulator.listen(
        WrenchStamped, "devices/omni/force", QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
    )
    publisher = simulator.publisher(DeviceState, "devices/omni")
    stop, begin = threading.Event(), math.inf

    def speak() -> None:
        message = DeviceState()
        message.pose.orientation.w = 1.0
        while not stop.wait(1e-3):
            message.pose.position.z = 0.05 * min(max(time.monotonic() - begin, 0.0), 2.0)
            publisher.publish(message)

    speaking = threading.Thread(target=speak)
    speaking.start()
    try:
        assert simulator.call(SetBool, "pause", SetBool.Request(data=False)).success
        link = wait_for(lambda: [n for n in list(page.nodes) if n.endswith("/RARM_LINK6")], "the hand is there")[0]
        wait_for(lambda: np.any(page.nodes[link]["position"]), "the hand is drawn")
        height = page.nodes[link]["position"][2]
        begin = time.monotonic()
        wait_for(lambda: page.nodes[link]["position"][2] > height + 6e-3, "the hand goes up")
    finally:
        stop.set()
        speaking.join()
    assert simulator.call(SetBool, "pause", SetBool.Request(data=True)).success

    # A force per millisecond of simulated time, whatever the page does; best effort may lose some.
    stamps = np.array([m.header.stamp.sec * 1000 + m.header.stamp.nanosec // 1_000_000 for m in forces.messages])
    gaps = np.diff(stamps[stamps > 0])
    assert len(gaps) > 50
    assert np.median(gaps) == 1
    assert min(message.wrench.force.z for message in forces.messages) < -1.0  # the hand is heavy

    # The soles and the hand's way are on the page.
    def drawn(path: str, what: str) -> bool:
        return any(name.startswith(path) and what in node for name, node in list(page.nodes.items()))

    wait_for(lambda: drawn("/soles/", "vertices"), "the soles are drawn")
    wait_for(lambda: drawn("/traces/", "points"), "the hand's way is drawn")
    assert simulator.call(Trigger, "reset", Trigger.Request()).success
