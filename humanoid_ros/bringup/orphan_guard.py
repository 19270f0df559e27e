# SPDX-License-Identifier: Apache-2.0
"""Ends what a supervisor has started when the supervisor itself was killed: a program of its own.

The supervisor writes the number of each process group to it, once when the group begins and once when it has ended. The
kernel closes that pipe when the supervisor ends, however it does; what has begun and not ended by then is ended here.
A signal that the kernel sends at a parent's death would follow the thread that started the child, and reach no
grandchild.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
POLL = 0.05
"""Time between two looks at the process groups [s]."""


def guard(told: Iterable[str], patience: Sequence[float]) -> None:
    """Wait for the end of what is told, and end the groups that are left.

    Args:
        told: number of a group per line; a second time takes it back.
        patience: time that they have after SIGINT, and again after SIGTERM [s].
    """
    left: set[int] = set()
    for line in told:
        left ^= {int(line)}
    for number, seconds in zip(STOP_SIGNALS, (*patience, 0.0), strict=True):
        for group in left:
            with suppress(ProcessLookupError):
                os.killpg(group, number)
        end = time.monotonic() + seconds
        while (left := {group for group in left if _lives(group)}) and time.monotonic() < end:
            time.sleep(POLL)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    guard(sys.stdin, [float(word) for word in sys.argv[1:]])
