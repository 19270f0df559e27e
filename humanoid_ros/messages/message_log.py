# SPDX-License-Identifier: Apache-2.0
"""A log of messages as they were on the wire, as MCAP: written, and read in the order in which it was written.

The quality of service that a topic's publishers offered stands beside it, as rosbag2 keeps it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import yaml
from ament_index_python.packages import get_package_share_directory
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

from humanoid_model.errors import InputError
from humanoid_model.extensions import optional_library
from humanoid_ros.node.qos import LATCHED, SENSOR, STATE, STATIC_TRANSFORMS, TRANSFORMS
from humanoid_ros.node.requested_files import is_special

CHUNK = 2**16
"""Messages that are written at once, and lost with a process that is killed [bytes]."""
FIELD = re.compile(r"^\s*([\w/]+)(?:\[[^\]]*\]|<=\d+)*\s+\w+")
PLAIN = {
    *("bool", "byte", "char", "float32", "float64", "string", "wstring"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}


class MessageLog:
    """Messages as they were, serialised, under the topics they belong to; RViz, PlotJuggler and Foxglove open it."""

    def __init__(self, path: str, *, overwrite: bool = False) -> None:
        """Begin a file.

        Args:
            path: of it, which ends in ``.mcap``.
            overwrite: whether one that is there is replaced.

        Raises:
            InputError: the library ``mcap`` is missing, another ending, or the file is there or can't be written.
        """
        if Path(path).suffix != ".mcap":
            raise InputError(f"is '{path}'", element="log", remedy="Give a file that ends in .mcap")
        mcap = optional_library("mcap.writer", "simulation", element="log")
        try:
            self._file: IO[bytes] | None = open(path, "wb" if overwrite or is_special(path) else "xb")  # noqa: SIM115
        except OSError as problem:
            raise InputError(
                f"'{path}' can't be written: {problem.strerror}", element="log", remedy="Name a file to write to"
            ) from problem
        self._writer: Any = mcap.Writer(self._file, chunk_size=CHUNK)
        self._writer.start(profile="ros2", library="humanoid_stack")
        self._channels: dict[str, int] = {}
        self.failure = ""

    def write(self, topic: str, kind: str, data: bytes, time: int, *, offered: str = "") -> None:
        """Write a message; a file that can't be written any more ends the log and nothing else.

        Args:
            topic: it belongs to.
            kind: its type, as ``sensor_msgs/msg/JointState``.
            data: the message, serialised.
            time: stamp [ns].
            offered: quality of service of its publishers, as rosbag2 writes it; it is kept with the first message.
        """
        if self._file is None:
            return
        try:
            if topic not in self._channels:
                schema = self._writer.register_schema(kind, "ros2msg", definition(kind).encode())
                quality = {"offered_qos_profiles": offered}
                self._channels[topic] = self._writer.register_channel(topic, "cdr", schema, quality)
            self._writer.add_message(self._channels[topic], time, data, time)
        except OSError as problem:
            self._end(f"the log can't be written any more: {problem.strerror}")

    def close(self) -> None:
        """Write the index and close the file."""
        if self._file is not None:
            try:
                with self._file:
                    self._writer.finish()
            except OSError as problem:
                self._end(f"the log has no index: {problem.strerror}")
            self._file = None

    def _end(self, failure: str) -> None:
        """Write no more; what the file holds stays, and can be read without an index."""
        self.failure = failure
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None


def definition(kind: str) -> str:
    """Return the definition of a message type with those that it is made of, as MCAP's ``ros2msg`` has it."""
    texts: dict[str, str] = {}
    waiting = [kind]
    while waiting:
        name = waiting.pop(0)
        if name in texts:
            continue
        package, _, message = name.split("/")
        texts[name] = (Path(get_package_share_directory(package)) / "msg" / f"{message}.msg").read_text()
        for line in texts[name].splitlines():
            found = FIELD.match(line.split("#")[0])
            if found and found[1] not in PLAIN:
                parts = found[1].split("/")
                waiting.append(f"{parts[0] if len(parts) > 1 else package}/msg/{parts[-1]}")
    rule = "=" * 80
    first, *others = texts.items()
    return first[1] + "".join(f"\n{rule}\nMSG: {name.replace('/msg/', '/')}\n{text}" for name, text in others)


_TIMES = ("deadline", "lifespan", "liveliness_lease_duration")
_SENSOR_KINDS = ("Imu", "WrenchStamped", "Image", "CameraInfo")
"""Last words of the types that nodes publish as sensor data."""


def quality_text(offered: Iterable[QoSProfile]) -> str:
    """Return profiles as rosbag2 writes them into ``offered_qos_profiles``."""
    words = []
    for own in offered:
        profile: dict[str, Any] = {"history": own.history.short_key, "depth": own.depth}
        profile |= {"reliability": own.reliability.short_key, "durability": own.durability.short_key}
        for name in _TIMES:
            seconds, nanoseconds = divmod(getattr(own, name).nanoseconds, 10**9)
            profile[name] = {"sec": seconds, "nsec": nanoseconds}
        profile["liveliness"] = own.liveliness.short_key
        profile["avoid_ros_namespace_conventions"] = False
        words.append(profile)
    return str(yaml.safe_dump(words, sort_keys=False))


def recorded_quality(topic: str, kind: str, text: str) -> QoSProfile:
    """Return what a topic is to be offered with once more.

    Args:
        topic: its name.
        kind: its type, as ``sensor_msgs/msg/Imu``.
        text: what :func:`quality_text` or rosbag2 wrote; where it can't be read, topic and type decide.

    Returns:
        What every listener of then can hear: reliable if one publisher was, kept for late listeners if all did,
        deadline, lifespan and liveliness if all had the same. Publishers don't tell depths: those of the nodes.
    """
    try:
        offered = [_profile(own) for own in yaml.safe_load(text) or []]
    except (yaml.YAMLError, TypeError, KeyError, ValueError, AttributeError, OverflowError):
        offered = []
    own = _by_kind(topic, kind)
    if not offered:
        return own
    latched = all(given["durability"] == DurabilityPolicy.TRANSIENT_LOCAL for given in offered)
    quality = copy(LATCHED if latched and topic != "/tf_static" else own)
    reliable = any(given["reliability"] == ReliabilityPolicy.RELIABLE for given in offered)
    quality.reliability = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
    quality.durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
    for name in (*_TIMES, "liveliness"):
        if all(given[name] == offered[0][name] for given in offered):
            setattr(quality, name, offered[0][name])
    return quality


def _by_kind(topic: str, kind: str) -> QoSProfile:
    special = {"/tf": TRANSFORMS, "/tf_static": STATIC_TRANSFORMS}
    return special.get(topic, SENSOR if kind.split("/")[-1] in _SENSOR_KINDS else STATE)


def _profile(own: Mapping[str, Any]) -> dict[str, Any]:
    """Policies of one publisher; versions of rosbag2 before Jazzy wrote their numbers in the place of words."""
    found: dict[str, Any] = {
        "reliability": _policy(ReliabilityPolicy, own["reliability"], ReliabilityPolicy.RELIABLE),
        "durability": _policy(DurabilityPolicy, own["durability"], DurabilityPolicy.VOLATILE),
        "liveliness": _policy(LivelinessPolicy, own["liveliness"], LivelinessPolicy.AUTOMATIC),
    }
    for name in _TIMES:
        found[name] = Duration(nanoseconds=min(own[name]["sec"] * 10**9 + own[name]["nsec"], 2**63 - 1))
    return found


def _policy(kind: Any, given: Any, default: Any) -> Any:
    """Return a policy; what isn't decided (system default, unknown) is the default."""
    policy = kind(given) if isinstance(given, int) else kind[given.upper()]
    undecided = ("system_default", "unknown", "best_available")
    return default if policy.short_key in undecided else policy


@dataclass(frozen=True)
class RecordedMessage:
    """One message.

    Attributes:
        topic: as it was recorded.
        kind: name of its type.
        offered: quality of service of the topic's publishers, as rosbag2 writes it; empty where it isn't known.
        time: when it was written [ns].
        data: the message, serialised.
    """

    topic: str
    kind: str
    offered: str
    time: int
    data: bytes


class RecordedRun:
    """A file to read from its beginning, any number of times.

    Attributes:
        path: of the file.
        broken: how the file broke off at the last reading; empty if it has its end.
    """

    def __init__(self, path: str | Path) -> None:
        """Look whether it can be read.

        Raises:
            InputError: it can't, or holds no message in ROS' serialisation.
        """
        self.path = Path(path)
        self.broken = ""
        self._reader = optional_library("mcap.stream_reader", "simulation", element="path")
        self._errors = (optional_library("mcap.exceptions", "simulation", element="path").McapError, struct.error)
        if next(self.messages(), None) is None:
            raise self._unreadable(self.broken or "it holds no message of ROS 2")

    def messages(self) -> Iterator[RecordedMessage]:
        """Yield all messages.

        Raises:
            InputError: there is no such file.
        """
        self.broken = ""
        kinds: dict[int, str] = {}
        channels: dict[int, tuple[str, str, str]] = {}
        try:
            with self.path.open("rb") as file:
                # A chunk that says that it is larger than the file isn't believed.
                limit = self.path.stat().st_size
                for record in self._reader.StreamReader(file, record_size_limit=limit).records:
                    name = type(record).__name__
                    if name == "Schema":
                        kinds[record.id] = record.name
                    elif name == "Channel" and record.message_encoding == "cdr" and record.schema_id in kinds:
                        offered = record.metadata.get("offered_qos_profiles", "")
                        channels[record.id] = record.topic, kinds[record.schema_id], offered
                    elif name == "Message" and record.channel_id in channels:
                        yield RecordedMessage(*channels[record.channel_id], record.log_time, record.data)
        except OSError as problem:
            raise self._unreadable(problem.strerror or str(problem)) from problem
        except self._errors as problem:
            self.broken = f"it breaks off: {problem or type(problem).__name__}"

    def _unreadable(self, problem: str) -> InputError:
        return InputError(f"can't be replayed: {problem}", source=self.path, element="path", remedy="Give an MCAP file")
