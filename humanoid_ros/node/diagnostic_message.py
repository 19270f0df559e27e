# SPDX-License-Identifier: Apache-2.0
"""What a node tells in /diagnostics."""

from __future__ import annotations

from collections.abc import Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue


def diagnostic_message(
    node: str, subject: str, time: Time, words: str, values: Mapping[str, str], level: bytes = DiagnosticStatus.OK
) -> DiagnosticArray:
    """One status.

    Args:
        node: name of the node.
        subject: what of the node it is about, in one word.
        time: stamp.
        words: how it is, in a few words.
        values: by their names, units in brackets.
        level: of `diagnostic_msgs/DiagnosticStatus`.
    """
    message = DiagnosticArray()
    message.header.stamp = time
    message.status = [
        DiagnosticStatus(
            level=level,
            name=f"{node}: {subject}",
            message=words,
            hardware_id=subject,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
    ]
    return message
