# SPDX-License-Identifier: Apache-2.0
"""Derivatives of expressions, by the chain rule from the arguments on (forward mode), all directions at once.

And expressions in the place of symbols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from humanoid_codegen.expression.graph import Expression, Operation, reachable

#: Derivatives of one node: by column, only those that aren't zero.
_Row = dict[int, "Expression | float"]


def derivative(
    results: Sequence[Expression | float], symbols: Sequence[Expression]
) -> list[list[Expression | float]]:
    """Return the Jacobian of results with respect to symbols.

    Args:
        results: m expressions or numbers of one graph.
        symbols: n symbols of that graph.

    Returns:
        m rows of n entries.
    """
    return directional_derivatives(results, {s.index: {k: 1.0} for k, s in enumerate(symbols)}, len(symbols))


def directional_derivatives(
    results: Sequence[Expression | float],
    seeds: Mapping[int, Mapping[int, Expression | float]],
    directions: int,
) -> list[list[Expression | float]]:
    """Return derivatives of results along directions in which several symbols change at once.

    Args:
        results: m expressions or numbers of one graph.
        seeds: by index of a symbol's node: its derivative along each direction, zeros left out.
        directions: number n of directions.

    Returns:
        m rows of n entries.
    """
    rows: dict[int, _Row] = {}
    for node in reachable(results):
        if not node.operands:
            rows[node.index] = dict(seeds.get(node.index, ()))
            continue
        first = rows[node.operands[0].index]
        second = rows[node.operands[1].index] if len(node.operands) == 2 else {}
        if first or second:
            rows[node.index] = _chain_rule(node, first, second)
        else:
            rows[node.index] = {}
    matrix: list[list[Expression | float]] = []
    for result in results:
        row: list[Expression | float] = [0.0] * directions
        if isinstance(result, Expression):
            for column, value in rows[result.index].items():
                row[column] = value
        matrix.append(row)
    return matrix


def _chain_rule(node: Expression, first: _Row, second: _Row) -> _Row:
    operation, operands = node.operation, node.operands
    a = operands[0]
    if operation in (Operation.ADD, Operation.SUBTRACT):
        sign = 1.0 if operation == Operation.ADD else -1.0
        row = dict(first)
        for column, value in second.items():
            row[column] = row[column] + sign * value if column in row else sign * value
        return row
    if operation == Operation.MULTIPLY:
        b = operands[1]
        row = {column: _times(value, b) for column, value in first.items()}
        for column, value in second.items():
            product = _times(value, a)
            row[column] = row[column] + product if column in row else product
        return row
    if operation == Operation.DIVIDE:
        b = operands[1]
        row = {column: value / b for column, value in first.items()}
        for column, value in second.items():
            quotient = value * node / b
            row[column] = row[column] - quotient if column in row else -quotient
        return row
    if operation == Operation.NEGATE:
        return {column: -value for column, value in first.items()}
    outer: Expression | float
    if operation == Operation.SINE:
        outer = a.cos()
    elif operation == Operation.COSINE:
        outer = -a.sin()
    else:
        outer = 0.5 / node
    return {column: value * outer for column, value in first.items()}


def _times(a: Expression | float, b: Expression) -> Expression | float:
    # Constants of the graph come back as numbers, so that they fold.
    return a * b.value if b.operation == Operation.CONSTANT else a * b


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
