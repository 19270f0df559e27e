# SPDX-License-Identifier: Apache-2.0
"""What the page asks of planners: goals of actions, for the robot and scene on the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pinocchio as pin
from humanoid_stack.msg import Posture
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from sensor_msgs.msg import JointState

from humanoid_model import ContactLocation, Robot, Scene, load_robot, load_scene
from humanoid_model.errors import HumanoidError
from humanoid_ros.messages.conversions import fill_pose
from humanoid_ros.messages.posture_messages import configuration
from humanoid_ros.node.clients import GuardedActionClient, RequestServer
from humanoid_ros.node.requested_files import check_requested


class AskedGoal:
    """Asks one server for one goal at a time; all of it in the node's executor.

    Args:
        node: that asks.
        action: type of the action and its name.
        server: name of the node that offers it, for messages.
        take_feedback: takes the feedback of the goal under way.
        take_end: takes its result; or None, and in words why there is none.
    """

    def __init__(
        self,
        node: Node,
        action: tuple[Any, str],
        server: str,
        take_feedback: Callable[[Any], None],
        take_end: Callable[[Any, str], None],
    ) -> None:
        self._client = GuardedActionClient(node, *action)
        self._name, self._server = action[1], server
        self._take_feedback, self._take_end = take_feedback, take_end
        self._goal: Any = None
        self._taker: RequestServer | None = None
        self._round = 0
        self._working = self._cancelled = False

    @property
    def offered(self) -> bool:
        """Whether a node offers the action."""
        return self._client.server_is_ready()

    @property
    def working(self) -> bool:
        """Whether a goal is under way."""
        return self._working

    @property
    def goal_id(self) -> Any:
        """Id of the goal under way, as a message; None while it isn't accepted."""
        return None if self._goal is None else self._goal.goal_id

    def ask(self, goal: Any) -> None:
        """Send a goal, unless one is under way.

        Raises:
            HumanoidError: no node offers the action.
        """
        if self._working:
            return
        if not self.offered:
            raise HumanoidError(f"No node offers {self._name}. Start {self._server}.")
        self._working, self._cancelled = True, False
        self._taker = RequestServer(self._client.servers)
        self._round += 1
        own = self._round
        sent = self._client.send_goal_async(
            goal, feedback_callback=lambda item: self._take_feedback(item.feedback) if own == self._round else None
        )
        sent.add_done_callback(lambda future: self._take_handle(own, future))

    def cancel(self) -> None:
        """Cancel the goal under way; its result still comes. One that isn't accepted yet is cancelled when it is."""
        self._cancelled = True
        if self._goal is not None:
            self._goal.cancel_goal_async()

    def watch(self) -> None:
        """End the goal whose server is gone, even if there is another one by now."""
        if self._working and self._taker is not None and self._taker.gone:
            self._end(None, f"{self._server} is gone.")

    def _take_handle(self, own: int, future: Future) -> None:
        goal = future.result()
        if own != self._round:
            return
        if goal is None or not goal.accepted:
            self._end(None, f"{self._server} didn't take the request.")
            return
        self._goal = goal
        if self._cancelled:
            goal.cancel_goal_async()
        goal.get_result_async().add_done_callback(lambda result: self._take_result(own, result))

    def _take_result(self, own: int, future: Future) -> None:
        if own != self._round:
            return
        answer = future.result()
        if answer is None:
            self._end(None, f"{self._server} gave no answer.")
        else:
            self._end(answer.result, "")

    def _end(self, result: Any, why: str) -> None:
        self._goal, self._working = None, False
        self._round += 1
        self._take_end(result, why)


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
