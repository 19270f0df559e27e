# SPDX-License-Identifier: Apache-2.0
import ctypes

import numba
import numpy as np
import pytest

from humanoid_codegen.compiled import call_compiled, compile_functions
from humanoid_codegen.dynamics.dynamic_model import DynamicModel


@pytest.fixture(scope="module")
def bias():
    return DynamicModel("robot_2r_a").function("bias")


@numba.njit
def run_states(address, q, v, b):
    for k in range(q.shape[0]):
        call_compiled(address, (q[k], v[k], b[k]))


def test_numba_loop_equals_python(bias, backend):
    function = compile_functions(bias).bias
    q, v = np.random.default_rng(1).normal(size=(2, 6, 2))
    b = np.empty_like(q)
    run_states(function.address, q, v, b)
    assert np.abs(b - function(q, v)).max() < 1e-12
    assert np.abs(b).min() > 0.0


def test_addresses_are_those_of_c_functions(bias, backend):
    function = compile_functions(bias).bias
    q, v = np.random.default_rng(1).normal(size=(2, 11, 2))
    expected = function(q, v)
    b = np.empty_like(q)
    pointers = [array.ctypes.data for array in (q, v, b)]
    many = ctypes.CFUNCTYPE(None, ctypes.c_ssize_t, *[ctypes.c_void_p] * 3)(function.many_address)
    many(11, *pointers)
    assert np.abs(b - expected).max() < 1e-12
    b[:] = np.nan
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(function.address)(*pointers)
    assert np.abs(b[0] - expected[0]).max() < 1e-12
    assert np.isnan(b[1:]).all()


def test_arrays_of_another_kind_do_not_compile(bias):
    address = compile_functions(bias).bias.address
    good = np.zeros((4, 2))
    for bad in (good.astype(np.float32), np.zeros((2, 4)).T):
        with pytest.raises(numba.TypingError, match="float64 arrays in C order"):
            run_states(address, bad, good, good.copy())
