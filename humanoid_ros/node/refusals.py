# SPDX-License-Identifier: Apache-2.0
"""Requests and messages that a node could not serve: told to who asked, logged, counted."""

from __future__ import annotations

import traceback
from typing import Any

from humanoid_model.errors import HumanoidError

LONGEST = 2000
"""Characters of a reason that are logged and told in diagnostics; who asked is told all of it."""


class Refusals:
    """What a node refused.

    Attributes:
        count: how many requests and messages so far.
        last: the last one's name and why it was refused, shortened; empty before the first one.
    """

    def __init__(self, node: Any) -> None:
        """Begin with none.

        Args:
            node: in whose log they are told.
        """
        self._node = node
        self.count = 0
        self.last = ""

    def refuse(self, name: str, reason: str | Exception) -> str:
        """Return the note that something could not be served.

        Args:
            name: of the service, action or topic.
            reason: in words, or the error that came up; what isn't a HumanoidError is logged with its traceback.

        Returns:
            What to tell who asked.
        """
        message = str(reason)
        if isinstance(reason, Exception) and not isinstance(reason, HumanoidError):
            first, *_ = message.splitlines() or [""]
            message = f"{type(reason).__name__}: {first}"
            self._node.get_logger().error(shortened("".join(traceback.format_exception(reason)), 4 * LONGEST))
        self.count += 1
        self.last = f"{name}: {shortened(message)}"
        self._node.get_logger().warning(f"refused: {self.last}")
        return message


def shortened(text: str, most: int = LONGEST) -> str:
    """Return a text with at most so many characters of it, from both ends: a remedy stands at the end."""
    if len(text) <= most:
        return text
    return f"{text[: most * 3 // 4]} [... {len(text)} characters ...] {text[len(text) - most // 4 :]}"
