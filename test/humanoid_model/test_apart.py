# SPDX-License-Identifier: Apache-2.0
"""Kernels that are compiled apart from their callers."""

import subprocess
import sys
from pathlib import Path

import pytest

_MODULE = """
import numpy as np
from numba import njit

from humanoid_model.apart import apart, waited


@apart(error_model="numpy")
def scaled(a: np.ndarray, place: int, scale: float = 2.0) -> tuple[float, bool]:
    if place < 0:
        raise ValueError("no such place")
    return a[place] * scale, a[place] > 0.0


@apart()
def wrong(a: np.ndarray) -> int:
    return a[0]


@apart()
def rare(a: np.ndarray) -> float:
    return a.sum()


@njit(cache=True)
def total(a: np.ndarray) -> float:
    s = 0.0
    for i in range(a.size):
        value, positive = scaled(a, i)
        s += value if positive else 0.0
    if s > 100.0:
        s = rare(a)
    return s


@njit(cache=True)
def caller_of_caller(a: np.ndarray) -> float:
    return total(a) + scaled(a, -1 if a.size == 0 else 0, 1.0)[0]


@njit(cache=True)
def compilation_time(a: np.ndarray) -> tuple[int, int, int]:
    before = between = waited()
    for call in range(2):
        rare(a)
        if call == 0:
            between = waited()
    return before, between, waited()


@njit(cache=True)
def asks_wrong(a: np.ndarray) -> int:
    return wrong(a)
"""
_USE = """
import numpy as np
from kernels import asks_wrong, caller_of_caller, compilation_time, rare, scaled, total

print(caller_of_caller(np.array([3.0, -1.0])), scaled(np.array([3.0]), 0, 2.0))
print(len(scaled.dispatcher.overloads), len(rare.dispatcher.overloads))
print(sum(k.stats.cache_misses.total() for k in (caller_of_caller, total, scaled.dispatcher)))
before, between, after = compilation_time(np.ones(3))
print(0 < before, before + 1e6 < between, between == after)
for call in (caller_of_caller, asks_wrong):
    try:
        call(np.zeros(0) if call is caller_of_caller else np.zeros(1))
    except Exception as error:
        print(type(error).__name__, error)
print(scaled.for_types_of(np.zeros(1), 0, 1.0)(np.arange(3.0), 2, 2.0))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple["subprocess.CompletedProcess[str]", ...]:
    """The same use of a module in two processes, one after the other."""
    folder = tmp_path_factory.mktemp("apart")
    (folder / "kernels.py").write_text(_MODULE)
    (folder / "use.py").write_text(_USE)
    root = Path(__file__).parents[2]
    environment = {"PYTHONPATH": f"{folder}:{root}", "NUMBA_CACHE_DIR": str(folder / "cache"), "PATH": ""}
    command = [sys.executable, str(folder / "use.py")]
    return tuple(subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2))


def test_a_kernel_calls_one_that_is_compiled_apart_as_it_is_written(runs):
    assert runs[0].stdout.splitlines()[0] == "9.0 (6.0, True)"


def test_a_branch_that_is_not_taken_is_not_compiled(runs):
    assert runs[0].stdout.splitlines()[1].endswith(" 0")


def test_the_next_process_finds_all_of_it_in_the_cache(runs):
    assert runs[0].stdout.splitlines()[2] != "0"
    assert runs[1].stdout.splitlines()[2] == "0"
    assert runs[1].stdout.splitlines()[0] == runs[0].stdout.splitlines()[0]


def test_compiled_code_knows_how_long_it_has_waited_for_compilers(runs):
    assert runs[0].stdout.splitlines()[3] == "True True True"


def test_exceptions_come_through(runs):
    for run in runs:
        assert "ValueError no such place" in run.stdout


def test_a_result_that_is_not_of_the_annotated_type_is_refused(runs):
    assert "RuntimeError wrong could not be compiled" in runs[0].stdout
    assert "wrong returns float64, annotated is int64" in runs[0].stderr


def test_what_is_found_for_the_types_of_arguments_runs_their_code(runs):
    assert runs[0].stdout.splitlines()[6] == "(4.0, True)"
