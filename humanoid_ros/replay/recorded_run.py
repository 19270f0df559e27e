# SPDX-License-Identifier: Apache-2.0
"""Messages of an MCAP file in the order in which they were written, also of one that breaks off."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_model.optional_library import optional_library


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
