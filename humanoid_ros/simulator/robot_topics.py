# SPDX-License-Identifier: Apache-2.0
"""What a simulated robot publishes: joints, base, sensors, description."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String

from humanoid_ros.messages.conversions import fill_pose, fill_quaternion, fill_vector
from humanoid_ros.messages.link_transforms import LinkTransforms, sensor_frame
from humanoid_ros.node.qos import LATCHED, SENSOR, STATE
from humanoid_sim.world.simulated_robot import SimulatedRobot


class RobotTopics:
    """Topics of one robot; a topic without subscribers costs next to nothing.

    Attributes:
        robot: the robot; only the simulation's thread may touch it.
        transforms: its transforms.
    """

    def __init__(self, node: Node, robot: SimulatedRobot, prefix: str, world: str) -> None:
        """Create the publishers and publish the description.

        Args:
            node: that publishes.
            robot: whose state it is.
            prefix: of topics and frames, ``""`` or ``"robot/"``.
            world: name of the world frame.
        """
        self._node = node
        self.robot = robot
        model = robot.robot
        self.transforms = LinkTransforms(model, world, prefix, robot.placement_world_base)
        self._publishers: list[Publisher] = []

        self._joint_publisher = self._publisher(JointState, f"{prefix}joint_states", STATE)
        self._joints = JointState(name=list(robot.joint_names))
        self._joints.header.frame_id = world

        self._odometry_publisher: Publisher | None = None
        if model.base_joint is not None:
            self._odometry_publisher = self._publisher(Odometry, f"{prefix}odometry", STATE)
        self._odometry = Odometry()
        self._odometry.header.frame_id = world
        self._base_link = next(
            (name for name, link in model.parts.links.items() if link.joint_id == model.base_joint),
            model.description.root,
        )
        self._odometry.child_frame_id = prefix + self._base_link

        kinds = {kind: [s for s in model.sensors.values() if s.type == kind] for kind in _KINDS}
        self._imus: list[tuple[str, Publisher, Imu]] = []
        for sensor in kinds["imu"]:
            # A robot's only unit is `imu`; of several each has its name.
            topic = "imu" if len(kinds["imu"]) == 1 else f"imu/{sensor.name}"
            reading = Imu()
            reading.header.frame_id = prefix + sensor_frame(sensor.name)
            self._imus.append((sensor.name, self._publisher(Imu, prefix + topic, SENSOR), reading))
        self._wrenches: list[tuple[str, Publisher, WrenchStamped]] = []
        for sensor in kinds["force_torque"]:
            wrench = WrenchStamped()
            wrench.header.frame_id = prefix + sensor_frame(sensor.name)
            publisher = self._publisher(WrenchStamped, f"{prefix}wrenches/{sensor.name}", SENSOR)
            self._wrenches.append((sensor.name, publisher, wrench))

        description = self._publisher(String, f"{prefix}robot_description", LATCHED)
        description.publish(String(data=model.urdf))

    def destroy(self) -> None:
        """Take the publishers off the graph."""
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)

    def publish_joints(self, time: Time) -> None:
        """Publish positions, velocities and efforts of all joints."""
        if self._joint_publisher.get_subscription_count() == 0:
            return
        message = self._joints
        message.header.stamp = time
        message.position = self.robot.joint_positions.tolist()
        message.velocity = self.robot.joint_velocities.tolist()
        message.effort = self.robot.joint_efforts.tolist()
        self._joint_publisher.publish(message)

    def publish_odometry(self, time: Time) -> None:
        """Publish place and velocity of the floating base, the velocity in the base's frame."""
        if not _listened_to(self._odometry_publisher):
            return
        message = self._odometry
        message.header.stamp = time
        fill_pose(message.pose.pose, self.robot.placement(self._base_link))
        twist = self.robot.twist_base
        fill_vector(message.twist.twist.linear, twist[:3])
        fill_vector(message.twist.twist.angular, twist[3:])
        self._odometry_publisher.publish(message)  # type: ignore[union-attr]

    def publish_imus(self, time: Time) -> None:
        """Publish the inertial measurement units."""
        for name, publisher, message in self._imus:
            if not _listened_to(publisher):
                continue
            reading = self.robot.imu(name)
            message.header.stamp = time
            fill_quaternion(message.orientation, reading.orientation)
            fill_vector(message.angular_velocity, reading.angular_velocity)
            fill_vector(message.linear_acceleration, reading.linear_acceleration)
            publisher.publish(message)

    def publish_wrenches(self, time: Time) -> None:
        """Publish the force-torque sensors: what acts on feet and hands, in the sensors' frames."""
        for name, publisher, message in self._wrenches:
            if not _listened_to(publisher):
                continue
            wrench = self.robot.wrench(name)
            message.header.stamp = time
            fill_vector(message.wrench.force, wrench[:3])
            fill_vector(message.wrench.torque, wrench[3:])
            publisher.publish(message)

    def _publisher(self, kind: type, topic: str, qos: QoSProfile) -> Publisher:
        publisher = self._node.create_publisher(kind, topic, qos)
        self._publishers.append(publisher)
        return publisher


_KINDS = ("imu", "force_torque")


def _listened_to(publisher: Publisher | None) -> bool:
    return publisher is not None and publisher.get_subscription_count() > 0
