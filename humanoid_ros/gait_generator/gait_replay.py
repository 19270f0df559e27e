# SPDX-License-Identifier: Apache-2.0
"""A gait played in real time on topics: joints, base, link frames, contact forces, and a stick figure that walks."""

from __future__ import annotations

import bisect
import math
from pathlib import Path

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
from visualization_msgs.msg import MarkerArray

from humanoid_model import Robot, load_robot
from humanoid_ros.gait_generator.gait_markers import moment_markers
from humanoid_ros.messages.conversions import placement, seconds
from humanoid_ros.messages.link_transforms import LinkTransforms
from humanoid_ros.node.qos import LATCHED, STATE, TRANSFORMS

PLANAR = 3
"""Joints of a planar root: along x, along z, about y."""


def gait_robot(gait: Gait, geometry: bool = True) -> Robot:
    """Return robot of a gait's trajectory, by its name, or by the path of the URDF that the gait was asked for with.

    Args:
        gait: with a trajectory.
        geometry: whether its shapes are loaded as well.

    Raises:
        HumanoidError: there is no such robot here.
    """
    path = Path(gait.model)
    return load_robot(path if path.suffix == ".urdf" else gait.trajectory.robot, geometry=geometry)


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
    q = np.array(robot.postures["zero"])
    base = placement(trajectory.base[index], f"base[{index}]")
    if robot.base_joint is not None:
        q = robot.place_base(q, base)
    else:
        pitch = math.atan2(base.rotation[0, 2], base.rotation[2, 2])
        q[:PLANAR] = base.translation[0], base.translation[2], pitch
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
        arrow_scale: length of an arrow per force [m/N].
    """

    def __init__(self, node: Node, rate: float, world: str, arrow_scale: float) -> None:
        self._node = node
        self._world, self._scale = world, arrow_scale
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._joints = node.create_publisher(JointState, "gait_joint_states", STATE)
        self._base = node.create_publisher(PoseStamped, "gait_base", STATE)
        self._contacts = node.create_publisher(ContactForces, "gait_contacts", STATE)
        self._figure = node.create_publisher(MarkerArray, "gait_figure", STATE)
        self._description = node.create_publisher(String, "gait_description", LATCHED)
        self._tf = node.create_publisher(TFMessage, "/tf", TRANSFORMS)
        self._static = node.create_publisher(TFMessage, "/tf_static", LATCHED)
        self._gait: Gait | None = None
        self._robot: Robot | None = None
        self._loaded = ("", "")
        self._transforms: LinkTransforms | None = None
        self._figure_times: list[float] = []
        self._point_times: list[float] = []
        self._began: Time | None = None
        self._loop = False
        self._timer = node.create_timer(1.0 / rate, self._tick, clock=self._clock)
        self._timer.cancel()

    @property
    def playing(self) -> bool:
        """Whether a gait is being played."""
        return self._began is not None

    def play(self, gait: Gait, mode: str) -> None:
        """Play a gait from its beginning in place of the one that is played; call it in the executor's thread.

        Args:
            gait: to play.
            mode: one of :data:`MODES`.
        """
        self._gait = gait
        self._figure_times = list(gait.figure.times)
        self._point_times = [seconds(item.time_from_start) for item in gait.trajectory.joints.points]
        self._take_robot(gait)
        self._loop = mode == LOOP
        if mode == OFF or not self._figure_times:
            self._stop()
            return
        self._began = self._clock.now()
        self._timer.reset()

    def again(self) -> bool:
        """Play the last gait once more; False if there is none."""
        if self._gait is None:
            return False
        self.play(self._gait, LOOP if self._loop else ONCE)
        return True

    def _stop(self) -> None:
        self._began = None
        self._timer.cancel()

    def _take_robot(self, gait: Gait) -> None:
        name = gait.trajectory.robot, gait.model
        if not gait.trajectory.robot:
            self._robot = self._transforms = None
            return
        if self._robot is not None and self._loaded == name:
            return
        self._robot, self._loaded = gait_robot(gait, geometry=False), name
        self._transforms = LinkTransforms(self._robot, self._world, PREFIX, pin.SE3.Identity())
        self._description.publish(String(data=self._robot.urdf))
        self._static.publish(TFMessage(transforms=self._transforms.fixed))

    def _tick(self) -> None:
        gait = self._gait
        if gait is None or self._began is None:
            return
        time = 1e-9 * (self._clock.now() - self._began).nanoseconds
        if time > self._figure_times[-1] + PAUSE and self._loop:
            self._began, time = self._clock.now(), 0.0
        over = time >= self._figure_times[-1] and not self._loop
        stamp = self._node.get_clock().now().to_msg()
        sample = min(bisect.bisect_left(self._figure_times, time), len(self._figure_times) - 1)
        self._figure.publish(moment_markers(gait.figure, sample, self._world, stamp, self._scale))
        if self._point_times and self._robot is not None:
            index = min(bisect.bisect_left(self._point_times, time), len(self._point_times) - 1)
            self._publish_point(gait, self._robot, index, stamp)
        if over:
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
