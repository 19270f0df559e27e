# SPDX-License-Identifier: Apache-2.0
"""Messages of a camera on a robot, and of a sensor of a user's own, without a middleware."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from fixtures.scenes import floor, scene, seer, standing

from examples.extending.magnetometer import Magnetometer
from humanoid_model import load_robot
from humanoid_model.sensor import Noise, Sensor
from humanoid_model.sensor_kind import SENSOR_KINDS
from humanoid_ros.simulator.robot_topics import RobotTopics
from humanoid_sim import Simulation
from humanoid_sim.sensing import NoisySensors


class Wires:
    """A node whose publishers have one listener each, and keep what they are given."""

    def __init__(self) -> None:
        self.heard: dict[str, list[Any]] = {}
        self.topic = ""

    def create_publisher(self, _: type, topic: str, *__: Any) -> Any:
        own = Wires()
        self.heard[topic] = own.heard.setdefault("", [])
        return own

    def get_subscription_count(self) -> int:
        return 1

    def publish(self, message: Any) -> None:
        self.heard[""].append(message)


def test_pictures_distances_and_optics_belong_together(tmp_path: Path) -> None:
    """The optics tell where the corners of the box that is 1.8 m away are seen; all of it has one stamp and frame."""
    simulation, node = seer(tmp_path), Wires()
    robot = simulation.robots["seer"]
    topics = RobotTopics(node, robot, "seer/", "world")  # type: ignore[arg-type]
    topics.publish_cameras(Time(sec=1))
    for topic in topics.camera_topics:
        topic.look()
    topics.publish_cameras(Time(sec=2))
    image, depth, info = (node.heard[f"seer/cameras/eye/{name}"][0] for name in ("image_raw", "depth", "camera_info"))
    assert len(node.heard["seer/cameras/eye/image_raw"]) == 1  # nobody listened at first
    for message in (image, depth, info):
        assert (message.header.frame_id, message.header.stamp.sec) == ("seer/eye_frame", 2)
        assert (message.width, message.height) == (160, 120)
    assert (image.encoding, image.step) == ("rgb8", 480)
    np.testing.assert_array_equal(np.frombuffer(image.data, np.uint8).reshape(120, 160, 3), robot.image("eye"))
    assert (depth.encoding, depth.step) == ("32FC1", 640)
    far = np.frombuffer(depth.data, "<f4").reshape(120, 160)
    rows, columns = np.nonzero(np.isfinite(far))
    np.testing.assert_allclose(far[rows, columns], 1.8, rtol=1e-6)
    assert (columns.min() + columns.max(), rows.min() + rows.max()) == (2.0 * info.k[2], 2.0 * info.k[5])
    corner = np.reshape(info.k, (3, 3)) @ [0.1, 0.1, 1.8] / 1.8
    np.testing.assert_allclose((columns.max(), rows.max()), corner[:2], atol=1.0)
    opposite = np.reshape(info.p, (3, 4)) @ [-0.1, -0.1, 1.8, 1.0] / 1.8
    np.testing.assert_allclose((columns.min(), rows.min()), opposite[:2], atol=1.0)


@pytest.mark.feature("000-F006", "000-F147")
def test_a_sensor_of_a_users_own_has_its_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SENSOR_KINDS, "magnetometer", Magnetometer())
    noise = {"field": Noise(bias=(1.0, 0.0, 0.0))}
    compass = Sensor("compass", "magnetometer", "CHEST_LINK1", pin.SE3.Identity(), noise=noise)
    robot = load_robot("hrp2")
    simulation = Simulation(scene(floor(), robots=(standing(replace(robot, sensors={"compass": compass})),)))
    measured = NoisySensors()
    simulation.add_module(measured)
    own, node = simulation.robots["hrp2"], Wires()
    for sensors, prefix in ((None, "ideal/"), (measured, "noisy/")):
        topics = RobotTopics(node, own, prefix, "world", sensors)  # type: ignore[arg-type]
        topics.publish_readings(Time(sec=1))
        topics.readings[0].topic.look()
        topics.publish_readings(Time(sec=2))
        (message,) = node.heard[f"{prefix}magnetometer/compass"]  # nobody listened at first
        assert (message.header.frame_id, message.header.stamp.sec) == (f"{prefix}compass_frame", 2)
        field = np.array([message.magnetic_field.x, message.magnetic_field.y, message.magnetic_field.z])
        off = [0.0 if sensors is None else 1.0, 0.0, 0.0]
        np.testing.assert_allclose(field, own.placement("CHEST_LINK1").rotation.T @ [20e-6, 0, -44e-6] + off, atol=1e-9)
