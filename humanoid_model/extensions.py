# SPDX-License-Identifier: Apache-2.0
"""What other installed packages add to the stack: solvers, integrators, languages of generated code."""

from __future__ import annotations

import functools
from importlib.metadata import entry_points

KINDS = ("contact_solvers", "integrators", "languages", "program_solvers")
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
