# SPDX-License-Identifier: Apache-2.0
"""Scalar expressions that share what they have in common, named so that a person finds them in generated code.

Every expression is a node of a directed acyclic graph. A node that exists already is given out again instead of being
made twice, so common subexpressions are shared from the start; constants are folded, zeros and ones removed and signs
moved outwards while nodes are made, so that an algorithm written for the general robot gives the expressions of the
special one.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from typing import TypeVar


class Operation(enum.IntEnum):
    """What a node does with its operands."""

    CONSTANT = 0
    SYMBOL = 1
    ADD = 2
    SUBTRACT = 3
    MULTIPLY = 4
    DIVIDE = 5
    NEGATE = 6
    SINE = 7
    COSINE = 8
    SQUARE_ROOT = 9


_CONSTANT, _SYMBOL, _ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATE, _SINE, _COSINE, _SQUARE_ROOT = Operation

class Expression:
    """A node of a :class:`Graph`. Arithmetic with it and with numbers makes further nodes.

    An operation whose result is a constant returns a plain ``float``, so that ``0.0 * x`` is ``0.0``.

    Attributes:
        graph: the graph that owns the node.
        operation: what it does.
        operands: nodes that it is computed from, none for constants and symbols.
        value: of a constant, else 0.
        name: of a symbol, or the name that an algorithm gave to the quantity, else empty.
        index: number of the node in its graph; operands have smaller ones.
    """

    __slots__ = ("graph", "index", "name", "operands", "operation", "value")

    def __init__(
        self,
        graph: Graph,
        operation: Operation,
        operands: tuple[Expression, ...],
        value: float,
        name: str,
        index: int,
    ) -> None:
        self.graph = graph
        self.operation = operation
        self.operands = operands
        self.value = value
        self.name = name
        self.index = index

    def __repr__(self) -> str:
        if self.operation == _CONSTANT:
            return repr(self.value)
        if self.operation == _SYMBOL:
            return self.name
        inner = ", ".join(operand.name or f"#{operand.index}" for operand in self.operands)
        return f"#{self.index} = {self.operation.name.lower()}({inner})"

    def __add__(self, other: Expression | float) -> Expression | float:
        return self.graph.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Expression | float) -> Expression | float:
        return self.graph.subtract(self, other)

    def __rsub__(self, other: Expression | float) -> Expression | float:
        return self.graph.subtract(other, self)

    def __mul__(self, other: Expression | float) -> Expression | float:
        return self.graph.multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Expression | float) -> Expression | float:
        return self.graph.divide(self, other)

    def __rtruediv__(self, other: Expression | float) -> Expression | float:
        return self.graph.divide(other, self)

    def __neg__(self) -> Expression | float:
        return self.graph.negate(self)

    def sin(self) -> Expression | float:
        """Sine; the angle is in rad."""
        return self.graph.sine(self)

    def cos(self) -> Expression | float:
        """Cosine; the angle is in rad."""
        return self.graph.cosine(self)

    def sqrt(self) -> Expression | float:
        """Square root."""
        return self.graph.square_root(self)


class Graph:
    """Maker and keeper of expressions."""

    def __init__(self) -> None:
        self.nodes: list[Expression] = []
        self._known: dict[tuple[int, int | float | str, int], Expression] = {}

    # Leaves --------------------------------------------------------------------------------------------------------

    def symbol(self, name: str) -> Expression:
        """Return the unknown of that name."""
        key = (_SYMBOL, name, -1)
        node = self._known.get(key)
        if node is None:
            node = self._new(key, _SYMBOL, (), 0.0, name)
        return node

    def constant(self, value: float) -> Expression:
        """Return a number as a node; algorithms use plain floats instead."""
        value = float(value) + 0.0  # no negative zero
        key = (_CONSTANT, value, -1)
        node = self._known.get(key)
        if node is None:
            node = self._new(key, _CONSTANT, (), value, "")
        return node

    def node(self, value: Expression | float) -> Expression:
        """Return the node of an expression or number."""
        return value if isinstance(value, Expression) else self.constant(value)

    # Arithmetic ----------------------------------------------------------------------------------------------------

    def add(self, a: Expression | float, b: Expression | float) -> Expression | float:
        """Sum a + b."""
        if not isinstance(a, Expression):
            if not isinstance(b, Expression):
                return a + b
            a, b = b, a
        if not isinstance(b, Expression):
            a, b = _gathered(a, b)
            if b == 0.0:
                return a
            if a.operation == _NEGATE:
                return self.subtract(b, a.operands[0])
            if b < 0.0:
                return self._subtract_nodes(a, self.constant(-b))
            b = self.constant(b)
        if a.operation == _NEGATE:
            if b.operation == _NEGATE:
                return self.negate(self.add(a.operands[0], b.operands[0]))
            return self.subtract(b, a.operands[0])
        if b.operation == _NEGATE:
            return self.subtract(a, b.operands[0])
        collected = self._collect(a, b, 1.0)
        return self._commutative(_ADD, a, b) if collected is None else collected

    def subtract(self, a: Expression | float, b: Expression | float) -> Expression | float:
        """Difference a - b."""
        if not isinstance(b, Expression):
            return self.add(a, -b)
        if not isinstance(a, Expression):
            if a == 0.0:
                return self.negate(b)
            if b.operation == _NEGATE:
                return self.add(b.operands[0], a)
            if a < 0.0:
                return self.negate(self.add(b, -a))
            a = self.constant(a)
        if a is b:
            return 0.0
        if b.operation == _NEGATE:
            return self.add(a, b.operands[0])
        if a.operation == _NEGATE:
            return self.negate(self.add(a.operands[0], b))
        collected = self._collect(a, b, -1.0)
        return self._subtract_nodes(a, b) if collected is None else collected

    def negate(self, a: Expression | float) -> Expression | float:
        """Return -a."""
        if not isinstance(a, Expression):
            return -a
        if a.operation == _NEGATE:
            return a.operands[0]
        return self._unary(_NEGATE, a)

    def multiply(self, a: Expression | float, b: Expression | float) -> Expression | float:
        """Product a b."""
        if not isinstance(a, Expression):
            if not isinstance(b, Expression):
                return a * b
            return self._scale(a, b)
        if not isinstance(b, Expression):
            return self._scale(b, a)
        negative = False
        if a.operation == _NEGATE:
            a, negative = a.operands[0], True
        if b.operation == _NEGATE:
            b, negative = b.operands[0], not negative
        product = self._commutative(_MULTIPLY, a, b)
        return self.negate(product) if negative else product

    def divide(self, a: Expression | float, b: Expression | float) -> Expression | float:
        """Quotient a / b.

        Raises:
            ZeroDivisionError: b is the number zero.
        """
        if not isinstance(b, Expression):
            return self.multiply(a, 1.0 / b)
        if not isinstance(a, Expression):
            if a == 0.0:
                return 0.0
            if a < 0.0:
                return self.negate(self.divide(-a, b))
            a = self.constant(a)
        if a is b:
            return 1.0
        if a.operation == _NEGATE:
            return self.negate(self.divide(a.operands[0], b))
        if b.operation == _NEGATE:
            return self.negate(self.divide(a, b.operands[0]))
        return self._binary(_DIVIDE, a, b)

    def sine(self, a: Expression | float) -> Expression | float:
        """Return the sine of an angle in rad."""
        if not isinstance(a, Expression):
            return math.sin(a)
        if a.operation == _NEGATE:
            return self.negate(self._unary(_SINE, a.operands[0]))
        return self._unary(_SINE, a)

    def cosine(self, a: Expression | float) -> Expression | float:
        """Return the cosine of an angle in rad."""
        if not isinstance(a, Expression):
            return math.cos(a)
        return self._unary(_COSINE, a.operands[0] if a.operation == _NEGATE else a)

    def square_root(self, a: Expression | float) -> Expression | float:
        """Square root."""
        return self._unary(_SQUARE_ROOT, a) if isinstance(a, Expression) else math.sqrt(a)

    # Making of nodes -----------------------------------------------------------------------------------------------

    def _scale(self, factor: float, a: Expression) -> Expression | float:
        """Return a number times a node; the sign goes outside, numbers in a row become one."""
        if factor == 0.0:
            return 0.0
        if a.operation == _NEGATE:
            factor, a = -factor, a.operands[0]
        if a.operation == _MULTIPLY and a.operands[0].operation == _CONSTANT:
            factor, a = factor * a.operands[0].value, a.operands[1]
        scaled = a if abs(factor) == 1.0 else self._binary(_MULTIPLY, self.constant(abs(factor)), a)
        return self.negate(scaled) if factor < 0.0 else scaled

    def _collect(self, a: Expression, b: Expression, sign: float) -> Expression | float | None:
        """Return the sum a + sign b as a multiple of what both are multiples of, None if there is no such thing."""
        factor_a, base_a = _factor(a)
        factor_b, base_b = _factor(b)
        if base_a is base_b:
            return self.multiply(factor_a + sign * factor_b, base_a)
        return None

    def _subtract_nodes(self, a: Expression, b: Expression) -> Expression | float:
        reverse = self._known.get((_SUBTRACT, b.index, a.index))
        return self._binary(_SUBTRACT, a, b) if reverse is None else self.negate(reverse)

    def _commutative(self, operation: Operation, a: Expression, b: Expression) -> Expression:
        # Constants come first, then the older node.
        if b.operation == _CONSTANT or (a.index > b.index and a.operation != _CONSTANT):
            a, b = b, a
        return self._binary(operation, a, b)

    def _binary(self, operation: Operation, a: Expression, b: Expression) -> Expression:
        key = (operation, a.index, b.index)
        node = self._known.get(key)
        if node is None:
            node = self._new(key, operation, (a, b), 0.0, "")
        return node

    def _unary(self, operation: Operation, a: Expression) -> Expression:
        key = (operation, a.index, -1)
        node = self._known.get(key)
        if node is None:
            node = self._new(key, operation, (a,), 0.0, "")
        return node

    def _new(
        self,
        key: tuple[int, int | float | str, int],
        operation: Operation,
        operands: tuple[Expression, ...],
        value: float,
        name: str,
    ) -> Expression:
        node = Expression(self, operation, operands, value, name, len(self.nodes))
        self.nodes.append(node)
        self._known[key] = node
        return node


def _factor(a: Expression) -> tuple[float, Expression]:
    """Return a node as a number times another node."""
    if a.operation == _MULTIPLY and a.operands[0].operation == _CONSTANT:
        return a.operands[0].value, a.operands[1]
    return 1.0, a


def _gathered(a: Expression, b: float) -> tuple[Expression, float]:
    """Return the sum a + b with the number that a may hold already in b."""
    if a.operation == _ADD and a.operands[0].operation == _CONSTANT:
        return a.operands[1], b + a.operands[0].value
    if a.operation == _SUBTRACT and a.operands[1].operation == _CONSTANT:
        return a.operands[0], b - a.operands[1].value
    if a.operation == _SUBTRACT and a.operands[0].operation == _CONSTANT:
        return a.graph._unary(_NEGATE, a.operands[1]), b + a.operands[0].value
    return a, b


def reachable(results: Iterable[Expression | float]) -> list[Expression]:
    """Return nodes that results are computed from, themselves included, operands before what uses them."""
    found: dict[int, Expression] = {}
    stack = [result for result in results if isinstance(result, Expression)]
    while stack:
        node = stack.pop()
        if node.index not in found:
            found[node.index] = node
            stack.extend(node.operands)
    return [found[index] for index in sorted(found)]


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
