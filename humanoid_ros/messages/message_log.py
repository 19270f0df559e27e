# SPDX-License-Identifier: Apache-2.0
"""A log of messages as they were on the wire, as MCAP."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ament_index_python.packages import get_package_share_directory

from humanoid_model.errors import InputError
from humanoid_model.optional_library import optional_library
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
