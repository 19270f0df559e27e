# SPDX-License-Identifier: Apache-2.0
"""What the demo records, against numbers by hand, and over DDS."""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin
import pytest
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import TransformStamped  # noqa: E402
from humanoid_stack.msg import ContactForce, ContactForces  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from humanoid_ros.demo.demo_observer import DemoError, DemoObserver, Recording, wait_for  # noqa: E402

DOMAIN = claim_domain()


def moving(x: list[float]) -> Recording:
    placements = [pin.SE3(np.eye(3), np.array([value, 0.0, 1.0])) for value in x]
    return Recording(
        start=0.0,
        transform_times=[0.1 * i for i in range(len(x))],
        placements={"trunk": placements},
    )


def test_largest_move_and_turn() -> None:
    recording = moving([0.0, 0.02, -0.03, 0.01])
    assert recording.max_move("trunk") == pytest.approx(0.03)
    recording.placements["trunk"].append(pin.SE3(pin.utils.rotate("y", 0.2), np.zeros(3)))
    assert recording.max_turn("trunk") == pytest.approx(0.2)


def test_settling_time_counts_until_it_stays() -> None:
    recording = moving([0.0, 0.02, 0.0, 0.01, 0.0004, 0.0, 0.0002])
    # It passes its last place at 0.2 s and leaves it again; from after 0.3 s on it stays.
    assert recording.settling_time("trunk", 0.0, 1e-3) == pytest.approx(0.3)
    assert moving([0.0, 0.0]).settling_time("trunk", 0.0, 1e-3) == 0.0


def test_forces_are_averaged_per_body_and_summed() -> None:
    recording = Recording(start=0.0, forces={"right": [1.0, 3.0], "left": [2.0, 5.0]})
    assert recording.mean_forces() == {"left": 3.5, "right": 2.0}
    assert recording.total_force_range() == (3.0, 8.0)


def test_a_foot_that_swings_has_taken_a_step_and_one_that_rocks_has_not() -> None:
    times = (0.04 * np.arange(12)).tolist()
    swung = [200.0] * 3 + [0.0] * 5 + [100.0] * 4
    rocked = [200.0, 0.0, 200.0, 200.0, 0.0, 0.0, 300.0, 300.0, 300.0, 300.0, 0.0, 0.0]
    hung = [0.0] * 8 + [200.0] * 4
    recording = Recording(start=0.0, times=times, forces={"swung": swung, "rocked": rocked, "hung": hung})
    assert [recording.landings(name) for name in ("swung", "rocked", "hung", "nobody")] == [1, 0, 0, 0]


def test_waiting_in_vain_tells_for_what() -> None:
    with pytest.raises(DemoError, match="rain"):
        wait_for(lambda: False, "rain", 0.1)


def test_waiting_ends_when_the_check_raises() -> None:
    def died() -> None:
        raise DemoError("a node died")

    with pytest.raises(DemoError, match="a node died"):
        wait_for(lambda: False, "rain", 60.0, died)


def test_topics_are_recorded() -> None:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    node = rclpy.create_node("demo", context=context)
    observer = DemoObserver(("trunk",), node)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    transforms = node.create_publisher(TFMessage, "/tf", 100)
    contacts = node.create_publisher(ContactForces, "contacts", 10)

    def publish(seconds: int, z: float, forces: dict[str, float]) -> None:
        frame = TransformStamped(child_frame_id="trunk")
        frame.header.frame_id = "world"
        frame.header.stamp.sec = seconds
        frame.transform.translation.z = z
        frame.transform.rotation.w = 1.0
        transforms.publish(TFMessage(transforms=[frame]))
        message = ContactForces()
        message.header.stamp.sec = seconds
        for body, force in forces.items():
            contact = ContactForce(body_a=body)
            contact.normal.z = 1.0
            contact.force.z, contact.force.x = force, 7.0
            message.contacts.append(contact)
        contacts.publish(message)
        end = time.monotonic() + 60.0
        while observer.simulated_time != seconds or observer.placement("trunk") is None:
            executor.spin_once(0.1)
            assert time.monotonic() < end
        for _ in range(5):
            executor.spin_once(0.02)

    try:
        publish(1, 0.5, {"foot": 3.0})
        observer.start_recording()
        with pytest.raises(DemoError, match="no contact forces"):
            observer.stop_recording()
        observer.start_recording()
        publish(2, 0.6, {"foot": 4.0})
        publish(3, 0.7, {"foot": 6.0, "hand": 2.0})
        recording = observer.stop_recording()
        assert recording.times == [2.0, 3.0]
        assert recording.mean_forces() == {"foot": 5.0, "hand": 1.0}
        np.testing.assert_allclose(recording.positions("trunk")[:, 2], [0.6, 0.7])
        assert recording.transform_times == [2.0, 3.0]
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)
