# SPDX-License-Identifier: Apache-2.0
"""Computing a function's results with any kind of number: floats, numpy batches, CasADi or sympy expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from humanoid_codegen.expression.function import Function
from humanoid_codegen.expression.graph import Expression, Operation

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
