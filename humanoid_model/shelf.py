# SPDX-License-Identifier: Apache-2.0
"""Things that are read from files, kept as long as the files stay the same and there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")

Stamp = tuple[tuple[int, int] | None, ...]


@dataclass
class _Kept(Generic[T]):
    """A thing that was read, its files, and what they looked like then."""

    value: T
    files: tuple[Path, ...]
    stamp: Stamp


class Shelf(Generic[T]):
    """The things read last, by name; any thread may ask."""

    def __init__(self, size: int, read: Callable[[str], tuple[T, tuple[Path, ...]]]) -> None:
        """Begin with none.

        Args:
            size: things kept; what was not asked for longest goes first.
            read: reads a thing by its name; returns it with the files that it was read from.
        """
        self._size = size
        self._read = read
        self._kept: OrderedDict[str, _Kept[T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> T:
        """Return a thing by its name, read again when a file of it has changed."""
        with self._lock:
            kept = self._kept.get(name)
            if kept is None or _stamp(kept.files) != kept.stamp:
                value, files = self._read(name)
                kept = self._kept[name] = _Kept(value, files, _stamp(files))
            self._kept.move_to_end(name)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
            return kept.value


def _stamp(files: tuple[Path, ...]) -> Stamp:
    """Return the time of change and size of files, None for one that isn't there."""
    return tuple(_file_stamp(file) for file in files)


def _file_stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
