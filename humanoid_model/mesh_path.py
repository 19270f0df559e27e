# SPDX-License-Identifier: Apache-2.0
"""Finding the file behind an address of a mesh, or of a URDF, in a robot or scene."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import unquote

PACKAGE_REMEDY = (
    "Install the package (example-robot-data is on the Python package index), or name the folder that holds it in "
    "ROS_PACKAGE_PATH"
)


def resolve_mesh_path(address: str, folder: Path) -> Path | None:
    """Return the file that an address names, None when there is no such file.

    ``package://name/rest`` is looked for in ``share/name`` of each prefix of AMENT_PREFIX_PATH, in each folder
    of ROS_PACKAGE_PATH (a package itself or a folder of packages), beside or above ``folder``, then in ``share/name``
    of what wheels by cmeel (example-robot-data's) have installed into this Python. A ``file://`` address and an
    absolute path are taken as they are, a relative path starts from ``folder``.

    Args:
        address: the address as written.
        folder: folder of the file that holds the address.
    """
    address = address.strip()
    if address.startswith(("package://", "model://")):
        package, _, rest = unquote(address.split("://", 1)[1]).partition("/")
        candidates = [place / rest for place in _package_folders(package, folder)]
    elif address.startswith("file:"):
        rest = address.removeprefix("file:").removeprefix("//localhost").removeprefix("//")
        candidates = [folder / unquote(rest)]
    else:
        candidates = [folder / address]
    return next((path.resolve() for path in candidates if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name longer than the file system takes, or with a zero byte
        return False


def _package_folders(package: str, folder: Path) -> list[Path]:
    folders = [
        Path(prefix) / "share" / package
        for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
        if prefix
    ]
    for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if place:
            folders.append(Path(place) / package)
            if Path(place).name == package:
                folders.append(Path(place))
    for ancestor in (folder.resolve(), *folder.resolve().parents):
        if ancestor.name == package:
            folders.append(ancestor)
        folders.append(ancestor / package)
    folders += [Path(place) / "cmeel.prefix" / "share" / package for place in sys.path if place]
    return folders
