# SPDX-License-Identifier: Apache-2.0
"""A function of arrays whose results are expressions: what every output language writes down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from humanoid_codegen.expression.graph import Expression, reachable


@dataclass(frozen=True)
class Argument:
    """An array that a function is given.

    Attributes:
        name: identifier, the same in every language.
        shape: of the array; row-major where entries are listed.
        entries: the symbols that stand for its entries, row-major.
        description: what it is, with frame and unit.
    """

    name: str
    shape: tuple[int, ...]
    entries: tuple[Expression, ...]
    description: str


@dataclass(frozen=True)
class Result:
    """An array that a function computes.

    Attributes:
        name: identifier, the same in every language.
        shape: of the array, () for a number.
        entries: row-major; plain numbers where an entry doesn't depend on the arguments.
        description: what it is, with frame and unit.
    """

    name: str
    shape: tuple[int, ...]
    entries: tuple[Expression | float, ...]
    description: str

    def __post_init__(self) -> None:
        if len(self.entries) != math.prod(self.shape):
            raise ValueError(f"result '{self.name}': {len(self.entries)} entries for shape {self.shape}")


@dataclass(frozen=True)
class Function:
    """Arrays in, arrays out, without state.

    Attributes:
        name: identifier, e.g. ``inverse_dynamics``.
        arguments: in calling order.
        results: in the order in which they are returned.
        description: one sentence.
    """

    name: str
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    description: str

    @cached_property
    def nodes(self) -> tuple[Expression, ...]:
        """Every node that the results need, operands before what uses them; constants and symbols included."""
        return tuple(reachable(entry for result in self.results for entry in result.entries))

    @cached_property
    def use_counts(self) -> dict[int, int]:
        """How often each node of :attr:`nodes` is an operand or a result, by its index."""
        counts = dict.fromkeys((node.index for node in self.nodes), 0)
        for node in self.nodes:
            for operand in node.operands:
                counts[operand.index] += 1
        for result in self.results:
            for entry in result.entries:
                if isinstance(entry, Expression):
                    counts[entry.index] += 1
        return counts
