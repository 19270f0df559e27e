# SPDX-License-Identifier: Apache-2.0
"""Files of named arrays (numpy's npz): written whole or not at all, read if they don't unpack to too much."""

from __future__ import annotations

import math
import os
import struct
import tempfile
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_model.errors import InputError
from humanoid_model.size_bounds import check_size

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
