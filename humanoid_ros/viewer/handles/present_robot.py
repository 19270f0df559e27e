# SPDX-License-Identifier: Apache-2.0
"""The robot on the page as planners have to know it: who it is, how it stands, and in which scene."""

from __future__ import annotations

from collections.abc import Mapping

import pinocchio as pin
from humanoid_stack.msg import Posture
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from humanoid_model import ContactLocation, Robot, Scene, load_robot, load_scene
from humanoid_model.errors import HumanoidError
from humanoid_ros.messages.conversions import fill_pose
from humanoid_ros.messages.posture_messages import configuration
from humanoid_ros.node.requested_files import check_requested


class PresentRobot:
    """What ROS tells of the first robot on the page.

    Attributes:
        name: in the robot's description; empty when there is no robot.
        scene_name: of the simulated scene; empty while none is known.
        prefix: of its topics; empty where it is alone.
        joints: its joint state, as it came: of the many that come few are looked at.
    """

    def __init__(self) -> None:
        self.name = self.scene_name = self.prefix = ""
        self.joints: bytes | None = None
        self._placements: Mapping[str, pin.SE3] = {}
        self._robot: tuple[str, Robot] | None = None
        self._scene: tuple[str, Scene | None] | None = None

    def update(self, name: str, placements_world_link: Mapping[str, pin.SE3], scene_name: str) -> None:
        """Take what is known now.

        Args:
            name: see the attribute.
            placements_world_link: placement per link.
            scene_name: see the attribute.
        """
        if name != self.name:
            self.joints = None
        self.name, self.scene_name, self._placements = name, scene_name, placements_world_link

    @property
    def robot(self) -> Robot:
        """The robot, read when it is needed.

        Raises:
            HumanoidError: there is none, or it can't be read here.
        """
        if not self.name:
            raise HumanoidError("There is no robot yet.")
        if self._robot is None or self._robot[0] != self.name:
            self._robot = self.name, load_robot(check_requested(self.name, "robot"))
        return self._robot[1]

    @property
    def scene(self) -> Scene | None:
        """The scene, read when it is needed; None where only the simulator knows its file."""
        if self._scene is None or self._scene[0] != self.scene_name:
            try:
                self._scene = self.scene_name, load_scene(self.scene_name) if self.scene_name else None
            except HumanoidError:
                self._scene = self.scene_name, None
        return self._scene[1]

    @property
    def stands(self) -> bool:
        """Whether it is known how the robot stands."""
        return self.joints is not None and self.robot.description.root in self._placements

    @property
    def posture(self) -> Posture:
        """How the robot stands now, as far as it is known."""
        robot, posture = self.robot, Posture()
        if self.joints is not None:
            joints = deserialize_message(self.joints, JointState)
            known = dict(zip(joints.name, joints.position, strict=False))
            members = {member for group in robot.ball_joints.values() for member in group}
            for name in robot.joint_names:
                if name in known and name not in members and name not in robot.mimics:
                    posture.joint_names.append(name)
                    posture.positions.append(known[name])
        base = self._placements.get(robot.description.root)
        if base is not None:
            fill_pose(posture.base, base)
        return posture

    def placement(self, place: ContactLocation, posture: Posture | None = None) -> pin.SE3:
        """Return where a place of the robot is in the world.

        Args:
            place: the place.
            posture: that it is in; None for the present one.
        """
        q = configuration(self.posture if posture is None else posture, self.robot, "posture")
        return self.robot.link_placements(q)[place.link] * place.placement_link_patch
