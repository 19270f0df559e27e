# SPDX-License-Identifier: Apache-2.0
"""The name that somebody meant who has mistyped it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question for the remedy of an error, with a space behind it; empty where no name is like it.

    Args:
        name: that isn't there.
        known: names that are; of ``robot/link`` the link alone counts too, and no name's capitals do.
    """
    names = list(known)
    typed = name.lower()
    last = [own for own in names if own.lower().rpartition("/")[2] == typed.rpartition("/")[2]]
    if len(last) != 1:
        lower = {own.lower(): own for own in reversed(names)}
        lower |= {own.lower().rpartition("/")[2]: own for own in reversed(names) if "/" not in typed}
        last = [lower[found] for found in get_close_matches(typed, lower, 1, 0.75)]
    return f"Did you mean '{last[0]}'? " if last else ""
