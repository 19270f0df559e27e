# SPDX-License-Identifier: Apache-2.0
"""Shared objects kept on disk, so that a function is compiled once.

An object is code that will run, so it is taken only from a folder and a file that belong to this user and that no other
user may write to. A digest at the end of each file shows that the object is complete.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import warnings
from functools import cache
from pathlib import Path

from humanoid_codegen.compiled.compiler import Compiler
from humanoid_model import content_store

_DIGEST = 32


def cached_object(source: str, compiler: Compiler) -> Path:
    """Return the shared object of a source; compiled when there is none yet.

    Raises:
        CompilerError: the compiler refuses.
    """
    folder = cache_folder()
    what = "\0".join((compiler.identity, *compiler.flags, source))
    path = folder / f"{hashlib.sha256(what.encode()).hexdigest()}.so"
    if not _is_whole(path):
        with tempfile.TemporaryDirectory(dir=folder, prefix="compiling-") as work:
            made = Path(work) / "object.so"
            compiler.compile(source, made)
            content = made.read_bytes()
            made.write_bytes(content + hashlib.sha256(content).digest())
            made.chmod(0o700)
            made.replace(path)  # whole or not at all, also when another process does the same
    return path


def cache_folder() -> Path:
    """Return the folder of the shared objects, one of this user's own; a temporary one where that can't be had."""
    folder = content_store.cache_folder("compiled")
    problem = _claim(folder)
    return folder if problem is None else _temporary_folder(str(folder), problem)


def _claim(folder: Path) -> str | None:
    """Make the folder and return what is wrong with it, if anything."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.lstat()
    except OSError as problem:
        return problem.strerror or str(problem)
    if not stat.S_ISDIR(status.st_mode):
        return "isn't a folder"
    if not _is_own(status):
        return "others may write to it"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "can't be written to"
    return None


@cache
def _temporary_folder(wanted: str, problem: str) -> Path:
    warnings.warn(
        f"{wanted}: {problem}. Compiled functions are kept until this program ends; set XDG_CACHE_HOME to a folder "
        "of your own to keep them.",
        RuntimeWarning,
        stacklevel=2,
    )
    _TEMPORARY.append(tempfile.TemporaryDirectory(prefix="humanoid_stack-"))
    return Path(_TEMPORARY[-1].name)


_TEMPORARY: list[tempfile.TemporaryDirectory[str]] = []


def _is_own(status: os.stat_result) -> bool:
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_whole(path: Path) -> bool:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or not _is_own(status):
            return False
        content = path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-_DIGEST]).digest() == content[-_DIGEST:]
