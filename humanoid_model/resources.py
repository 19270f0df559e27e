# SPDX-License-Identifier: Apache-2.0
"""Finding the robots and scenes that come with the stack."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from humanoid_model.errors import InputError


def resource_folders() -> list[Path]:
    """Return folders that hold ``urdf/`` and ``config/``, the first to be searched first.

    They are the folders of HUMANOID_STACK_PATH, the checkout that the package lies in, and
    ``share/humanoid_stack`` of each prefix of AMENT_PREFIX_PATH and of the Python installation.
    """
    named = [Path(place) for place in os.environ.get("HUMANOID_STACK_PATH", "").split(os.pathsep) if place]
    prefixes = [place for place in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if place]
    shares = [Path(prefix) / "share" / "humanoid_stack" for prefix in (*prefixes, sys.prefix)]
    return [*named, Path(__file__).resolve().parent.parent, *shares]


def package_places() -> list[Path]:
    """Return folders of packages: ``share`` of AMENT_PREFIX_PATH, and ROS_PACKAGE_PATH, which may name packages too."""
    prefixes = [place for place in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if place]
    sources = [Path(place) for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if place]
    return [*(Path(prefix) / "share" for prefix in prefixes), *sources]


def wheel_places() -> list[Path]:
    """Return folders of packages that wheels by cmeel have installed into this Python."""
    return [Path(place) / "cmeel.prefix" / "share" for place in sys.path if place]


def find_resource(relative: str | Path) -> Path:
    """Return the path of a file that comes with the stack, for example ``urdf/hrp2.urdf``.

    Raises:
        InputError: no resource folder holds it.
    """
    folders = resource_folders()
    for folder in folders:
        if (folder / relative).is_file():
            return folder / relative
    raise InputError(
        f"file '{relative}' is in none of {', '.join(str(folder) for folder in folders)}",
        remedy="Install the stack, or set HUMANOID_STACK_PATH to the folder that holds urdf/ and config/",
    )


def list_resources(folder: str | Path, suffixes: Iterable[str]) -> list[str]:
    """Names without suffix of the files of a resource folder, sorted, for example the robots of ``urdf``."""
    known = tuple(suffixes)
    return sorted(
        {
            path.stem
            for place in resource_folders()
            if (place / folder).is_dir()
            for path in (place / folder).iterdir()
            if path.suffix in known
        }
    )
