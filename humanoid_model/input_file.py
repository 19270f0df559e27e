# SPDX-License-Identifier: Apache-2.0
"""Files that users name: what isn't a plain file is refused before it is opened: reading it might block."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_model.reading_folders import check_may_read
from humanoid_model.size_bounds import BOUNDS


def require_file(path: str | Path, error: type[InputError] = InputError, remedy: str | None = None) -> None:
    """Check that there is a plain file, which ends: pipes wait for a writer, some devices have no end.

    Args:
        path: the file.
        error: exception class of its errors.
        remedy: what would be right.

    Raises:
        InputError: there is none, it is a directory, a pipe, a socket or a device, or its user may not read it, or
            this thread (:func:`~humanoid_model.reading_folders.reading_only_in`).
    """
    check_may_read(Path(path), lambda problem, confined: error(problem, remedy=confined))
    try:
        mode = Path(path).stat().st_mode
    except OSError as problem:
        raise error(f"can't be read: {problem.strerror}", source=path, remedy=remedy) from None
    except ValueError as problem:  # a zero byte in the path
        raise error(f"can't be read: {problem}", source=path, remedy=remedy) from None
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISDIR, "directory"), (stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"))
        kind = next((name for test, name in kinds if test(mode)), "device")
        raise error(f"can't be read: Is a {kind}", source=path, remedy=remedy)
    if not os.access(path, os.R_OK):
        raise error("can't be read: Permission denied", source=path, remedy=remedy)


def read_text(path: str | Path, error: type[InputError] = InputError, remedy: str | None = None) -> str:
    """Return the text of a plain UTF-8 file; a byte order mark is left out.

    Args:
        path: the file.
        error: exception class of its errors.
        remedy: what would be right where the file can't be read.

    Raises:
        InputError: as of :func:`require_file`, or the file is larger than 100 MB or isn't UTF-8.
    """
    require_file(path, error, remedy)
    file = Path(path)
    try:
        size, most = file.stat().st_size, BOUNDS["bytes"]
        if size > most:
            raise error(f"has {size / 1e6:.0f} MB, more than {most / 1e6:.0f} MB", source=path, remedy=remedy)
        return file.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise error(f"can't be read: {problem.strerror}", source=path, remedy=remedy) from None
    except UnicodeDecodeError as problem:
        raise error(
            f"is not UTF-8 text (byte {problem.start})",
            source=path,
            remedy="Save it as UTF-8; a .xacro or binary file can't be read",
        ) from None
