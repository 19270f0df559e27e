# SPDX-License-Identifier: Apache-2.0
"""Arrays that take long to make, kept on disk under a name made of what they are made from."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.archive import BROKEN_ARCHIVE, write_archive


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
