# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays whose results are expressions, and modules of them: what every output language writes down.

Their results are computed with any kind of number: floats, numpy batches, CasADi or sympy expressions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from humanoid_codegen.expression.graph import Expression, Operation, reachable


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


@dataclass(frozen=True)
class Module:
    """Functions of one robot.

    Attributes:
        name: identifier, made of the robot's name; files and prefixes are called after it.
        robot: the robot's own name.
        functions: what to write, in order.
        q_names: names of the coordinates.
        v_names: names of the velocity coordinates.
        link_names: links in the order of kinematics' and jacobians' results.
        notes: sentences for the head of each file: conventions, gravity, what is grouped.
        parameter_names: of the entries of the argument ``parameters``, empty where the numbers are in the code.
        parameters: their values in the URDF, in SI units.
    """

    name: str
    robot: str
    functions: tuple[Function, ...]
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    link_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    parameter_names: tuple[str, ...] = ()
    parameters: tuple[float, ...] = ()


#: numpy's elementary functions, the default.
NUMPY: Mapping[Operation, Callable[[Any], Any]] = {
    Operation.SINE: np.sin,
    Operation.COSINE: np.cos,
    Operation.SQUARE_ROOT: np.sqrt,
}


def evaluate(
    function: Function,
    arguments: Sequence[Sequence[Any] | np.ndarray],
    elementary: Mapping[Operation, Callable[[Any], Any]] = NUMPY,
) -> list[list[Any]]:
    """Return results of a function, entry by entry.

    Args:
        function: what to compute.
        arguments: the entries of each argument, row-major; each entry may be an array of many values.
        elementary: sine, cosine and square root of the entries' kind.

    Returns:
        The entries of each result, row-major.
    """
    values: dict[int, Any] = {}
    for argument, entries in zip(function.arguments, arguments, strict=True):
        for symbol, entry in zip(argument.entries, entries, strict=True):
            values[symbol.index] = entry
    for node in function.nodes:
        operation = node.operation
        if operation == Operation.SYMBOL:
            continue
        if operation == Operation.CONSTANT:
            values[node.index] = node.value
            continue
        a = values[node.operands[0].index]
        if len(node.operands) == 2:
            b = values[node.operands[1].index]
            if operation == Operation.ADD:
                value = a + b
            elif operation == Operation.SUBTRACT:
                value = a - b
            elif operation == Operation.MULTIPLY:
                value = a * b
            else:
                value = a / b
        elif operation == Operation.NEGATE:
            value = -a
        else:
            value = elementary[operation](a)
        values[node.index] = value
    return [
        [values[entry.index] if isinstance(entry, Expression) else entry for entry in result.entries]
        for result in function.results
    ]


@dataclass(frozen=True)
class OperationCount:
    """Operations of one call.

    Attributes:
        multiplications: products, those by a constant included.
        additions: sums and differences.
        divisions: quotients.
        negations: changes of sign that no sum or product absorbs.
        trigonometric: sines and cosines.
        square_roots: square roots.
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    negations: int = 0
    trigonometric: int = 0
    square_roots: int = 0

    @property
    def arithmetic(self) -> int:
        """Multiplications and additions: the figure that papers and tools compare."""
        return self.multiplications + self.additions


def count_operations(function: Function) -> OperationCount:
    """Return counts every node of a function once."""
    found = Counter(node.operation for node in function.nodes)
    return OperationCount(
        multiplications=found[Operation.MULTIPLY],
        additions=found[Operation.ADD] + found[Operation.SUBTRACT],
        divisions=found[Operation.DIVIDE],
        negations=found[Operation.NEGATE],
        trigonometric=found[Operation.SINE] + found[Operation.COSINE],
        square_roots=found[Operation.SQUARE_ROOT],
    )
