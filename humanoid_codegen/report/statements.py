# SPDX-License-Identifier: Apache-2.0
"""Functions of any robot as a sequence of short statements, in mathematical notation."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.expression.function import Function
from humanoid_codegen.expression.graph import Expression, Operation
from humanoid_codegen.report.mathematics import definition, number, signed_sum, visible_width
from humanoid_codegen.report.notation import Notation

#: Widest expression, in characters as they are seen, that is written inside another one.
_WIDEST_INSIDE = 44

_Terms = list[tuple[bool, str]]


def statements(function: Function, notation: Notation) -> list[list[str]]:
    """Return the function line by line of an ``aligned`` block, one list for each statement.

    Quantities with a name and what is used more than once have statements of their own; the rest is written where
    it is used, as long as it stays short. Entries that are always zero are left out.
    """
    return _Writer(function, notation).write()


class _Writer:
    """Turns the nodes of one function into statements."""

    def __init__(self, function: Function, notation: Notation) -> None:
        self.function = function
        self.notation = notation
        self.symbols: dict[int, str] = {}
        self.taken: set[str] = set()
        self.temporaries = 0
        self.coordinates: dict[int, str] = {}
        for argument in function.arguments:
            for entry, symbol in zip(argument.entries, notation.argument(argument), strict=True):
                self.symbols[entry.index] = symbol
                self.taken.add(symbol)
                if argument.name == "q":
                    self.coordinates[entry.index] = symbol.removeprefix("q_")
        #: Terms of the sum that stands for a node inside other expressions.
        self.inside: dict[int, _Terms] = {}

    def write(self) -> list[list[str]]:
        lines: list[list[str]] = []
        uses = self.function.use_counts
        results: dict[int, list[str]] = {}
        constants: dict[float, list[str]] = {}
        for result in self.function.results:
            for entry, symbol in zip(result.entries, self.notation.result(result), strict=True):
                self.taken.add(symbol)
                if isinstance(entry, Expression) and entry.operation != Operation.CONSTANT:
                    results.setdefault(entry.index, []).append(symbol)
                elif value := entry.value if isinstance(entry, Expression) else entry:
                    constants.setdefault(value, []).append(symbol)
        for node in self.function.nodes:
            if node.operation in (Operation.SYMBOL, Operation.CONSTANT):
                if node.index in results:
                    lines.append(definition(results[node.index], self._terms(node)))
                continue
            terms = self._operation(node)
            if node.index in results:
                heads = results[node.index]
                lines.append(definition(heads, terms))
                if self._is_wave_of_coordinate(node):
                    self.inside[node.index] = terms
                else:
                    self.symbols[node.index] = heads[0]
            elif self._stands_alone(node, uses[node.index], terms):
                symbol = self._symbol(node)
                lines.append(definition([symbol], terms))
                self.symbols[node.index] = symbol
            else:
                self.inside[node.index] = terms
        lines += [definition(heads, [(value < 0, number(abs(value)))]) for value, heads in constants.items()]
        return lines

    def _stands_alone(self, node: Expression, uses: int, terms: _Terms) -> bool:
        if self._is_wave_of_coordinate(node):
            return False
        if node.name:
            return True
        if node.operation == Operation.NEGATE and visible_width(signed_sum(terms)) < 8:
            return False
        return uses > 1 or visible_width(signed_sum(terms)) > _WIDEST_INSIDE

    def _symbol(self, node: Expression) -> str:
        symbol = self.notation.quantities.get(node.name)
        if symbol is None or symbol in self.taken:
            self.temporaries += 1
            symbol = f"t_{{{self.temporaries}}}"
        self.taken.add(symbol)
        return symbol

    def _is_wave_of_coordinate(self, node: Expression) -> bool:
        return node.operation in (Operation.SINE, Operation.COSINE) and node.operands[0].index in self.coordinates

    def _terms(self, node: Expression) -> _Terms:
        """Return the node as a sum."""
        if node.operation == Operation.CONSTANT:
            return [(node.value < 0, number(abs(node.value)))]
        if node.index in self.symbols:
            return [(False, self.symbols[node.index])]
        return self.inside[node.index]

    def _operation(self, node: Expression) -> _Terms:
        operation, operands = node.operation, node.operands
        if operation == Operation.ADD:
            return [*self._terms(operands[0]), *self._terms(operands[1])]
        if operation == Operation.SUBTRACT:
            return [*self._terms(operands[0]), *_negated(self._terms(operands[1]))]
        if operation == Operation.NEGATE:
            return _negated(self._terms(operands[0]))
        if operation == Operation.MULTIPLY:
            return self._product(node)
        if operation == Operation.DIVIDE:
            above, below = (signed_sum(self._terms(operand)) for operand in operands)
            return [(False, f"\\frac{{{above}}}{{{below}}}")]
        if self._is_wave_of_coordinate(node):
            wave = "s" if operation == Operation.SINE else "c"
            return [(False, f"{wave}_{self.coordinates[operands[0].index]}")]
        inner = signed_sum(self._terms(operands[0]))
        if operation == Operation.SQUARE_ROOT:
            return [(False, f"\\sqrt{{{inner}}}")]
        return [(False, f"\\{'sin' if operation == Operation.SINE else 'cos'}({inner})")]

    def _product(self, node: Expression) -> _Terms:
        """All factors of a product and of the products inside it: numbers together in front, powers gathered."""
        negative, value = False, 1.0
        factors: dict[str, int] = {}
        pending: Sequence[Expression] = node.operands
        while pending:
            factor, *rest = pending
            pending = rest
            if factor.operation == Operation.CONSTANT:
                value *= factor.value
                continue
            if factor.operation == Operation.MULTIPLY and factor.index not in self.symbols:
                pending = [*factor.operands, *pending]
                continue
            terms = self._terms(factor)
            if len(terms) == 1:
                negative ^= terms[0][0]
                text = terms[0][1]
            else:
                if terms[0][0]:
                    negative, terms = not negative, _negated(terms)
                text = f"({signed_sum(terms)})"
            factors[text] = factors.get(text, 0) + 1
        negative ^= value < 0
        written = [text if power == 1 else f"{_base(text)}^{{{power}}}" for text, power in factors.items()]
        # Numbers and single symbols come before sums in parentheses.
        written.sort(key=lambda text: text.startswith("("))
        if abs(value) != 1.0:
            written.insert(0, number(abs(value)))
        return [(negative, " ".join(written))]


def _negated(terms: _Terms) -> _Terms:
    return [(not negative, term) for negative, term in terms]


def _base(text: str) -> str:
    """Return what a power is written on."""
    return f"({text})" if text.startswith(("\\frac", "\\sin", "\\cos", "\\sqrt")) else text
