# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from humanoid_codegen.expression.function import Argument, Function, Result, count_operations, evaluate
from humanoid_codegen.expression.graph import Expression, Graph, Operation, reachable


@pytest.fixture
def xy():
    graph = Graph()
    return graph.symbol("x"), graph.symbol("y")


def function_of(symbols, results):
    argument = Argument("s", (len(symbols),), tuple(symbols), "")
    return Function("f", (argument,), (Result("r", (len(results),), tuple(results), ""),), "")


def test_zeros_and_ones_disappear(xy):
    x, _ = xy
    assert x + 0.0 is x
    assert 0.0 + x is x
    assert x - 0.0 is x
    assert x * 1.0 is x
    assert 1.0 * x is x
    assert x / 1.0 is x
    for nothing in (x * 0.0, 0.0 * x, x - x, 0.0 / x):
        assert nothing == 0.0
        assert not isinstance(nothing, Expression)
    assert x / x == 1.0


def test_what_exists_is_given_out_again(xy):
    x, y = xy
    assert x + y is y + x
    assert x * y is y * x
    assert (x + y) * (x * y) is (y * x) * (y + x)
    assert x.sin() is x.sin()
    assert (-x).sin().operands[0] is x.sin()
    assert (-x).cos() is x.cos()
    assert x.graph.symbol("x") is x


def test_signs_move_outwards(xy):
    x, y = xy
    negated = -x
    assert -negated is x
    assert (-x) * (-y) is x * y
    assert (x + (-y)) is x - y
    assert ((-x) - y).operands[0] is x + y
    assert (y - x).operands[0] is x - y  # the difference made first serves both
    assert (x * -2.0).operands[0] is 2.0 * x
    assert ((-x) / y).operands[0] is x / y


def test_constants_fold(xy):
    x, _ = xy
    assert 2.0 * (3.0 * x) is 6.0 * x
    assert x + x is 2.0 * x
    assert 2.0 * x + 3.0 * x is 5.0 * x
    assert 3.0 * x - 3.0 * x == 0.0
    assert x / 4.0 is 0.25 * x
    assert (2.0 * x - x) is x
    assert (x + 2.0) + 3.0 is x + 5.0
    assert (x - 2.0) + 2.0 is x
    assert 5.0 - (2.0 - x) is x + 3.0
    assert (2.0 - x) - 3.0 is -(x + 1.0)
    assert x.graph.sine(0.5) == math.sin(0.5)
    assert x.graph.cosine(0.5) == math.cos(0.5)
    assert x.graph.square_root(4.0) == 2.0


def test_division_by_zero_is_refused(xy):
    with pytest.raises(ZeroDivisionError):
        xy[0] / 0.0


def random_expression(rng, symbols, size):
    """Expressions made at random, with a function that computes the last ones with plain numbers."""
    values = list(symbols)
    recipe = []
    for _ in range(size):
        kind = rng.choice(["add", "subtract", "multiply", "divide", "negate", "sin", "cos", "sqrt", "scale", "shift"])
        i, j = (int(k) for k in rng.integers(len(values), size=2))
        constant = float(rng.choice([-2.0, -1.0, 0.0, 1.0, 0.5, 3.0]))
        recipe.append((kind, i, j, constant))
        values.append(perform(kind, values[i], values[j], constant))
    return values[-8:], recipe


def perform(kind, a, b, constant):
    if kind == "add":
        return a + b
    if kind == "subtract":
        return a - b
    if kind == "multiply":
        return a * b
    if kind == "divide":
        return a / (2.5 + b * b)
    if kind == "negate":
        return -a
    if kind == "scale":
        return constant * a
    if kind == "shift":
        return constant - a
    if kind == "sqrt":
        return square_root(1.5 + a * a)
    return a.sin() if kind == "sin" and isinstance(a, Expression) else (
        a.cos() if isinstance(a, Expression) else (np.sin(a) if kind == "sin" else np.cos(a))
    )


def square_root(x):
    return x.sqrt() if isinstance(x, Expression) else np.sqrt(x)


@pytest.mark.parametrize("seed", range(40))
def test_folded_expressions_keep_their_value(seed):
    rng = np.random.default_rng(seed)
    graph = Graph()
    symbols = [graph.symbol(name) for name in "abc"]
    results, recipe = random_expression(rng, symbols, 40)
    numbers = rng.normal(size=3)
    values = list(numbers)
    for kind, i, j, constant in recipe:
        values.append(perform(kind, values[i], values[j], constant))
    computed = evaluate(function_of(symbols, results), [numbers])[0]
    np.testing.assert_allclose(np.array(computed, dtype=float), values[-8:], rtol=1e-9, atol=1e-9)


def test_evaluation_takes_batches(xy):
    x, y = xy
    batch = np.arange(6.0).reshape(2, 3)
    (product, two) = evaluate(function_of([x, y], [x * y + 1.0, 2.0]), [[batch, batch]])[0]
    np.testing.assert_array_equal(product, batch * batch + 1)
    assert two == 2.0


def test_nodes_come_after_their_operands(xy):
    x, y = xy
    result = (x + y).sin() * (x + y) - y
    nodes = reachable([result, 3.0])
    places = {node.index: k for k, node in enumerate(nodes)}
    assert nodes[-1] is result
    assert all(places[operand.index] < places[node.index] for node in nodes for operand in node.operands)
    assert {node.operation for node in nodes} >= {Operation.SYMBOL, Operation.ADD, Operation.SINE}


def test_operations_are_counted_once(xy):
    x, y = xy
    common = x * y
    count = count_operations(function_of([x, y], [common + x, common - y, -common, common / x, x.cos(), y.sqrt(), 0.0]))
    assert (count.multiplications, count.additions, count.divisions) == (1, 2, 1)
    assert (count.negations, count.trigonometric, count.square_roots) == (1, 1, 1)
    assert count.arithmetic == 3


def test_uses_are_counted(xy):
    x, y = xy
    common = x * y
    function = function_of([x, y], [common + x, common, common * common])
    assert function.use_counts[common.index] == 4


def test_a_result_needs_as_many_entries_as_its_shape(xy):
    with pytest.raises(ValueError, match="result 'r': 1 entries for shape"):
        Result("r", (2,), (xy[0],), "")


def test_nodes_show_what_they_are(xy):
    x, y = xy
    assert repr(x) == "x"
    assert repr(x * y).endswith("= multiply(x, y)")
    assert repr(x.graph.constant(2.5)) == "2.5"
