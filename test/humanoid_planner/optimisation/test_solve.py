# SPDX-License-Identifier: Apache-2.0
"""One call for all solvers: the same solutions, and errors that name what is wrong."""

import dataclasses
import math

import numpy as np
import pytest
from fixtures.function_program import FunctionProgram
from fixtures.hock_schittkowski import PROBLEMS
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import ReturnCode, SolverOptions
from humanoid_planner.optimisation.solve import SOLVERS, solve

EXACT = SolverOptions(optimality_tolerance=1e-6)


@pytest.mark.feature("001-F066")
@pytest.mark.parametrize("number", [6, 43, 71, 113])
def test_solvers_can_be_exchanged(number: int) -> None:
    """F066: the program knows nothing of who solves it."""
    results = {}
    for solver in SOLVERS:
        program = PROBLEMS[number]()
        results[solver] = solve(program, program.start, solver=solver, options=EXACT)
        assert results[solver].success, results[solver].message
        assert results[solver].solver == solver
        assert_allclose(results[solver].x, program.solutions[0], atol=2e-3)
        assert_allclose(results[solver].objective, program.optimum, rtol=1e-5, atol=1e-5)
        assert results[solver].time > 0


@pytest.mark.parametrize("other", sorted(SOLVERS))
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_results_warm_start_any_solver(solver: str, other: str) -> None:
    program = PROBLEMS[71]()
    first = solve(program, program.start, solver=other, options=EXACT)
    again = solve(program, first.x, solver=solver, options=EXACT, warm_start=first)
    assert again.success, again.message
    assert_allclose(again.objective, program.optimum, rtol=1e-6)


@pytest.mark.feature("001-F088")
def test_what_the_last_solution_knew_saves_iterations() -> None:
    """From the solution itself, with its multipliers and without: an interior-point method has to find them again."""
    program = PROBLEMS[113]()
    first = solve(program, program.start, solver="ipopt", options=EXACT)
    with_them = solve(program, first.x, solver="ipopt", options=EXACT, warm_start=first)
    without = solve(program, first.x, solver="ipopt", options=EXACT)
    assert with_them.success
    assert without.success
    assert with_them.iterations < without.iterations


def test_the_fast_one_is_the_default_and_limits_have_defaults() -> None:
    program = PROBLEMS[43]()
    assert solve(program, program.start.tolist()).solver == "sqp"
    assert solve(program, program.start, options=SolverOptions(max_iterations=1)).code == ReturnCode.MAX_ITERATIONS


def test_mistakes_are_named() -> None:
    program = PROBLEMS[71]()
    with pytest.raises(InputError, match=r"solver: unknown solver 'snopt'\. Known are sqp, ipopt, feasible_sqp"):
        solve(program, program.start, solver="snopt")
    with pytest.raises(InputError, match=r"x0: shape \(3,\)\. Give 4 numbers"):
        solve(program, program.start[:3])
    with pytest.raises(InputError, match="x0: element 2 is nan"):
        solve(program, [1.0, 2.0, math.nan, 4.0])
    warm = dataclasses.replace(solve(program, program.start), multipliers=np.zeros(5))
    with pytest.raises(InputError, match=r"warm_start\.multipliers: shape \(5,\)"):
        solve(program, program.start, warm_start=warm)
    program.upper = np.array([5.0, 5.0, 5.0, math.nan])
    with pytest.raises(InputError, match="upper: element 3 is nan"):
        solve(program, program.start)
    program = PROBLEMS[71]()
    program.constraint_lower = np.zeros(3)
    with pytest.raises(InputError, match=r"constraint_lower: shape \(3,\)"):
        solve(program, program.start)


def test_start_is_not_changed() -> None:
    program = PROBLEMS[71]()
    start = np.array([-9.0, 9.0, 5.0, 1.0])
    for solver in SOLVERS:
        solve(program, start, solver=solver)
        assert_allclose(start, [-9, 9, 5, 1])


@pytest.mark.parametrize("solver", ["sqp", "feasible_sqp", "ipopt"])
def test_a_dense_program_larger_than_the_memory_is_refused(solver: str) -> None:
    size = 1_000_000
    program = FunctionProgram(size, lambda x: float(x @ x), lambda x: 2 * x)
    with pytest.raises(InputError, match=r"program: 1000000 variables and 0 constraints take \d+ GB of \d+ GB\. Make"):
        solve(program, np.zeros(size), solver=solver)
