# SPDX-License-Identifier: Apache-2.0
"""What a browser may say: values of controls, short texts, numbers that can be drawn.

What one browser says of a control is kept for all others: a number that can't be sent would leave all without a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.typing import Data

from humanoid_ros.viewer.drawing.drawable import LARGEST

LARGEST_MESSAGE = 1 << 16
"""Of a browser [bytes]."""
LONGEST_TEXT = 4096
"""Letters of a text: a path has no more."""
UPDATE = "GuiUpdateMessage"


class BrowserConnection(ServerConnection):
    """A connection that leaves out what can't be used, and tells the log.

    Args:
        tell: takes a line for the log.
        arguments: of a connection.
        options: of a connection.
    """

    def __init__(self, tell: Callable[[str], None], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._tell = tell

    async def recv(self, decode: bool | None = None) -> Data:  # type: ignore[override]
        """Return the next message that can be used."""
        while True:
            message = await super().recv(decode)
            fault = message_fault(message)
            if fault is None:
                return message
            self._tell(f"left out a message of a browser: {fault}")


def message_fault(raw: Data) -> str | None:
    """Return why a message of a browser can't be used; None if it can.

    Args:
        raw: as it came, msgpack.
    """
    try:
        message = msgspec.msgpack.decode(b"" if isinstance(raw, str) else raw)
    except (msgspec.DecodeError, RecursionError):
        return "it can't be read"
    if not isinstance(message, dict):
        return "it has no type"
    kind, updates = str(message.get("type"))[:40], message.get("updates")
    if kind.startswith("FileTransfer"):
        return "the page takes no files"
    if kind == UPDATE and not (isinstance(updates, dict) and updates.keys() == {"value"}):
        return "of a control, its value alone is a browser's to say"
    left: list[Any] = [message]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += [*part, *part.values()]
        elif isinstance(part, list):
            left += part
        elif isinstance(part, str | bytes):
            if len(part) > LONGEST_TEXT:
                return f"a text of {len(part)} letters in {kind}, more than {LONGEST_TEXT}"
        elif isinstance(part, int | float) and not (math.isfinite(part) and abs(part) <= LARGEST):
            return f"the number {part:.3g} in {kind}, beyond {LARGEST:.0e}"
    return None
