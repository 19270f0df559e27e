# SPDX-License-Identifier: Apache-2.0
import pytest

from humanoid_codegen.expression.function import Argument, Function, Result
from humanoid_codegen.expression.graph import Expression, Graph, named
from humanoid_codegen.languages.statements import (
    MAX_STATEMENT_SIZE,
    Body,
    Spelling,
    wrap_expression,
    write_body,
)

SPELLING = Spelling(frozenset(), lambda array, argument, position: f"{array}[{position}]")


def body_of(graph: Graph, *entries: Expression | float, joints: tuple[str, ...] = ()) -> Body:
    symbols = tuple(node for node in graph.nodes if node.operation == 1)
    q = Argument("q", (len(symbols),), symbols, "")
    return write_body(Function("f", (q,), (Result("y", (len(entries),), entries, ""),), ""), SPELLING, joints)


def text_of(expression: Expression | float, graph: Graph) -> str:
    return body_of(graph, expression).statements[-1].text


def test_parentheses_stand_only_where_the_order_of_rounding_needs_them() -> None:
    graph = Graph()
    a, b, c, d = (graph.symbol(f"q_{name}") for name in "abcd")
    q = dict(zip("abcd", ("q_a", "q_b", "q_c", "q_d"), strict=True))
    for expression, text in (
        (a + b * c, "a + b*c"),
        ((a + b) * c, "c*(a + b)"),
        (a - (b - c), "a - (b - c)"),
        (a + (c + d), "c + d + a"),
        (a * (c * d), "c*d*a"),
        (a / (c * d), "a/(c*d)"),
        (a / c * d, "a/c*d"),
        (2.0 * a - 0.5, "2.0*a - 0.5"),
        (a - 2.0 * (b * c), "a - 2.0*(b*c)"),
    ):
        written = text_of(expression, graph)
        for letter, own in q.items():
            written = written.replace(own, letter)
        assert sorted(written) == sorted(text)
        assert written.count("(") == text.count("(")


def test_a_sign_is_part_of_what_uses_it() -> None:
    graph = Graph()
    a, b = graph.symbol("q_a"), graph.symbol("q_b")
    product = 3.0 * a * b
    body = body_of(graph, product, -product, -(a + b))
    assert [statement.identifier for statement in body.statements] == ["y_0", "y_2"]
    assert body.values == (("y_0", "-y_0", "-y_2"),)


def test_sine_and_cosine_are_neighbours_named_after_the_joint() -> None:
    graph = Graph()
    a, b = graph.symbol("q_a"), graph.symbol("q_b")
    body = body_of(graph, a.sin() + b.sin() * a.cos() * b.cos())
    assert [statement.identifier for statement in body.statements][:4] == ["sin_a", "cos_a", "sin_b", "cos_b"]


def test_named_quantities_are_statements_under_their_joint() -> None:
    graph = Graph()
    a, b = graph.symbol("q_a"), graph.symbol("q_b")
    omega = named("omega_left knee", (a + b, a * b, 0.0))
    body = body_of(graph, omega[0] * omega[1], joints=("knee", "left knee"))
    assert [section.title for section in body.sections] == ["left knee: omega", "results"]
    assert [statement.identifier for statement in body.statements] == ["omega_left_knee_x", "omega_left_knee_y", "y_0"]


def test_long_sums_are_cut_and_deep_ones_need_no_recursion() -> None:
    graph = Graph()
    symbols = [graph.symbol(f"q_{k}") for k in range(5000)]
    total: Expression | float = 0.0
    for symbol in symbols:
        total = total + symbol
    body = body_of(graph, total)
    assert len(body.statements) > 5000 / MAX_STATEMENT_SIZE
    assert max(statement.text.count("+") for statement in body.statements) < MAX_STATEMENT_SIZE


@pytest.mark.parametrize("width", [30, 60, 120])
def test_wrapped_lines_fit_and_say_the_same(width: int) -> None:
    text = " + ".join(f"factor_{k}*other_{k} - third_{k}" for k in range(20))
    lines = wrap_expression(text, 4, 8, width)
    assert " ".join(lines) == text
    assert all(len(line) + (8 if k else 4) <= width for k, line in enumerate(lines))
