# SPDX-License-Identifier: Apache-2.0
"""C text of a function for the stack's own use: one state, many states side by side, and the way in from Python.

Written for speed alone; the text for people and for other programs is :mod:`humanoid_codegen.languages`'. Angles are
gathered first, so that their sines and cosines are computed together; results are stored as soon as they are known.
States side by side are turned over in loops: one store for each entry and state would take the compiler minutes.

A humanoid has some thirty angles; one call of the C library for each would take as long as all the rest of inverse
dynamics. Angles are reduced by multiples of pi/2 in three parts (Cody and Waite), and polynomials of fdlibm's accuracy
follow: within 1 ulp or so up to 1e5 rad. Larger angles, infinities and NaN go to the C library.

Long lists of statements are cut into C functions of bounded length, since a compiler's time grows with the square of
it: a minute for the derivatives of a humanoid's dynamics in one piece. What one part computes and another needs goes
through an array, where most of it would be spilt anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from humanoid_codegen.compiled.shared_object import PYTHON_ENTRY
from humanoid_codegen.expression.function import Argument, Function, Result
from humanoid_codegen.expression.graph import Expression, Operation, reachable

SINE_COSINE = r"""
#if defined(__GNUC__) || defined(__clang__)
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef long long integers __attribute__((vector_size(8 * LANES)));
#define LANE(x, k) (x)[k]
#define SPLAT(x) ((lanes){0} + (x))
#define PART static __attribute__((noinline))

static void sine_cosine(lanes x, lanes *sine, lanes *cosine)
{
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: what is added to it is rounded to an integer */
    const lanes shifted = x * 6.36619772367581382433e-01 + shift;
    const lanes n = shifted - shift;
    const integers quadrant = (integers)shifted;
    const lanes coarse = x - n * 1.57079632673412561417e+00;
    const lanes fine = coarse - n * 6.07710050630396597660e-11;
    const lanes rest = (coarse - fine) - n * 6.07710050630396597660e-11;
    const lanes r = fine + (rest - n * 2.02226624879595063154e-21);
    const lanes z = r * r;
    const lanes s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03
        + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06
        + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    const lanes half = 0.5 * z;
    const lanes head = 1.0 - half;
    const lanes c = head + (((1.0 - head) - half) + z * z * (4.16666666666666019037e-02
        + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
        + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09
        + z * -1.13596475577881948265e-11))))));
    const integers swap = -(quadrant & 1);
    const integers within = (integers)((x <= 1e5) & (x >= -1e5)); /* false for NaN */
    int k, outside = 0;
    *sine = (lanes)((((integers)s & ~swap) | ((integers)c & swap)) ^ ((quadrant & 2) << 62));
    *cosine = (lanes)((((integers)c & ~swap) | ((integers)s & swap)) ^ (((quadrant + 1) & 2) << 62));
    for (k = 0; k < LANES; k++)
        outside |= within[k] == 0;
    if (outside)
        for (k = 0; k < LANES; k++) {
            (*sine)[k] = sin(x[k]);
            (*cosine)[k] = cos(x[k]);
        }
}
#else
#define LANES 1
typedef double lanes;
#define LANE(x, k) (x)
#define SPLAT(x) (x)
#define PART static

static void sine_cosine(lanes x, lanes *sine, lanes *cosine)
{
    *sine = sin(x);
    *cosine = cos(x);
}
#endif

/* Row-major states to numbers side by side. */
static void gather(lanes *to, const double *from, ptrdiff_t size)
{
    ptrdiff_t i;
    int k;
    for (i = 0; i < size; i++)
        for (k = 0; k < LANES; k++)
            LANE(to[i], k) = from[k * size + i];
}

/* And back: number i goes to the given place of each state. */
static void scatter(double *to, ptrdiff_t size, const lanes *from, const int *places, ptrdiff_t count)
{
    ptrdiff_t i;
    int k;
    for (k = 0; k < LANES; k++)
        for (i = 0; i < count; i++)
            to[k * size + places[i]] = LANE(from[i], k);
}

static lanes square_roots(lanes x)
{
    int k;
    for (k = 0; k < LANES; k++)
        LANE(x, k) = sqrt(LANE(x, k));
    return x;
}
"""


#: Statements that are left in one piece: cutting costs a few per cent of the speed.
_WHOLE = 1500
#: Statements of a part.
_LENGTH = 400
_STATEMENT = re.compile(r"(?:const (?:double|lanes) (t\d+) = |g?r\d+\[|x\d+\[)")
_VALUE = re.compile(r"\bt\d+\b")


def cut(lines: Sequence[str], name: str, kind: str, arrays: Sequence[str]) -> tuple[list[str], list[str]]:
    """Cuts a body if it is long.

    Args:
        lines: statements, each value assigned once, and lines that declare or call.
        name: prefix of the parts' names.
        kind: ``double`` or ``lanes``.
        arrays: names of the arrays that statements read or write, all of that kind.

    Returns:
        Lines of the parts, and lines of the body that calls them.
    """
    matches = [_STATEMENT.match(line) for line in lines]
    if sum(match is not None for match in matches) <= _WHOLE:
        return [], list(lines)
    groups: list[list[int]] = []
    for k, match in enumerate(matches):
        if match is None:
            continue
        if not groups or len(groups[-1]) == _LENGTH or groups[-1][-1] != k - 1:
            groups.append([])
        groups[-1].append(k)
    home = {match[1]: part for part, group in enumerate(groups) for k in group if (match := matches[k]) and match[1]}
    used = [dict.fromkeys(value for k in group for value in _VALUE.findall(lines[k])) for group in groups]
    slots: dict[str, int] = {}
    for part, values in enumerate(used):
        for value in values:
            if home[value] != part:
                slots.setdefault(value, len(slots))
    parts: list[str] = []
    calls: dict[int, str] = {}
    for part, group in enumerate(groups):
        text = "\n".join(lines[k] for k in group)
        known = [array for array in arrays if re.search(rf"\b{array}\[", text)]
        parameters = [f"{'' if array.lstrip('g')[0] in 'rx' else 'const '}{kind} *restrict {array}" for array in known]
        parts.append(f"PART void {name}_{part}({', '.join([*parameters, f'{kind} *restrict w'])})")
        parts.append("{")
        parts += [f"const {kind} {value} = w[{slots[value]}];" for value in used[part] if home[value] != part]
        for k in group:
            parts.append(lines[k])
            match = matches[k]
            if match is not None and match[1] in slots:
                parts.append(f"w[{slots[match[1]]}] = {match[1]};")
        parts.append("}")
        calls[group[0]] = f"{name}_{part}({', '.join([*known, 'w'])});"
    body = [f"{kind} w[{len(slots) + 1}];"]
    for k, line in enumerate(lines):
        if matches[k] is None:
            body.append(line)
        elif k in calls:
            body.append(calls[k])
    return parts, body


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
