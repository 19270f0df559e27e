# SPDX-License-Identifier: Apache-2.0
"""Where files that requests name may lie: whoever can send a message must not reach all that the node's user can."""

from __future__ import annotations

import os
from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_model.mesh_path import resolve_mesh_path
from humanoid_model.resources import resource_folders

VARIABLE = "HUMANOID_STACK_FILES"
"""Environment variable with the folders; the node's working folder where it isn't set."""


def check_requested(name: str, field: str, *, written: bool = False) -> str:
    """Return what a request names, if it isn't a file or lies in a folder that requests may name files of.

    Files may be read in the folders of :data:`VARIABLE` and where the stack has its robots and scenes, and written
    in the former alone. Links count as where they lead. Parameters aren't requests. What a file or a text names
    in turn, such as meshes, isn't looked at here.

    Args:
        name: a name such as ``hrp2``, a path, or a text.
        field: of the request.
        written: whether it is to be written.

    Raises:
        InputError: it lies elsewhere.
    """
    text = name.strip()
    if not text or text.startswith("<") or "\n" in text:
        return name
    packaged = resolve_mesh_path(text, Path.cwd()) if text.startswith("package://") else None
    path = packaged or Path(text.removeprefix("file://"))
    if not written and not path.suffix and len(path.parts) == 1:
        return name
    own = [Path(place) for place in os.environ.get(VARIABLE, "").split(os.pathsep) if place] or [Path.cwd()]
    folders = own if written else [*own, *resource_folders()]
    try:
        lies = any(path.resolve().is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, ValueError, RuntimeError):  # too long, a null in it, links in a circle
        lies = False
    if not lies:
        raise InputError(
            f"'{name}' isn't in a folder that requests may {'write to' if written else 'name files of'}",
            element=field,
            remedy=f"Give one in {', '.join(map(str, own))}, or set {VARIABLE} where the node is started",
        )
    return name
