# SPDX-License-Identifier: Apache-2.0
"""Trajectories through posture problems (F089-F092, X06): derivatives, a step between the instants of its grids."""

import math

import numpy as np
import pinocchio as pin
import pytest
import scipy.integrate
import scipy.sparse
from fixtures.planar_step import (
    BIPED,
    HEEL,
    LIFT_OFF,
    RESERVE,
    STANDING,
    STEP,
    TOE,
    TOUCH_DOWN,
    clearance,
    foot_on_floor,
    planar_step,
)
from fixtures.planner_robots import finite_difference, reference_data
from fixtures.posture_problems import HALF_SITTING, HRP2, feet_and_hand
from numpy.testing import assert_allclose

from humanoid_model import Stance
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture.motion.trajectory import TrajectoryProblem, TrajectoryResult
from humanoid_planner.posture.motion.trajectory_program import Grid, SplineBasis, TrajectoryProgram
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.criteria import NearReference

OPTIONS = SolverOptions(max_iterations=300, optimality_tolerance=1e-5)
SLACK = 1e-4
#: What must hold between the instants, for equalities with a slack of SLACK there.
TOLERANCE = 5e-4


@pytest.fixture(scope="module")
def step() -> TrajectoryProblem:
    return planar_step(slack=SLACK)


@pytest.fixture(scope="module")
def solved(step: TrajectoryProblem) -> TrajectoryResult:
    result = step.solve(options=OPTIONS)
    assert result.success
    assert result.solver == "ipopt"
    return result


def _check_derivatives(program: TrajectoryProgram, x: np.ndarray) -> None:
    pattern = program.nonzeros
    J = scipy.sparse.coo_array((program.jacobian(x), (pattern.row, pattern.col)), shape=pattern.shape).toarray()
    assert pattern.shape == (len(program.constraint_lower), program.size)
    assert_allclose(J, finite_difference(program.constraints, x), atol=1e-6)
    gradient = finite_difference(lambda y: [program.objective(y)], x)[0]
    assert_allclose(program.objective_gradient(x), gradient, atol=1e-6)
    hessian = program.objective_hessian(x)
    assert hessian is not None
    assert_allclose(hessian, finite_difference(program.objective_gradient, x), atol=1e-6)


def test_derivatives_of_a_step(step: TrajectoryProblem) -> None:
    rng = np.random.default_rng(0)
    _check_derivatives(step.program, step.start() + 0.05 * rng.normal(size=step.program.size))


@pytest.mark.parametrize("final", [None, HALF_SITTING])
@pytest.mark.parametrize("at_rest", [True, False])
def test_derivatives_with_forces_and_criterion(final: np.ndarray | None, at_rest: bool) -> None:
    """Force variables of each sample, criteria in the integral, ends fixed or free."""
    kinematics = RobotKinematics(HRP2)
    criterion = NearReference(kinematics, HALF_SITTING)
    problem = PostureProblem(
        HRP2, feet_and_hand(), PostureRequirements(criterion=criterion, stability="forces"), kinematics=kinematics
    )
    basis = SplineBasis(8, degree=3)
    grids = [Grid(problem, [0.3, 0.9])]
    path = TrajectoryProblem(grids, HALF_SITTING, final, basis=basis, at_rest=at_rest, smoothness=0.1)
    rng = np.random.default_rng(1)
    x = path.start() + 0.02 * rng.normal(size=path.program.size)
    free = 8 - (3 if at_rest else 1) - ((3 if at_rest else 1) if final is not None else 2 * at_rest)
    assert path.program.size == free * kinematics.size + 2 * 3 * 12
    _check_derivatives(path.program, x)


def test_criterion_is_integrated() -> None:
    """A motionless path: the integral over [0, 1] is the criterion times the time that the grid covers."""
    kinematics = RobotKinematics(BIPED)
    criterion = NearReference(kinematics, BIPED.postures["zero"])
    problem = PostureProblem(
        BIPED, Stance(()), PostureRequirements(criterion=criterion, stability="none"), kinematics=kinematics
    )
    path = TrajectoryProblem([Grid(problem, [0.1, 0.2, 0.6, 0.9])], STANDING, STANDING)
    assert_allclose(path.program.objective(path.start()), 0.8 * problem.program.objective(problem.start(STANDING)))


def test_smoothness_is_the_integral_of_squared_accelerations() -> None:
    problem = PostureProblem(BIPED, Stance(()), PostureRequirements(stability="none"))
    path = TrajectoryProblem([Grid(problem, [0.5])], STANDING, basis=SplineBasis(14, end=2.0), smoothness=3.0)
    rng = np.random.default_rng(2)
    x = path.start() + rng.normal(size=path.program.size)
    instants = np.linspace(0.0, 2.0, 20_001)
    squares = (path.trajectory(x).coordinates(instants, 2) ** 2).sum(axis=1)
    assert_allclose(path.program.objective(x), 3.0 * scipy.integrate.trapezoid(squares, instants), rtol=1e-5)


@pytest.mark.feature("001-F089")
def test_step_holds_between_the_instants(step: TrajectoryProblem, solved: TrajectoryResult) -> None:
    """X06: on grids five times finer inequalities hold, and equalities within their tolerance."""
    violations = step.violations(solved.x, refinement=5)
    assert len(violations) > 10
    assert violations[0].value == max(violation.value for violation in violations)
    for violation in violations:
        assert violation.value <= (TOLERANCE if violation.equality else 1e-9), violation
    labels = " ".join(violation.constraint for violation in violations)
    for what in ("front_sole", "rear_sole", "balance", "clearance"):
        assert what in labels


def _corners(q: np.ndarray, name: str) -> np.ndarray:
    """(2, 3) heel and toe in the world, by Pinocchio."""
    location = BIPED.contacts[name]
    placement = reference_data(BIPED, q).oMf[BIPED.model.getFrameId(location.link)]
    return np.array([placement.act(vertex) for vertex in location.vertices_link])


@pytest.mark.feature("001-F090")
def test_tasks_depend_on_time(solved: TrajectoryResult) -> None:
    """F090: on the ground at first, above the clearance in mid-step, a step farther at the end; by Pinocchio."""
    data = BIPED.model.createData()
    for instant in np.linspace(0.0, 1.0, 101):
        q = solved.trajectory.posture(instant)
        bearing, stepping = _corners(q, "front_sole"), _corners(q, "rear_sole")
        assert_allclose(bearing, _corners(STANDING, "front_sole"), atol=2 * TOLERANCE)
        if instant <= LIFT_OFF or instant >= TOUCH_DOWN:
            place = 0.0 if instant <= LIFT_OFF else STEP
            assert_allclose(stepping, np.add(_corners(STANDING, "rear_sole"), [place, 0.0, 0.0]), atol=2 * TOLERANCE)
        elif 0.25 <= instant <= 0.75:
            assert stepping[:, 2].min() >= clearance(instant) - 1e-9
        centre = float(pin.centerOfMass(BIPED.model, data, q)[0])
        assert HEEL + RESERVE - 1e-6 <= centre <= TOE - RESERVE + 1e-6


@pytest.mark.feature("001-F090")
def test_each_instant_has_bounds_of_its_own(step: TrajectoryProblem) -> None:
    """F090: the clearance of both corners of the stepping foot rises and falls with time, and keeps its reserve."""
    grid = step.grids[-1]
    expected = np.array([clearance(instant) for instant in grid.instants])
    lowest = step.program.constraint_lower[-2 * len(expected) :].reshape(-1, 2)
    assert_allclose(lowest, np.repeat(expected[:, None] + 1e-3, 2, axis=1), atol=1e-12)
    assert np.ptp(expected) > 0.03


@pytest.mark.feature("001-F091")
@pytest.mark.parametrize("degree", [3, 5])
def test_a_path_is_of_the_degree_and_the_interval_that_were_asked_for(degree: int) -> None:
    """F091: on [1, 3] a cubic has no fourth derivative, a quintic has one."""
    problem = PostureProblem(BIPED, Stance(()), PostureRequirements(stability="none"))
    path = TrajectoryProblem(
        [Grid(problem, [1.0, 3.0])], STANDING, basis=SplineBasis(14, degree=degree, start=1.0, end=3.0)
    )
    x = path.start() + 0.1 * np.random.default_rng(0).normal(size=path.program.size)
    trajectory = path.trajectory(x)
    assert_allclose(trajectory.posture(1.0), STANDING, atol=1e-12)
    assert (np.abs(trajectory.coordinates([1.9], 4)).max() > 1e-3) == (degree == 5)
    with pytest.raises(InputError, match=r"instant 0\.5"):
        trajectory.posture(0.5)


@pytest.mark.feature("001-F089")
@pytest.mark.parametrize("at_rest", [True, False])
def test_ends_are_at_rest_only_when_asked_for(at_rest: bool) -> None:
    path = planar_step(at_rest=at_rest)
    x = path.start() + 0.1 * np.random.default_rng(0).normal(size=path.program.size)
    trajectory = path.trajectory(x)
    assert_allclose(trajectory.posture(0.0), STANDING, atol=1e-12)
    for derivative in (1, 2):
        speeds = np.abs(trajectory.coordinates([0.0, 1.0], derivative)).max(axis=1)
        assert (speeds < 1e-9).all() if at_rest else (speeds > 0.01).all()


def test_ends_and_limits(solved: TrajectoryResult) -> None:
    trajectory, kinematics = solved.trajectory, RobotKinematics(BIPED)
    assert_allclose(trajectory.posture(0.0), STANDING, atol=1e-12)
    for derivative in (1, 2):
        assert_allclose(trajectory.coordinates([0.0, 1.0], derivative), 0.0, atol=1e-9)
    x = trajectory.coordinates(np.linspace(0.0, 1.0, 501))
    assert (x >= kinematics.lower - 1e-9).all()
    assert (x <= kinematics.upper + 1e-9).all()
    t, h = np.linspace(0.1, 0.9, 17), 1e-4
    second = (trajectory.coordinates(t + h) - 2 * trajectory.coordinates(t) + trajectory.coordinates(t - h)) / h**2
    assert_allclose(trajectory.coordinates(t, 2), second, rtol=1e-3, atol=1e-3 * np.abs(second).max())


def test_without_reserve_the_step_fails_between_the_instants(step: TrajectoryProblem, solved: TrajectoryResult) -> None:
    """The margin is what makes the finer grid hold: without it the clearance is cut."""
    bare = planar_step(slack=SLACK, margin=0.0)
    result = bare.solve(solved.x, options=OPTIONS)
    assert result.success
    worst = max(v.value for v in bare.violations(result.x) if not v.equality)
    assert worst > 1e-6


@pytest.mark.feature("001-F092")
def test_solvers_agree(step: TrajectoryProblem, solved: TrajectoryResult) -> None:
    """F092: from the ordinary start, a third of a metre away, the SQP comes to the interior-point method's path."""
    other = step.solve(solver="sqp", options=OPTIONS)
    assert other.success
    t = np.linspace(0.0, 1.0, 101)
    before = step.trajectory(step.start()).coordinates(t) - solved.trajectory.coordinates(t)
    after = other.trajectory.coordinates(t) - solved.trajectory.coordinates(t)
    assert np.abs(before).max() > 0.3
    assert np.abs(after).max() < 3e-4
    assert_allclose(other.criterion, solved.criterion, rtol=5e-4)


def test_final_posture_is_reached() -> None:
    goal = STANDING.copy()
    goal[3:] += 0.1
    kinematics = RobotKinematics(BIPED)
    problem = PostureProblem(BIPED, Stance(()), PostureRequirements(stability="none"), kinematics=kinematics)
    path = TrajectoryProblem([Grid(problem, [0.5])], STANDING, goal)
    result = path.solve(solver="sqp")
    assert result.success
    assert_allclose(result.trajectory.posture(1.0), goal, atol=1e-12)
    # without anything else it is the straight line at the least squared acceleration from rest to rest
    middle = result.trajectory.coordinates([0.5])[0]
    assert_allclose(middle, 0.5 * (kinematics.coordinates(STANDING) + kinematics.coordinates(goal)), atol=1e-4)


def test_start_follows_a_guess(step: TrajectoryProblem) -> None:
    """Linear paths are splines: the guess is met everywhere but near the ends that are held."""
    kinematics = RobotKinematics(BIPED)
    first = kinematics.coordinates(STANDING)
    direction = np.linspace(-0.1, 0.1, len(first))
    x = step.start(lambda instant: kinematics.configuration(first + instant * direction))
    assert_allclose(step.trajectory(x).coordinates([0.55])[0], first + 0.55 * direction, atol=1e-9)


def test_bad_input() -> None:
    problem = PostureProblem(BIPED, Stance((foot_on_floor("front_sole", 0.0),)), PostureRequirements(stability="none"))
    grid = Grid(problem, [0.5])
    with pytest.raises(InputError, match="rising"):
        Grid(problem, [0.2, 0.2])
    with pytest.raises(InputError, match="rising"):
        Grid(problem, [])
    with pytest.raises(InputError, match="there are none"):
        TrajectoryProblem([], STANDING)
    with pytest.raises(InputError, match="instant 1"):
        TrajectoryProblem([Grid(problem, [0.5, 1.5])], STANDING)
    with pytest.raises(InputError, match="none free"):
        TrajectoryProblem([grid], STANDING, STANDING, basis=SplineBasis(6))
    for name in ("smoothness", "margin", "slack"):
        with pytest.raises(InputError, match=name):
            TrajectoryProblem([grid], STANDING, **{name: -1.0})
        with pytest.raises(InputError, match=name):
            TrajectoryProblem([grid], STANDING, **{name: math.nan})
    other = PostureProblem(HRP2, Stance(()), PostureRequirements(stability="none"))
    with pytest.raises(InputError, match="different kinematic variables"):
        TrajectoryProblem([grid, Grid(other, [0.2])], STANDING)
    twin = PostureProblem(BIPED, Stance(()), PostureRequirements(stability="none"), kinematics=problem.kinematics)
    with pytest.raises(InputError, match="share their kinematics"):
        TrajectoryProblem([grid, Grid(twin, [0.2])], STANDING)
