# SPDX-License-Identifier: Apache-2.0
"""The other end of :mod:`humanoid_ros.node.process_workers`: a process that does the tasks it is given."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from humanoid_model.errors import HumanoidError

READY, NEWS, RESULT, REFUSED, FAILED = "ready", "news", "result", "refused", "failed"
"""What a message is: the worker is up, something to tell on the way, the result, a HumanoidError, another exception."""


def serve(connection: Connection) -> None:
    """Do tasks until the other end closes.

    Args:
        connection: brings ("module:function", arguments) and takes (kind, content).
    """
    tasks: SimpleQueue[tuple[str, tuple[Any, ...]]] = SimpleQueue()

    def receive() -> None:
        # Reading all the time tells at once when whoever asked is gone, in the middle of a task as well.
        try:
            while True:
                tasks.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    def send(kind: str, content: Any) -> None:
        try:
            connection.send((kind, content))
        except OSError:  # who asked is gone, which the other thread may not have noticed yet
            os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    send(READY, None)
    while True:
        name, arguments = tasks.get()
        try:
            answer = RESULT, _function(name)(*arguments, lambda news: send(NEWS, news))
        except HumanoidError as error:
            answer = REFUSED, error
        except Exception as error:
            answer = FAILED, (f"{type(error).__name__}: {error}", traceback.format_exc())
        send(*answer)
        del answer, arguments
        give_back_memory()


def give_back_memory() -> None:
    """Give what is free back to the system.

    Symbolic problems are millions of small pieces. Where one of them stays in use, glibc keeps all memory below it, and
    a process grows by 10 MB with every gait.
    """
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def main() -> None:
    """Serve the connection whose file descriptor the command line names."""
    importlib.import_module(sys.argv[2])
    serve(Connection(int(sys.argv[1])))


if __name__ == "__main__":
    main()
