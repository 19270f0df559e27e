# SPDX-License-Identifier: Apache-2.0
"""Controllers as the bridge commands them: by goals, by windows of a trajectory, or by set points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.task import Future
from sensor_msgs.msg import JointState, TimeReference
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_ros.controller_bridge.bridge_settings import ControllerSettings, Kind
from humanoid_ros.messages.conversions import duration, seconds, stamp
from humanoid_ros.messages.motion_messages import floats, joint_trajectory_message
from humanoid_ros.node.clients import GuardedActionClient
from humanoid_ros.node.qos import COMMAND, NEWEST_OF_ANY

Record = Callable[[str, str, bytes], None]
"""Takes topic, type and serialised message of what was sent or came back."""


def now(node: Node) -> float:
    """Return the time of a node's clock [s]."""
    return float(node.get_clock().now().nanoseconds) * 1e-9


class Form(Enum):
    """What a controller is sent."""

    GOAL = "goal"
    """Once, the rest of the path; again when its timing changes."""
    WINDOW = "window"
    """Again and again, the next piece of the path, which ends at rest."""
    SET_POINT = "set point"
    """Again and again, where the joints should be next."""


class ControllerOutput(ABC):
    """One controller.

    Attributes:
        settings: of it.
        form: what it is sent.
        lost: why it doesn't follow any more; empty while it does.
    """

    form = Form.WINDOW

    def __init__(self, node: Node, settings: ControllerSettings, record: Record) -> None:
        """Join the controller's topics.

        Args:
            node: that sends.
            settings: of the controller.
            record: takes what is sent.
        """
        self.settings = settings
        self.lost = ""
        self._node = node
        self._record = record

    @abstractmethod
    def absent(self) -> str:
        """Return why it can't take commands now; empty if it can."""

    @abstractmethod
    def send(self, points: JointTrajectory, until: float = 0.0) -> None:
        """Send points of its joints.

        Args:
            points: of its joints alone.
            until: when the next ones have to be there [s]; 0: none follow.
        """

    @abstractmethod
    def hold(self, positions: NDArray[np.float64]) -> None:
        """Let it hold its joints, which are at these positions (n,), at once."""

    def begin(self) -> None:
        """Forget an earlier motion."""
        self.lost = ""

    @property
    def accepted(self) -> bool:
        """Whether it has taken what it was sent; one that doesn't answer is taken to have."""
        return True

    @property
    def done(self) -> bool:
        """Whether it says that it is at the end; one that doesn't answer is taken to be."""
        return True

    @abstractmethod
    def destroy(self) -> None:
        """Leave its topics."""


class Reference(NamedTuple):
    """Where a controller wanted its joints to be.

    Attributes:
        time: when [s].
        positions: (n,) [rad or m].
        velocities: (n,) [rad/s or m/s].
    """

    time: float
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]


class TrajectoryOutput(ControllerOutput):
    """A joint_trajectory_controller, whose state is listened to: it is lost when none comes any more."""

    def __init__(self, node: Node, settings: ControllerSettings, record: Record) -> None:
        super().__init__(node, settings, record)
        self._heard: float | None = None
        self._newest: bytes | None = None
        self._listener = node.create_subscription(
            JointTrajectoryControllerState, f"{settings.name}/controller_state", self._on_state, NEWEST_OF_ANY, raw=True
        )

    def silence(self) -> float:
        """How long no state has come, by the node's clock [s]; infinite before the first one."""
        return float("inf") if self._heard is None else now(self._node) - self._heard

    def news(self) -> Reference | None:
        """Return its reference, once; None until the next one comes, and where its state doesn't tell any."""
        if self._newest is None:
            return None
        state = deserialize_message(self._newest, JointTrajectoryControllerState)
        self._newest = None
        rows = [np.array(row) for row in (state.reference.positions, state.reference.velocities)]
        known = tuple(state.joint_names) == self.settings.joints and all(
            len(row) == len(self.settings.joints) and np.isfinite(row).all() for row in rows
        )
        return Reference(seconds(state.header.stamp), *rows) if known else None

    def destroy(self) -> None:
        """Leave its topics."""
        self._node.destroy_subscription(self._listener)

    def _on_state(self, message: bytes) -> None:
        self._heard, self._newest = now(self._node), message
        self._record(
            f"{self.settings.name}/controller_state", "control_msgs/msg/JointTrajectoryControllerState", message
        )

    def _message(self, points: JointTrajectory) -> JointTrajectoryMessage:
        """Return the message of points, whose stamp is the time of the first one."""
        message = joint_trajectory_message(points, start=points.start_time, efforts=self.settings.efforts)
        message.header.stamp = stamp(points.start_time)
        return message


class ActionOutput(TrajectoryOutput):
    """A joint_trajectory_controller that gets its whole trajectory as a goal; another goal replaces it."""

    form = Form.GOAL

    def __init__(self, node: Node, settings: ControllerSettings, record: Record) -> None:
        super().__init__(node, settings, record)
        self._action = f"{settings.name}/follow_joint_trajectory"
        self._client = GuardedActionClient(node, FollowJointTrajectory, self._action)
        self._number = 0
        self._handle: Any = None
        self._running: dict[int, Any] = {}
        self._done = self._held = False

    @property
    def accepted(self) -> bool:
        """Whether it has accepted the newest goal."""
        return self._handle is not None

    @property
    def done(self) -> bool:
        """Whether it has reached the newest goal."""
        return self._done

    def absent(self) -> str:
        """Return why it can't take commands now; empty if it can."""
        return "" if self._client.server_is_ready() else f"nobody offers the action {self._action}"

    def begin(self) -> None:
        """Forget an earlier motion."""
        super().begin()
        self._handle, self._done, self._held = None, False, False

    def send(self, points: JointTrajectory, until: float = 0.0) -> None:
        """Send a goal, which replaces the one before."""
        self._number += 1
        self._handle, self._done, self._held = None, False, False
        goal = FollowJointTrajectory.Goal(trajectory=self._message(points))
        self._record(
            f"{self._action}/goal", "trajectory_msgs/msg/JointTrajectory", bytes(serialize_message(goal.trajectory))
        )
        self._client.send_goal_async(goal).add_done_callback(partial(self._on_answer, self._number))

    def hold(self, positions: NDArray[np.float64]) -> None:
        """Cancel what runs: the controller then holds its joints where they are."""
        self._held = True
        for handle in self._running.values():
            handle.cancel_goal_async()

    def destroy(self) -> None:
        """Leave its topics."""
        super().destroy()
        self._client.destroy()

    def _on_answer(self, number: int, answer: Future) -> None:
        handle = answer.result()
        if handle.accepted:
            self._running[number] = handle
            if self._held:
                handle.cancel_goal_async()
            handle.get_result_async().add_done_callback(partial(self._on_result, number))
        if number != self._number:
            return  # another goal has replaced it
        if not handle.accepted:
            self.lost = "it rejected the goal; ros2_control tells why in the controller's log alone"
            return
        self._handle = handle

    def _on_result(self, number: int, answer: Future) -> None:
        self._running.pop(number, None)
        if number != self._number:
            return
        status, result = answer.result().status, answer.result().result
        if status == GoalStatus.STATUS_SUCCEEDED:
            self._done = True
        elif not self._held:
            self.lost = result.error_string or f"its goal ended with status {status}"


class TopicOutput(TrajectoryOutput):
    """A joint_trajectory_controller that gets windows of the path by its topic."""

    def __init__(self, node: Node, settings: ControllerSettings, record: Record) -> None:
        super().__init__(node, settings, record)
        self._topic = f"{settings.name}/joint_trajectory"
        self._publisher = node.create_publisher(JointTrajectoryMessage, self._topic, COMMAND)
        self._promises = node.create_publisher(TimeReference, "lockstep", COMMAND)

    def absent(self) -> str:
        """Return why it can't take commands now; empty if it can."""
        return _unheard(self._publisher.get_subscription_count(), self._topic)

    def send(self, points: JointTrajectory, until: float = 0.0) -> None:
        """Send a window, and tell a simulator, which may wait for it, when the next one comes."""
        message = self._message(points)
        self._publisher.publish(message)
        promise = TimeReference(header=message.header, time_ref=stamp(until), source=self.settings.name)
        self._promises.publish(promise)
        self._record(self._topic, "trajectory_msgs/msg/JointTrajectory", bytes(serialize_message(message)))

    def hold(self, positions: NDArray[np.float64]) -> None:
        """Send a trajectory that begins and ends at once."""
        message = JointTrajectoryMessage(joint_names=list(self.settings.joints))
        message.points = [JointTrajectoryPoint(positions=floats(positions), time_from_start=duration(0.001))]
        self._publisher.publish(message)
        self._record(self._topic, "trajectory_msgs/msg/JointTrajectory", bytes(serialize_message(message)))

    def destroy(self) -> None:
        """Leave its topics."""
        super().destroy()
        self._node.destroy_publisher(self._publisher)
        self._node.destroy_publisher(self._promises)


class SetPointOutput(ControllerOutput):
    """A controller or hardware that gets one set point at a time, and keeps to it when none follows."""

    form = Form.SET_POINT

    def __init__(self, node: Node, settings: ControllerSettings, record: Record) -> None:
        super().__init__(node, settings, record)
        forward = settings.kind is Kind.FORWARD_POSITION
        self._kind: Any = Float64MultiArray if forward else JointState
        self._topic = f"{settings.name}/commands" if forward else settings.name
        self._publisher = node.create_publisher(self._kind, self._topic, COMMAND)

    def absent(self) -> str:
        """Return why it can't take commands now; empty if it can."""
        return _unheard(self._publisher.get_subscription_count(), self._topic)

    def send(self, points: JointTrajectory, until: float = 0.0) -> None:
        """Send the first of the points."""
        self.hold(points.positions[0])

    def hold(self, positions: NDArray[np.float64]) -> None:
        """Send these positions."""
        if self._kind is Float64MultiArray:
            message: Any = Float64MultiArray(data=floats(positions))
        else:
            message = JointState(name=list(self.settings.joints), position=floats(positions))
            message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
        kind = "std_msgs/msg/Float64MultiArray" if self._kind is Float64MultiArray else "sensor_msgs/msg/JointState"
        self._record(self._topic, kind, bytes(serialize_message(message)))

    def destroy(self) -> None:
        """Leave its topics."""
        self._node.destroy_publisher(self._publisher)


def _unheard(listeners: int, topic: str) -> str:
    return "" if listeners else f"nobody listens to {topic}"


_OUTPUTS: dict[Kind, type[ControllerOutput]] = {
    Kind.TRAJECTORY_ACTION: ActionOutput,
    Kind.TRAJECTORY_TOPIC: TopicOutput,
    Kind.FORWARD_POSITION: SetPointOutput,
    Kind.JOINT_STATE: SetPointOutput,
}


def controller_outputs(
    node: Node, controllers: Sequence[ControllerSettings], record: Record
) -> dict[str, ControllerOutput]:
    """Return the controllers by key."""
    return {settings.key: _OUTPUTS[settings.kind](node, settings, record) for settings in controllers}
