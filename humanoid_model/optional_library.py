# SPDX-License-Identifier: Apache-2.0
"""Libraries of others that only some features need, imported when first used."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from humanoid_model.errors import MissingLibraryError


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
