# SPDX-License-Identifier: Apache-2.0
"""Files that a person names on the page to be written: within the folders of requests, and none replaced unasked."""

from __future__ import annotations

from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_ros.node.requested_files import check_requested


def check_written(name: str, field: str, overwrite: bool) -> str:
    """Return the path of a file that may be written.

    Args:
        name: path.
        field: that it was given in.
        overwrite: whether a file that is there may be replaced.

    Raises:
        InputError: it lies where requests may not write, or is there and wasn't to be replaced.
    """
    check_requested(name, field, written=True)
    check_new(name, field, overwrite)
    return name


def check_new(name: str, field: str, overwrite: bool) -> None:
    """Raise an InputError if a file is there and isn't to be replaced."""
    if not overwrite and Path(name).exists():
        raise InputError(f"'{name}' is there already", element=field, remedy="Give another name, or tick Overwrite")
