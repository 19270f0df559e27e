# SPDX-License-Identifier: Apache-2.0
"""Which files may be read: all of them, or, where a stranger names them, those of some folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_model.resources import package_places, resource_folders, wheel_places

Fail = Callable[[str, str], InputError]
"""Makes the error of a problem and its remedy, as the ``fail`` of XML elements and fields does."""

_FOLDERS: ContextVar[tuple[tuple[Path, ...], str] | None] = ContextVar("reading_folders", default=None)


@contextmanager
def reading_only_in(folders: Iterable[Path], remedy: str) -> Iterator[None]:
    """Let readers of this thread refuse, within the block, files that :func:`is_readable` doesn't find in the folders.

    It holds for the file that is read and for all that it names in turn, and nothing of a file is read before. Not
    around an ``await``: what else the thread does meanwhile would be confined too.

    Args:
        folders: that files may be read in.
        remedy: what refusals tell to do.
    """
    token = _FOLDERS.set((tuple(folders), remedy))
    try:
        yield
    finally:
        _FOLDERS.reset(token)


def may_read(path: Path) -> bool:
    """Whether this thread may read a file, which need not be there."""
    confined = _FOLDERS.get()
    return confined is None or is_readable(path, confined[0])


def check_may_read(path: Path, fail: Fail) -> None:
    """Check that this thread may read a file, before anything is asked of it: not even whether it is there.

    Raises:
        InputError: it mayn't.
    """
    confined = _FOLDERS.get()
    if confined is not None and not is_readable(path, confined[0]):
        raise fail(f"'{path}' isn't in a folder that requests may name files of", confined[1])


def is_readable(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file lies in one of the folders, where the stack has its robots and scenes, or in a package.

    Links count as where they lead, except in packages and the stack's resources: there whoever installed them made
    the links, as ``colcon build --symlink-install`` does.
    """
    if lies_in(path, [*folders, *resource_folders()]):
        return True
    resources = [folder / name for folder in resource_folders() for name in ("config", "urdf")]
    written = path.absolute()
    return ".." not in written.parts and (
        any(written.is_relative_to(folder) for folder in resources) or _lies_in_package(written)
    )


def lies_in(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file lies in one of the folders; links count as where they lead."""
    try:
        found = path.resolve()
        return any(found.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, ValueError, RuntimeError):  # too long, a null in it, links in a circle
        return False


def _lies_in_package(path: Path) -> bool:
    """Whether a file is of a package: ROS_PACKAGE_PATH may name folders that hold other things too."""
    places = [*package_places(), *wheel_places()]
    return any(
        (folder in places or folder.parent in places) and (folder / "package.xml").is_file() for folder in path.parents
    )
