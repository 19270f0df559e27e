# SPDX-License-Identifier: Apache-2.0
"""SQP: published optima, conditions of optimality, hard starts, dependent and contradicting constraints, codes."""

import math

import numpy as np
import pytest
import scipy.sparse
from fixtures.function_program import FunctionProgram
from fixtures.hock_schittkowski import PROBLEMS
from fixtures.posture_problems import HALF_SITTING, HRP2, WALL, feet_and_hand
from numpy.testing import assert_allclose

from humanoid_model import Stance, Surface
from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import NonlinearProgram, ReturnCode, SolverOptions
from humanoid_planner.optimisation.trust_region_sqp import solve_sqp
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements

INF = math.inf
EXACT = SolverOptions(optimality_tolerance=1e-6, equality_tolerance=1e-8, inequality_tolerance=1e-8)
DEFAULT = SolverOptions()


class Wrapped(NonlinearProgram):
    """Another program with its constraints repeated, or its Jacobian given by a pattern."""

    def __init__(self, program: NonlinearProgram, repeat: int = 1, pattern=None) -> None:
        self.program, self.repeat, self.pattern = program, repeat, pattern
        self.lower, self.upper = program.lower, program.upper
        self.constraint_lower = np.tile(program.constraint_lower, repeat)
        self.constraint_upper = np.tile(program.constraint_upper, repeat)
        self.linear = np.tile(program.linear, repeat)

    @property
    def nonzeros(self):
        return self.pattern

    def objective(self, x):
        return self.program.objective(x)

    def objective_gradient(self, x):
        return self.program.objective_gradient(x)

    def objective_hessian(self, x):
        return self.program.objective_hessian(x)

    def constraints(self, x):
        return np.tile(self.program.constraints(x), self.repeat)

    def jacobian(self, x):
        J = np.tile(self.program.jacobian(x), (self.repeat, 1))
        return J if self.pattern is None else J[self.pattern.row, self.pattern.col]


def _assert_optimal(program: NonlinearProgram, result, tolerance: float = 1e-6) -> None:
    gradient = program.objective_gradient(result.x)
    values = program.constraints(result.x)
    scale = max(1.0, np.abs(gradient).max())
    rest = gradient + program.jacobian(result.x).T @ result.multipliers + result.bound_multipliers
    assert np.abs(rest).max() <= 2 * tolerance * scale
    near = 1e-4
    assert (result.multipliers[values < program.constraint_upper - near] <= tolerance * scale).all()
    assert (result.multipliers[values > program.constraint_lower + near] >= -tolerance * scale).all()
    assert (result.bound_multipliers[result.x < program.upper - near] <= tolerance * scale).all()
    assert (result.bound_multipliers[result.x > program.lower + near] >= -tolerance * scale).all()


@pytest.mark.feature("001-F061")
@pytest.mark.parametrize("number", sorted(PROBLEMS))
def test_hock_schittkowski(number: int) -> None:
    program = PROBLEMS[number]()
    result = solve_sqp(program, program.start, EXACT)
    assert result.code == ReturnCode.SUCCESS, result.message
    assert_allclose(result.objective, program.optimum, rtol=1e-7, atol=1e-6)
    assert result.residual <= 1e-8
    assert result.iterations <= 40
    assert result.evaluations >= result.iterations
    assert program.calls["jacobian"] == result.jacobian_evaluations
    assert result.solver == "sqp"
    if program.solutions:
        assert min(np.abs(result.x - solution).max() for solution in program.solutions) < 1e-3
    _assert_optimal(program, result)


@pytest.mark.parametrize("number", [35, 43, 65, 100, 113])
def test_convex_problems_are_solved_from_poor_starts(number: int) -> None:
    rng = np.random.default_rng(number)
    for _ in range(5):
        program = PROBLEMS[number]()
        result = solve_sqp(program, program.start + 5.0 * rng.normal(size=program.size), EXACT)
        assert result.code == ReturnCode.SUCCESS, result.message
        assert_allclose(result.objective, program.optimum, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("number", [6, 40, 71, 78, 113])
def test_repeated_constraints_change_nothing(number: int) -> None:
    """Dependent rows, as redundant contacts have: the same optimum, and a set of multipliers that fits."""
    plain = PROBLEMS[number]()
    program = Wrapped(PROBLEMS[number](), repeat=3)
    result = solve_sqp(program, plain.start, EXACT)
    assert result.code == ReturnCode.SUCCESS, result.message
    assert_allclose(result.objective, plain.optimum, rtol=1e-7, atol=1e-6)
    _assert_optimal(program, result)


def test_sparse_jacobian_is_the_dense_one() -> None:
    program = PROBLEMS[113]()
    dense = solve_sqp(program, program.start, EXACT)
    rows, columns = np.nonzero(program.jacobian(np.random.default_rng(1).normal(size=10)))
    order = np.random.default_rng(0).permutation(len(rows))
    shape = (8, 10)
    pattern = scipy.sparse.coo_array((np.ones(len(rows)), (rows[order], columns[order])), shape=shape)
    sparse = solve_sqp(Wrapped(PROBLEMS[113](), pattern=pattern), program.start, EXACT)
    assert_allclose(sparse.x, dense.x, atol=1e-9)


def test_bounds_are_never_left() -> None:
    visited = []
    program = PROBLEMS[71]()
    inner = program.constraints
    program.constraints = lambda x: (visited.append(x.copy()), inner(x))[1]
    result = solve_sqp(program, np.array([-3.0, 9.0, 9.0, 0.0]), EXACT)
    assert result.success
    assert min(x.min() for x in visited) >= 1.0
    assert max(x.max() for x in visited) <= 5.0


def test_known_counterexample_of_line_searches() -> None:
    """Wächter and Biegler's example, whose linearisations contradict the bounds on the way: x = 1 is the solution."""
    program = FunctionProgram(
        3,
        lambda x: x[0],
        lambda x: [1, 0, 0],
        [
            (lambda x: x[0] ** 2 - x[1] - 1, lambda x: [2 * x[0], -1, 0], 0, 0, False),
            (lambda x: x[0] - x[2] - 0.5, lambda x: [1, 0, -1], 0, 0, False),
        ],
    )
    program.lower = np.array([-INF, 0.0, 0.0])
    result = solve_sqp(program, np.array([-2.0, 3.0, 1.0]), DEFAULT)
    assert result.success, result.message
    assert_allclose(result.x, [1.0, 0.0, 0.5], atol=1e-5)


def test_maratos_effect_is_overcome() -> None:
    """On the unit circle full steps raise both objective and violation; the correction saves their fast convergence."""
    program = FunctionProgram(
        2,
        lambda x: 2 * (x @ x - 1) - x[0],
        lambda x: 4 * x - [1, 0],
        [(lambda x: x @ x - 1, lambda x: 2 * x, 0, 0, False)],
        hessian=lambda x: np.eye(2),  # the Lagrangian's at the solution
    )
    result = solve_sqp(program, np.array([math.cos(0.8), math.sin(0.8)]), EXACT)
    assert result.success
    assert_allclose(result.x, [1, 0], atol=1e-6)
    assert result.iterations <= 12


def test_values_out_of_the_domain_shorten_the_step() -> None:
    def logarithm(x):
        return math.log(x[0]) if x[0] > 0 else math.nan

    def value(x):
        return 0.05 * x[0] - logarithm(x)

    program = FunctionProgram(1, value, lambda x: 0.05 - 1 / x, hessian=lambda x: [[1e-3]])
    result = solve_sqp(program, np.array([90.0]), EXACT)
    assert result.success, result.message
    assert_allclose(result.x, 20.0, rtol=1e-3)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_start_that_is_not_finite_is_the_callers_error(bad: float) -> None:
    row = (lambda x: bad, lambda x: [1.0], 0, 1, False)
    fine = (lambda x: x[0], lambda x: [1.0], 0, 1, False)
    with pytest.raises(InputError, match=f"constraint 1 is {bad}"):
        solve_sqp(FunctionProgram(1, lambda x: 0.0, lambda x: [0.0], [fine, row]), np.zeros(1), DEFAULT)
    with pytest.raises(InputError, match=f"objective is {bad}"):
        solve_sqp(FunctionProgram(1, lambda x: bad, lambda x: [0.0], [fine]), np.zeros(1), DEFAULT)


def test_derivatives_that_are_not_finite_are_a_failure() -> None:
    bad = (lambda x: x[0] ** 2 - 1, lambda x: [math.nan], 0, 0, False)
    result = solve_sqp(FunctionProgram(1, lambda x: 0.0, lambda x: [0.0], [bad]), np.zeros(1), DEFAULT)
    assert result.code == ReturnCode.STEP_SEARCH_FAILED
    assert "gradient of constraint 0 is not finite" in result.message
    result = solve_sqp(FunctionProgram(1, lambda x: 0.0, lambda x: [math.inf]), np.zeros(1), DEFAULT)
    assert result.code == ReturnCode.STEP_SEARCH_FAILED
    assert "objective" in result.message


def test_exceptions_of_the_program_pass() -> None:
    def fail(x):
        raise RuntimeError("the simulator is gone")

    with pytest.raises(RuntimeError, match="simulator is gone"):
        solve_sqp(FunctionProgram(1, lambda x: 0.0, fail), np.zeros(1), DEFAULT)


def _square(lower: float, upper: float, shift: float = 0.0):
    return (lambda x: x @ x + shift, lambda x: 2 * x, lower, upper, False)


def _first(lower: float, upper: float, linear: bool = False):
    return (lambda x: x[0], lambda x: [1.0] + [0.0] * (len(x) - 1), lower, upper, linear)


@pytest.mark.feature("001-F058")
@pytest.mark.parametrize(
    ("rows", "code", "residual"),
    [
        ([_first(1, INF, True), _first(-INF, 0, True)], ReturnCode.LINEAR_INFEASIBLE, 1.5),
        ([_square(-INF, -1)], ReturnCode.INEQUALITIES_INFEASIBLE, 1.0),
        ([_square(0, 0, 1.0)], ReturnCode.EQUALITIES_UNSATISFIED, 1.0),
        ([_square(1, 1), _first(-INF, -1.5), _first(1.5, INF)], ReturnCode.INEQUALITIES_INFEASIBLE, 1.5),
    ],
)
def test_contradictions_have_their_codes_and_least_violating_points(rows, code: ReturnCode, residual: float) -> None:
    program = FunctionProgram(2, lambda x: x[0], lambda x: [1.0, 0.0], rows)
    result = solve_sqp(program, np.array([1.5, 0.3]), DEFAULT)
    assert result.code == code, result.message
    assert not result.success
    assert_allclose(result.residual, residual, rtol=0.02)
    assert result.iterations <= 40


def test_equalities_against_inequalities_is_a_code_of_its_own() -> None:
    """5 sin x = 0 and x >= 1: the compromise violates both, and neither alone is to blame."""
    rows = [
        (lambda x: 5 * math.sin(x[0]), lambda x: [5 * math.cos(x[0])], 0, 0, False),
        (lambda x: x[0], lambda x: [1.0], 1.0, INF, False),
    ]
    program = FunctionProgram(1, lambda x: 0.0, lambda x: [0.0], rows, bounds=(-2.0, 2.0))
    result = solve_sqp(program, np.array([0.2]), DEFAULT)
    assert result.code == ReturnCode.DIRECTION_FAILED, result.message
    assert 0.0 <= result.x[0] <= 1.0


def test_limits() -> None:
    program = PROBLEMS[113]()
    result = solve_sqp(program, program.start, SolverOptions(max_iterations=3))
    assert (result.code, result.iterations) == (ReturnCode.MAX_ITERATIONS, 3)
    result = solve_sqp(program, program.start, SolverOptions(time_limit=0.0))
    assert result.code == ReturnCode.TIME_LIMIT
    assert_allclose(result.x, program.start)


def test_wrong_gradients_are_found_out() -> None:
    program = FunctionProgram(2, lambda x: x @ x, lambda x: -2 * x, hessian=lambda x: np.eye(2))
    result = solve_sqp(program, np.array([1.0, 2.0]), DEFAULT)
    assert result.code == ReturnCode.STEP_SEARCH_FAILED
    assert_allclose(result.x, [1, 2], atol=1e-6)


def test_iterates_that_no_longer_change_are_stalled() -> None:
    """A slope on top of a large constant: steps promise less than rounding."""
    program = FunctionProgram(1, lambda x: 1e16 + x[0], lambda x: np.ones(1), hessian=lambda x: [[1.0]])
    result = solve_sqp(program, np.array([0.3]), DEFAULT)
    assert result.code == ReturnCode.STALLED
    assert result.x[0] == 0.3


@pytest.mark.feature("001-F063")
def test_tolerances_are_kept() -> None:
    program = PROBLEMS[77]()
    loose = solve_sqp(program, program.start, SolverOptions(equality_tolerance=1e-2, optimality_tolerance=0.1))
    tight = solve_sqp(program, program.start, SolverOptions(equality_tolerance=1e-10, optimality_tolerance=1e-7))
    assert loose.success
    assert tight.success
    assert tight.residual <= 1e-10
    # More than the tolerance of inequalities: the equalities' own is what counts.
    assert DEFAULT.inequality_tolerance < loose.residual <= 1e-2
    assert loose.iterations < tight.iterations


@pytest.mark.feature("001-F064")
def test_verbose_prints_a_line_per_iteration(capsys: pytest.CaptureFixture[str]) -> None:
    program = PROBLEMS[71]()
    result = solve_sqp(program, program.start, SolverOptions(verbose=True))
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) == result.iterations
    assert all("violation" in line for line in lines)
    # The start violates the sum of squares, 52 instead of 40.
    shown = float(lines[0].split("violation")[1].split()[0])
    assert shown == pytest.approx(12.0, rel=0.05)
    assert float(lines[0].split("objective")[1].split()[0]) == pytest.approx(program.objective(program.start), rel=1e-4)
    solve_sqp(program, program.start, DEFAULT)
    assert not capsys.readouterr().out


@pytest.mark.feature("001-F088")
def test_warm_start_saves_iterations() -> None:
    """F088: from the solution of a slightly different problem, with its multipliers, and without."""
    program = PROBLEMS[113]()
    first = solve_sqp(program, program.start, EXACT)
    moved = PROBLEMS[113]()
    moved.constraint_lower = moved.constraint_lower + 0.05
    cold = solve_sqp(moved, moved.start, EXACT)
    warm = solve_sqp(moved, first.x, EXACT, first)
    assert warm.success
    assert_allclose(warm.objective, cold.objective, rtol=1e-8)
    assert warm.iterations < cold.iterations
    again = solve_sqp(program, first.x, EXACT, first)
    assert again.iterations == 0
    assert again.evaluations <= 2


def _posture(far: float = 0.0) -> PostureProblem:
    stance = feet_and_hand()
    if far:
        placement = WALL.placement_body_surface.copy()
        placement.translation = placement.translation + np.array([far, 0.0, 0.0])
        surface = Surface("far wall", "world", placement, WALL.polygon)
        stance = Stance(
            tuple(
                type(c)(c.location, surface, c.x, c.y, c.theta) if "hand" in c.location.name else c
                for c in stance.contacts
            )
        )
    return PostureProblem(HRP2, stance, PostureRequirements(stability="none"), start=HALF_SITTING)


@pytest.mark.feature("001-F008")
def test_postures_from_perturbed_starts_and_their_impossible_variants() -> None:
    """Feet and a hand of HRP-2; with the wall 3 m farther, failure takes no longer than three solutions."""
    problem, impossible = _posture(), _posture(3.0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        x0 = problem.start(HALF_SITTING)
        x0[: problem.state.kinematics.size] += rng.uniform(-0.2, 0.2, problem.state.kinematics.size)
        result = solve_sqp(problem.program, x0, DEFAULT)
        assert result.success, result.message
        failure = solve_sqp(impossible.program, x0, DEFAULT)
        assert failure.code in (ReturnCode.EQUALITIES_UNSATISFIED, ReturnCode.DIRECTION_FAILED)
        assert failure.iterations <= 3 * max(result.iterations, 8)
        start = impossible.program.constraints(x0)
        begin = np.maximum(start - impossible.program.constraint_upper, impossible.program.constraint_lower - start)
        assert failure.residual < np.abs(begin).max()
