# SPDX-License-Identifier: Apache-2.0
"""What other installed packages add to the stack, and libraries of others that only some features need.

Packages register solvers, integrators, sensors, panels of the page and languages of generated code; libraries are
imported when first used.
"""

from __future__ import annotations

import functools
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from humanoid_model.errors import MissingLibraryError

KINDS = ("contact_solvers", "integrators", "languages", "mad_statements", "panels", "program_solvers", "sensors")
"""Of what may be added; a package lists functions that register it as entry points ``humanoid_stack.<kind>``."""


@functools.cache
def load_extensions(kind: str) -> None:
    """Let the installed packages register what they add of a kind, once in a process.

    Whoever looks a name up calls this before it says that there is none of that name.

    Args:
        kind: one of :data:`KINDS`.
    """
    for point in sorted(entry_points(group=f"humanoid_stack.{kind}")):
        point.load()()


def others(kind: str) -> str:
    """End of a remedy that lists names: where more of them come from, empty where a package has added some already."""
    return "" if entry_points(group=f"humanoid_stack.{kind}") else "; `pip install ./studies` adds others"


def optional_library(
    name: str, extra: str, *, source: str | Path | None = None, element: str | None = None
) -> ModuleType:
    """Return a module of a library that ``pip install humanoid_stack`` doesn't bring.

    Args:
        name: of the module, as ``import`` takes it.
        extra: of ``pyproject.toml`` that brings it.
        source: file that the feature was asked for, if any.
        element: option or argument that asked for it, if any.

    Raises:
        MissingLibraryError: it isn't installed; the message says what to install.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as problem:
        library = name.partition(".")[0]
        if (problem.name or "").partition(".")[0] != library:
            raise  # what is missing is another library's, which is broken
        raise MissingLibraryError(
            f"this needs the library '{library}', which isn't installed",
            source=source,
            element=element,
            remedy=f"Install it: pip install 'humanoid_stack[{extra}]', or {library} alone",
        ) from None
