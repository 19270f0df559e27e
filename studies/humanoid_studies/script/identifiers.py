# SPDX-License-Identifier: Apache-2.0
"""Names of joints and links as parts of Python identifiers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return what stands for each name behind the prefix of a variable, such as ``position_``.

    A keyword of Python needs no care behind a prefix. Characters that no identifier may have become ``_``; where two
    names would become one, the later ones get a number.

    Args:
        names: distinct names; the earlier ones change least.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    # Names that need no change keep themselves, whatever the others become.
    ordered = sorted(names, key=lambda name: _legal(name) != name)
    for name in ordered:
        legal = free = _legal(name)
        number = 2
        while free in taken:
            free = f"{legal}_{number}"
            number += 1
        taken.add(free)
        found[name] = free
    return found


def _legal(name: str) -> str:
    # Python itself reads identifiers in this normal form: names that differ only by it are one to it.
    normal = unicodedata.normalize("NFKC", name)
    return "".join(char if f"a{char}".isidentifier() else "_" for char in normal)
