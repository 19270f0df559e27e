# SPDX-License-Identifier: Apache-2.0
"""What a person does on the page is told by viser's threads, and done in the node's executor."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any


class Later:
    """Calls that wait until the executor makes them, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[partial[None]] = queue.SimpleQueue()

    def __call__(self, method: Callable[..., None], *arguments: Any) -> None:
        """Let a method be called; any thread may say so."""
        self._waiting.put(partial(method, *arguments))

    def due(self) -> Iterator[partial[None]]:
        """Take the calls that wait, and those that come meanwhile; the executor makes them."""
        while True:
            try:
                yield self._waiting.get_nowait()
            except queue.Empty:
                return
