# SPDX-License-Identifier: Apache-2.0
"""An output language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from humanoid_codegen.expression.function import Module


@dataclass(frozen=True)
class Language:
    """An output language.

    Attributes:
        name: as users type it.
        description: one line for them.
        write: turns a module into files: text by file name. Raises InputError for a module's name that the language
            can't have.
    """

    name: str
    description: str
    write: Callable[[Module], dict[str, str]]
