# SPDX-License-Identifier: Apache-2.0
"""Transforms between a robot's links along its URDF tree, and to its sensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

from humanoid_model import Robot
from humanoid_ros.messages.conversions import fill_quaternion, fill_transform, fill_vector


def sensor_frame(sensor: str) -> str:
    """Return the name of a sensor's frame, without the robot's prefix."""
    return f"{sensor}_frame"


@dataclass
class _MovingLink:
    """A link that moves in its parent link: by a joint between fixed placements."""

    joint: int
    before: pin.SE3 | None
    after: pin.SE3 | None
    message: TransformStamped


class LinkTransforms:
    """Transforms of /tf and /tf_static for one robot, from the world to its links.

    Attributes:
        fixed: transforms that never change; stamp them before use.
        moving: transforms of the moving links, of the last :meth:`update`.
        root_moves: whether the root link is one of them; else its transform is the first of ``fixed``.
    """

    def __init__(self, robot: Robot, world: str, prefix: str, placement_world_root: pin.SE3) -> None:
        """Find out what moves.

        Args:
            robot: the robot.
            world: name of the world frame.
            prefix: of the links' frame names.
            placement_world_root: where the root link is, used if it doesn't move.
        """
        self._model = robot.model
        self._data = robot.model.createData()
        self._links: list[_MovingLink] = []
        self.fixed: list[TransformStamped] = []
        links = robot.parts.links
        root = robot.description.root
        self.root_moves = bool(links[root].joint_id)
        if self.root_moves:
            placement = links[root].placement_joint_link
            self._add_moving(links[root].joint_id, None, placement, world, prefix + root)
        else:
            self._add_fixed(placement_world_root, world, prefix + root)
        for joint in robot.description.joints.values():
            parent, child = links[joint.parent], links[joint.child]
            names = prefix + joint.parent, prefix + joint.child
            back = parent.placement_joint_link.inverse()
            if child.joint_id == parent.joint_id:
                self._add_fixed(back * child.placement_joint_link, *names)
            else:
                self._add_moving(child.joint_id, back, child.placement_joint_link, *names)
        for sensor in robot.sensors.values():
            self._add_fixed(sensor.placement_link_sensor, prefix + sensor.link, prefix + sensor_frame(sensor.name))
        self.moving = [link.message for link in self._links]

    def update(self, q: np.ndarray, time: Time) -> list[TransformStamped]:
        """Set ``moving`` to a configuration of the robot, (nq,), at a time; returns it."""
        write_transforms(TFMessage(transforms=self.moving), self.values(q).reshape(-1).tolist(), time)
        return self.moving

    def move_root(self, placement: pin.SE3) -> None:
        """Bring the frame in which the robot stands to a placement in the world."""
        if self.root_moves:
            self._links[0].before = _unless_identity(placement)
        else:
            fill_transform(self.fixed[0].transform, placement)

    def values(self, q: np.ndarray) -> np.ndarray:
        """Return translations and quaternions x, y, z, w of ``moving`` at a configuration, (nq,), shape (n, 7)."""
        pin.forwardKinematics(self._model, self._data, q)
        values = np.empty((len(self._links), 7))
        for row, link in zip(values, self._links, strict=True):
            placement = self._data.liMi[link.joint]
            if link.before is not None:
                placement = link.before * placement
            if link.after is not None:
                placement = placement * link.after
            row[:] = pin.SE3ToXYZQUAT(placement)
        return values

    def _add_fixed(self, placement: pin.SE3, parent: str, child: str) -> None:
        message = TransformStamped()
        message.header.frame_id, message.child_frame_id = parent, child
        fill_transform(message.transform, placement)
        self.fixed.append(message)

    def _add_moving(self, joint: int, before: pin.SE3 | None, after: pin.SE3, parent: str, child: str) -> None:
        message = TransformStamped()
        message.header.frame_id, message.child_frame_id = parent, child
        self._links.append(_MovingLink(joint, _unless_identity(before), _unless_identity(after), message))


def write_transforms(message: TFMessage, values: Sequence[float], time: Time) -> None:
    """Write translations and quaternions x, y, z, w, 7 numbers each, and a time into transforms."""
    for number, transform in enumerate(message.transforms):
        own = values[7 * number : 7 * number + 7]
        transform.header.stamp = time
        fill_vector(transform.transform.translation, own)
        fill_quaternion(transform.transform.rotation, own[3:])


def _unless_identity(placement: pin.SE3 | None) -> pin.SE3 | None:
    return None if placement is None or placement.isIdentity(1e-12) else placement
