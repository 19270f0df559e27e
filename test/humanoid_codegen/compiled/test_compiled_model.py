# SPDX-License-Identifier: Apache-2.0
import dataclasses
import threading

import numpy as np
import pytest
from fixtures.generated_functions import compute
from fixtures.pinocchio_dynamics import State, random_state, reference

from humanoid_codegen.compiled import compile_functions
from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import Function, Module, Result
from humanoid_model import InputError

pytestmark = pytest.mark.feature("004-F52")

NEWTON_EULER = ("inverse_dynamics", "bias", "mass_matrix")


def states_of(model, count):
    rng = np.random.default_rng(3)
    return [dataclasses.asdict(random_state(model.mechanism, model.robot.model, rng)) for _ in range(count)]


def call(compiled, state):
    """Results by name."""
    results = compiled(*(state[argument.name] for argument in compiled.function.arguments))
    results = results if isinstance(results, tuple) else (results,)
    return {result.name: array for result, array in zip(compiled.function.results, results, strict=True)}


def assert_close(actual, expected, tolerance):
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max(initial=0.0) <= tolerance * max(1.0, np.abs(expected).max(initial=0.0))


@pytest.fixture(scope="module")
def hrp2():
    return DynamicModel("hrp2")


@pytest.fixture(scope="module")
def tree4():
    return DynamicModel("tree4")


@pytest.mark.parametrize("robot", ["robot_2r_a", "tree4"])
def test_every_function_equals_its_expressions_and_pinocchio(robot, backend):
    model = DynamicModel(robot)
    # Derivatives of a free-floating robot would take the compiler seconds.
    names = [name for name in model.builders if robot == "robot_2r_a" or "derivatives" not in name]
    compiled = compile_functions([model.function(name) for name in names])
    (state,) = states_of(model, 1)
    for name, function in compiled.functions.items():
        assert function.backend == backend
        expected = compute(model, name, **state)
        for result, array in call(function, state).items():
            assert_close(array, expected[result], 1e-12)
    mine = {name: call(function, state) for name, function in compiled.functions.items()}
    told = reference(model.robot, model.mechanism, State(**state))
    for (name, result), array in told.items():
        if name in mine:
            assert_close(mine[name][result], array, 1e-10)


def test_hrp2_equals_pinocchio(hrp2, backend):
    compiled = compile_functions([hrp2.function(name) for name in (*NEWTON_EULER, "direct_dynamics", "kinematics")])
    (state,) = states_of(hrp2, 1)
    for (name, result), expected in reference(hrp2.robot, hrp2.mechanism, State(**state)).items():
        if name in compiled.functions:
            assert_close(call(compiled.functions[name], state)[result], expected, 1e-10)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 37])
def test_many_states_equal_single_states(hrp2, backend, count):
    compiled = compile_functions([hrp2.function(name) for name in NEWTON_EULER])
    states = states_of(hrp2, count)
    for function in compiled.functions.values():
        names = [argument.name for argument in function.function.arguments]
        shapes = [argument.shape for argument in function.function.arguments]
        stacked = [
            np.array([state[name] for state in states]).reshape(count, *shape)
            for name, shape in zip(names, shapes, strict=True)
        ]
        together = function(*stacked)
        assert together.shape == (count, *function.function.results[0].shape)
        for k, state in enumerate(states):
            assert_close(together[k], function(*(state[name] for name in names)), 1e-13)


def test_results_are_written_in_place_without_touching_more(tree4, backend):
    function = compile_functions(tree4.function("inverse_dynamics")).inverse_dynamics
    states = states_of(tree4, 11)
    q, v, a = (np.array([state[name] for state in states]) for name in ("q", "v", "a"))
    store = np.full((13, tree4.mechanism.nv), 7.0)
    out = store[1:12]
    assert function(q, v, a, out=out) is out
    assert_close(out, function(q, v, a), 0.0)
    assert (store[[0, 12]] == 7.0).all()
    single = np.empty(tree4.mechanism.nv)
    assert function(q[4], v[4], a[4], out=single) is single
    assert_close(single, out[4], 1e-13)


def test_several_results_come_as_a_tuple_and_are_written_in_place(tree4, backend):
    energies = compile_functions(tree4.function("energies")).energies
    (state,) = states_of(tree4, 1)
    results = energies(state["q"], state["v"])
    out = tuple(np.full_like(result, np.nan) for result in results)
    assert energies(state["q"], state["v"], out=out) is out
    assert all((left == right).all() for left, right in zip(results, out, strict=True))
    assert results[2].shape == ()
    assert results[2] == pytest.approx(results[0].sum(), rel=1e-12)


def test_constant_entries_are_written_each_time(hrp2, backend):
    function = compile_functions(hrp2.function("mass_matrix")).mass_matrix
    (state,) = states_of(hrp2, 1)
    out = np.full((9, hrp2.mechanism.nv, hrp2.mechanism.nv), np.nan)
    function(np.tile(state["q"], (9, 1)), out=out)
    assert np.isfinite(out).all()
    assert (out[0] == 0.0).any()


def test_other_real_numbers_are_converted(tree4, backend):
    function = compile_functions(tree4.function("bias")).bias
    (state,) = states_of(tree4, 1)
    q, v = state["q"], state["v"]
    expected = function(q, v)
    assert (function(list(q), np.repeat(v, 2)[::2]) == expected).all()
    q.flags.writeable = False
    assert (function(q, v) == expected).all()
    swapped = v.astype(">f8")
    assert (function(q, swapped) == expected).all()
    rounded = v.astype(np.float32)
    assert (function(q, rounded) == function(q, rounded.astype(float))).all()
    unaligned = np.frombuffer(b"x" + v.tobytes(), dtype=np.uint8)[1:].view(float)
    assert (function(q, unaligned) == expected).all()


def test_an_argument_of_one_state_holds_for_many(tree4, backend):
    function = compile_functions(tree4.function("bias")).bias
    states = states_of(tree4, 5)
    v = np.array([state["v"] for state in states])
    together = function(states[0]["q"], v)
    for k in range(5):
        assert_close(together[k], function(states[0]["q"], v[k]), 1e-13)


def test_nan_comes_out_where_it_goes_in(hrp2, backend):
    function = compile_functions(hrp2.function("inverse_dynamics")).inverse_dynamics
    state = states_of(hrp2, 1)[0]
    q, v, a = state["q"], state["v"], state["a"]
    for value in (np.nan, np.inf):
        broken = q.copy()
        broken[10] = value
        with np.errstate(invalid="ignore"):
            assert np.isnan(function(broken, v, a)).any()
        many = np.tile(q, (16, 1))
        many[5, 10] = value
        tau = function(many, np.tile(v, (16, 1)), np.tile(a, (16, 1)))
        assert list(np.flatnonzero(np.isnan(tau).any(axis=1))) == [5]
    v[0] = np.nan
    assert np.isnan(function(q, v, a)).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: (x[0], x[1]), r"inverse_dynamics: 2 arguments\. Give q\[5\], v\[4\], a\[4\]\."),
        (lambda x: (x[0], x[1], x[2][:-1]), "a: has shape"),
        (lambda x: (x[0], x[1], np.zeros((2, 2, len(x[2])))), "a: has shape"),
        (lambda x: (x[0], x[1], 3.0), "a: has shape"),
        (lambda x: (x[0], x[1], x[2] + 0j), "a: holds complex128"),
        (lambda x: (x[0], x[1], ["a"] * len(x[2])), "a: holds <U1"),
        (lambda x: (x[0], x[1], [[1.0], [1.0, 2.0]]), "a: isn't an array"),
        (lambda x: (np.tile(x[0], (2, 1)), np.tile(x[1], (3, 1)), x[2]), "numbers of states differ: q 2, v 3"),
    ],
)
def test_arguments_of_wrong_size_or_kind_are_refused(tree4, backend, change, message):
    function = compile_functions(tree4.function("inverse_dynamics")).inverse_dynamics
    (state,) = states_of(tree4, 1)
    sizes = [argument.shape[0] for argument in function.function.arguments]
    message = message.replace("q\\[5\\]", f"q\\[{sizes[0]}\\]").replace("v\\[4\\]", f"v\\[{sizes[1]}\\]")
    message = message.replace("a\\[4\\]", f"a\\[{sizes[2]}\\]")
    with pytest.raises(InputError, match=message):
        function(*change([state["q"], state["v"], state["a"]]))


def test_arrays_that_cannot_be_written_to_are_refused(tree4, backend):
    function = compile_functions(tree4.function("inverse_dynamics")).inverse_dynamics
    (state,) = states_of(tree4, 1)
    arguments = state["q"], state["v"], state["a"]
    n = tree4.mechanism.nv
    read_only = np.zeros(n)
    read_only.flags.writeable = False
    for out, message in (
        (np.zeros(n + 1), "out has shape"),
        (np.zeros((1, n)), "out has shape"),
        (np.zeros(n, dtype=np.float32), "out holds float32"),
        (np.zeros(2 * n)[::2], "out isn't contiguous"),
        ([0.0] * n, "out is a list"),
        (read_only, "out is read-only"),
        (state["a"], "out shares memory with a"),
    ):
        before = np.array(out)
        with pytest.raises(InputError, match=f"inverse_dynamics: tau: {message}"):
            function(*arguments, out=out)
        assert (np.array(out) == before).all()


def test_two_threads_get_what_one_gets(hrp2, backend):
    function = compile_functions(hrp2.function("inverse_dynamics")).inverse_dynamics
    states = states_of(hrp2, 24)
    q, v, a = (np.array([state[name] for state in states]) for name in ("q", "v", "a"))
    expected = function(q, v, a)
    different = []

    def work(shift):
        for k in range(50):
            order = np.roll(np.arange(24), 8 * (shift + k))
            if not (function(q[order], v[order], a[order]) == expected[order]).all():
                different.append(k)
            if not np.allclose(function(q[k % 24], v[k % 24], a[k % 24]), expected[k % 24], rtol=0, atol=1e-9):
                different.append(k)

    threads = [threading.Thread(target=work, args=(shift,)) for shift in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert different == []


def test_progress_names_each_function_once(tree4):
    told = []
    module = Module("m", "m", tuple(tree4.function(name) for name in NEWTON_EULER), (), (), ())
    model = compile_functions(module, progress=told.append)
    assert [item.fraction for item in told] == [1 / 3, 2 / 3, 1.0]
    assert sorted(item.stage for item in told) == sorted(NEWTON_EULER)
    assert list(model.functions) == list(NEWTON_EULER)
    assert "bias" in dir(model)
    with pytest.raises(AttributeError, match="no compiled function 'energies'"):
        _ = model.energies


def test_functions_that_cannot_be_called_are_refused(tree4):
    bias = tree4.function("bias")
    with pytest.raises(InputError, match="function 'bias': is given twice"):
        compile_functions([bias, bias])
    with pytest.raises(InputError, match="no arguments"):
        compile_functions(Function("constant", (), (Result("x", (), (1.0,), ""),), ""))


def test_without_a_compiler_numba_is_used(tree4, hidden_compiler):
    assert compile_functions(tree4.function("bias")).bias.backend == "numba"


def test_cc_that_does_not_run_is_told(tree4, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -O2")
    with pytest.warns(RuntimeWarning, match="CC is 'no-such-compiler -O2', which doesn't run; numba is used"):
        assert compile_functions(tree4.function("bias")).bias.backend == "numba"


def test_compiler_that_refuses_is_told(tree4, monkeypatch, tmp_path):
    compiler = tmp_path / "broken-cc"
    compiler.write_text("#!/bin/sh\ncase \"$*\" in *--version*|*-dM*) echo ok;; *) echo no way >&2; exit 1;; esac\n")
    compiler.chmod(0o700)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.warns(RuntimeWarning, match=r"bias: .*broken-cc fails: no way; numba is used"):
        assert compile_functions(tree4.function("bias")).bias.backend == "numba"
