# SPDX-License-Identifier: Apache-2.0
"""Recorded motions of mechanisms: files, CSV of the library or MCAP of joint states, and an action that shows them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from humanoid_stack.action import ReplayMotion
from humanoid_stack.msg import MechanismState
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.task import Future
from sensor_msgs.msg import JointState

from humanoid_kinematics.analysis.recording import Recording
from humanoid_kinematics.live.live_mechanism import LiveMechanism
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_model.checks import check_known
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.extensions import optional_library
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.messages.message_log import MessageLog
from humanoid_ros.node.answering_node import AnsweringActionServer, AnsweringNode, conclude
from humanoid_ros.node.requested_files import check_requested
from humanoid_ros.node.service_workers import answer_of, waking_future

_JOINTS, _STATE = "sensor_msgs/msg/JointState", "humanoid_stack/msg/MechanismState"
_ENDINGS = (".csv", ".mcap")


def read_motion(path: str, mechanism: Mechanism, name: str) -> Recording:
    """Read a recorded motion of a mechanism.

    Args:
        path: CSV as :meth:`Recording.write_csv` writes it, or MCAP with joint states, as this node or
            ``ros2 bag record`` writes it.
        mechanism: that it is of.
        name: of the mechanism: of several topics of joint states, that of ``<name>/joint_states`` counts.

    Raises:
        InputError: no such file, another kind of file, or a motion of another mechanism.
    """
    _check_ending(path, "path")
    if not Path(path).is_file():
        raise InputError("there is no such file", source=path, element="path", remedy="Give the path of a recording")
    recording = Recording.read_csv(path) if path.endswith(".csv") else _read_mcap(path, mechanism, name)
    if not recording.times:
        raise InputError("has no instants", source=path, remedy="Give a recording with some")
    for number, q in enumerate(recording.configurations):
        if q.shape != mechanism.initial.shape or not np.isfinite(q).all():
            raise InputError(
                f"instant {number} has {len(q)} coordinates, or some that aren't finite", source=path,
                remedy=f"Give a recording of '{name}', which has {len(mechanism.initial)}",
            )  # fmt: skip
    if not (np.diff(recording.times) > 0.0).all():
        raise InputError("times don't rise", source=path, remedy="Give a recording with rising times")
    return recording


def _read_mcap(path: str, mechanism: Mechanism, name: str) -> Recording:
    reader = optional_library("mcap.reader", "simulation", source=path)
    exceptions = optional_library("mcap.exceptions", "simulation", source=path)
    found: dict[str, list[tuple[float, JointState]]] = {}
    try:
        with Path(path).open("rb") as file:
            for schema, channel, message in reader.make_reader(file).iter_messages():
                if schema is not None and schema.name == _JOINTS:
                    joints = deserialize_message(message.data, JointState)
                    time = seconds(joints.header.stamp) or 1e-9 * message.log_time
                    found.setdefault(channel.topic, []).append((time, joints))
    except (exceptions.McapError, struct.error) as problem:
        raise InputError(f"can't be read as MCAP: {problem}", source=path, remedy="Give an MCAP file") from problem
    own = [topic for topic in found if f"/{topic}".endswith(f"/{name}/joint_states")]
    topics = own or list(found)
    if len(topics) != 1:
        raise InputError(
            f"has joint states on {', '.join(topics) or 'no topic'}", source=path,
            remedy=f"Record one topic of them, or '{name}/joint_states'",
        )  # fmt: skip
    recording = Recording()
    robot = mechanism.robot
    for time, joints in found[topics[0]]:
        missing = [joint for joint in robot.joint_names if joint not in joints.name]
        if missing or len(joints.position) != len(joints.name):
            raise InputError(
                f"joint states at {time:.3f} s lack {', '.join(missing) or 'positions'}", source=path,
                remedy=f"Give a recording of '{name}'",
            )  # fmt: skip
        q = mechanism.initial.copy()
        for joint, position in zip(joints.name, joints.position, strict=True):
            if joint in robot.joint_names:
                q[robot.index_q(joint)] = position
        recording.times.append(time - found[topics[0]][0][0])
        recording.configurations.append(q)
    return recording


class MotionWriter:
    """Writes the motion of mechanisms as it goes on.

    CSV has the configurations and what the library measures of one mechanism; MCAP has the joint states and the states
    of all, as on their topics.

    Attributes:
        path: of the file.
    """

    def __init__(self, path: str, mechanisms: Mapping[str, LiveMechanism], *, overwrite: bool = False) -> None:
        """Begin a file.

        Args:
            path: of it.
            mechanisms: that are recorded, by name.
            overwrite: whether one that is there is replaced.

        Raises:
            InputError: another ending, several mechanisms in a CSV, or a file that is there or can't be written.
        """
        _check_ending(path, "record")
        self.path, self._mechanisms = path, mechanisms
        self._log: MessageLog | None = None
        self._recording = Recording()
        if path.endswith(".mcap"):
            self._log = MessageLog(path, overwrite=overwrite)
            return
        if len(mechanisms) > 1:
            raise InputError(f"is '{path}'", element="record", remedy="Several mechanisms are recorded as .mcap only")
        self._try(Path(path).touch, exist_ok=overwrite)

    def add(self, name: str, joints: bytes, state: MechanismState, stamp: int) -> None:
        """Write an instant of a mechanism.

        Args:
            name: of the mechanism.
            joints: its joint states, serialised.
            state: its state.
            stamp: time [ns].
        """
        live = self._mechanisms[name]
        if self._log is not None:
            self._log.write(f"/{name}/joint_states", _JOINTS, joints, stamp)
            self._log.write(f"/{name}/state", _STATE, bytes(serialize_message(state)), stamp)
        elif not self._recording.times or live.time > self._recording.times[-1]:
            self._recording.add(live.time, live.solver, [tool.name for tool in live.mechanism.tools])

    def close(self) -> None:
        """End the file.

        Raises:
            InputError: it can't be written.
        """
        if self._log is None:
            self._try(self._recording.write_csv, self.path)
            return
        self._log.close()
        if self._log.failure:
            raise InputError(self._log.failure, element="record", remedy="Name a file to write to")

    def _try(self, write: Callable[..., object], *arguments: object, **options: object) -> None:
        try:
            write(*arguments, **options)
        except OSError as problem:
            raise InputError(
                f"'{self.path}' can't be written: {problem.strerror}", element="record",
                remedy="Name a file to write to",
            ) from problem  # fmt: skip


def _check_ending(path: str, element: str) -> None:
    if not path.endswith(_ENDINGS):
        raise InputError(f"is '{path}'", element=element, remedy=f"Give a file that ends in {' or '.join(_ENDINGS)}")


NAME = "replay_motion"
FEEDBACK = 0.1
"""From one feedback to the next [s]."""
Result = ReplayMotion.Result


class _Playing:
    """A motion that is being shown."""

    def __init__(self, handle: ServerGoalHandle, recording: Recording, live: LiveMechanism, ended: Future) -> None:
        self.handle, self.recording, self.live, self.ended = handle, recording, live, ended
        self.begin = recording.times[0]
        self.duration = recording.times[-1] - self.begin
        self.speed = handle.request.speed_scale or 1.0
        self.time = self.told = self.gap = 0.0

    def advance(self, dt: float) -> bool:
        """Go on; whether it is over."""
        q = self.recording.at(self.begin + min(self.time, self.duration))
        self.gap = max(self.gap, self.live.place(q, dt))
        if self.time >= self.duration:
            if not self.handle.request.loop or self.duration == 0.0:
                return True
            self.time = 0.0
        self.time += self.speed * dt
        self.told += dt
        if self.told >= FEEDBACK and self.handle.is_active:
            self.told = 0.0
            self.handle.publish_feedback(ReplayMotion.Feedback(time=self.time, duration=self.duration))
        return False


class MotionReplays:
    """Shows recorded motions, one for each mechanism at a time, with loops closed at each instant."""

    def __init__(
        self, node: AnsweringNode, mechanisms: Callable[[], Mapping[str, LiveMechanism]], reader: ThreadPoolExecutor
    ) -> None:
        """Offer the action.

        Args:
            node: that offers it.
            mechanisms: by name, at present.
            reader: reads files.
        """
        self._node, self._mechanisms, self._reader = node, mechanisms, reader
        self._playing: dict[str, _Playing] = {}
        self._server = AnsweringActionServer(
            node, ReplayMotion, NAME, self._execute, cancel_callback=self._on_cancel, callback_group=node.group
        )

    def advance(self, name: str, dt: float) -> bool:
        """Let the motion of a mechanism go on; whether there is one, so that commands don't count."""
        playing = self._playing.get(name)
        if playing is None or playing.ended.done():
            return False
        try:
            if playing.advance(dt):
                playing.ended.set_result(Result(success=True, message="shown to its end", max_closure=playing.gap))
        except HumanoidError as problem:
            playing.ended.set_exception(problem)
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """Mechanisms whose motion is shown."""
        return tuple(self._playing)

    def stop(self, words: str) -> None:
        """End what is shown, and say why."""
        for playing in self._playing.values():
            if not playing.ended.done():
                playing.ended.set_result(Result(message=words, max_closure=playing.gap))

    def destroy(self) -> None:
        """Take the action off the graph."""
        self._server.destroy()

    async def _execute(self, handle: ServerGoalHandle) -> ReplayMotion.Result:
        goal = handle.request
        try:
            result = await self._show(goal, handle)
        except Exception as problem:
            result = Result(message=self._node.refusals.refuse(NAME, problem))
        conclude(handle, result.success)
        return result

    async def _show(self, goal: ReplayMotion.Goal, handle: ServerGoalHandle) -> ReplayMotion.Result:
        mechanisms = self._mechanisms()
        name = goal.mechanism or next(iter(mechanisms), "")
        live = mechanisms[check_known(name, mechanisms, "mechanism", "mechanism")]
        if not 0.0 <= goal.speed_scale < float("inf"):
            raise InputError(f"is {goal.speed_scale}", element="speed_scale", remedy="Give more than 0, or 0 for 1")
        path = check_requested(goal.path, "path")
        recording = await answer_of(self._node, self._reader.submit(read_motion, path, live.mechanism, name))
        if handle.is_cancel_requested:
            return Result(message="cancelled before it began")
        if self._mechanisms().get(name) is not live:
            raise InputError("another mechanism was loaded", element="mechanism", remedy="Ask again")
        if name in self._playing:
            raise InputError(f"'{name}' is replayed already", element="mechanism", remedy="Cancel that first")
        playing = self._playing[name] = _Playing(handle, recording, live, waking_future(self._node))
        try:
            result: ReplayMotion.Result = await playing.ended
        finally:
            del self._playing[name]
        return result

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        for playing in self._playing.values():
            if playing.handle is handle and not playing.ended.done():
                playing.ended.set_result(Result(message="cancelled", max_closure=playing.gap))
        return CancelResponse.ACCEPT
