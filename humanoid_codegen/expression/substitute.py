# SPDX-License-Identifier: Apache-2.0
"""Putting expressions in the place of symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from humanoid_codegen.expression.graph import Expression, Operation, reachable


def substitute(
    entries: Sequence[Expression | float], replacements: Mapping[int, Expression | float]
) -> list[Expression | float]:
    """Return the same entries with symbols replaced; what doesn't depend on these stays the very node.

    Args:
        entries: expressions or numbers of one graph.
        replacements: by index of the symbol's node.
    """
    values: dict[int, Expression | float] = {}
    for node in reachable(entries):
        if node.index in replacements:
            values[node.index] = replacements[node.index]
        elif all(values[operand.index] is operand for operand in node.operands):
            values[node.index] = node
        else:
            operands = [values[operand.index] for operand in node.operands]
            values[node.index] = _apply(node, operands)
    return [values[entry.index] if isinstance(entry, Expression) else entry for entry in entries]


def _apply(node: Expression, operands: list[Expression | float]) -> Expression | float:
    # Constants of the graph come back as numbers, so that they fold.
    a, *rest = (_number_or_node(operand) for operand in operands)
    graph = node.graph
    if node.operation == Operation.ADD:
        return graph.add(a, rest[0])
    if node.operation == Operation.SUBTRACT:
        return graph.subtract(a, rest[0])
    if node.operation == Operation.MULTIPLY:
        return graph.multiply(a, rest[0])
    if node.operation == Operation.DIVIDE:
        return graph.divide(a, rest[0])
    if node.operation == Operation.NEGATE:
        return graph.negate(a)
    if node.operation == Operation.SINE:
        return graph.sine(a)
    if node.operation == Operation.COSINE:
        return graph.cosine(a)
    return graph.square_root(a)


def _number_or_node(value: Expression | float) -> Expression | float:
    return value.value if isinstance(value, Expression) and value.operation == Operation.CONSTANT else value
