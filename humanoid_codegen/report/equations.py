# SPDX-License-Identifier: Apache-2.0
"""The robot's own equations: in closed form where a person can read it, as short statements otherwise.

Before them the algorithms' equations for any tree, as :mod:`humanoid_codegen.dynamics` has them, with the thesis'
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.dynamics.lagrange import lagrange
from humanoid_codegen.expression.function import Argument, Function, Result, count_operations
from humanoid_codegen.expression.graph import Expression, Graph, Operation
from humanoid_codegen.report.closed_form import (
    READABLE,
    NoClosedFormError,
    Polynomial,
    TrigonometricPolynomial,
    closed_form,
    equation,
    grouped,
)
from humanoid_codegen.report.document import Block, Equations, Heading, Name, Paragraph, Table, text
from humanoid_codegen.report.notation import Notation, definition, number, signed_sum, visible_width

#: What each function is, in terms of inverse dynamics or by definition.
DEFINITIONS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("\\tau &= ID(q, v, \\dot{v}) = M(q) \\dot{v} + b(q, v)",),
    "direct_dynamics": ("\\dot{v} &= M(q)^{-1} (\\tau - b(q, v))",),
    "mass_matrix": ("M(q) e_j &= ID(q, 0, e_j) - ID(q, 0, 0)",),
    "bias": ("b(q, v) &= ID(q, v, 0)",),
    "gravity": ("g(q) &= ID(q, 0, 0)",),
    "kinematics": (
        "{}^0 R_i &= {}^0 R_{p(i)} R_i \\qquad {}^0 p_i = {}^0 p_{p(i)} + {}^0 R_{p(i)} r_i",
        "c &= \\frac{1}{\\sum m_l} \\sum_l m_l c_l",
    ),
    "jacobians": ("J_l(q) v &= (V_l, \\omega_l)",),
    "energies": (
        "E_{c,l} &= \\frac{1}{2} ( \\omega_l^T I_l \\omega_l + m_l V_{c,l}^T V_{c,l} ) \\qquad (2.4)",
        "E_{p,l} &= - m_l g^T c_l \\qquad (2.5)",
    ),
    "regressor": ("\\tau &= Y(q, v, \\dot{v}) \\pi",),
    "inverse_dynamics_derivatives": (
        "d \\tau &= \\frac{\\partial \\tau}{\\partial q} dq + \\frac{\\partial \\tau}{\\partial v} dv + M d \\dot{v}",
    ),
    "direct_dynamics_derivatives": (
        "d \\dot{v} &= M^{-1} ( d \\tau - \\frac{\\partial \\tau}{\\partial q} dq"
        " - \\frac{\\partial \\tau}{\\partial v} dv )",
    ),
}


def recursion() -> list[Block]:
    """Newton and Euler's recursion."""
    return [
        Heading(2, text("Inverse dynamics of a tree")),
        Paragraph(
            text(
                "The recursive algorithm of Newton and Euler (Luh, Walker and Paul 1980), each body in its own frame. "
                "$R_i$ is the rotation of body $i$ in its parent $p = p(i)$ and $r_i$ the position of its origin "
                "there. $\\omega_{J,i}$ and $v_{J,i}$ are the joint's own angular and linear velocity: with the axis "
                "$e_i$, they are $e_i v_i$ and $0$ for a revolute joint, $0$ and $e_i v_i$ for a prismatic one; of a "
                "ball joint and a free flyer they are the velocity coordinates themselves. Numbers in brackets are "
                "those of the thesis' equations, which are the same in the world's axes."
            )
        ),
        Paragraph(text("Start at the world, which accelerates upwards instead of gravity pulling downwards (2.27):")),
        Equations(("\\omega_0 &= 0 \\qquad \\dot{\\omega}_0 = 0 \\qquad a_0 = -g \\qquad U_0 = 0",)),
        Paragraph(text("From the root to the tips, rates (2.25), accelerations (2.22), forces and moments (2.21):")),
        Equations(
            (
                "\\omega_i &= R_i^T \\omega_p + \\omega_{J,i}",
                "\\dot{\\omega}_i &= R_i^T \\dot{\\omega}_p + \\dot{\\omega}_{J,i}"
                " + (R_i^T \\omega_p) \\times \\omega_{J,i}",
                "U_i &= [\\dot{\\omega}_i]_{\\times} + [\\omega_i]_{\\times}^2",
                "a_i &= R_i^T (a_p + U_p r_i) + \\dot{v}_{J,i} + (R_i^T \\omega_p + \\omega_i) \\times v_{J,i}",
                "f_i &= m_i a_i + U_i h_i - f_i^{ext}",
                "n_i &= (U_i J_i - J_i U_i^T)^{\\vee} + h_i \\times a_i - n_i^{ext}",
            )
        ),
        Paragraph(
            text(
                "Mass $m_i$, first moments $h_i = m_i c_i$ and second moments $J_i = \\int r r^T dm$ are about the "
                "body's origin, and $S^{\\vee} = (S_{zy}, S_{xz}, S_{yx})$; the moment is Euler's "
                "$I \\dot{\\omega} + \\omega \\times I \\omega$ in fewer products. $f^{ext}$ and $n^{ext}$ are what "
                "the environment exerts on the body."
            )
        ),
        Paragraph(text("From the tips to the root, each body once and after all of its children (2.32), (2.33):")),
        Equations(
            (
                "f_p &\\leftarrow f_p + R_i f_i",
                "n_p &\\leftarrow n_p + R_i n_i + r_i \\times R_i f_i",
            )
        ),
        Paragraph(
            text(
                "The joint's effort is the part along its motion: $\\tau_i = e_i^T n_i$ for a revolute joint, "
                "$\\tau_i = e_i^T f_i$ for a prismatic one, plus rotor inertia times acceleration where there is any."
            )
        ),
    ]


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
