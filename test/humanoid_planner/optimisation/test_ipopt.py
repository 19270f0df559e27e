# SPDX-License-Identifier: Apache-2.0
"""IPOPT behind the solvers' call: published optima, sparsity, return codes, exceptions, warm starts, no traces left."""

import gc
import math
import weakref

import numpy as np
import pytest
import scipy.sparse
from fixtures.function_program import FunctionProgram
from fixtures.hock_schittkowski import PROBLEMS
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_planner.optimisation import ipopt
from humanoid_planner.optimisation.ipopt import solve_ipopt
from humanoid_planner.optimisation.program import ReturnCode, SolverOptions, violation

INF = math.inf
EXACT = SolverOptions(optimality_tolerance=1e-7, equality_tolerance=1e-8, inequality_tolerance=2e-8)
DEFAULT = SolverOptions()


class Sparse(FunctionProgram):
    """Chain x[i+1] = x[i]² + 0.1 from x[0] = 0.3, its Jacobian sparse; one element comes in two parts."""

    def __init__(self, sparse: bool, size: int = 20) -> None:
        rows = [(lambda x: x[0], None, 0.3, 0.3, False)]
        rows += [(lambda x, i=i: x[i + 1] - x[i] ** 2, None, 0.1, 0.1, False) for i in range(size - 1)]
        super().__init__(size, lambda x: (x - 1) @ (x - 1), lambda x: 2 * (x - 1), rows, bounds=(-5, 5))
        self.sparse = sparse
        i = np.arange(size - 1)
        # Neither sorted nor each element once.
        self.rows = np.concatenate([i + 1, [0, 0], i + 1])
        self.columns = np.concatenate([i + 1, [0, 0], i])

    @property
    def nonzeros(self):
        if not self.sparse:
            return None
        return scipy.sparse.coo_array(
            (np.ones(len(self.rows)), (self.rows, self.columns)), shape=(self.size, self.size)
        )

    def jacobian(self, x):
        values = np.concatenate([np.ones(self.size - 1), [0.25, 0.75], -2 * x[:-1]])
        if self.sparse:
            return values
        return scipy.sparse.coo_array((values, (self.rows, self.columns)), shape=(self.size, self.size)).toarray()


@pytest.mark.parametrize("number", sorted(PROBLEMS))
def test_hock_schittkowski(number: int) -> None:
    program = PROBLEMS[number]()
    result = solve_ipopt(program, program.start, EXACT)
    assert result.code == ReturnCode.SUCCESS, result.message
    assert_allclose(result.objective, program.optimum, rtol=1e-6, atol=1e-6)
    assert result.residual <= 2e-8
    assert result.solver == "ipopt"
    assert 0 < result.iterations <= 60
    assert result.jacobian_evaluations == program.calls["jacobian"]
    gradient = program.objective_gradient(result.x)
    rest = gradient + program.jacobian(result.x).T @ result.multipliers + result.bound_multipliers
    assert np.abs(rest).max() <= 1e-5 * max(1.0, np.abs(gradient).max())


@pytest.mark.feature("001-F092")
def test_sparse_jacobian_is_the_dense_one() -> None:
    start = np.full(20, 0.5)
    dense, sparse = solve_ipopt(Sparse(False), start, EXACT), solve_ipopt(Sparse(True), start, EXACT)
    x = [0.3]
    for _ in range(19):
        x.append(x[-1] ** 2 + 0.1)
    assert_allclose(dense.x, x, atol=1e-7)
    assert_allclose(sparse.x, x, atol=1e-7)
    assert sparse.iterations == dense.iterations


def _square(lower: float, upper: float, shift: float = 0.0):
    return (lambda x: x @ x + shift, lambda x: 2 * x, lower, upper, False)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([_square(-INF, -1)], ReturnCode.INEQUALITIES_INFEASIBLE),
        ([_square(1, 1), (lambda x: x[0], lambda x: [1.0, 0.0], 2, 2, False)], ReturnCode.EQUALITIES_UNSATISFIED),
    ],
)
def test_contradictions_have_their_codes_and_least_violating_points(rows, code: ReturnCode) -> None:
    """Nothing below zero; no point of the unit circle at x = 2."""
    program = FunctionProgram(2, lambda x: x[0], lambda x: [1.0, 0.0], rows)
    start = np.array([1.5, 0.3])
    result = solve_ipopt(program, start, DEFAULT)
    assert result.code == code, result.message
    assert result.residual <= 1.05
    assert result.residual < 0.9 * np.abs(violation(program, program.constraints(start))).max()


def test_crossed_bounds_are_linearly_infeasible() -> None:
    program = FunctionProgram(1, lambda x: 0.0, lambda x: [0.0], bounds=(1.0, 0.0))
    assert solve_ipopt(program, np.zeros(1), DEFAULT).code == ReturnCode.LINEAR_INFEASIBLE


def test_limits_and_unbounded_objectives() -> None:
    program = PROBLEMS[113]()
    result = solve_ipopt(program, program.start, SolverOptions(max_iterations=3))
    assert (result.code, result.iterations) == (ReturnCode.MAX_ITERATIONS, 3)
    assert "3 iterations" in result.message
    result = solve_ipopt(program, program.start, SolverOptions(time_limit=1e-6))
    assert result.code == ReturnCode.TIME_LIMIT
    falling = FunctionProgram(1, lambda x: -(x[0] ** 3), lambda x: [-3 * x[0] ** 2])
    assert solve_ipopt(falling, np.ones(1), DEFAULT).code == ReturnCode.STEP_SEARCH_FAILED


@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["objective", "objective_gradient", "constraints", "jacobian"])
def test_exceptions_of_the_program_pass(kind: type[BaseException], where: str, capfd) -> None:
    program = PROBLEMS[71]()
    inner, count = getattr(program, where), []

    def failing(x):
        count.append(1)
        if len(count) == 3:
            raise kind("the simulator is gone")
        return inner(x)

    setattr(program, where, failing)
    with pytest.raises(kind, match="simulator is gone"):
        solve_ipopt(program, program.start, DEFAULT)
    assert len(count) == 3  # it isn't asked again
    assert capfd.readouterr() == ("", "")


def test_start_that_is_not_finite_is_the_callers_error() -> None:
    row = (lambda x: math.nan, lambda x: [1.0], 0, 1, False)
    with pytest.raises(InputError, match="constraint 0 is nan"):
        solve_ipopt(FunctionProgram(1, lambda x: 0.0, lambda x: [0.0], [row]), np.zeros(1), DEFAULT)


def test_values_out_of_the_domain_shorten_the_step() -> None:
    def value(x):
        return 0.05 * x[0] - math.log(x[0]) if x[0] > 0 else math.nan

    program = FunctionProgram(1, value, lambda x: 0.05 - 1 / x)
    result = solve_ipopt(program, np.array([3.0]), EXACT)
    assert result.success, result.message
    assert_allclose(result.x, 20.0, rtol=1e-3)


def test_program_may_keep_what_it_is_given() -> None:
    """CasADi's buffers change under way; points that the program sees don't."""
    seen = []
    program = PROBLEMS[43]()
    inner = program.constraints
    program.constraints = lambda x: (seen.append((x, x.copy())), inner(x))[1]
    assert solve_ipopt(program, program.start, DEFAULT).success
    assert len(seen) > 5
    for kept, copy in seen:
        assert_allclose(kept, copy)


def test_quiet_unless_verbose(capfd) -> None:
    program = PROBLEMS[71]()
    solve_ipopt(program, program.start, DEFAULT)
    assert capfd.readouterr() == ("", "")
    solve_ipopt(program, program.start, SolverOptions(verbose=True))
    assert "inf_pr" in capfd.readouterr().out


def test_warm_start_saves_iterations() -> None:
    """F088: from the solution of a slightly different problem, with its multipliers."""
    program = PROBLEMS[113]()
    first = solve_ipopt(program, program.start, EXACT)
    # Of the same problem, hardly anything is left to do: 12 iterations if the point were moved off its bounds again.
    assert solve_ipopt(program, first.x, EXACT, first).iterations <= 4
    program.constraint_lower = program.constraint_lower + 0.01
    cold = solve_ipopt(program, program.start, EXACT)
    warm = solve_ipopt(program, first.x, EXACT, first)
    assert warm.success
    assert_allclose(warm.objective, cold.objective, rtol=1e-6)
    assert warm.iterations < cold.iterations


def test_no_constraints_and_fixed_variables() -> None:
    program = FunctionProgram(2, lambda x: (x - 3) @ (x - 3), lambda x: 2 * (x - 3))
    program.lower, program.upper = np.array([-INF, 1.0]), np.array([INF, 1.0])
    result = solve_ipopt(program, np.zeros(2), EXACT)
    assert result.success, result.message
    assert_allclose(result.x, [3, 1], atol=1e-6)


def test_solutions_leave_nothing_behind() -> None:
    """No reference cycles: without the garbage collector, program and functions are gone at once."""
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            program = PROBLEMS[71]()
            solve_ipopt(program, program.start, DEFAULT)
            gone = weakref.ref(program)
            del program
            assert gone() is None
        assert not any(type(thing) is ipopt._Function for thing in gc.get_objects())  # isinstance() asks dead proxies
    finally:
        gc.enable()
