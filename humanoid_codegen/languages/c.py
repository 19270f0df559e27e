# SPDX-License-Identifier: Apache-2.0
"""C99: a source file and its header, without allocation, without state, with nothing but math.h.

Long functions are cut into several, since a compiler's time grows with the square of a function's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from humanoid_codegen.expression.function import Module
from humanoid_codegen.languages.language import (
    check_module_name,
    function_heading,
    joint_names,
    module_heading,
    plain,
    words,
)
from humanoid_codegen.languages.statements import Body, Spelling, wrap_expression, write_body, zero_entries

#: Statements of a function that stays whole, and of a part.
WHOLE = 1500
MAX_STATEMENTS = 300
_IDENTIFIER = re.compile(r"\b[^\W\d]\w*\b")


@dataclass(frozen=True)
class Step:
    """Lines that belong together.

    Attributes:
        defines: identifier that they give a value to, empty if none.
        lines: of C.
    """

    defines: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """One of the functions that a long one is cut into.

    Attributes:
        lines: inside its braces.
        arrays: of the whole function's, those it uses.
    """

    lines: tuple[str, ...]
    arrays: tuple[str, ...]


def identifiers(text: str) -> list[str]:
    """Return words of C in a text, in order; those of comments too."""
    return _IDENTIFIER.findall(text)


def cut(
    steps: Sequence[Step], loads: dict[str, str], arrays: Sequence[str], workspace: str
) -> tuple[list[Part], int]:
    """Cuts steps into parts that hand values on through an array.

    Args:
        steps: in order; each value is given once.
        loads: by identifier, the line that reads an entry of an argument.
        arrays: identifiers of arguments and results.
        workspace: identifier of the array for what one part computes and another uses.

    Returns:
        The parts, and the length of the workspace.
    """
    groups = [steps[k : k + MAX_STATEMENTS] for k in range(0, len(steps), MAX_STATEMENTS)]
    home = {step.defines: k for k, group in enumerate(groups) for step in group if step.defines}
    used = [
        dict.fromkeys(word for step in group for line in step.lines for word in identifiers(line)) for group in groups
    ]
    slots: dict[str, int] = {}
    for k, found in enumerate(used):
        for word in found:
            if home.get(word, k) != k:
                slots.setdefault(word, len(slots))
    parts = []
    for k, group in enumerate(groups):
        lines = [loads[word] for word in used[k] if word in loads]
        lines += [
            f"const double {word} = {workspace}[{slots[word]}];" for word in used[k] if home.get(word, k) != k
        ]
        for step in group:
            lines += step.lines
            if step.defines in slots:
                lines.append(f"{workspace}[{slots[step.defines]}] = {step.defines};")
        text = " ".join(lines)
        parts.append(Part(tuple(lines), tuple(array for array in arrays if re.search(rf"\b{array}\[", text))))
    return parts, len(slots)


#: From this many on, a result's zeros are written by a loop.
ZEROS_BY_LOOP = 9

KEYWORDS = words(
    """alignas alignof auto bool break case char const constexpr continue default do double else enum extern false
    float for goto if inline int long nullptr register restrict return short signed sizeof static static_assert struct
    switch thread_local true typedef typeof typeof_unqual union unsigned void volatile while asm fortran
    linux unix i386 main errno assert NULL"""
)
#: What math.h declares or defines, in any of its versions.
MATH = frozenset(
    name + suffix
    for name in words(
        """acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp
    log log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint
    rint lrint llrint round lround llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin
    fma gamma drem significand finite scalb sincos exp10 pow10 j0 j1 jn y0 y1 yn isinf isnan abs labs div"""
    )
    for suffix in ("", "f", "l")
) | words(
    """HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO FP_FAST_FMA FP_ILOGB0
    FP_ILOGBNAN MATH_ERRNO MATH_ERREXCEPT math_errhandling fpclassify isfinite isnormal signbit isgreater isless
    isgreaterequal islessequal islessgreater isunordered float_t double_t signgam DOMAIN SING OVERFLOW UNDERFLOW PLOSS
    TLOSS M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2"""
)
#: Headers that a file of the same name would hide.
_HEADERS = words(
    """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef
    stdint stdio stdlib string tgmath time wchar wctype"""
)
_OVERLAP = ("", "Arrays are row-major. Results mustn't overlap arguments or each other. Every function is thread-safe.")


def write(module: Module) -> dict[str, str]:
    """Return a header and a source file.

    Raises:
        InputError: the module's name can't be the name of a file or a prefix.
    """
    check_module_name(module.name, "C", KEYWORDS | _HEADERS)
    bodies = [write_body(function, spelling(module), joint_names(module)) for function in module.functions]
    return {f"{module.name}.h": _header(module, bodies), f"{module.name}.c": _source(module, bodies)}


def spelling(module: Module, sine: str = "sin", cosine: str = "cos", square_root: str = "sqrt") -> Spelling:
    """Return how a C function of doubles, or of GCC's vectors of doubles, is spelled.

    Args:
        module: the function's module.
        sine: name of the sine of the scalar type; likewise the others.
        cosine: name of the cosine.
        square_root: name of the square root.
    """
    return Spelling(
        reserved=KEYWORDS | MATH | set(_macros(module)) | {sine, cosine, square_root, "i", _workspace(module)},
        load=lambda array, argument, position: f"{array}[{position}]",
        sine=sine,
        cosine=cosine,
        square_root=square_root,
    )


def body_lines(
    body: Body,
    scalar: str = "double",
    store: Callable[[str, int, str], str] | None = None,
) -> list[str]:
    """Return the statements inside a function's braces, in C.

    The text works for ``double`` and, with GCC or Clang, for a type of ``__attribute__((vector_size(...)))``: numbers
    stay plain doubles, which the compiler takes as vectors. To print a function for batches, make the body with
    ``write_body(function, spelling(module, sine="vector_sin", ...))`` where the spelling's ``load`` reads an entry
    of all states at once, and give ``scalar`` and ``store``:

    >>> lines = body_lines(body, "v8d", lambda array, k, text: f"store({array}, {k}, {text});")  # doctest: +SKIP

    Entries that are plain numbers, zeros among them, are stored at the head, with ``text`` a number: a ``store`` for
    vectors must take that too. Zeros come by a loop over ``int i`` where there are many; ``store`` writes its body,
    with the position -1 standing for ``i``.

    Args:
        body: statements of the function.
        scalar: type of the variables.
        store: statement that writes an entry of a result, from the array's identifier, the row-major index and the
            value's text; None: an assignment.
    """
    store = store or _store
    lines = _head(body, scalar, store)
    for step in steps(body, scalar, store):
        lines += step.lines
    return lines


def _head(body: Body, scalar: str, store: Callable[[str, int, str], str]) -> list[str]:
    """Unused arguments, entries of arguments read, entries of results that are numbers."""
    lines = [f"(void){name};" for name in _unused(body)]
    head = _constant_entries(body, store)
    return lines + [f"const {scalar} {load.identifier} = {load.text};" for load in body.loads] + head


def _constant_entries(body: Body, store: Callable[[str, int, str], str]) -> list[str]:
    head: list[str] = []
    for array, result, values in zip(body.results, body.function.results, body.values, strict=True):
        zeros = zero_entries(result)
        looped = set(zeros) if len(zeros) >= ZEROS_BY_LOOP else set()
        if looped:
            head.append(f"for (int i = 0; i < {len(result.entries)}; ++i) {{")
            head.append("    " + store(array, -1, "0.0").replace("[-1]", "[i]"))
            head.append("}")
        stored = {
            position for entries in body.stores.values() for k, position, _ in entries if body.results[k] == array
        }
        for position, text in enumerate(values):
            if position not in looped and position not in stored:
                head.append(store(array, position, text))
    return head


def steps(body: Body, scalar: str, store: Callable[[str, int, str], str]) -> list[Step]:
    """Return the statements with their comments and what they store, one by one.

    Args:
        body: see :func:`body_lines`.
        scalar: see :func:`body_lines`.
        store: see :func:`body_lines`.
    """
    found = []
    for section in body.sections:
        lines = ["", f"/* {plain(section.title)} */"] if section.title else [""]
        for statement in section.statements:
            stores = body.stores.get(statement.node.index, [])
            if statement.node.index in body.only_results:
                k, position, _ = stores[0]
                lines += _wrapped(store(body.results[k], position, statement.text))
                found.append(Step("", tuple(lines)))
            else:
                lines += _wrapped(f"const {scalar} {statement.identifier} = {statement.text};")
                lines += [store(body.results[k], position, text) for k, position, text in stores]
                found.append(Step(statement.identifier, tuple(lines)))
            lines = []
    return found


def prototype(module: Module, body: Body, qualifier: str = "") -> str:
    """``void hrp2_bias(const double *q, const double *v, double *b)``.

    Args:
        module: the function's module.
        body: the function.
        qualifier: between a star and the name that follows, ``restrict`` in the source file.
    """
    space = f"{qualifier} " if qualifier else ""
    parameters = [f"const double *{space}{name}" for name in body.arguments]
    parameters += [f"double *{space}{name}" for name in body.results]
    name = f"void {module.name}_{body.function.name}("
    text = name + ", ".join(parameters or ["void"]) + ")"
    if len(text) < 118:
        return text
    return name + "\n    " + ",\n    ".join(parameters) + ")"


def comment(lines: Sequence[str], indent: str = "") -> str:
    """Return a block comment."""
    return "\n".join([f"{indent}/*", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"])


def _unused(body: Body) -> list[str]:
    used = {node.index for node in body.function.nodes}
    return [
        name
        for name, argument in zip(body.arguments, body.function.arguments, strict=True)
        if not any(entry.index in used for entry in argument.entries)
    ]


def _wrapped(line: str) -> list[str]:
    return [("        " if k else "") + part for k, part in enumerate(wrap_expression(line, 4, 12))]


def _macros(module: Module) -> dict[str, int]:
    prefix = module.name.upper()
    sizes = {"NQ": len(module.q_names), "NV": len(module.v_names), "LINKS": len(module.link_names)}
    if module.parameter_names:
        sizes["PARAMETERS"] = len(module.parameter_names)
    return {f"{prefix}_{name}": size for name, size in sizes.items()} | {f"{prefix}_H": 0}


def _header(module: Module, bodies: Sequence[Body]) -> str:
    guard = f"{module.name.upper()}_H"
    head = [*module_heading(module, _example(module, bodies)), *_OVERLAP]
    parts = [comment(head), f"#ifndef {guard}\n#define {guard}"]
    macros = [f"#define {name} {size}" for name, size in _macros(module).items() if name != guard]
    parts += ["\n".join(macros), '#ifdef __cplusplus\nextern "C" {\n#endif']
    if module.parameter_names:
        size = f"{module.name.upper()}_PARAMETERS"
        parts.append("/* Values of the parameters in the URDF. */")
        parts[-1] += f"\nextern const double {module.name}_parameters[{size}];"
    for body in bodies:
        head = function_heading(body.function, body.arguments, body.results)
        parts.append(comment(head) + "\n" + prototype(module, body) + ";")
    parts += ["#ifdef __cplusplus\n}\n#endif", "#endif"]
    return "\n\n".join(parts) + "\n"


def _source(module: Module, bodies: Sequence[Body]) -> str:
    parts = [
        comment([f"Dynamic model of the robot '{plain(module.robot)}': see {module.name}.h."]),
        f'#include "{module.name}.h"\n\n#include <math.h>',
    ]
    if module.parameter_names:
        values = "\n".join(
            f"    {value!r}, /* {plain(name)} */"
            for name, value in zip(module.parameter_names, module.parameters, strict=True)
        )
        size = f"{module.name.upper()}_PARAMETERS"
        parts.append(f"const double {module.name}_parameters[{size}] = {{\n{values}\n}};")
    for body in bodies:
        parts += _definitions(module, body)
    return "\n\n".join(parts) + "\n"


def _definitions(module: Module, body: Body) -> list[str]:
    """Return a function, with the static ones that it is cut into before it when it is long."""
    pieces = steps(body, "double", _store)
    if len(pieces) <= WHOLE:
        return [_definition(prototype(module, body, "restrict"), body_lines(body))]
    workspace = _workspace(module)
    loads = {load.identifier: f"const double {load.identifier} = {load.text};" for load in body.loads}
    parts, size = cut(pieces, loads, [*body.arguments, *body.results], workspace)
    definitions = []
    lines = [f"(void){name};" for name in _unused(body)]
    head = _constant_entries(body, _store)
    # Entries of results may be entries of arguments as they are.
    used = set(identifiers("\n".join(head)))
    lines += [load for identifier, load in loads.items() if identifier in used]
    lines += [*head, f"double {workspace}[{max(1, size)}];", ""]
    for k, part in enumerate(parts, start=1):
        name = f"{module.name}_{body.function.name}_part_{k}"
        parameters = [
            f"{'const ' if array in body.arguments else ''}double *restrict {array}" for array in part.arrays
        ]
        parameters.append(f"double *restrict {workspace}")
        definitions.append(_definition(f"static void {name}(\n    " + ",\n    ".join(parameters) + ")", part.lines))
        lines.append(f"{name}({', '.join([*part.arrays, workspace])});")
    return [*definitions, _definition(prototype(module, body, "restrict"), lines)]


def _workspace(module: Module) -> str:
    return f"{module.name}_workspace"


def _definition(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, "{", *(f"    {line}" if line else "" for line in _trimmed(list(lines))), "}"])


def _store(array: str, position: int, text: str) -> str:
    return f"{array}[{position}] = {text};"


def _trimmed(lines: list[str]) -> list[str]:
    return lines[1:] if lines and not lines[0] else lines


def _example(module: Module, bodies: Sequence[Body]) -> list[str]:
    if not bodies:
        return []
    body = bodies[0]
    arrays = [
        f"double {name}[{max(1, len(argument.entries))}] = {{0.0}};"
        for name, argument in zip(body.arguments, body.function.arguments, strict=True)
    ]
    arrays += [
        f"double {name}[{max(1, len(result.entries))}];"
        for name, result in zip(body.results, body.function.results, strict=True)
    ]
    call = f"{module.name}_{body.function.name}({', '.join((*body.arguments, *body.results))});"
    return [f'#include "{module.name}.h"', *arrays, call]
