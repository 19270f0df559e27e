# SPDX-License-Identifier: Apache-2.0
"""Where saved states lie."""

from __future__ import annotations

from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_ros.node.requested_files import check_written, own_folders
from humanoid_sim.state_file import check_state

FOLDER = "states"
"""Of relative names, in the first folder that requests may name files of."""
ENDING = ".npz"


def state_path(name: str) -> str:
    """Return the path of a state by a name, which is absolute or starts from :data:`FOLDER`."""
    return str(own_folders()[0].absolute() / FOLDER / name)


def written_state(name: str, field: str, overwrite: bool) -> str:
    """Return the path that a request has a state written to; the folder of relative names is made.

    Args:
        name: as of :func:`state_path`.
        field: of the request.
        overwrite: whether a state that is there is to be replaced.

    Raises:
        InputError: another ending, a place that requests mayn't write to, a file that is there and isn't to be
            replaced, or is no state.
    """
    path = state_path(name)
    if Path(path).suffix != ENDING:
        raise InputError(f"is '{name}'", element=field, remedy=f"Give a name that ends in {ENDING}")
    check_written(path, field, overwrite=overwrite)
    if Path(path).exists():
        check_state(path)
    elif not Path(name).is_absolute():
        (own_folders()[0] / FOLDER).mkdir(exist_ok=True)
    return path
