# SPDX-License-Identifier: Apache-2.0
"""Names that a person types, and those that are most like them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from humanoid_model.errors import InputError

SHOWN = 6
"""Names that are told in place of one that isn't there."""


def check_typed(name: str, names: Iterable[str], field: str | None, what: str) -> str:
    """Return a name that exists.

    Args:
        name: the name.
        names: that exist.
        field: where it is looked for, None: everywhere.
        what: is named, for the message: "topic".

    Raises:
        InputError: it doesn't.
    """
    known = set(names)
    if name not in known:
        nearest = sorted(known, key=lambda own: (-SequenceMatcher(None, own, name).ratio(), own))
        more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
        remedy = f"Known are: {', '.join(nearest[:SHOWN])}{more}" if known else "There is none at all"
        raise InputError(f"there is no {what} '{name}'", element=field, remedy=remedy)
    return name
