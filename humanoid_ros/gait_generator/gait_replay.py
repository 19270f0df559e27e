# SPDX-License-Identifier: Apache-2.0
"""A gait played in real time on topics: joints, base, link frames, contact forces."""

from __future__ import annotations

import bisect

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import PoseStamped
from humanoid_stack.msg import ContactForces, Gait, WholeBodyTrajectory
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from humanoid_model import Robot
from humanoid_ros.gait_generator.gait_markers import times_of
from humanoid_ros.messages.conversions import placement
from humanoid_ros.messages.link_transforms import LinkTransforms
from humanoid_ros.node.qos import LATCHED, STATE, TRANSFORMS


def trajectory_posture(trajectory: WholeBodyTrajectory, robot: Robot, index: int) -> NDArray[np.float64]:
    """(nq,) configuration at one of a trajectory's points.

    Joints that the trajectory doesn't name are where the robot's posture ``zero`` has them.

    Args:
        trajectory: with a base at every point.
        robot: that it is for.
        index: of the point.

    Raises:
        InputError: the base's orientation isn't one.
    """
    q = robot.place_base(np.array(robot.postures["zero"]), placement(trajectory.base[index], f"base[{index}]"))
    for name, value in zip(trajectory.joints.joint_names, trajectory.joints.points[index].positions, strict=True):
        q[robot.index_q(name)] = value
    return q


PREFIX = "gait/"
"""Of the frames in /tf of a robot that plays a gait: another one of the same name may be walking there."""
OFF, ONCE, LOOP = "off", "once", "loop"
MODES = (OFF, ONCE, LOOP)
PAUSE = 0.5
"""Between two rounds [s]."""


class GaitReplay:
    """Plays the last gait that it was given.

    Args:
        node: that publishes.
        rate: of playing [Hz].
        world: name of the world frame.
    """

    def __init__(self, node: Node, rate: float, world: str) -> None:
        self._node, self._world = node, world
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._joints = node.create_publisher(JointState, "gait_joint_states", STATE)
        self._base = node.create_publisher(PoseStamped, "gait_base", STATE)
        self._contacts = node.create_publisher(ContactForces, "gait_contacts", STATE)
        self._description = node.create_publisher(String, "gait_description", LATCHED)
        self._tf = node.create_publisher(TFMessage, "/tf", TRANSFORMS)
        self._static = node.create_publisher(TFMessage, "/tf_static", LATCHED)
        self._gait: Gait | None = None
        self._robot: Robot | None = None
        self._transforms: LinkTransforms | None = None
        self._times: list[float] = []
        self._began: Time | None = None
        self._loop = False
        self._timer = node.create_timer(1.0 / rate, self._tick, clock=self._clock)
        self._timer.cancel()

    @property
    def playing(self) -> bool:
        """Whether a gait is being played."""
        return self._began is not None

    def play(self, gait: Gait, robot: Robot, mode: str) -> None:
        """Play a gait from its beginning in place of the one that is played; call it in the executor's thread.

        Args:
            gait: to play.
            robot: that walks.
            mode: one of :data:`MODES`.
        """
        self._gait, self._times = gait, times_of(gait.trajectory).tolist()
        if self._robot is not robot:
            self._robot = robot
            self._transforms = LinkTransforms(robot, self._world, PREFIX, pin.SE3.Identity())
            self._description.publish(String(data=robot.urdf))
            self._static.publish(TFMessage(transforms=self._transforms.fixed))
        self._loop = mode == LOOP
        if mode == OFF:
            self._stop()
            return
        self._began = self._clock.now()
        self._timer.reset()

    def again(self) -> bool:
        """Play the last gait once more; False if there is none."""
        if self._gait is None or self._robot is None:
            return False
        self.play(self._gait, self._robot, LOOP if self._loop else ONCE)
        return True

    def _stop(self) -> None:
        self._began = None
        self._timer.cancel()

    def _tick(self) -> None:
        gait, robot = self._gait, self._robot
        if gait is None or robot is None or self._began is None:
            return
        time = 1e-9 * (self._clock.now() - self._began).nanoseconds
        if time > self._times[-1] + PAUSE and self._loop:
            self._began, time = self._clock.now(), 0.0
        index = min(bisect.bisect_left(self._times, time), len(self._times) - 1)
        self._publish_point(gait, robot, index, self._node.get_clock().now().to_msg())
        if time >= self._times[-1] and not self._loop:
            self._stop()

    def _publish_point(self, gait: Gait, robot: Robot, index: int, stamp: Time) -> None:
        trajectory = gait.trajectory
        values = trajectory.joints.points[index]
        joints = JointState(
            name=trajectory.joints.joint_names,
            position=values.positions,
            velocity=values.velocities,
            effort=values.effort,
        )
        base = PoseStamped(pose=trajectory.base[index])
        contacts = trajectory.forces[index]
        for message in (joints, base, contacts):
            message.header.frame_id, message.header.stamp = self._world, stamp
        self._joints.publish(joints)
        self._base.publish(base)
        self._contacts.publish(contacts)
        if self._transforms is not None:
            q = trajectory_posture(trajectory, robot, index)
            self._tf.publish(TFMessage(transforms=self._transforms.update(q, stamp)))
