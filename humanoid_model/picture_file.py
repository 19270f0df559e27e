# SPDX-License-Identifier: Apache-2.0
"""Writing a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from humanoid_model.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_picture(figure: Figure, path: str | Path) -> None:
    """Write a figure into a file.

    Raises:
        InputError: the file can't be written, or matplotlib doesn't know its format.
    """
    try:
        figure.savefig(path, dpi=110)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"the picture can't be written: {problem}", source=path, remedy="Give a .png in a folder that exists"
        ) from problem
