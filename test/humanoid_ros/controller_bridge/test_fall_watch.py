# SPDX-License-Identifier: Apache-2.0
"""A fall is known by the base's attitude, wherever the sensor is, and by forces that are gone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu

from humanoid_model import Robot, load_robot
from humanoid_ros.controller_bridge.bridge_settings import FallSettings
from humanoid_ros.controller_bridge.watches import FallWatch
from humanoid_ros.messages.conversions import fill_quaternion

pytestmark = pytest.mark.feature("000-F029")


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2", geometry=False)


class Watched:
    """A fall watch of HRP-2, whose base and chest are turned."""

    def __init__(self, robot: Robot, **settings: Any) -> None:
        self.robot, self.time = robot, 10.0
        self.positions: dict[str, float] = {}
        node: Any = SimpleNamespace(create_subscription=lambda *_: None, get_clock=lambda: self)
        measured: Any = self
        self.watch = FallWatch(node, FallSettings(**settings), robot, measured)

    def now(self) -> Any:
        return SimpleNamespace(nanoseconds=round(1e9 * self.time))

    def feel(self, base: Any, **positions: float) -> None:
        """What the sensor in the chest says where the base has an attitude."""
        self.positions = positions
        model, q = self.robot.model, pin.neutral(self.robot.model)
        for name, position in positions.items():
            q[self.robot.index_q(name)] = position
        q = self.robot.place_base(q, pin.SE3(base, np.zeros(3)))
        data = model.createData()
        pin.forwardKinematics(model, data, q)
        sensor = self.robot.sensors["imu"]
        link = self.robot.parts.links[sensor.link]
        placement = data.oMi[link.joint_id] * link.placement_joint_link * sensor.placement_link_sensor
        message = Imu()
        fill_quaternion(message.orientation, pin.Quaternion(placement.rotation).coeffs())
        self.watch._on_imu(message)

    def bear(self, topic: str, force: float) -> None:
        message = WrenchStamped()
        message.wrench.force.z = force
        self.watch._on_wrench(topic, message)


def test_the_base_tilts_not_the_chest(robot: Robot) -> None:
    watched = Watched(robot, imu="imu", sensor="imu", attitude=0.2)
    watched.feel(np.eye(3), CHEST_JOINT1=0.0)
    watched.watch.begin(None)
    assert watched.watch.fall(0.0) == ""
    watched.feel(pin.rpy.rpyToMatrix(0.0, 0.0, 2.0), CHEST_JOINT1=0.5)
    assert watched.watch.fall(0.0) == ""  # turned about the vertical, and the chest bent
    watched.feel(pin.rpy.rpyToMatrix(0.0, 0.15, 0.0), CHEST_JOINT1=0.5)
    assert watched.watch.fall(0.0) == ""
    watched.feel(pin.rpy.rpyToMatrix(0.0, 0.3, 1.0), CHEST_JOINT1=-0.3)
    assert "tilted by 0.30 rad" in watched.watch.fall(0.0)


def test_a_motion_that_leans_is_no_fall(robot: Robot) -> None:
    watched = Watched(robot, imu="imu", sensor="imu", attitude=0.2)
    leaning = robot.place_base(pin.neutral(robot.model), pin.SE3(pin.rpy.rpyToMatrix(0.4, 0.0, 0.0), np.zeros(3)))
    motion: Any = SimpleNamespace(at=lambda position: SimpleNamespace(q=leaning))
    watched.watch.begin(motion)
    watched.feel(pin.rpy.rpyToMatrix(0.4, 0.0, 0.0))
    assert watched.watch.fall(1.0) == ""
    watched.feel(np.eye(3))
    assert "tilted by 0.40 rad" in watched.watch.fall(1.0)


def test_a_unit_without_orientation_is_silent(robot: Robot) -> None:
    watched = Watched(robot, imu="imu")
    assert "comes on imu" in watched.watch.silent(1.0)
    none, unknown = Imu(), Imu()
    none.orientation.w, unknown.orientation_covariance[0] = 0.0, -1.0
    for message in (none, unknown):
        watched.watch._on_imu(message)
        assert "comes on imu" in watched.watch.silent(1.0)
    watched.feel(np.eye(3))
    assert watched.watch.silent(1.0) == ""
    watched.time += 2.0
    assert "nothing has come on imu for 2.00 s" in watched.watch.silent(1.0)


def test_feet_bear_the_robot_together_and_may_leave_the_ground_for_a_moment(robot: Robot) -> None:
    watched = Watched(robot, wrenches=("left", "right"), force=100.0, time=0.1)
    watched.watch.begin(None)
    for left, right, later, falls in (
        (500.0, 0.0, 0.0, False), (0.0, 500.0, 0.0, False), (10.0, 20.0, 0.0, False), (10.0, 20.0, 0.05, False),
        (60.0, 60.0, 0.1, False), (10.0, 20.0, 0.0, False), (10.0, 20.0, 0.11, True),
    ):  # fmt: skip
        watched.time += later
        watched.bear("left", left)
        watched.bear("right", right)
        assert bool(watched.watch.fall(0.0)) == falls
