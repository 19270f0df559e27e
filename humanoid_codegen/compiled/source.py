# SPDX-License-Identifier: Apache-2.0
"""C text of a function for the stack's own use: one state, many states side by side, and the way in from Python.

Written for speed alone; the text for people and for other programs is :mod:`humanoid_codegen.languages`'. Angles are
gathered first, so that their sines and cosines are computed together; results are stored as soon as they are known.
States side by side are turned over in loops: one store for each entry and state would take the compiler minutes.
"""

from __future__ import annotations

from humanoid_codegen.compiled.parts import cut
from humanoid_codegen.compiled.python_entry import PYTHON_ENTRY
from humanoid_codegen.compiled.sine_cosine import SINE_COSINE
from humanoid_codegen.expression.function import Argument, Function, Result
from humanoid_codegen.expression.graph import Expression, Operation, reachable

#: Nodes of a function beyond which many states are computed one by one: compiling it once takes long enough.
MAX_BATCHED_NODES = 40_000
_SIGNS = {Operation.ADD: "+", Operation.SUBTRACT: "-", Operation.MULTIPLY: "*", Operation.DIVIDE: "/"}
#: Characters of an expression within another: compilers limit how deep parentheses may go.
_MAX_EXPRESSION_LENGTH = 300
_TRIGONOMETRIC = (Operation.SINE, Operation.COSINE)


def c_source(function: Function) -> str:
    """C99 text with the functions ``one``, ``many`` and ``python_call``.

    ``one`` takes a pointer to each argument and each result, row-major doubles that don't overlap. ``many`` takes the
    number of states first, and arrays with that leading dimension.
    """
    arrays: list[Argument | Result] = [*function.arguments, *function.results]
    names = [f"a{k}" for k in range(len(function.arguments))] + [f"r{k}" for k in range(len(function.results))]
    sizes = [len(array.entries) for array in arrays]
    constness = ["const " if name[0] == "a" else "" for name in names]
    pointers = ", ".join(f"{const}double *restrict {name}" for const, name in zip(constness, names, strict=True))
    moved = ", ".join(f"{name} + i * {size}" for name, size in zip(names, sizes, strict=True))
    one = _Body(function, side_by_side=False)
    one_parts, one_body = cut(one.lines, "one", "double", one.arrays)
    several: list[str] = []
    if len(function.nodes) <= MAX_BATCHED_NODES:
        body = _Body(function, side_by_side=True)
        several_parts, several_body = cut(body.lines, "several", "lanes", body.arrays)
        several = [*several_parts, f"static void several({pointers})", "{", *several_body, "}"]
    lines = [
        "#include <math.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "#include <string.h>",
        SINE_COSINE,
        *one_parts,
        f"void one({pointers})",
        "{",
        *one_body,
        "}",
        *several,
        f"void many(ptrdiff_t count, {pointers})",
        "{",
        "ptrdiff_t i = 0;",
        *(["for (; i + LANES <= count; i += LANES)", f"several({moved});"] if several else []),
        "for (; i < count; i++)",
        f"one({moved});",
        "}",
        f"enum {{ ARGUMENTS = {len(function.arguments)}, RESULTS = {len(function.results)} }};",
        f"static const struct {{ int dimensions; ptrdiff_t shape[{max(1, *(len(a.shape) for a in arrays))}]; }} "
        "arrays[] = {",
        *(f"{{ {len(a.shape)}, {{ {', '.join(map(str, a.shape)) or '0'} }} }}," for a in arrays),
        "};",
        "static void call_one(double *const *data)",
        "{",
        f"one({', '.join(f'data[{k}]' for k in range(len(arrays)))});",
        "}",
        "static void call_many(ptrdiff_t count, double *const *data)",
        "{",
        f"many(count, {', '.join(f'data[{k}]' for k in range(len(arrays)))});",
        "}",
        PYTHON_ENTRY,
    ]
    return "\n".join(lines)


class _Body:
    """Statements of a function, of one state or of several side by side.

    Attributes:
        lines: the statements.
        arrays: that they read and write.
    """

    def __init__(self, function: Function, *, side_by_side: bool) -> None:
        self.lines: list[str] = []
        prefix = "g" if side_by_side else ""
        self.arrays = [f"{prefix}a{k}" for k in range(len(function.arguments))]
        self.arrays += [f"{prefix}r{k}" for k in range(len(function.results))]
        self._several = side_by_side
        self._type = "lanes" if side_by_side else "double"
        self._uses = function.use_counts
        self._texts: dict[int, str] = {}
        self._stores: dict[int, list[str]] = {}
        symbols = {
            symbol.index: (f"a{k}", entry)
            for k, argument in enumerate(function.arguments)
            for entry, symbol in enumerate(argument.entries)
        }
        self._symbols = symbols
        self._last: list[str] = []
        if side_by_side:
            for k, argument in enumerate(function.arguments):
                size = len(argument.entries)
                self.lines += [f"lanes ga{k}[{size} + 1];", f"gather(ga{k}, a{k}, {size});"]
        self._prepare_results(function)
        needed = [node for node in function.nodes if node.operation in _TRIGONOMETRIC]
        depths = _trigonometric_depths(function)
        for depth in sorted({depths[node.index] for node in needed}):
            angles = list({n.operands[0].index: n.operands[0] for n in needed if depths[n.index] == depth}.values())
            for node in reachable(angles):
                self._write(node)
            self._write_angles(depth, angles, [node for node in needed if depths[node.index] == depth])
        for node in function.nodes:
            self._write(node)
        self.lines += self._last

    def _prepare_results(self, function: Function) -> None:
        for k, result in enumerate(function.results):
            size = len(result.entries)
            zeros = sum(1 for entry in result.entries if not isinstance(entry, Expression) and entry == 0.0)
            clear = zeros > 8
            stores: list[str] = []
            if clear:
                states = " * LANES" if self._several else ""
                self.lines.append(f"memset(r{k}, 0, {size} * sizeof(double){states});")
            places: list[int] = []
            for position, entry in enumerate(result.entries):
                if clear and not isinstance(entry, Expression) and entry == 0.0:
                    continue
                store = f"gr{k}[{len(places)}] = %s;" if self._several else f"r{k}[{position}] = %s;"
                places.append(position)
                if isinstance(entry, Expression):
                    self._stores.setdefault(entry.index, []).append(store)
                else:
                    stores.append(store % self._constant(entry))
            if self._several and places:
                listed = ", ".join(map(str, places))
                self.lines += [
                    f"static const int places{k}[] = {{ {listed} }};",
                    f"lanes gr{k}[{len(places)}];",
                ]
                self._last.append(f"scatter(r{k}, {size}, gr{k}, places{k}, {len(places)});")
            self.lines += stores

    def _constant(self, value: float) -> str:
        text = f"({float(value)!r})"
        return f"SPLAT{text}" if self._several else text

    def _write_angles(self, depth: int, angles: list[Expression], nodes: list[Expression]) -> None:
        """Sines and cosines of angles that are known by now."""
        count, s, c, x = len(angles), f"s{depth}", f"c{depth}", f"x{depth}"
        self.arrays += [s, c, x]
        if self._several:
            self.lines.append(f"lanes {x}[{count}], {s}[{count}], {c}[{count}];")
            self.lines += [f"{x}[{k}] = {self._texts[angle.index]};" for k, angle in enumerate(angles)]
            self.lines.append(f"for (int k = 0; k < {count}; k++) sine_cosine({x}[k], &{s}[k], &{c}[k]);")
        else:
            blocks = f"({count} + LANES - 1) / LANES"
            self.lines += [
                f"lanes {x}_blocks[{blocks}], {s}_blocks[{blocks}], {c}_blocks[{blocks}];",
                f"double *const {x} = (double *){x}_blocks;",
                f"const double *const {s} = (const double *){s}_blocks, *const {c} = (const double *){c}_blocks;",
                f"{x}_blocks[{blocks} - 1] = SPLAT(0.0);",
                *(f"{x}[{k}] = {self._texts[angle.index]};" for k, angle in enumerate(angles)),
                f"for (int k = 0; k < {blocks}; k++) "
                f"sine_cosine({x}_blocks[k], &{s}_blocks[k], &{c}_blocks[k]);",
            ]
        places = {angle.index: k for k, angle in enumerate(angles)}
        for node in nodes:
            values = s if node.operation == Operation.SINE else c
            self._texts[node.index] = f"{values}[{places[node.operands[0].index]}]"
            self._store(node)

    def _write(self, node: Expression) -> None:
        if node.index in self._texts:
            return
        operation = node.operation
        if operation == Operation.CONSTANT:
            self._texts[node.index] = self._constant(node.value) if node.index in self._stores else repr(node.value)
        elif operation == Operation.SYMBOL:
            name, entry = self._symbols[node.index]
            self._texts[node.index] = f"{'g' if self._several else ''}{name}[{entry}]"
        else:
            texts = [self._texts[operand.index] for operand in node.operands]
            if operation == Operation.NEGATE:
                text = f"-{texts[0]}"
            elif operation == Operation.SQUARE_ROOT:
                text = f"{'square_roots' if self._several else 'sqrt'}({texts[0]})"
            else:
                text = f"{texts[0]} {_SIGNS[operation]} {texts[1]}"
            if self._uses[node.index] == 1 and node.index not in self._stores and len(text) < _MAX_EXPRESSION_LENGTH:
                self._texts[node.index] = f"({text})"
            else:
                self._statement(node, text)
        self._store(node)

    def _statement(self, node: Expression, text: str) -> None:
        self.lines.append(f"const {self._type} t{node.index} = {text};")
        self._texts[node.index] = f"t{node.index}"

    def _store(self, node: Expression) -> None:
        self.lines += [store % self._texts[node.index] for store in self._stores.get(node.index, ())]


def _trigonometric_depths(function: Function) -> dict[int, int]:
    """Return how many sines and cosines are nested in each node, itself included."""
    depths: dict[int, int] = {}
    for node in function.nodes:
        inner = max((depths[operand.index] for operand in node.operands), default=0)
        depths[node.index] = inner + (node.operation in _TRIGONOMETRIC)
    return depths
