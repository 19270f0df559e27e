# SPDX-License-Identifier: Apache-2.0
"""Where files that requests name may lie: whoever can send a message must not reach all that the node's user can."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from humanoid_model.errors import InputError
from humanoid_model.files import is_readable, lies_in, reading_only_in, resolve_mesh_path

VARIABLE = "HUMANOID_STACK_FILES"
"""Environment variable with the folders; the node's working folder where it isn't set."""


def own_folders() -> list[Path]:
    """Return the folders of :data:`VARIABLE`."""
    return [Path(place) for place in os.environ.get(VARIABLE, "").split(os.pathsep) if place] or [Path.cwd()]


def check_requested(name: str, field: str, *, written: bool = False) -> str:
    """Return what a request names, if it isn't a file or lies in a folder that requests may name files of.

    Files may be read in the folders of :data:`VARIABLE`, where the stack has its robots and scenes, and in packages,
    and written in the first alone. Links count as where they lead. A parameter that is set while the node runs is a
    request; one that the node was started with is its user's affair. What the file names in turn is looked at where it
    is read, by :func:`requested_reading`.

    Args:
        name: a name such as ``hrp2``, a path, or a text.
        field: of the request.
        written: whether it is to be written.

    Raises:
        InputError: it lies elsewhere, or is a pipe, a socket or a device.
    """
    text = name if written else name.strip()
    path = Path(text)
    if not written:
        if not text or text.startswith("<") or ("\n" in text and not text.startswith(("/", "."))):
            return name
        if not path.suffix and len(path.parts) == 1:
            return name
        if text.startswith(("package:", "model:", "file:")):
            path = resolve_mesh_path(text, Path.cwd(), lambda *why: _refusal(field, *why)) or Path(text)
    own = own_folders()
    if not (lies_in(path, own) if written else is_readable(path, own)):
        problem = f"'{name}' isn't in a folder that requests may {'write to' if written else 'name files of'}"
        raise _refusal(field, problem, _remedy(own))
    if is_special(path):
        raise _refusal(field, f"'{name}' is a pipe, a socket or a device", "Name a plain file")
    return name


def check_written(name: str, field: str, *, overwrite: bool = False) -> str:
    """Return the path of a file that a request has written, if it may be.

    Args:
        name: the path.
        field: of the request.
        overwrite: whether the request asks for a file that is there to be replaced.

    Raises:
        InputError: as of :func:`check_requested`, or the file is there.
    """
    path = check_requested(name, field, written=True)
    if not overwrite and os.path.lexists(path):
        raise _refusal(field, f"'{name}' is there already", "Give another name, or remove that file first")
    return path


def requested_reading(name: str, *folders: Path) -> AbstractContextManager[None]:
    """Confine what is read within the block to what requests may name, if the request names something.

    An empty name stands for what the node was started with, which may be anywhere.

    Args:
        name: file or text of the request.
        folders: that may be read in too.
    """
    own = own_folders()
    return reading_only_in([*own, *folders], _remedy(own)) if name.strip() else nullcontext()


def check_file_parameters(
    *, read: Sequence[str] = (), written: Sequence[str] = ()
) -> Callable[[Mapping[str, Any]], None]:
    """Return a check for :func:`~humanoid_ros.node.parameter_declaration.refuse_unusable`.

    Args:
        read: parameters that name files to read.
        written: parameters that name files to write.
    """

    def check(values: Mapping[str, Any]) -> None:
        for name in values.keys() & {*read}:
            check_requested(str(values[name]), name)
        for name in values.keys() & {*written}:
            if values[name]:
                check_written(str(values[name]), name)

    return check


def next_free(path: str) -> str:
    """Return the path, or with a number before its ending where it is taken: ``run.mcap``, ``run_2.mcap``.

    A node that starts again with the same parameters has nobody to ask what is to become of the file before. Pipes and
    devices hold nothing that could be lost.
    """
    whole = Path(path)
    names = itertools.chain([path], (str(whole.with_stem(f"{whole.stem}_{number}")) for number in itertools.count(2)))
    return next(name for name in names if not os.path.lexists(name) or is_special(name))


def is_special(path: str | Path) -> bool:
    """Whether there is a pipe, a socket or a device."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _refusal(field: str, problem: str, remedy: str) -> InputError:
    return InputError(problem, element=field, remedy=remedy)


def _remedy(folders: Sequence[Path]) -> str:
    return f"Give one in {', '.join(map(str, folders))}, or set {VARIABLE} where the node is started"
