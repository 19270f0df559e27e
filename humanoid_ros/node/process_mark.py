# SPDX-License-Identifier: Apache-2.0
"""Whether the process of a node on this machine has ended: the kernel knows at once, the middleware after its lease.

A node's process holds a lock on a file that is named after the process' part of its endpoints' identifiers. The kernel
lets go of the lock when the process ends, however it ends and however busy the machine is; while it lives nobody else
gets it, whether it answers or not. So an end is never told of a process that lives.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PROCESS = 12
"""Bytes of an endpoint's identifier that are its process'; DDS calls them the participant's prefix."""
KEPT = 60.0
"""How long a process' end can be read at least after another one has begun [s]; the middleware's lease is 20 s."""

_held: dict[bytes, int] = {}
"""Locked files of this process; they are never closed."""


def mark_process(endpoint: bytes) -> None:
    """Let others see when this process ends. Where the file can't be made, they learn it from the middleware.

    Args:
        endpoint: identifier of one of its endpoints.
    """
    process = endpoint[:PROCESS]
    with suppress(OSError):
        folder = _folder()
        if process in _held or folder is None:
            return
        _sweep(folder)
        # It has its name when it is locked: one that is seen unlocked is that of a process that has ended.
        unnamed = folder / f".{process.hex()}"
        held = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
        unnamed.rename(folder / process.hex())
        _held[process] = held


def has_ended(endpoint: bytes) -> bool:
    """Return whether the process of an endpoint is known to have ended; false of one on another machine."""
    try:
        folder = _folder()
        if folder is None:
            return False
        file = os.open(folder / endpoint[:PROCESS].hex(), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _lock(file, fcntl.LOCK_SH)
    finally:
        os.close(file)


def _lock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _folder() -> Path | None:
    """Return this user's folder of such files; None where another user could write to it."""
    folder = Path(tempfile.gettempdir()) / f"humanoid_stack_{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    safe = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
    return folder if safe else None


def _sweep(folder: Path) -> None:
    """Write into files of processes that have ended that they have, and delete those that have said so for a while."""
    for path in folder.glob("[!.]*"):
        file = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if _lock(file, fcntl.LOCK_EX):
                told = os.fstat(file)
                if told.st_size == 0:
                    os.write(file, b"ended\n")
                elif time.time() - told.st_mtime > KEPT:
                    path.unlink()
        finally:
            os.close(file)
