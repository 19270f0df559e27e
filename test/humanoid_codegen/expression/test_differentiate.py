# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from humanoid_codegen.expression.differentiate import derivative, directional_derivatives, substitute
from humanoid_codegen.expression.function import Argument, Function, Result, evaluate
from humanoid_codegen.expression.graph import Graph


def compute(symbols, entries, numbers):
    argument = Argument("s", (len(symbols),), tuple(symbols), "")
    function = Function("f", (argument,), (Result("r", (len(entries),), tuple(entries), ""),), "")
    return np.array(evaluate(function, [numbers])[0], dtype=float)


def expressions():
    graph = Graph()
    x, y, z = (graph.symbol(name) for name in "xyz")
    results = [
        x * y + 3.0 * z,
        (x - y) / (z * z + 1.0),
        (x * z).sin() * y.cos() - 2.0,
        (x * x + y * y + 1.0).sqrt() / (3.0 - y * y),
        -(x * x) + 1.0 / (2.0 + z * z),
        7.0,
        z,
        x - 2.0 * x,
    ]
    return (x, y, z), results


@pytest.mark.parametrize("seed", range(5))
def test_derivatives_agree_with_differences(seed):
    symbols, results = expressions()
    at = np.random.default_rng(seed).normal(size=3) * 0.7
    J = compute(symbols, [entry for row in derivative(results, symbols) for entry in row], at).reshape(-1, 3)
    step = 1e-6
    ahead, behind = (
        np.array([compute(symbols, results, at + sign * step * e) for e in np.eye(3)]).T for sign in (1, -1)
    )
    differences = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(J, differences, atol=1e-8)


def test_what_does_not_depend_has_the_number_zero_as_derivative():
    symbols, results = expressions()
    J = derivative(results, symbols)
    assert J[5] == [0.0, 0.0, 0.0]
    assert J[6] == [0.0, 0.0, 1.0]
    assert J[0][2] == 3.0


def test_directions_change_several_symbols_at_once():
    (x, y, z), results = expressions()
    J = derivative(results, (x, y, z))
    seeds = {x.index: {0: 2.0}, y.index: {0: z, 1: 1.0}}
    rows = directional_derivatives(results, seeds, 2)
    at = np.array([0.3, -0.8, 1.1])
    full = compute((x, y, z), [entry for row in J for entry in row], at).reshape(-1, 3)
    along = compute((x, y, z), [entry for row in rows for entry in row], at).reshape(-1, 2)
    np.testing.assert_allclose(along, full @ np.array([[2.0, 0.0], [at[2], 1.0], [0.0, 0.0]]), atol=1e-12)


def test_substitution_puts_expressions_in_place_of_symbols():
    (x, y, z), results = expressions()
    replaced = substitute(results, {x.index: y * z, y.index: 0.5})
    at = np.array([0.3, -0.8, 1.1])
    expected = compute((x, y, z), results, [at[1] * at[2], 0.5, at[2]])
    np.testing.assert_allclose(compute((x, y, z), replaced, at), expected, atol=1e-12)
    assert replaced[6] is z  # untouched
    assert substitute([x * z], {x.index: 0.0}) == [0.0]
