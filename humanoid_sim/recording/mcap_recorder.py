# SPDX-License-Identifier: Apache-2.0
"""Logs of ROS 2 messages in one MCAP file, written without ROS 2 (specification 000, F024)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from humanoid_model.errors import InputError
from humanoid_model.optional_library import optional_library
from humanoid_sim.recording.recorder import Recorder
from humanoid_sim.recording.ros_messages import RosMessages, nanoseconds_of
from humanoid_sim.recording.ros_types import ros_types

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation

LATCHED_PROFILE = """\
- history: keep_last
  depth: 1
  reliability: reliable
  durability: transient_local
  deadline: {sec: 9223372036, nsec: 854775807}
  lifespan: {sec: 9223372036, nsec: 854775807}
  liveliness: automatic
  liveliness_lease_duration: {sec: 9223372036, nsec: 854775807}
  avoid_ros_namespace_conventions: false
"""
"""Quality of service of topics that keep their last message for late listeners, as rosbag2 writes it."""


class McapRecorder(Recorder):
    """Writes what the simulator node would publish, as ``ros2 bag record --storage mcap`` would store it.

    ``ros2 bag play``, Foxglove and PlotJuggler read the file as it is. Stamps are simulated time.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        every: int = 10,
        groups: Sequence[str] | None = None,
        name: str = "mcap",
    ) -> None:
        """Record into a file, which is made when the module is added.

        Args:
            path: of the file, which ends in ``.mcap``; one that is there is replaced.
            every: steps from one record to the next.
            groups: of :data:`~humanoid_sim.recording.table.TABLES`; all if not given. ``energy``, ``solver`` and
                ``profile`` share the topic ``/status``.
            name: of the module.

        Raises:
            InputError: another ending, or see :class:`~humanoid_sim.recording.recorder.Recorder`.
        """
        super().__init__(name, path, every, groups)
        if self.path.suffix != ".mcap":
            raise InputError(f"the log is '{path}'", element="record", remedy="Give a file that ends in .mcap")
        self._messages: RosMessages | None = None
        self._file: IO[bytes] | None = None
        self._writer: Any = None
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}

    def attach(self, simulation: Simulation) -> None:
        """Open the file.

        Raises:
            InputError: a library is missing, or the file can't be written.
        """
        self._messages = RosMessages(simulation)
        mcap = optional_library("mcap.writer", "simulation", element="record")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("wb")
        except OSError as problem:
            raise InputError(
                f"no log can be written there: {problem.strerror}",
                source=self.path,
                element="record",
                remedy="Name a file to write to",
            ) from problem
        self._writer = mcap.Writer(self._file)
        self._writer.start(profile="ros2", library="humanoid_sim")
        self._channels, self._schemas = {}, {}
        for topic, kind, message in self._messages.constant(simulation):
            self._write(topic, kind, message, nanoseconds_of(simulation), LATCHED_PROFILE)

    def record(self, simulation: Simulation) -> None:
        """Write the messages of the last step."""
        assert self._messages is not None
        time = nanoseconds_of(simulation)
        for topic, kind, message in self._messages.of_step(simulation, self.groups):
            self._write(topic, kind, message, time, "")

    def detach(self, simulation: Simulation) -> None:
        """Write the index and close the file."""
        assert self._file is not None
        with self._file:
            self._writer.finish()

    def _write(self, topic: str, kind: str, message: Any, time: int, qos: str) -> None:
        store = ros_types()
        if topic not in self._channels:
            if kind not in self._schemas:
                definition, _ = store.generate_msgdef(kind, ros_version=2)
                self._schemas[kind] = self._writer.register_schema(kind, "ros2msg", definition.encode())
            self._channels[topic] = self._writer.register_channel(
                topic, "cdr", self._schemas[kind], {"offered_qos_profiles": qos}
            )
        data = bytes(store.serialize_cdr(message, kind))
        self._writer.add_message(self._channels[topic], time, data, time)
