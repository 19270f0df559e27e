# SPDX-License-Identifier: Apache-2.0
"""Giving quantities the names under which a person finds them in the generated code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from humanoid_codegen.expression.graph import Expression, Operation

T = TypeVar("T", bound=Sequence[object])


def named(name: str, quantity: T, components: Sequence[str] = ("x", "y", "z")) -> T:
    """Names the entries of a quantity ``name_x``, ``name_y``, ...; numbers and what has a name already keep theirs.

    Args:
        name: of the quantity; any text, languages turn it into an identifier of theirs.
        quantity: entries.
        components: of the entries.

    Returns:
        The quantity itself.
    """
    for entry, component in zip(quantity, components, strict=True):
        if isinstance(entry, Expression) and not entry.name and entry.operation != Operation.CONSTANT:
            entry.name = f"{name}_{component}" if component else name
    return quantity
