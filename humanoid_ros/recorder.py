# SPDX-License-Identifier: Apache-2.0
"""The recorder node: all topics but hidden ones, or some, in an MCAP file that ROS' and others' tools open."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden

from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.messages.message_fields import message_type
from humanoid_ros.messages.message_log import MessageLog, quality_text
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.diagnostics import declare_diagnostics_rate, publish_diagnostics
from humanoid_ros.node.parameter_declaration import declare_text, declare_texts, text, texts
from humanoid_ros.node.qos import quality_to_hear
from humanoid_ros.node.requested_files import next_free
from humanoid_ros.node.run import run

GRAPH_PERIOD = 0.5
"""Time between two looks for new topics [s]."""
NEWS = 5.0
"""Time between two lines about how much is written [s]."""
DEPTH = 1000
"""Messages of a topic that wait to be written."""


class RecorderNode(AnsweringNode):
    """Writes what is published, with the wall clock's time. A full disk ends the file, which stays readable.

    Raises:
        HumanoidError: no file can be written.
    """

    def __init__(self) -> None:
        super().__init__("recorder")
        self._declare_parameters()
        if not text(self, "path"):
            raise InputError("is empty", element="path", remedy="Name a file that ends in .mcap")
        self._path = next_free(text(self, "path"))
        self._log: MessageLog | None = MessageLog(self._path)
        self.get_logger().info(f"records to {self._path}")
        self._heard: dict[str, int] = {}
        self._told = 0
        self._wanted = {self.resolve_topic_name(name) for name in texts(self, "topics")}
        publish_diagnostics(self, "recording", self._diagnostics)
        self.create_timer(GRAPH_PERIOD, self._find_topics)
        self.create_timer(NEWS, self._tell)
        self._find_topics()

    def _declare_parameters(self) -> None:
        declare_text(self, "path", "", "MCAP file to write; where it is there, run_2.mcap and so on", read_only=True)
        declare_texts(self, "topics", "Topics to record; empty: all", read_only=True)
        declare_diagnostics_rate(self)

    async def close(self) -> None:
        """Write the index."""
        if self._log is not None:
            self._log.close()
            self._give_up_if_failed()
        if self._log is not None:
            self.get_logger().info(f"written: {self._path}, {self._amount()}")
        self._log = None

    def _find_topics(self) -> None:
        for topic, kinds in self.get_topic_names_and_types():
            offered = [found.qos_profile for found in self.get_publishers_info_by_topic(topic)]
            unwanted = topic not in self._wanted if self._wanted else topic_or_service_is_hidden(topic)
            if topic in self._heard or not offered or unwanted:
                continue
            self._heard[topic] = 0
            try:
                kind = message_type(kinds[0])
            except HumanoidError as error:
                self.refusals.refuse(topic, error)
                continue
            quality = quality_to_hear(offered, DEPTH)
            write = partial(self._write, topic, kinds[0], quality_text(offered))
            self.create_subscription(kind, topic, write, quality, raw=True, callback_group=self.group)

    def _write(self, topic: str, kind: str, offered: str, data: bytes) -> None:
        if self._log is not None:
            self._heard[topic] += 1
            self._log.write(topic, kind, data, time.time_ns(), offered=offered)
            self._give_up_if_failed()

    def _tell(self) -> None:
        """Say how much there is, where there is more than the last time."""
        count = sum(self._heard.values())
        if self._log is not None and count != self._told:
            self._told = count
            self.get_logger().info(f"recorded so far: {self._amount()}")

    def _amount(self) -> str:
        size = Path(self._path).stat().st_size / 1e6
        topics = sum(count > 0 for count in self._heard.values())
        return f"{sum(self._heard.values())} messages of {topics} topics, {size:.1f} MB"

    def _give_up_if_failed(self) -> None:
        if self._log is not None and self._log.failure:
            self.refusals.refuse("path", self._log.failure)
            self._log = None

    def _diagnostics(self) -> Mapping[str, str]:
        return {
            "recording": "yes" if self._log is not None else "no",
            "topics": str(len(self._heard)),
            "messages": str(sum(self._heard.values())),
            "last refusal": self.refusals.last,
        }


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("recorder", RecorderNode)


if __name__ == "__main__":
    main()
