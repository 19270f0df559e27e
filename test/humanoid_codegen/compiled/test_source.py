# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from humanoid_codegen.compiled import compile_functions, source
from humanoid_codegen.compiled.shared_object import find_compiler
from humanoid_codegen.compiled.source import c_source
from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import Argument, Function, Result
from humanoid_codegen.expression.graph import Graph

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def function_of(expressions):
    graph = Graph()
    x = graph.symbol("x")
    results = (Result("y", (len(expressions),), tuple(e(x) for e in expressions), ""),)
    return Function("f", (Argument("x", (1,), (x,), ""),), results, "")


def test_sine_and_cosine_are_as_good_as_the_c_library():
    f = compile_functions(function_of((lambda x: x.sin(), lambda x: x.cos()))).f
    rng = np.random.default_rng(5)
    multiples = np.arange(-70_000, 70_000, 7) * (np.pi / 2)
    x = np.concatenate([
        rng.uniform(-4, 4, 20_000),
        rng.uniform(-1e5, 1e5, 20_000),
        rng.uniform(-1e12, 1e12, 500),
        multiples,
        np.nextafter(multiples, 1e9),
        10.0 ** rng.uniform(-300, -1, 500),
        [0.0, 1e5, -1e5, np.nextafter(1e5, 2e5), np.pi, 5e-324],
    ])
    y = f(x[:, None])
    for computed, library in ((y[:, 0], np.sin(x)), (y[:, 1], np.cos(x))):
        assert (np.abs(computed - library) / np.spacing(np.abs(library))).max() <= 2.0


def test_angles_that_no_number_is_known_for_give_nan():
    f = compile_functions(function_of((lambda x: x.sin(), lambda x: x.cos()))).f
    y = f(np.array([np.nan, np.inf, -np.inf, 1.0] * 5)[:, None])
    assert np.isnan(y.reshape(5, 4, 2)[:, :3]).all()
    assert np.isfinite(y.reshape(5, 4, 2)[:, 3]).all()


def test_nested_sines_roots_constants_and_arguments_themselves():
    expressions = (
        lambda x: ((x.sin() * 2.0 + x).cos() + 1.5).sqrt(),
        lambda x: x,
        lambda x: 3.0,
        lambda x: -x / (x * x + 1.0),
        lambda x: 0.0,
        lambda x: x.graph.constant(2.5),
    )
    f = compile_functions(function_of(expressions)).f
    x = np.linspace(-3.0, 3.0, 19)
    expected = [np.sqrt(np.cos(2.0 * np.sin(x) + x) + 1.5), x, 3.0 + 0 * x, -x / (x * x + 1.0), 0 * x, 2.5 + 0 * x]
    assert np.abs(f(x[:, None]) - np.array(expected).T).max() < 1e-14
    assert np.abs(np.array([f(value[None]) for value in x]) - np.array(expected).T).max() < 1e-14


def test_functions_in_parts_equal_those_in_one_piece(monkeypatch):
    function = DynamicModel("tree4").function("direct_dynamics")
    rng = np.random.default_rng(2)
    arguments = [rng.normal(size=(19, *argument.shape)) for argument in function.arguments]
    whole_source = c_source(function)
    whole = compile_functions(function).direct_dynamics(*arguments)
    monkeypatch.setattr(source, "_WHOLE", 20)
    monkeypatch.setattr(source, "_LENGTH", 20)
    assert c_source(function).count("PART void") > 8 > whole_source.count("PART void")
    cut = compile_functions(function).direct_dynamics(*arguments)
    assert np.abs(cut - whole).max() <= 1e-12 * np.abs(whole).max()


def test_angle_past_1e5_takes_neighbours_along_unharmed():
    f = compile_functions(function_of((lambda x: x.sin(),))).f
    x = np.linspace(-2.0, 2.0, 16)
    x[3] = 1e7
    assert np.abs(f(x[:, None])[:, 0] - np.sin(x)).max() < 1e-15


def test_very_long_functions_take_states_one_by_one(monkeypatch):
    function = DynamicModel("tree4").function("direct_dynamics_derivatives")
    monkeypatch.setattr(source, "MAX_BATCHED_NODES", len(function.nodes) - 1)
    assert "several" not in c_source(function)
    f = compile_functions(function).direct_dynamics_derivatives
    states = np.random.default_rng(0).normal(size=(3, 21, 4))
    together = f(*states)
    for k in range(21):
        for many, one in zip(together, f(*states[:, k]), strict=True):
            np.testing.assert_array_equal(many[k], one)
