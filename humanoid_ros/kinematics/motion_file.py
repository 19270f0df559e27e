# SPDX-License-Identifier: Apache-2.0
"""Recorded motions of mechanisms as files: CSV of the library, and MCAP of joint states."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from humanoid_stack.msg import MechanismState
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from humanoid_kinematics import LiveMechanism
from humanoid_kinematics.analysis.recording import Recording
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_model.errors import InputError
from humanoid_model.optional_library import optional_library
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.messages.message_log import MessageLog

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
