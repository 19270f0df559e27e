# SPDX-License-Identifier: Apache-2.0
"""Trajectories of a tool in space, turned into trajectories of the joints with motors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pinocchio as pin
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import MultiDOFJointTrajectory

from humanoid_kinematics import MechanismSolver, drive_trajectory
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_ros.kinematics.mechanism_messages import tool_path
from humanoid_ros.kinematics.mechanism_topics import MechanismTopics
from humanoid_ros.messages.motion_messages import joint_trajectory_message
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.qos import COMMAND
from humanoid_ros.node.service_workers import answer_of

MOST = 10_000
"""Points that a trajectory may have."""


class ToolTrajectories:
    """Hears ``tool_trajectory`` of a mechanism and publishes its ``drive_trajectory``."""

    def __init__(
        self, node: AnsweringNode, topics: MechanismTopics, driven: tuple[str, ...], worker: ThreadPoolExecutor
    ) -> None:
        """Begin to hear.

        Args:
            node: that hears and publishes.
            topics: of the mechanism.
            driven: joints with motors; empty: those that the mechanism's file calls driven, else all.
            worker: computes, so that the node goes on.
        """
        self._node, self._topics, self._driven, self._worker = node, topics, driven, worker
        self._name = f"{topics.name}/tool_trajectory"
        self._left = False
        self._publisher = node.create_publisher(JointTrajectoryMessage, f"{topics.name}/drive_trajectory", COMMAND)
        self._subscription = node.create_subscription(
            MultiDOFJointTrajectory, self._name, self._heard, COMMAND, callback_group=node.group  # type: ignore[arg-type]
        )

    def destroy(self) -> None:
        """Leave the topics; what is being computed is given up."""
        self._left = True
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_publisher(self._publisher)

    async def _heard(self, message: MultiDOFJointTrajectory) -> None:
        live = self._topics.live
        mechanism = replace(live.mechanism, initial=live.q)
        driven = self._driven or mechanism.driven or mechanism.robot.joint_names
        try:
            if len(message.points) > MOST:
                raise InputError(f"has {len(message.points)}", element="points", remedy=f"Give {MOST} at most")
            found = await answer_of(
                self._node, self._worker.submit(_computed, mechanism, driven, *tool_path(message))
            )
        except HumanoidError as problem:
            self._node.refusals.refuse(self._name, problem)
            return
        if not self._left:
            answer = joint_trajectory_message(found)
            answer.header = message.header
            self._publisher.publish(answer)


def _computed(
    mechanism: Mechanism, driven: tuple[str, ...], tool: str, times: list[float], poses: list[pin.SE3]
) -> JointTrajectory:
    return drive_trajectory(MechanismSolver(mechanism), driven, tool, times, poses)
