# SPDX-License-Identifier: Apache-2.0
"""Files of named arrays (numpy's npz) that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

#: What reading a file raises that isn't there or isn't whole.
BROKEN_ARCHIVE = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)


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
