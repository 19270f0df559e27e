# SPDX-License-Identifier: Apache-2.0
"""Feasible SQP: published optima, iterates that stay feasible, every return code, minimax, tube."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from fixtures.function_program import FunctionMinimax, FunctionProgram
from fixtures.hock_schittkowski import PROBLEMS, HockSchittkowski
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import ReturnCode, SolverOptions
from humanoid_studies.feasible_sqp.feasible_sqp import solve_feasible_sqp

INF = math.inf
EXACT = SolverOptions(optimality_tolerance=1e-6, equality_tolerance=1e-8, inequality_tolerance=1e-8)


@pytest.mark.feature("001-F061")
@pytest.mark.parametrize("number", sorted(PROBLEMS))
def test_hock_schittkowski(number: int) -> None:
    """F061: published optimum, and multipliers that satisfy the conditions of optimality."""
    program = PROBLEMS[number]()
    result = solve_feasible_sqp(program, program.start, EXACT)
    assert result.code == ReturnCode.SUCCESS
    assert_allclose(result.objective, program.optimum, rtol=1e-7, atol=1e-6)
    assert result.residual <= 1e-8
    if program.solutions and number != 28:
        assert min(np.abs(result.x - solution).max() for solution in program.solutions) < 2e-4
    stationarity = (
        program.objective_gradient(result.x)
        + program.jacobian(result.x).T @ result.multipliers
        + result.bound_multipliers
    )
    scale = max(1.0, float(np.linalg.norm(program.objective_gradient(result.x))))
    assert np.abs(stationarity).max() <= 2e-6 * scale


def _recorded(program: HockSchittkowski, monkeypatch: pytest.MonkeyPatch) -> list[NDArray[np.float64]]:
    """Where the objective's gradient is asked for: every iterate of phase 2, once."""
    visited = []
    gradient = program.objective_gradient

    def recording(x: NDArray[np.float64]) -> NDArray[np.float64]:
        visited.append(x.copy())
        return gradient(x)

    monkeypatch.setattr(program, "objective_gradient", recording)
    return visited


@pytest.mark.feature("001-F056")
@pytest.mark.parametrize("number", [35, 43, 65, 71, 100, 113])
@pytest.mark.parametrize("seed", range(3))
def test_iterates_stay_feasible(number: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """F056: from random starts, inequalities and bounds hold at all iterates of phase 2."""
    program = PROBLEMS[number]()
    rng = np.random.default_rng(seed)
    visited = _recorded(program, monkeypatch)
    result = solve_feasible_sqp(program, program.start + rng.normal(size=program.size), EXACT)
    assert result.success
    assert len(visited) >= 4
    inequality = program.constraint_lower != program.constraint_upper
    for x in visited:
        values = program.constraints(x)
        assert (values >= program.constraint_lower - EXACT.inequality_tolerance)[inequality].all()
        assert (x >= program.lower - 1e-12).all()
        assert (x <= program.upper + 1e-12).all()
    # each equality keeps the sign that it had at the first of them (3.20)(3.21)
    equality = ~inequality & ~program.linear
    if equality.any():
        values = np.array([program.constraints(x)[equality] for x in visited])
        assert (np.sign(values[0]) * values >= -EXACT.equality_tolerance).all()


def _sphere_distance(x: NDArray[np.float64]) -> float:
    return float(x @ x)


def _circle(radius: float, upper: float = 0.0, lower: float = 0.0) -> tuple[Callable, Callable, float, float, bool]:
    return lambda x: x @ x - radius**2, lambda x: 2 * x, lower, upper, False


@pytest.mark.feature("001-F060")
def test_rosenbrock_on_a_circle() -> None:
    """F060: the equality starts on either side; penalties that the multiplier exceeds are raised."""

    def objective(x: NDArray[np.float64]) -> float:
        return float(1e4 * (x[1] - x[0] ** 2) ** 2 + 100.0 * (1 - x[0]) ** 2)

    def gradient(x: NDArray[np.float64]) -> list[float]:
        return [-4e4 * x[0] * (x[1] - x[0] ** 2) - 200.0 * (1 - x[0]), 2e4 * (x[1] - x[0] ** 2)]

    program = FunctionProgram(2, objective, gradient, [_circle(0.5)])
    angles = np.linspace(0, 2 * math.pi, 200_001)
    best = min(objective(0.5 * np.array([math.cos(a), math.sin(a)])) for a in angles[: len(angles) // 4 : 5])
    for start in ([0.1, 0.0], [2.0, 2.0]):
        result = solve_feasible_sqp(program, np.array(start), EXACT)
        assert result.success
        assert_allclose(result.objective, best, rtol=1e-6)
        assert_allclose(np.linalg.norm(result.x), 0.5, atol=1e-8)
        assert abs(result.multipliers[0]) > 10.0  # more than the first penalty


def _minimax(rng: np.random.Generator) -> tuple[FunctionMinimax, NDArray[np.float64], NDArray[np.float64]]:
    """Largest of six weighted squared distances to corners, in a ball cut by a linear band; corners and weights."""
    corners, weights = rng.normal(size=(6, 3)) + 0.5, rng.uniform(0.5, 2.0, 6)
    program = FunctionMinimax(
        3,
        lambda x: weights * ((x - corners) ** 2).sum(axis=1),
        lambda x: 2 * weights[:, None] * (x - corners),
        [_circle(0.3, lower=-INF), (lambda x: x.sum(), lambda x: np.ones(3), -0.2, 0.2, True)],
    )
    return program, corners, weights


@pytest.mark.feature("001-F057")
def test_minimax_against_epigraph() -> None:
    """F057: max of six distances to corners, in a ball, against SLSQP on the smooth reformulation."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        program, _, _ = _minimax(rng)
        result = solve_feasible_sqp(program, np.array([2.0, -1.0, 0.5]), EXACT)
        reference = scipy.optimize.minimize(
            lambda z: z[3],
            np.array([0.0, 0.0, 0.0, 100.0]),
            jac=lambda z: np.array([0.0, 0.0, 0.0, 1.0]),
            constraints=[
                {"type": "ineq", "fun": lambda z, p=program: z[3] - p.objectives(z[:3])},
                {"type": "ineq", "fun": lambda z, p=program: -p.constraints(z[:3])[0]},
                {"type": "ineq", "fun": lambda z: 0.2 - z[:3].sum()},
                {"type": "ineq", "fun": lambda z: z[:3].sum() + 0.2},
            ],
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 300},
        )
        assert result.success
        assert_allclose(result.objective, reference.fun, rtol=1e-6)
        assert_allclose(result.x, reference.x[:3], atol=1e-4)


def _lower_bound(corners: NDArray[np.float64], weights: NDArray[np.float64], x: NDArray[np.float64]) -> float:
    """No point of a program of :func:`_minimax` has a lower maximum: weak duality, which holds for all multipliers.

    Those that balance the gradients at ``x`` best are taken. The Lagrangian is a |z|² + b z + c, whose minimum is
    c - |b|²/4a.
    """
    values, ones = weights * ((x - corners) ** 2).sum(axis=1), np.ones(3)
    gradients = np.vstack([2 * weights[:, None] * (x - corners), 2 * x, ones, -ones])
    slack = np.concatenate([values.max() - values, [0.09 - x @ x, 0.2 - x.sum(), x.sum() + 0.2]])
    columns = np.column_stack([gradients, np.concatenate([np.ones(6), np.zeros(3)])])[slack < 1e-4]
    multipliers = np.zeros(9)
    multipliers[slack < 1e-4] = scipy.optimize.nnls(columns.T, np.array([0.0, 0.0, 0.0, 1.0]))[0]
    shares, (ball, above, below) = multipliers[:6] / multipliers[:6].sum(), multipliers[6:]
    a = shares @ weights + ball
    b = -2 * (shares * weights) @ corners + (above - below) * ones
    c = (shares * weights) @ (corners**2).sum(axis=1) - 0.09 * ball - 0.2 * (above + below)
    return float(c - b @ b / (4 * a))


@pytest.mark.feature("001-F057")
def test_random_minimax_programs_converge() -> None:
    """F057: all converge to 1e-6; each minimum lies between the maximum found and a bound by duality."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        program, corners, weights = _minimax(rng)
        result = solve_feasible_sqp(program, np.array([2.0, -1.0, 0.5]), EXACT)
        assert result.success
        assert result.residual <= 1e-8
        assert result.objective - _lower_bound(corners, weights, result.x) <= 1e-6 * result.objective


@pytest.mark.feature("001-F057")
def test_other_solvers_see_the_largest_objective_and_its_gradient() -> None:
    targets = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    program = FunctionMinimax(2, lambda x: ((x - targets) ** 2).sum(axis=1), lambda x: 2 * (x - targets))
    largest = set()
    for x in np.random.default_rng(0).normal(size=(30, 2)):
        values = ((x - targets) ** 2).sum(axis=1)
        largest.add(int(values.argmax()))
        assert program.objective(x) == pytest.approx(values.max())
        assert_allclose(program.objective_gradient(x), 2 * (x - targets[values.argmax()]))
    assert largest == {0, 1, 2}


def test_minimax_of_one_objective_is_the_objective() -> None:
    one = FunctionProgram(2, _sphere_distance, lambda x: 2 * x, [_circle(1.0)])
    several = FunctionMinimax(2, lambda x: [x @ x], lambda x: [2 * x], [_circle(1.0)])
    start = np.array([0.3, 0.1])
    assert_allclose(solve_feasible_sqp(one, start).x, solve_feasible_sqp(several, start).x, atol=1e-12)


def test_known_hessian_replaces_bfgs() -> None:
    """A badly scaled quadratic with its Hessian needs one step; without, more."""
    H = np.diag([1.0, 1e3, 1e5])
    target = np.array([1.0, -2.0, 3.0])
    common = (3, lambda x: 0.5 * (x - target) @ H @ (x - target), lambda x: H @ (x - target))
    known = solve_feasible_sqp(FunctionProgram(*common, hessian=lambda x: H), np.zeros(3), EXACT)
    unknown = solve_feasible_sqp(FunctionProgram(*common), np.zeros(3), EXACT)
    assert_allclose(known.x, target, atol=1e-6)
    assert known.iterations <= 3 < unknown.iterations


@pytest.mark.parametrize("kind", ["bound", "linear", "nonlinear"])
def test_flat_model_is_no_optimum(kind: str) -> None:
    """The Hessian is zero, so that the model's gradient is all the same; the solution is where the constraint is."""
    rows = [] if kind == "bound" else [(lambda x: x[0], lambda x: [1.0], -INF, 100.0, kind == "linear")]
    bounds = (-100.0, 100.0) if kind == "bound" else (-INF, INF)
    program = FunctionProgram(
        1, lambda x: -x[0], lambda x: [-1.0], rows, bounds=bounds, hessian=lambda x: np.zeros((1, 1))
    )
    options = SolverOptions(optimality_tolerance=1e-3)
    assert_allclose(solve_feasible_sqp(program, np.zeros(1), options).x, 100.0, rtol=2e-3)


@pytest.mark.feature("001-F060")
def test_penalties_follow_the_multipliers(capsys: pytest.CaptureFixture[str]) -> None:
    """F060: a multiplier of -250 raises the penalty to no more than twice what it takes."""
    program = FunctionProgram(2, lambda x: 500 * x[0] + x[1] ** 2, lambda x: [500.0, 2 * x[1]], [_circle(1.0)])
    options = dataclasses.replace(EXACT, verbose=True)
    assert solve_feasible_sqp(program, np.array([-1.3, 0.05]), options).success
    penalty = float(capsys.readouterr().out.splitlines()[-1].split()[-2])
    assert 251.0 <= penalty <= 520.0


def test_steps_are_cut_where_inequalities_bend() -> None:
    """Forces near the apexes of twelve round cones: shortening steps alone takes twice as many evaluations."""
    count = 12

    def split(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        f = x.reshape(count, 3)
        return f, np.sqrt(f[:, 0] ** 2 + f[:, 1] ** 2 + 1e-8), f[:, 2]

    def cone(i: int) -> tuple[Callable, Callable, float, float, bool]:
        def gradient(x: NDArray[np.float64]) -> NDArray[np.float64]:
            f, tangent, _ = split(x)
            J = np.zeros((count, 3))
            J[i] = f[i, 0] / tangent[i], f[i, 1] / tangent[i], -0.5
            return J.ravel()

        return lambda x: split(x)[1][i] - 0.5 * split(x)[2][i] - 1e-4, gradient, -INF, 0.0, False

    rng = np.random.default_rng(0)
    target = rng.normal(size=3 * count) * np.tile([1.0, 1.0, 0.1], count)
    program = FunctionProgram(
        3 * count,
        lambda x: (x - target) @ (x - target),
        lambda x: 2 * (x - target),
        [cone(i) for i in range(count)],
        hessian=lambda x: 2 * np.eye(3 * count),
    )
    start = np.tile([0.0, 0.0, 0.02], count)
    result = solve_feasible_sqp(program, start, EXACT)
    assert result.success
    assert result.evaluations <= 25
    smooth = scipy.optimize.minimize(
        program.objective,
        start,
        jac=program.objective_gradient,
        constraints={"type": "ineq", "fun": lambda x: -program.constraints(x), "jac": lambda x: -program.jacobian(x)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert_allclose(result.objective, smooth.fun, rtol=1e-6)


# Return codes (F062) ------------------------------------------------------------------------------------------------


@pytest.mark.feature("001-F058", "001-F062")
def test_linear_infeasible() -> None:
    """F058: code 1 without a single step."""
    rows = [
        (lambda x: x[0] + x[1], lambda x: [1.0, 1.0], 2.0, INF, True),
        (lambda x: x[0] - x[1], lambda x: [1.0, -1.0], -0.5, 0.5, True),
    ]
    program = FunctionProgram(2, _sphere_distance, lambda x: 2 * x, rows, bounds=(-0.5, 0.5))
    result = solve_feasible_sqp(program, np.zeros(2))
    assert result.code == ReturnCode.LINEAR_INFEASIBLE
    assert result.iterations == 0
    program.upper[:] = 1.5
    assert_allclose(solve_feasible_sqp(program, np.zeros(2)).x, [1.0, 1.0], atol=1e-6)
    program.lower[:] = 2.0
    assert solve_feasible_sqp(program, np.zeros(2)).code == ReturnCode.LINEAR_INFEASIBLE


def test_linear_equalities_hold_at_every_iterate() -> None:
    program = FunctionProgram(
        3,
        lambda x: ((x - [3.0, 1.0, -1.0]) ** 4).sum(),
        lambda x: 4 * (x - [3.0, 1.0, -1.0]) ** 3,
        [(lambda x: x[0] + 2 * x[1] - x[2] + 1, lambda x: [1.0, 2.0, -1.0], 2.0, 2.0, True)],
    )
    result = solve_feasible_sqp(program, np.array([5.0, -3.0, 2.0]), EXACT)
    assert result.success
    assert max(abs(program.constraints(x)[0] - 2.0) for x in program.visited) < 1e-8


def _two_discs(distance: float) -> FunctionProgram:
    """Points in two unit discs whose centres are ``distance`` apart."""
    centre = np.array([distance, 0.0])
    return FunctionProgram(
        2,
        lambda x: x[1] ** 2,
        lambda x: [0.0, 2 * x[1]],
        [
            _circle(1.0, lower=-INF),
            (lambda x: (x - centre) @ (x - centre) - 1, lambda x: 2 * (x - centre), -INF, 0.0, False),
        ],
    )


@pytest.mark.feature("001-F059", "001-F062")
def test_inequalities_infeasible() -> None:
    """F059: the discs don't meet; the least-violating point is half-way."""
    result = solve_feasible_sqp(_two_discs(3.0), np.array([-4.0, 3.0]))
    assert result.code == ReturnCode.INEQUALITIES_INFEASIBLE
    assert_allclose(result.x, [1.5, 0.0], atol=0.05)
    assert_allclose(result.residual, 1.25, rtol=0.01)
    assert result.iterations <= 15
    meeting = solve_feasible_sqp(_two_discs(1.9), np.array([-4.0, 3.0]), EXACT)
    assert meeting.success
    assert meeting.residual <= 1e-8


def test_infeasible_single_inequality() -> None:
    """x² + 1 <= 0: the gradient vanishes where the inequality is smallest."""
    program = FunctionProgram(
        1, lambda x: x[0], lambda x: [1.0], [(lambda x: x @ x + 1, lambda x: 2 * x, -INF, 0.0, False)]
    )
    result = solve_feasible_sqp(program, np.array([7.0]))
    assert result.code == ReturnCode.INEQUALITIES_INFEASIBLE
    assert_allclose(result.residual, 1.0, atol=0.05)


@pytest.mark.feature("001-F062", "001-F063")
@pytest.mark.parametrize("limit", [0, 1, 4])
def test_iteration_limit(limit: int) -> None:
    """F063: code 3, and never more iterations than allowed."""
    program = PROBLEMS[100]()
    result = solve_feasible_sqp(program, program.start, SolverOptions(max_iterations=limit))
    assert result.code == ReturnCode.MAX_ITERATIONS
    assert result.iterations == limit
    assert result.residual <= 1e-6  # the start is feasible, and so is every iterate


def test_iteration_limit_in_phase_one() -> None:
    program = _two_discs(3.0)
    result = solve_feasible_sqp(program, np.array([-400.0, 300.0]), SolverOptions(max_iterations=1))
    assert result.code == ReturnCode.MAX_ITERATIONS


@pytest.mark.feature("001-F063")
def test_equality_tolerance() -> None:
    """F063: a loose tolerance ends earlier, and is what the residual is held to."""
    program = PROBLEMS[77]()
    options = SolverOptions(equality_tolerance=1e-2, optimality_tolerance=1e-1)
    loose = solve_feasible_sqp(program, program.start, options)
    tight = solve_feasible_sqp(program, program.start, dataclasses.replace(options, equality_tolerance=1e-9))
    assert loose.success
    assert tight.success
    assert tight.residual <= 1e-9 < loose.residual <= 1e-2
    assert loose.iterations < tight.iterations


@pytest.mark.feature("001-F062")
def test_step_search_failed() -> None:
    """Code 4: the gradient points the wrong way."""
    program = FunctionProgram(2, _sphere_distance, lambda x: -2 * x)
    result = solve_feasible_sqp(program, np.array([1.0, 1.0]))
    assert result.code == ReturnCode.STEP_SEARCH_FAILED


@pytest.mark.feature("001-F062")
def test_direction_failed() -> None:
    """Code 5: a Hessian that isn't positive semidefinite, a gradient that isn't a number."""
    concave = FunctionProgram(2, _sphere_distance, lambda x: 2 * x, hessian=lambda x: -np.eye(2))
    assert solve_feasible_sqp(concave, np.ones(2)).code == ReturnCode.DIRECTION_FAILED
    undefined = FunctionProgram(2, lambda x: np.sqrt(abs(x[0])), lambda x: [np.nan, 0.0], [_circle(1.0, upper=INF)])
    assert solve_feasible_sqp(undefined, np.array([0.0, 2.0])).code == ReturnCode.DIRECTION_FAILED


@pytest.mark.feature("001-F062")
def test_stalled() -> None:
    """Code 8: at 1e17 a step of 2 leaves the point where it is."""
    program = FunctionProgram(1, lambda x: 2 * x[0], lambda x: [2.0])
    assert solve_feasible_sqp(program, np.array([1e17])).code == ReturnCode.STALLED


@pytest.mark.feature("001-F062")
def test_equalities_unsatisfied() -> None:
    """Code 9: |x|² = -1."""
    program = FunctionProgram(
        2,
        lambda x: (x[0] - 1) ** 2,
        lambda x: [2 * (x[0] - 1), 0.0],
        [(lambda x: x @ x + 1, lambda x: 2 * x, 0.0, 0.0, False)],
    )
    result = solve_feasible_sqp(program, np.array([1.0, 2.0]))
    assert result.code == ReturnCode.EQUALITIES_UNSATISFIED
    assert_allclose(result.residual, 1.0, atol=1e-3)


def test_time_limit() -> None:
    program = PROBLEMS[100]()
    assert solve_feasible_sqp(program, program.start, SolverOptions(time_limit=0.0)).code == ReturnCode.TIME_LIMIT


# Start, display, sparsity -------------------------------------------------------------------------------------------


@pytest.mark.feature("001-F064")
def test_phases_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """F064; phase 1b is skipped where the start is feasible already."""
    options = dataclasses.replace(EXACT, verbose=True)
    result = solve_feasible_sqp(_two_discs(1.9), np.array([-4.0, 3.0]), options)
    lines = capsys.readouterr().out.splitlines()
    phases = [line.split()[0] for line in lines]
    assert phases[0] == "phase"
    assert "1b" in phases
    assert phases[-1] == "2"
    assert len([phase for phase in phases if phase != "phase"]) == result.iterations + 2  # both phases show their start
    solve_feasible_sqp(_two_discs(1.9), np.array([0.95, 0.1]), options)
    assert "1b" not in capsys.readouterr().out
    solve_feasible_sqp(_two_discs(1.9), np.array([0.95, 0.1]))
    assert capsys.readouterr().out == ""


class _SparseCopy(FunctionProgram):
    """Gives its Jacobian by a pattern with one entry in two parts."""

    @property
    def nonzeros(self) -> scipy.sparse.coo_array:
        return scipy.sparse.coo_array((np.ones(3), ([0, 0, 0], [0, 1, 1])), shape=(1, 2))

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([2 * x[0], 0.5 * x[1], 1.5 * x[1]])


def test_sparse_program() -> None:
    arguments = (2, lambda x: (x[0] - 2) ** 2 + x[1], lambda x: [2 * (x[0] - 2), 1.0], [_circle(1.0)])
    start = np.array([0.5, -0.5])
    dense = solve_feasible_sqp(FunctionProgram(*arguments), start, EXACT)
    sparse = solve_feasible_sqp(_SparseCopy(*arguments), start, EXACT)
    assert sparse.success
    assert_allclose(sparse.x, dense.x, atol=1e-12)


def test_warm_start_knows_the_penalties() -> None:
    """A multiplier of -250 takes penalties some iterations to reach; a warm start begins there."""
    program = FunctionProgram(2, lambda x: 500 * x[0] + x[1] ** 2, lambda x: [500.0, 2 * x[1]], [_circle(1.0)])
    start = np.array([-1.3, 0.05])
    cold = solve_feasible_sqp(program, start, EXACT)
    warm = solve_feasible_sqp(program, start, EXACT, warm_start=cold)
    assert cold.success
    assert warm.success
    assert_allclose(abs(cold.multipliers[0]), 250.0, rtol=1e-5)
    assert_allclose(warm.x, [-1.0, 0.0], atol=1e-6)
    assert warm.evaluations < cold.evaluations


@pytest.mark.parametrize("start", [[0.0], [0.0, math.nan], [[0.0, 0.0]]])
def test_bad_start(start: list) -> None:
    with pytest.raises(InputError, match="x0"):
        solve_feasible_sqp(_two_discs(1.0), np.array(start))


def test_program_undefined_at_start() -> None:
    program = FunctionProgram(1, lambda x: math.log(x[0]) if x[0] > 0 else math.nan, lambda x: [1 / x[0]])
    with pytest.raises(InputError, match="isn't finite there"):
        solve_feasible_sqp(program, np.array([-1.0]))
