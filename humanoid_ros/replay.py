# SPDX-License-Identifier: Apache-2.0
"""The replay node: a recorded run on its topics once more, by a clock of its own.

Recordings that have no frames of links get them from the robot's description, its joints and its base.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from humanoid_model import Robot, load_robot
from humanoid_model.checks import check_numbers
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.messages.conversions import placement
from humanoid_ros.messages.link_transforms import LinkTransforms
from humanoid_ros.messages.message_fields import message_type
from humanoid_ros.messages.message_log import RecordedMessage, RecordedRun, recorded_quality
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.parameter_declaration import (
    declare_flag,
    declare_number,
    declare_text,
    declare_texts,
    flag,
    number,
    text,
    texts,
)
from humanoid_ros.node.run import run


class _Placed:
    """A robot and where it is."""

    def __init__(self, robot: Robot, prefix: str) -> None:
        self.robot = robot
        self.q = np.array(robot.postures["zero"])
        self.transforms = LinkTransforms(robot, "world", prefix, pin.SE3.Identity())
        model = robot.model
        single = (joint for joint in robot.joint_names if model.joints[model.getJointId(joint)].nq == 1)
        self.places = {joint: robot.index_q(joint) for joint in single}


class PlacedLinks:
    """Takes the messages of a recording and tells ``/tf`` and ``/tf_static`` of its robots.

    Joints of more than one coordinate stay where they are in the zero posture, and robots that are fixed to the world
    at its origin: a recording without frames doesn't tell more.
    """

    def __init__(self, publish: Callable[[str, Any], None]) -> None:
        """Begin without robots.

        Args:
            publish: takes a topic and a message.
        """
        self._publish = publish
        self._robots: dict[str, _Placed] = {}
        self._fixed: dict[str, list[TransformStamped]] = {}

    def take(self, message: RecordedMessage) -> None:
        """Look at a message, and tell the frames that follow.

        Raises:
            InputError: it can't be read, or tells no robot or no place.
        """
        prefix, _, name = message.topic.lstrip("/").rpartition("/")
        if name == "robot_description":
            text = _read(message, String).data
            placed = _Placed(load_robot(text, geometry=False), f"{prefix}/" if prefix else "")
            self._robots[prefix] = placed
            self._fixed[prefix] = placed.transforms.fixed
            self._publish("/tf_static", TFMessage(transforms=[one for own in self._fixed.values() for one in own]))
        elif name == "odometry" and prefix in self._robots:
            placed, place = self._robots[prefix], placement(_read(message, Odometry).pose.pose, "pose")
            if placed.robot.base_joint is not None:
                placed.q = placed.robot.place_base(placed.q, place)
        elif name == "joint_states" and prefix in self._robots:
            placed, joints = self._robots[prefix], _read(message, JointState)
            told = {
                joint: own for joint, own in zip(joints.name, joints.position, strict=False) if joint in placed.places
            }
            check_numbers(np.array([*told.values()]), "position")
            for joint, position in told.items():
                placed.q[placed.places[joint]] = position
            self._publish("/tf", TFMessage(transforms=placed.transforms.update(placed.q, joints.header.stamp)))


def _read(message: RecordedMessage, kind: Any) -> Any:
    try:
        return deserialize_message(message.data, kind)
    except Exception as problem:  # of a type that the middleware chooses
        raise InputError(f"can't be read as {message.kind}: {problem}") from problem


PERIOD = 0.005
"""Time between two looks at what is due [s]."""
NEWS = 5.0
"""Time between two lines about where it is [s]."""
GRAPH = 1.5
"""Time in which other publishers are found before the first message, and between two looks for them [s]."""
ABSOLUTE = ("/clock", "/tf", "/tf_static", "/diagnostics")
UNNAMED = "_NODE_NAME_UNKNOWN_"
"""What the middleware calls a node that it has found and not heard the name of."""
SHOWN = (
    "clock", "tf", "tf_static", "joint_states", "robot_description", "odometry", "imu", "contacts", "markers",
    "sole_markers", "traces", "scene_markers", "scene_view", "status", "wrenches", "plan", "plan_markers", "posture",
    "posture_markers", "gait", "gait_markers", "gait_joint_states", "gait_base", "gait_contacts", "gait_figure",
    "gait_description",
)  # fmt: skip
"""Last words of the topics that are played unless told otherwise: what nodes tell, nothing that moves a robot."""


class ReplayNode(AnsweringNode):
    """Plays a file; ``pause`` and ``reset`` are the simulator's, so that the page's buttons do what they say.

    It plays only where nobody else publishes the same: two sources would set one clock and move one robot.

    Raises:
        HumanoidError: the file can't be replayed, or plays nothing of what is wanted.
    """

    def __init__(self) -> None:
        super().__init__("replay")
        self._declare_parameters()
        self._run = RecordedRun(text(self, "path"))
        self._wanted = set(texts(self, "topics"))
        self._played: dict[str, Publisher | None] = {}
        self._links: PlacedLinks | None = None
        for kind, topic, offered in self._topics():
            self._open(kind, topic, offered)
        if not any(self._played.values()):
            raise InputError("plays none of the recorded topics", element="topics", remedy="Give their last words")
        time.sleep(GRAPH)
        self._check_alone()
        self._paused, self._ended = False, False
        self._restart()
        self.get_logger().info(f"plays {self._run.path}: {self._length:.1f} s, {len(self._played)} topics")
        self.offer(SetBool, "pause", self._pause)
        self.offer(Trigger, "reset", self._reset)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(PERIOD, self._tick, clock=steady)
        self.create_timer(GRAPH, self._stop_unless_alone, clock=steady)
        self.create_timer(NEWS, self._tell, clock=steady)

    def _declare_parameters(self) -> None:
        declare_text(self, "path", "", "MCAP file to replay", read_only=True)
        declare_texts(self, "topics", "Last words of the topics to play; *: all, commands too", SHOWN, read_only=True)
        declare_number(self, "speed", 1.0, 1e-3, 100.0, "Recorded seconds per second")
        declare_flag(self, "loop", False, "Whether to begin again at the end")

    # Topics -----------------------------------------------------------------------------------------------------------

    def _topics(self) -> set[tuple[str, str, str]]:
        """Return type, name and offered quality of service of what is to be played."""
        found, first, last = set(), 0, 0
        for message in self._run.messages():
            found.add((message.kind, message.topic, message.offered))
            first, last = first or message.time, message.time
        self._length = 1e-9 * (last - first)
        if self._run.broken:
            self.get_logger().warning(f"{self._run.path}: {self._run.broken}; what is before that is played")
        played = {own for own in found if "*" in self._wanted or self._wanted.intersection(own[1].split("/")[-2:])}
        topics = {topic for _, topic, _ in played}
        if "tf" in self._wanted and "/tf" not in topics:
            self._links = PlacedLinks(self._publish)
            played |= {("tf2_msgs/msg/TFMessage", topic, "") for topic in ("/tf", "/tf_static")}
        return played

    def _open(self, kind: str, topic: str, offered: str) -> None:
        quality = recorded_quality(topic, kind, offered)
        name = topic if topic in ABSOLUTE else topic.lstrip("/")
        try:
            self._played[topic] = self.create_publisher(message_type(kind), name, quality)
        except HumanoidError as error:
            self._played[topic] = None
            self.refusals.refuse(topic, error)

    def _check_alone(self) -> None:
        """Raise an InputError where somebody else publishes what is played."""
        shared = map(self.resolve_topic_name, ("/diagnostics", "/tf", "/tf_static"))
        topics = {publisher.topic_name for publisher in self._played.values() if publisher is not None}
        for name in sorted(topics.difference(shared)):
            others = {info.node_name for info in self.get_publishers_info_by_topic(name)} - {self.get_name()}
            if others:
                names = sorted("another node" if other == UNNAMED else other for other in others)
                raise InputError(
                    f"{name} is published by {', '.join(names)}",
                    element="topics",
                    remedy="End that node, or replay in a namespace of its own",
                )

    def _stop_unless_alone(self) -> None:
        try:
            self._check_alone()
        except InputError as error:
            if not self._ended:
                self.refusals.refuse("replay", error)
            self._ended = True

    def _publish(self, topic: str, message: Any) -> None:
        publisher = self._played.get(topic)
        if publisher is not None:
            publisher.publish(message)

    # Time -------------------------------------------------------------------------------------------------------------

    def _restart(self) -> None:
        self._messages: Iterator[RecordedMessage] = self._run.messages()
        self._waiting = next(self._messages, None)
        self._place = self._begin = 0 if self._waiting is None else self._waiting.time
        self._last = time.monotonic()
        self._ended = False

    def _tick(self) -> None:
        now = time.monotonic()
        elapsed, self._last = now - self._last, now
        if self._paused or self._ended:
            return
        self._place += round(1e9 * elapsed * number(self, "speed"))
        while self._waiting is not None and self._waiting.time <= self._place:
            message, self._waiting = self._waiting, next(self._messages, None)
            self._publish(message.topic, message.data)
            if self._links is not None:
                try:
                    self._links.take(message)
                except HumanoidError as error:
                    self.refusals.refuse(message.topic, error)
        if self._waiting is None:
            if flag(self, "loop"):
                self._restart()
            else:
                self._ended = True
                self.get_logger().info("the end; reset plays it once more")

    def _tell(self) -> None:
        if not (self._paused or self._ended):
            self.get_logger().info(f"replayed {1e-9 * (self._place - self._begin):.1f} of {self._length:.1f} s")

    async def _pause(self, request: SetBool.Request, response: SetBool.Response) -> None:
        self._paused = request.data

    async def _reset(self, request: Trigger.Request, response: Trigger.Response) -> None:
        self._restart()


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("replay", ReplayNode)


if __name__ == "__main__":
    main()
