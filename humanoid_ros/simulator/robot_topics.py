# SPDX-License-Identifier: Apache-2.0
"""What a simulated robot publishes: joints, base, sensors, cameras, description."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image, Imu, JointState
from std_msgs.msg import String

from humanoid_model.sensor import Sensor
from humanoid_model.sensor_kind import SENSOR_KINDS
from humanoid_ros.messages.conversions import fill_quaternion, fill_vector
from humanoid_ros.messages.link_transforms import LinkTransforms, sensor_frame
from humanoid_ros.messages.serialized_message import SerializedMessage
from humanoid_ros.node.qos import LATCHED, SENSOR, STATE
from humanoid_ros.simulator.heard_publisher import HeardPublisher
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.sensing.inertial_means import InertialMeans
from humanoid_sim.world.simulated_robot import SimulatedRobot


class CameraTopics:
    """Pictures, distances and optics of one camera.

    Attributes:
        topics: the publishers.
    """

    def __init__(self, node: Node, sensor: Sensor, prefix: str) -> None:
        """Create the publishers.

        Args:
            node: that publishes.
            sensor: the camera.
            prefix: of topics and frames.
        """
        self._name = sensor.name
        self._info = camera_info(sensor)
        self._info.header.frame_id = prefix + sensor_frame(sensor.name)
        self._image, self._depth, self._optics = self.topics = [
            HeardPublisher(node, kind, f"{prefix}cameras/{sensor.name}/{topic}", SENSOR)
            for kind, topic in ((Image, "image_raw"), (Image, "depth"), (CameraInfo, "camera_info"))
        ]

    def publish(self, robot: SimulatedRobot, time: Time) -> None:
        """Publish what is heard, at the robot's present state."""
        self._info.header.stamp = time
        if self._optics.heard:
            self._optics.publish(self._info)
        if self._image.heard:
            self._image.publish(self._message(robot.image(self._name), "rgb8"))
        if self._depth.heard:
            self._depth.publish(self._message(robot.depth_image(self._name)[0].astype("<f4"), "32FC1"))

    def _message(self, pixels: np.ndarray, encoding: str) -> Image:
        height, width = pixels.shape[:2]
        return Image(
            header=self._info.header, height=height, width=width, encoding=encoding, step=pixels[0].nbytes,
            data=array("B", pixels.tobytes()),
        )  # fmt: skip


def camera_info(sensor: Sensor) -> CameraInfo:
    """Return the optics of a camera: a pinhole in the middle of the picture, the middle of the first pixel at 0."""
    width, height = sensor.size
    focal = 0.5 * height / math.tan(0.5 * sensor.field_of_view)
    x, y = 0.5 * (width - 1), 0.5 * (height - 1)
    return CameraInfo(
        width=width, height=height, distortion_model="plumb_bob", d=[0.0] * 5,
        k=[focal, 0.0, x, 0.0, focal, y, 0.0, 0.0, 1.0], r=np.eye(3).ravel().tolist(),
        p=[focal, 0.0, x, 0.0, 0.0, focal, y, 0.0, 0.0, 0.0, 1.0, 0.0],
    )  # fmt: skip


@dataclass(frozen=True)
class SensorTopic:
    """Where a sensor is published.

    Attributes:
        name: of the sensor.
        topic: its publisher.
        message: what is published; of a kind that users have added the message itself.
    """

    name: str
    topic: HeardPublisher
    message: Any


class RobotTopics:
    """Topics of one robot; a topic without subscribers costs next to nothing.

    Attributes:
        robot: the robot; only the simulation's thread may touch it.
        transforms: its transforms.
        joints, odometry, imus, wrenches, cameras: its publishers; a fixed robot has no odometry.
        readings: publishers of the sensors of other kinds.
    """

    def __init__(
        self, node: Node, robot: SimulatedRobot, prefix: str, world: str, sensors: NoisySensors | None = None
    ) -> None:
        """Create the publishers and publish the description.

        Args:
            node: that publishes.
            robot: whose state it is.
            prefix: of topics and frames, ``""`` or ``"robot/"``.
            world: name of the world frame.
            sensors: what it measures; ideal readings if not given.
        """
        self._node, self._prefix, self._sensors = node, prefix, sensors
        self.robot = robot
        model = robot.robot
        self.transforms = LinkTransforms(model, world, prefix, robot.placement_world_base)
        self.joints = HeardPublisher(node, JointState, f"{prefix}joint_states", STATE)
        self.odometry: HeardPublisher | None = None
        if model.base_joint is not None:
            self.odometry = HeardPublisher(node, Odometry, f"{prefix}odometry", STATE)
        links = model.parts.links
        base = next((name for name, link in links.items() if link.joint_id == model.base_joint), model.description.root)
        self._placement_joint_base = links[base].placement_joint_link
        joints = JointState(name=list(robot.joint_names))
        joints.header.frame_id = prefix + base  # as joint_state_broadcaster: RViz draws efforts in the robot's tree
        self._joints = SerializedMessage(joints, 3 * len(joints.name), _write_joints)
        odometry = Odometry(child_frame_id=prefix + base)
        odometry.header.frame_id = world
        self._odometry = SerializedMessage(odometry, 13, _write_odometry)

        kinds = {kind: [s for s in model.sensors.values() if s.type == kind] for kind in SENSOR_KINDS}
        # A robot's only unit is `imu`; of several each has its name.
        one = len(kinds["imu"]) == 1
        self.imus = [
            self._sensor(sensor.name, Imu(), "imu" if one else f"imu/{sensor.name}", 10, _write_imu)
            for sensor in kinds["imu"]
        ]
        self.wrenches = [
            self._sensor(sensor.name, WrenchStamped(), f"wrenches/{sensor.name}", 6, _write_wrench)
            for sensor in kinds["force_torque"]
        ]
        self.cameras = [CameraTopics(node, sensor, prefix) for sensor in kinds["camera"]]
        self.readings = [self._reading(own) for own in model.sensors.values() if SENSOR_KINDS[own.type].message]
        self._description = node.create_publisher(String, f"{prefix}robot_description", LATCHED)
        self._description.publish(String(data=model.urdf))

    def _sensor(
        self, name: str, message: Imu | WrenchStamped, topic: str, count: int, write: Callable[..., None]
    ) -> SensorTopic:
        message.header.frame_id = self._prefix + sensor_frame(name)
        publisher = HeardPublisher(self._node, type(message), self._prefix + topic, SENSOR)
        return SensorTopic(name, publisher, SerializedMessage(message, count, write))

    def _reading(self, sensor: Sensor) -> SensorTopic:
        package, _, kind = SENSOR_KINDS[sensor.type].message.replace("/", ".").rpartition(".")
        message = getattr(import_module(package), kind)()
        message.header.frame_id = self._prefix + sensor_frame(sensor.name)
        topic = f"{self._prefix}{sensor.type}/{sensor.name}"
        return SensorTopic(sensor.name, HeardPublisher(self._node, type(message), topic, SENSOR), message)

    def destroy(self) -> None:
        """Take the publishers off the graph."""
        self._node.destroy_publisher(self._description)
        sensors = (sensor.topic for sensor in (*self.imus, *self.wrenches, *self.readings))
        for topic in (self.joints, self.odometry, *sensors, *self.camera_topics):
            if topic is not None:
                topic.destroy()

    @property
    def camera_topics(self) -> list[HeardPublisher]:
        """Publishers of all cameras."""
        return [topic for camera in self.cameras for topic in camera.topics]

    def publish_joints(self, time: Time) -> None:
        """Publish positions, velocities and efforts of all joints."""
        if self.joints.heard:
            robot, sensors = self.robot, self._sensors
            positions = robot.joint_positions if sensors is None else sensors.joint_positions(robot.name)
            velocities = robot.joint_velocities if sensors is None else sensors.joint_velocities(robot.name)
            values = np.concatenate([positions, velocities, robot.joint_efforts])
            self.joints.publish(self._joints.filled(values, time))

    def publish_odometry(self, time: Time) -> None:
        """Publish place and velocity of the floating base, the velocity in the base's frame."""
        if self.odometry is not None and self.odometry.heard:
            base = self.robot.robot.placement_base(self.robot.q) * self._placement_joint_base
            place = pin.SE3ToXYZQUAT(base)
            self.odometry.publish(self._odometry.filled(np.concatenate([place, self.robot.twist_base]), time))

    def publish_imus(self, means: InertialMeans, time: Time) -> None:
        """Publish the inertial measurement units: orientation, and means since the last message if there are any."""
        for sensor in self.imus:
            if sensor.topic.heard:
                robot = self.robot.name
                now = self.robot.imu(sensor.name) if self._sensors is None else self._sensors.imu(robot, sensor.name)
                inertia = means.take(robot, sensor.name)
                values = (now.angular_velocity, now.linear_acceleration) if inertia is None else inertia
                sensor.topic.publish(sensor.message.filled(np.concatenate([now.orientation, *values]), time))

    def publish_wrenches(self, time: Time) -> None:
        """Publish the force-torque sensors: what acts on feet and hands, in the sensors' frames."""
        for sensor in self.wrenches:
            if sensor.topic.heard:
                robot, sensors = self.robot, self._sensors
                wrench = robot.wrench(sensor.name) if sensors is None else sensors.wrench(robot.name, sensor.name)
                sensor.topic.publish(sensor.message.filled(wrench, time))

    def publish_readings(self, time: Time) -> None:
        """Publish the sensors of kinds that users have added."""
        for sensor in self.readings:
            if sensor.topic.heard:
                robot = self.robot
                kind = SENSOR_KINDS[robot.robot.sensors[sensor.name].type]
                read = robot.reading if self._sensors is None else partial(self._sensors.reading, robot.name)
                sensor.message.header.stamp = time
                kind.fill(sensor.message, read(sensor.name))
                sensor.topic.publish(sensor.message)

    def publish_cameras(self, time: Time) -> None:
        """Take the pictures that somebody wants to see, which lasts a hundredth of a second and more each."""
        for camera in self.cameras:
            camera.publish(self.robot, time)


def _write_joints(message: JointState, values: list[float], time: Time) -> None:
    message.header.stamp, count = time, len(message.name)
    message.position, message.velocity, message.effort = values[:count], values[count : 2 * count], values[2 * count :]


def _write_odometry(message: Odometry, values: list[float], time: Time) -> None:
    message.header.stamp = time
    fill_vector(message.pose.pose.position, values)
    fill_quaternion(message.pose.pose.orientation, values[3:])
    fill_vector(message.twist.twist.linear, values[7:])
    fill_vector(message.twist.twist.angular, values[10:])


def _write_imu(message: Imu, values: list[float], time: Time) -> None:
    message.header.stamp = time
    fill_quaternion(message.orientation, values)
    fill_vector(message.angular_velocity, values[4:])
    fill_vector(message.linear_acceleration, values[7:])


def _write_wrench(message: WrenchStamped, values: list[float], time: Time) -> None:
    message.header.stamp = time
    fill_vector(message.wrench.force, values)
    fill_vector(message.wrench.torque, values[3:])
