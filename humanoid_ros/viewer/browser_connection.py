# SPDX-License-Identifier: Apache-2.0
"""What a browser may say: values of controls, short texts, numbers that can be drawn.

What one browser says of a control is kept for all others: a number that can't be sent would leave all without a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import viser.infra
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
        log: takes a line for the log.
        arguments: of a connection.
        options: of a connection.
    """

    def __init__(self, log: Callable[[str], None], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._log = log

    async def recv(self, decode: bool | None = None) -> Data:  # type: ignore[override]
        """Return the next message that can be used."""
        while True:
            message = await super().recv(decode)
            fault = message_fault(message)
            if fault is None:
                return message
            self._log(f"left out a message of a browser: {fault}")


def message_fault(raw: Data) -> str | None:
    """Return why a message of a browser can't be used; None if it can.

    Args:
        raw: as it came.
    """
    try:
        message = viser.infra.Message.deserialize(b"" if isinstance(raw, str) else bytes(raw))
    except Exception:  # bytes that are nothing, another type, other fields
        return "it can't be read"
    kind, said = type(message).__name__, vars(message)
    if kind.startswith("FileTransfer"):
        return "the page takes no files"
    if kind == UPDATE and not (isinstance(said["updates"], dict) and said["updates"].keys() == {"value"}):
        return "of a control, its value alone is a browser's to say"
    left: list[Any] = [said]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            left += part
        elif isinstance(part, str | bytes):
            if len(part) > LONGEST_TEXT:
                return f"a text of {len(part)} letters in {kind}, more than {LONGEST_TEXT}"
        elif isinstance(part, int | float) and not (math.isfinite(part) and abs(part) <= LARGEST):
            return f"the number {part:.3g} in {kind}, beyond {LARGEST:.0e}"
    return None
