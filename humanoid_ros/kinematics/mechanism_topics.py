# SPDX-License-Identifier: Apache-2.0
"""Topics of one mechanism: commands in; joints, transforms and state out.

A relay completes the joints that a robot tells by all that its loops move with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, TransformStamped, Twist
from humanoid_stack.msg import MechanismCommand, MechanismState
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from humanoid_kinematics import Relay, ToolVelocity
from humanoid_kinematics.analysis.obstacles import Nearest, Obstacles
from humanoid_kinematics.live.live_mechanism import LiveMechanism
from humanoid_kinematics.relay import CompleteState
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_model.arrays import Array
from humanoid_model.description import Shape
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.kinematics.mechanism_messages import (
    commands,
    joint_commands,
    joint_positions,
    placement,
    pose_goal,
    state_message,
)
from humanoid_ros.kinematics.recorded_motions import MotionWriter
from humanoid_ros.messages.conversions import array
from humanoid_ros.messages.link_transforms import LinkTransforms
from humanoid_ros.messages.serialized_message import SerializedMessage
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.qos import COMMAND, LATCHED, STATE


class JointStates:
    """The message of a mechanism's joints of one coordinate, filled with numbers.

    Attributes:
        names: of these joints.
    """

    def __init__(self, mechanism: Mechanism, frame: str, *, efforts: bool = False) -> None:
        """Find where their numbers are.

        Args:
            mechanism: whose joints they are.
            frame: of the message's header.
            efforts: whether it tells them.
        """
        robot = mechanism.robot
        joints = {name: mechanism.model.joints[robot.parts.joint_ids[name]] for name in robot.joint_names}
        self.names = tuple(name for name, joint in joints.items() if joint.nq == joint.nv == 1)
        self._q = np.array([joints[name].idx_q for name in self.names], int)
        self._v = np.array([joints[name].idx_v for name in self.names], int)
        self._efforts = efforts
        message = JointState(name=self.names)
        message.header.frame_id = frame
        count = len(self.names)

        def write(message: JointState, values: list[float], time: Time) -> None:
            message.header.stamp = time
            message.position, message.velocity = values[:count], values[count : 2 * count]
            message.effort = values[2 * count :]

        self._message = SerializedMessage(message, (3 if efforts else 2) * count, write)

    def filled(self, q: Array, v: Array, efforts: Array | None, stamp: Time) -> bytes:
        """Return the serialised message of a state."""
        values = [q[self._q], v[self._v]]
        if self._efforts:
            values.append(np.full(len(self._v), np.nan) if efforts is None else efforts[self._v])
        return self._message.filled(np.concatenate(values), stamp)


class MechanismTopics:
    """Listens for one mechanism and tells of it.

    Attributes:
        live: the mechanism.
        name: of the mechanism, and of its topics and frames.
    """

    def __init__(self, node: AnsweringNode, live: LiveMechanism, name: str, world: str, tools: Iterable[str]) -> None:
        """Offer its topics.

        Args:
            node: that listens and publishes.
            live: the mechanism.
            name: of its topics and frames.
            world: name of the world frame.
            tools: links beside its tools that have topics of their own.

        Raises:
            InputError: an unknown link, or tools whose topics would be the same.
        """
        heard = dict.fromkeys((*(tool.name for tool in live.mechanism.tools), *tools))
        check_topics(heard, "tool")
        for tool in heard:
            live.solver.frame(tool)
        self.live, self.name = live, topic_name(name)
        self._node, self._world = node, world
        self._frame = f"{self.name}/{live.mechanism.robot.description.root}"
        self._transforms: LinkTransforms
        self._joint_states: JointStates
        self._joints = node.create_publisher(JointState, f"{self.name}/joint_states", STATE)
        self._state = node.create_publisher(MechanismState, f"{self.name}/state", STATE)
        self._description = node.create_publisher(String, f"{self.name}/robot_description", LATCHED)
        self._publishers = [self._joints, self._state, self._description]
        self._subscriptions: list[Any] = []
        self._hear(MechanismCommand, "command", lambda message: live.give(*commands(message, live)))
        self._hear(JointState, "joint_commands", self._on_joints)
        self._hear(JointTrajectory, "joint_trajectory", lambda message: live.follow(joint_positions(message)))
        for tool in heard:
            self._hear(Twist, f"{topic_name(tool)}/twist", self._twist(tool))
            self._hear(PoseStamped, f"{topic_name(tool)}/pose", self._pose(tool))
        self._hear(PoseStamped, "base", lambda message: live.move_base(placement(message, live)))
        self._shapes: Mapping[str, tuple[Shape, pin.SE3]] = {}
        self._obstacles: Obstacles | None = None
        self.describe()

    @property
    def fixed(self) -> list[TransformStamped]:
        """Transforms that never change: those of links on links, not that of a base that may be moved."""
        return self._transforms.fixed[0 if self._transforms.root_moves else 1 :]

    @property
    def shared(self) -> bool:
        """Whether somebody else publishes its joint states too: two mechanisms have one name."""
        return self._node.count_publishers(f"{self.name}/joint_states") > 1

    def describe(self) -> None:
        """Tell what the mechanism is now: at first, and after its links have changed."""
        mechanism = self.live.mechanism
        self._transforms = LinkTransforms(mechanism.robot, self._world, f"{self.name}/", pin.SE3.Identity())
        self._joint_states = JointStates(mechanism, self._world)
        self._description.publish(String(data=mechanism.robot.urdf))
        self.set_obstacles(self._shapes)

    def set_obstacles(self, obstacles: Mapping[str, tuple[Shape, pin.SE3]]) -> None:
        """Tell from now on how near it is to obstacles, shapes with their placements in the world by name.

        Raises:
            InputError: a mesh that can't be read; the last obstacles stay.
        """
        self._obstacles = Obstacles(self.live.solver, obstacles) if obstacles else None
        self._shapes = obstacles

    def _nearest(self) -> Nearest | None:
        if self._obstacles is None:
            return None
        return min(self._obstacles.nearest().values(), key=lambda nearest: nearest.distance, default=None)

    def publish(
        self, stamp: Time, writer: MotionWriter | None = None, *, joints: bool = True
    ) -> list[TransformStamped]:
        """Publish the state, and the joints if asked to; the transforms of the links.

        Args:
            stamp: of the messages.
            writer: writes them too.
            joints: whether nobody else publishes them.
        """
        live = self.live
        of_joints = self._joint_states.filled(live.q, live.v, None, stamp)
        if joints:
            self.publish_joints(of_joints)
        if writer is not None or self._state.get_subscription_count():
            state = state_message(live, live.state(), self._nearest(), self.name, self._frame, stamp)
            self._state.publish(state)
            if writer is not None:
                writer.add(self.name, of_joints, state, 1_000_000_000 * stamp.sec + stamp.nanosec)
        self._transforms.move_root(live.solver.base)
        moving = self._transforms.update(live.q, stamp)
        if self._transforms.root_moves:
            return moving
        root = self._transforms.fixed[0]
        root.header.stamp = stamp
        return [root, *moving]

    def publish_joints(self, message: bytes) -> None:
        """Publish joint states, serialised."""
        self._joints.publish(message)

    def destroy(self) -> None:
        """Leave its topics."""
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _hear(self, kind: Any, topic: str, take: Callable[[Any], None]) -> None:
        name = f"{self.name}/{topic}"

        def heard(message: Any) -> None:
            try:
                take(message)
            except HumanoidError as problem:
                self._node.refusals.refuse(name, problem)

        self._subscriptions.append(
            self._node.create_subscription(kind, name, heard, COMMAND, callback_group=self._node.group)
        )

    def _on_joints(self, message: JointState) -> None:
        # As joint_state_publisher sends it: names, and positions or velocities.
        velocities = () if len(message.position) else message.velocity
        self.live.give(*joint_commands(message.name, message.position, velocities))

    def _twist(self, tool: str) -> Callable[[Twist], None]:
        return lambda message: self.live.give(ToolVelocity(tool, array(message.linear), array(message.angular)))

    def _pose(self, tool: str) -> Callable[[PoseStamped], None]:
        return lambda message: self.live.give(pose_goal(message, tool, self.live))


def topic_name(name: str) -> str:
    """Return a name with only what topics may have."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{plain}" if plain[:1].isdigit() else plain


def check_topics(names: Iterable[str], what: str) -> None:
    """Raise an InputError that names two mechanisms or tools whose topics would be the same."""
    taken: dict[str, str] = {}
    for name in names:
        other = taken.setdefault(topic_name(name), name)
        if other != name:
            raise InputError(
                f"would have the topics of {what} '{other}', '{topic_name(name)}/...'", element=f"{what} '{name}'",
                remedy="Give them names that differ in letters and digits",
            )  # fmt: skip


class RelayTopics:
    """Hears joint states of drives and publishes complete ones, each with the stamp that it came with.

    Attributes:
        relay: completes them.
        reason: why the last message couldn't be completed; empty if it could.
    """

    def __init__(
        self,
        node: AnsweringNode,
        topics: MechanismTopics,
        source: str,
        driven: Sequence[str],
        standing: Sequence[str],
        *,
        efforts: bool = False,
    ) -> None:
        """Begin to hear.

        Args:
            node: that hears and publishes.
            topics: of the mechanism.
            source: topic of the drives' joint states.
            driven: joints that it tells; empty: those that the mechanism's file calls driven.
            standing: joints that are told the drives' efforts, as of :class:`Relay`.
            efforts: whether efforts are told.

        Raises:
            InputError: no drives, or unknown ones.
        """
        self._node, self._topics, self._source = node, topics, source
        self._driven, self._standing, self._efforts = tuple(driven), tuple(standing), efforts
        self.reason = ""
        self._names: tuple[str, ...] = ()
        self._places: list[int] = []
        self.rebuild()
        self._subscription = node.create_subscription(JointState, source, self._on_joints, STATE)

    def rebuild(self) -> None:
        """Take the mechanism as it is now.

        Raises:
            InputError: no drives, or unknown ones.
        """
        mechanism = self._topics.live.mechanism
        self.relay = Relay(mechanism, self._driven or None, self._standing)
        self._message = JointStates(mechanism, "", efforts=self._efforts)
        self._still = np.zeros(mechanism.model.nv)

    def destroy(self) -> None:
        """Hear no more."""
        self._node.destroy_subscription(self._subscription)

    def _on_joints(self, message: JointState) -> None:
        try:
            state = self._complete(message)
        except HumanoidError as problem:
            self.reason = self._node.refusals.refuse(self._source, problem)
            return
        if state.reason is not None and state.reason != self.reason:
            self._node.refusals.refuse(self._source, state.reason)
        self.reason = state.reason or ""
        if state.closed:
            v = self._still if state.v is None else state.v
            self._topics.publish_joints(self._message.filled(state.q, v, state.efforts, message.header.stamp))

    def _complete(self, message: JointState) -> CompleteState:
        names = tuple(message.name)
        if names != self._names:
            missing = [joint for joint in self.relay.driven if joint not in names]
            if missing:
                raise InputError(
                    f"has {', '.join(names) or 'no joints'}, without {', '.join(missing)}", element="name",
                    remedy=f"Tell all driven joints, {', '.join(self.relay.driven)}, in each message",
                )  # fmt: skip
            self._places, self._names = [names.index(joint) for joint in self.relay.driven], names
        numbers: dict[str, list[float] | None] = {}
        for field in ("position", "velocity", "effort"):
            values = getattr(message, field)
            if len(values) not in (0, len(names)) or (field == "position" and not len(values)):
                raise InputError(
                    f"has {len(values)} numbers for {len(names)} joints", element=field, remedy="Give one for each"
                )
            numbers[field] = [values[place] for place in self._places] if len(values) else None
        efforts = numbers["effort"] if self._efforts else None
        return self.relay.update(numbers["position"] or [], numbers["velocity"], efforts)
