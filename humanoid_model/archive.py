# SPDX-License-Identifier: Apache-2.0
"""Files of named arrays (numpy's npz): written whole or not at all, read if they don't unpack to too much.

Arrays that take long to make are kept on disk under a name made of what they are made from.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import struct
import sys
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.files import check_size

#: What reading a file raises that isn't there or isn't whole.
BROKEN_ARCHIVE = (
    *(OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error),
    *(RuntimeError, MemoryError, OverflowError, struct.error, SyntaxError, tokenize.TokenError),
)
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_archive(path: str | Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file by name, after a look at how large they are.

    Args:
        path: of the file.

    Raises:
        InputError: they would take too much memory.
        BROKEN_ARCHIVE: it is no such file, or isn't whole.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        check_archive_size(sum(member.file_size for member in members), path)
        for member in members:
            with archive.open(member) as file:
                shape, _, kind = _HEADERS[np.lib.format.read_magic(file)](file)
                if math.prod(shape) * kind.itemsize > member.file_size:
                    raise ValueError(f"{member.filename} is cut short")
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def check_archive_size(size: int, path: str | Path) -> None:
    """Refuse arrays that take too much memory.

    Args:
        size: of all of them together [bytes].
        path: of the file.

    Raises:
        InputError: it is more than a file may unpack to.
    """
    check_size(size, "bytes of arrays", lambda problem, remedy: InputError(problem, source=path, remedy=remedy))


def write_archive(path: str | Path, **arrays: Any) -> None:
    """Write arrays to a file, beside it first: another process never reads half of one.

    Args:
        path: of the file.
        arrays: by name; numbers too.

    Raises:
        OSError: the file can't be written.
    """
    target = Path(path)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-", delete=False) as file:
        try:
            np.savez(file, **arrays)
            file.close()
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def cache_folder(name: str) -> Path:
    """``$XDG_CACHE_HOME/humanoid_stack/<name>`` (``~/.cache``; ``~/Library/Caches`` on macOS)."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(chosen):
        base = Path(chosen)
    else:
        base = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return base / "humanoid_stack" / name


def content_path(content: bytes, folder: Path) -> Path:
    """File of what is made of a content."""
    return folder / f"{hashlib.sha256(content).hexdigest()}.npz"


def keep(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays, whole or not at all; a folder that can't be written to keeps nothing."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_archive(path, **arrays)


def stored_arrays(
    content: bytes, make: Callable[[], Mapping[str, NDArray[Any]]], folder: Path
) -> Mapping[str, NDArray[Any]]:
    """Return arrays by name, taken from disk when they have been made of the same content before, else made and kept.

    A file that can't be read or isn't whole is made anew. Processes that make the same at once write the same.

    Args:
        content: all that they depend on, with a word for how they are made.
        make: makes them.
        folder: where they are kept, see :func:`cache_folder`.
    """
    path = content_path(content, folder)
    with contextlib.suppress(*BROKEN_ARCHIVE), np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
    arrays = make()
    keep(path, arrays)
    return arrays
