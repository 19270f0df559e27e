# SPDX-License-Identifier: Apache-2.0
"""The robot's own equations: in closed form where a person can read it, as statements otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.dynamics.lagrange import lagrange
from humanoid_codegen.expression.function import Argument, Function, Result, count_operations
from humanoid_codegen.expression.graph import Graph
from humanoid_codegen.report.closed_form import READABLE, Polynomial, closed_form, equation, grouped
from humanoid_codegen.report.document import Block, Equations, Heading, Name, Paragraph, Table, text
from humanoid_codegen.report.notation import Notation
from humanoid_codegen.report.statements import statements
from humanoid_codegen.report.theory import DEFINITIONS
from humanoid_codegen.report.trigonometric_polynomial import NoClosedFormError, TrigonometricPolynomial

#: Robots with more degrees of freedom than this aren't tried: their closed forms fill pages.
_MAX_FREEDOM = 6



def equations_of_motion(model: DynamicModel, notation: Notation) -> list[Block]:
    """Mass matrix, Coriolis and gravity efforts and energies of a small robot by Lagrange's method; else nothing."""
    mechanism = model.mechanism
    n = mechanism.nv
    if not notation.minimal or not 0 < n <= _MAX_FREEDOM:
        return []
    graph = Graph()
    q, v, a = (
        Argument(name, (n,), tuple(graph.symbol(f"{name}{k}") for k in range(n)), "") for name in ("q", "v", "a")
    )
    equations = lagrange(mechanism, q.entries, v.entries, a.entries)
    results = (
        Result("tau", (n,), equations.efforts, ""),
        Result("energy", (2,), (equations.kinetic_energy, equations.potential_energy), ""),
    )
    function = Function("lagrange", (q, v, a), results, "")
    try:
        efforts, energies = closed_form(function, 2 * READABLE)
    except NoClosedFormError:
        return []
    unknowns = notation.unknowns(function)
    rates, accelerations = range(n, 2 * n), range(2 * n, 3 * n)
    entries = [_coefficient(effort, j) for effort in efforts for j in accelerations]
    names = [f"M_{{{i + 1},{j + 1}}}" for i in range(n) for j in range(n)]
    free = [_part(effort, accelerations, 0) for effort in efforts]
    centrifugal = [_part(effort, rates, 2) for effort in free]
    weights = [_part(effort, rates, 0) for effort in free]
    return [
        Heading(2, text("Equations of motion")),
        Paragraph(
            text(
                "Lagrange's equations of this robot, from the energies: $\\tau_j = \\frac{d}{dt} \\frac{\\partial L}"
                "{\\partial \\dot{q}_j} - \\frac{\\partial L}{\\partial q_j}$, $L = E_c - E_p$ (2.2), (2.3). "
                "Sorted by accelerations and rates: $\\tau = M(q) \\ddot{q} + c(q, \\dot{q}) + g(q)$ (2.1). "
                "Entries that aren't listed are zero, equal ones are listed together."
            )
        ),
        Paragraph(text("Kinetic and potential energy:")),
        _display(("E_c", "E_p"), energies, unknowns),
        Paragraph(text("Mass matrix:")),
        _display(names, entries, unknowns),
        Paragraph(text("Coriolis and centrifugal efforts:")),
        _display([f"c_{{{k + 1}}}" for k in range(n)], centrifugal, unknowns),
        Paragraph(text("Gravity efforts:")),
        _display([f"g_{{{k + 1}}}" for k in range(n)], weights, unknowns),
    ]


def functions_section(functions: tuple[Function, ...], notation: Notation) -> list[Block]:
    """Every generated function, and what it costs."""
    blocks: list[Block] = [
        Heading(2, text("Functions")),
        Paragraph(
            text(
                "Numbers have six significant digits here; the generated code has all of them. In sequences of "
                "statements $s_i$ and $c_i$ are the sine and cosine of $q_i$, $S_i$ and $C_i$ those of the whole angle "
                "of joint $i$ where a constant is part of it, and $t_1, t_2, \\dots$ intermediate results, numbered "
                "anew in each function. Entries of results that aren't listed are zero."
            )
        ),
    ]
    counts = []
    for function in functions:
        blocks += _function(function, notation)
        count = count_operations(function)
        counts.append(
            (
                (Name(function.name),),
                *(
                    text(f"{value}")
                    for value in (
                        *(count.multiplications, count.additions, count.divisions),
                        *(count.negations, count.trigonometric, count.square_roots),
                    )
                ),
            )
        )
    return [
        *blocks,
        Heading(2, text("Operations")),
        Paragraph(text("Of one call of each function, as generated.")),
        Table(
            "lrrrrrr",
            tuple(
                text(name)
                for name in ("function", "products", "sums", "quotients", "changes of sign", "sines, cosines", "roots")
            ),
            tuple(counts),
        ),
    ]


def _function(function: Function, notation: Notation) -> list[Block]:
    blocks: list[Block] = [Heading(3, text(Name(function.name))), Paragraph(text(Name(function.description)))]
    if function.name in DEFINITIONS:
        blocks.append(Equations(DEFINITIONS[function.name]))
    blocks.append(
        Paragraph(
            text(
                "Arguments: ",
                Name("; ".join(_listed(argument) for argument in function.arguments)),
                ". Results: ",
                Name("; ".join(_listed(result) for result in function.results)),
                ".",
            )
        )
    )
    if notation.minimal and notation.mechanism.nv <= _MAX_FREEDOM:
        try:
            results = closed_form(function)
        except NoClosedFormError:
            pass
        else:
            unknowns = notation.unknowns(function)
            for result, values in zip(function.results, results, strict=True):
                if any(not isinstance(value, float) or value for value in values):
                    blocks.append(_display(notation.result(result), values, unknowns))
            return blocks
    lines = [line for statement in statements(function, notation) for line in statement]
    return [*blocks, Equations(tuple(lines))] if lines else blocks


def _listed(array: Argument | Result) -> str:
    """Return an array's name, shape and meaning."""
    meaning = array.description.replace("^2", "\N{SUPERSCRIPT TWO}")
    shape = f" [{', '.join(str(size) for size in array.shape)}]" if array.shape else ""
    return f"{array.name}{shape}, {meaning}"


def _display(names: Sequence[str], values: Sequence[Polynomial], unknowns: Sequence[Sequence[str]]) -> Block:
    groups = grouped(names, values)
    if not groups:
        return Paragraph(text("All zero."))
    return Equations(tuple(line for heads, value in groups for line in equation(heads, value, unknowns)))


def _coefficient(value: Polynomial, unknown: int) -> Polynomial:
    return value.coefficient(unknown) if isinstance(value, TrigonometricPolynomial) else 0.0


def _part(value: Polynomial, unknowns: range, degree: int) -> Polynomial:
    if isinstance(value, TrigonometricPolynomial):
        return value.part(unknowns, degree)
    return value if degree == 0 else 0.0
