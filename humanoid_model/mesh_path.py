# SPDX-License-Identifier: Apache-2.0
"""Finding the file behind an address of a mesh, or of a URDF, in a robot or scene."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

from humanoid_model.errors import InputError
from humanoid_model.reading_folders import Fail, check_may_read, may_read
from humanoid_model.resources import package_places, wheel_places

PACKAGE_REMEDY = (
    "Install the package (example-robot-data is on the Python package index), or name the folder that holds it in "
    "ROS_PACKAGE_PATH"
)


def _fail(problem: str, remedy: str) -> InputError:
    return InputError(problem, remedy=remedy)


def resolve_mesh_path(address: str, folder: Path, fail: Fail = _fail) -> Path | None:
    """Return the file that an address names, None when there is no such file.

    ``package://name/rest`` is looked for in ``share/name`` of each prefix of AMENT_PREFIX_PATH, in each folder
    of ROS_PACKAGE_PATH (a package itself or a folder of packages), beside or above ``folder``, then in ``share/name``
    of what wheels by cmeel (example-robot-data's) have installed into this Python. A ``file://`` address and an
    absolute path are taken as they are, a relative path starts from ``folder``.

    Args:
        address: the address as written.
        folder: folder of the file that holds the address.
        fail: makes the error.

    Raises:
        InputError: the address leaves its package, or the folders that this thread may read in
            (:func:`~humanoid_model.reading_folders.reading_only_in`).
    """
    address = address.strip()
    if address.startswith(("package://", "model://")):
        package, _, rest = unquote(address.split("://", 1)[1]).partition("/")
        inside = os.path.normpath(rest)
        parts = Path(inside).parts
        if rest and (package in ("", ".", "..") or os.path.isabs(rest) or parts[:1] == (os.pardir,)):
            raise fail(f"'{address}' leaves its package", "Give package://<package>/<path> with a path inside")
        candidates = [path for place in _package_folders(package, folder) if may_read(path := place / inside)]
    else:
        if address.startswith("file:"):
            address = unquote(address.removeprefix("file:").removeprefix("//localhost").removeprefix("//"))
        candidates = [folder / address]
        check_may_read(candidates[0], fail)
    found = next((path for path in candidates if _is_file(path)), None)
    # A link of a package may lead where this thread may not read: its own name is the one that it may.
    return None if found is None else found.resolve() if may_read(found.resolve()) else found.absolute()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name longer than the file system takes, or with a zero byte
        return False


def _package_folders(package: str, folder: Path) -> list[Path]:
    folders = []
    for place in package_places():
        folders.append(place / package)
        if place.name == package:
            folders.append(place)
    for ancestor in (folder.resolve(), *folder.resolve().parents):
        if ancestor.name == package:
            folders.append(ancestor)
        folders.append(ancestor / package)
    return [*folders, *(place / package for place in wheel_places())]
