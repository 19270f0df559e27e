# SPDX-License-Identifier: Apache-2.0
"""A function as an ordered list of assignments, the same for every output language."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_codegen.expression.function import Argument, Function, Result
from humanoid_codegen.expression.graph import Expression, Operation
from humanoid_codegen.languages.language import Identifiers

#: Names and numbers in one statement at most; what is longer is cut in two.
MAX_STATEMENT_SIZE = 12

_ELEMENTARY = (Operation.SINE, Operation.COSINE, Operation.SQUARE_ROOT)


@dataclass(frozen=True)
class Spelling:
    """How a language, or a kind of number in it, writes what statements are made of.

    Attributes:
        reserved: identifiers that statements mustn't be called.
        load: text that reads an entry of an argument, from the array's identifier and the row-major index.
        local_symbols: reads each entry of an argument that is used once, into a variable of its own name, before
            everything else; otherwise :attr:`load` stands wherever the entry is used.
        sine: function's name.
        cosine: function's name.
        square_root: function's name.
        constant: text of a number that is not negative.
    """

    reserved: frozenset[str]
    load: Callable[[str, Argument, int], str]
    local_symbols: bool = True
    sine: str = "sin"
    cosine: str = "cos"
    square_root: str = "sqrt"
    constant: Callable[[float], str] = repr


@dataclass(frozen=True)
class Statement:
    """An assignment to a variable of its own, which is assigned once.

    Attributes:
        identifier: of the variable.
        text: of the expression.
        node: what is computed.
    """

    identifier: str
    text: str
    node: Expression


@dataclass(frozen=True)
class Section:
    """Statements that belong together.

    Attributes:
        title: for a comment above them, empty if there is nothing to say.
        statements: in order.
    """

    title: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Body:
    """What a function consists of in one language.

    Attributes:
        function: the function.
        arguments: identifier of each argument.
        results: identifier of each result.
        loads: variables that hold entries of the arguments, empty unless symbols are local.
        sections: the statements, in order.
        values: for each result, text of every entry, row-major: a variable or a number, perhaps with a minus sign.
        stores: for the node of each statement that is a result: result, row-major index and text, as often as it is.
        only_results: nodes of unnamed statements that are one entry of a result and nothing else.
    """

    function: Function
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    loads: tuple[Statement, ...]
    sections: tuple[Section, ...]
    values: tuple[tuple[str, ...], ...]
    stores: dict[int, list[tuple[int, int, str]]]
    only_results: frozenset[int]

    @property
    def arrays(self) -> list[tuple[str, Argument | Result]]:
        """Arguments, then results, with their identifiers."""
        named: list[tuple[str, Argument | Result]] = list(zip(self.arguments, self.function.arguments, strict=True))
        return named + list(zip(self.results, self.function.results, strict=True))

    @property
    def statements(self) -> list[Statement]:
        """Statements of all sections."""
        return [statement for section in self.sections for statement in section.statements]


def write_body(function: Function, spelling: Spelling, joints: Sequence[str] = ()) -> Body:
    """Turn a function into statements.

    Named quantities, sines, cosines, square roots, results and what is used more than once are statements of their
    own; the rest is written where it is used. The text computes in the order of the graph, so that rounding is the
    same in every language. The sine and the cosine of an angle are neighbours.

    Args:
        function: what to write.
        spelling: of the language.
        joints: names after which sections are called.
    """
    uses = _uses(function)
    own = _own_statements(function, uses)
    order = _pair_sines([node for node in function.nodes if node.index in own])
    names = Identifiers(spelling.reserved)
    arguments = tuple(names.new(argument.name) for argument in function.arguments)
    results = tuple(names.new(result.name) for result in function.results)
    texts: dict[int, _Text] = {}
    loads = []
    symbols: dict[int, str] = {}
    for array, argument in zip(arguments, function.arguments, strict=True):
        for position, entry in enumerate(argument.entries):
            symbols[entry.index] = entry.name.removeprefix(f"{argument.name}_")
            if entry.index not in uses:
                continue
            read = spelling.load(array, argument, position)
            if spelling.local_symbols:
                loads.append(Statement(names.new(entry.name), read, entry))
                read = loads[-1].identifier
            texts[entry.index] = _Text(read, _ATOM)
    result_names = _result_names(function)
    identifiers = {}
    number = 0
    for node in order:
        name = node.name or _elementary_name(node, symbols) or result_names.get(node.index, "")
        if not name:
            number += 1
            name = f"t{number}"
        identifiers[node.index] = names.new(name)
    written = {}
    for node in function.nodes:
        if node.operation == Operation.SYMBOL:
            continue
        text = _text(node, texts, spelling)
        if node.index in identifiers:
            identifier = identifiers[node.index]
            written[node.index] = Statement(identifier, text.text, node)
            text = _Text(identifier, _ATOM)
        texts[node.index] = text
    values = tuple(
        tuple(
            texts[entry.index].text if isinstance(entry, Expression) else _number(entry, spelling).text
            for entry in result.entries
        )
        for result in function.results
    )
    stores: dict[int, list[tuple[int, int, str]]] = {}
    for k, (result, entry_texts) in enumerate(zip(function.results, values, strict=True)):
        for position, (value, text_of_entry) in enumerate(zip(result.entries, entry_texts, strict=True)):
            if isinstance(value, Expression) and _unsigned(value).index in own:
                stores.setdefault(_unsigned(value).index, []).append((k, position, text_of_entry))
    only_results = frozenset(
        index
        for index, entries in stores.items()
        if uses[index] == 1 and not written[index].node.name and entries[0][2] == written[index].identifier
    )
    sections = _sections([written[node.index] for node in order], joints)
    return Body(function, arguments, results, tuple(loads), sections, values, stores, only_results)


def zero_entries(result: Result) -> list[int]:
    """Row-major indices of a result's structural zeros."""
    return [k for k, entry in enumerate(result.entries) if not isinstance(entry, Expression) and entry == 0.0]


def wrap_expression(text: str, first: int, following: int, width: int = 120) -> list[str]:
    """Break an expression into lines, before its plus and minus signs as far as that goes.

    Args:
        text: of the expression.
        first: columns that are taken in the first line.
        following: columns that are taken in the others.
        width: of a line.
    """
    if first + len(text) <= width:
        return [text]
    pieces: list[str] = []
    for word in text.split(" "):
        if pieces and pieces[-1] in ("+", "-"):
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
    lines = [""]
    for piece in pieces:
        room = width - (first if len(lines) == 1 else following)
        joined = f"{lines[-1]} {piece}" if lines[-1] else piece
        if len(joined) <= room:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for part in _short_parts(piece, width - following):
            if lines[-1]:
                lines.append("")
            lines[-1] = part
    return lines


def _short_parts(piece: str, width: int) -> list[str]:
    """Return a product that doesn't fit into a line, broken before its stars."""
    if len(piece) <= width:
        return [piece]
    factors = piece.split("*")
    parts = [factors[0]]
    for factor in factors[1:]:
        if len(parts[-1]) + 1 + len(factor) <= width:
            parts[-1] += f"*{factor}"
        else:
            parts.append(f"*{factor}")
    return parts


# Choice of statements ----------------------------------------------------------------------------------------------


def _uses(function: Function) -> dict[int, int]:
    """Return how often the text of each node would be written, changes of sign taken as part of what uses them."""
    uses = dict.fromkeys((node.index for node in function.nodes), 0)
    for result in function.results:
        for entry in result.entries:
            if isinstance(entry, Expression):
                uses[entry.index] += 1
    for node in reversed(function.nodes):
        count = uses[node.index] if _is_sign(node) else 1
        for operand in node.operands:
            uses[operand.index] += count
    return uses


def _is_sign(node: Expression) -> bool:
    return node.operation == Operation.NEGATE and not node.name


def _own_statements(function: Function, uses: dict[int, int]) -> set[int]:
    """Return indices of the nodes that are statements of their own."""
    own: set[int] = set()
    weights: dict[int, int] = {}
    for result in function.results:
        for entry in result.entries:
            if isinstance(entry, Expression):
                computed = _unsigned(entry)
                if computed.operands:
                    own.add(computed.index)
    for node in function.nodes:
        if not node.operands:
            weights[node.index] = 1
            continue
        weight = sum(weights[operand.index] for operand in node.operands)
        if weight > MAX_STATEMENT_SIZE:
            heaviest = _unsigned(max(node.operands, key=lambda operand: weights[operand.index]))
            own.add(heaviest.index)
            weights[heaviest.index] = 1
            weight = sum(1 if _unsigned(operand) is heaviest else weights[operand.index] for operand in node.operands)
        if node.name or node.operation in _ELEMENTARY or (uses[node.index] > 1 and not _is_sign(node)):
            own.add(node.index)
        weights[node.index] = 1 if node.index in own else weight
    return own


def _unsigned(node: Expression) -> Expression:
    while _is_sign(node):
        node = node.operands[0]
    return node


def _pair_sines(order: list[Expression]) -> list[Expression]:
    """Put the sine and the cosine of an angle next to each other, so that compilers compute them at once."""
    angles: dict[tuple[Operation, int], Expression] = {
        (node.operation, node.operands[0].index): node
        for node in order
        if node.operation in (Operation.SINE, Operation.COSINE)
    }
    paired = []
    for node in order:
        if node.operation not in (Operation.SINE, Operation.COSINE):
            paired.append(node)
            continue
        angle = node.operands[0].index
        for operation in (Operation.SINE, Operation.COSINE):
            other = angles.pop((operation, angle), None)
            if other is not None:
                paired.append(other)
    return paired


# Names -------------------------------------------------------------------------------------------------------------


def _elementary_name(node: Expression, symbols: dict[int, str]) -> str:
    """``sin_knee`` for the sine of the coordinate of a joint, whatever constant is added to it; else empty."""
    if node.operation not in (Operation.SINE, Operation.COSINE):
        return ""
    angle = node.operands[0]
    parts: list[str] = []
    pending = [angle]
    while pending and len(parts) <= 3:
        part = pending.pop()
        if part.operation == Operation.SYMBOL:
            parts.append(symbols[part.index])
        else:
            pending += reversed(part.operands)
    function = "sin" if node.operation == Operation.SINE else "cos"
    return f"{function}_{'_'.join(parts)}" if 0 < len(parts) <= 3 else ""


def _result_names(function: Function) -> dict[int, str]:
    """``M_0_1`` for the node that is that entry of a result, by the node's index."""
    names: dict[int, str] = {}
    for result in function.results:
        for entry, indices in zip(result.entries, np.ndindex(result.shape), strict=True):
            if isinstance(entry, Expression):
                name = "_".join((result.name, *map(str, indices))) if indices else f"{result.name}_value"
                names.setdefault(_unsigned(entry).index, name)
    return names


def _sections(statements: list[Statement], joints: Sequence[str]) -> tuple[Section, ...]:
    """Cuts the statements where the joint changes that the next named quantity belongs to."""
    owner_of = _owner_finder(joints)
    found: list[tuple[str, list[Statement], list[str]]] = []
    waiting: list[Statement] = []
    for statement in statements:
        waiting.append(statement)
        name = statement.node.name
        if statement.node.operation in (Operation.SINE, Operation.COSINE) and not name:
            owner, what = "sines and cosines", ""
        elif name:
            owner, what = owner_of(name)
        else:
            continue
        if not found or found[-1][0] != owner:
            found.append((owner, [], []))
        found[-1][1].extend(waiting)
        if what and what not in found[-1][2]:
            found[-1][2].append(what)
        waiting = []
    if waiting:
        found.append(("results" if found else "", waiting, []))
    return tuple(
        Section(f"{owner}: {', '.join(what)}" if owner and what else owner or ", ".join(what), tuple(lines))
        for owner, lines, what in found
    )


def _owner_finder(joints: Sequence[str]) -> Callable[[str], tuple[str, str]]:
    """Return a function that splits ``omega_rate_knee_x`` into the joint and the quantity."""
    known = sorted(set(joints), key=len, reverse=True)

    def split(name: str) -> tuple[str, str]:
        for joint in known:
            what, found, _ = name.partition(f"_{joint}_")
            if found:
                return joint, what.replace("_", " ")
        return "", ""

    return split


# Text of expressions -----------------------------------------------------------------------------------------------

_SUM, _PRODUCT, _ATOM = range(3)


@dataclass(frozen=True, slots=True)
class _Text:
    """Text of an expression and how strongly it holds together; what starts with a minus sign is no atom."""

    text: str
    strength: int

    @property
    def negative(self) -> bool:
        return self.strength != _SUM and self.text[0] == "-"


def _number(value: float, spelling: Spelling) -> _Text:
    if not math.isfinite(value):
        raise ValueError(f"the equations contain the number {value}")
    if value < 0.0:
        return _Text(f"-{spelling.constant(-value)}", _PRODUCT)
    return _Text(spelling.constant(value + 0.0), _ATOM)


def _text(node: Expression, texts: dict[int, _Text], spelling: Spelling) -> _Text:
    operation = node.operation
    if operation == Operation.CONSTANT:
        return _number(node.value, spelling)
    a = texts[node.operands[0].index]
    if operation in _ELEMENTARY:
        name = {
            Operation.SINE: spelling.sine,
            Operation.COSINE: spelling.cosine,
            Operation.SQUARE_ROOT: spelling.square_root,
        }[operation]
        return _Text(f"{name}({a.text})", _ATOM)
    if operation == Operation.NEGATE:
        return _Text(f"-({a.text})", _PRODUCT) if a.strength == _SUM else _negated(a)
    b = texts[node.operands[1].index]
    if operation == Operation.ADD:
        return _sum(a, b)
    if operation == Operation.SUBTRACT:
        if b.negative:
            return _sum(a, _negated(b))
        return _Text(f"{a.text} - {_grouped(b, _PRODUCT)}", _SUM)
    if operation == Operation.DIVIDE:
        return _Text(f"{_grouped(a, _PRODUCT)}/{_grouped(b, _ATOM)}", _PRODUCT)
    if b.strength != _ATOM and a.strength == _ATOM and node.operands[0].operation != Operation.CONSTANT:
        a, b = b, a  # a product of two is the same either way round, and needs no parentheses this way
    return _Text(f"{_grouped(a, _PRODUCT)}*{_grouped(b, _ATOM)}", _PRODUCT)


def _sum(a: _Text, b: _Text) -> _Text:
    if b.negative:
        return _Text(f"{a.text} - {_negated(b).text}", _SUM)
    if a.negative:
        return _Text(f"{_grouped(b, _SUM)} - {_negated(a).text}", _SUM)
    if b.strength == _SUM and a.strength != _SUM:
        a, b = b, a
    return _Text(f"{a.text} + {_grouped(b, _PRODUCT)}", _SUM)


def _negated(a: _Text) -> _Text:
    """Return the text of minus a product or an atom."""
    if a.negative:
        return _Text(a.text[1:], _PRODUCT)
    return _Text(f"-{a.text}", _PRODUCT)


def _grouped(a: _Text, weakest: int) -> str:
    return a.text if a.strength >= weakest else f"({a.text})"
