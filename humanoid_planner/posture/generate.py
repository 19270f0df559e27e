# SPDX-License-Identifier: Apache-2.0
"""Generating postures: a problem, a solver, and an answer that says why when there is none."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.contact import Stance
from humanoid_model.robot import Robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import NonlinearProgram, ReturnCode, SolverOptions, SolverResult
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture.explanation import (
    Conflict,
    describe,
    find_conflict,
    find_overlaps,
    find_violations,
    out_of_reach,
)
from humanoid_planner.posture.posture_result import PostureResult, Violation, with_largest_margin
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements

#: Wall-clock time that an answer may take without options [s].
DEFAULT_TIME_LIMIT = 30.0

#: Random starts after a failure. Of the requests of benchmark/postures.py part i that some of 24 starts solve, eight
#: find four fifths.
RESTARTS = 8

#: Standard deviation of the joints of every other random start about the first one [rad]; the rest are uniform.
_SPREAD = 0.8
#: Half the width of the uniform starts where limits don't say it [rad] or [m].
_WIDTH = 3.0

#: Solver that is used when none is named; see docs/decisions.md for how it was chosen.
DEFAULT_SOLVER = "sqp"


def generate_posture(
    robot: Robot,
    stance: Stance,
    *,
    initial: ArrayLike | None = None,
    solver: str = DEFAULT_SOLVER,
    options: SolverOptions | None = None,
    explain: bool = True,
    restarts: int = RESTARTS,
    largest_margin: bool = False,
    kinematics: RobotKinematics | None = None,
    **requirements: Any,
) -> PostureResult:
    """Find a posture that holds a stance, fulfils tasks, is in equilibrium and collides with nothing.

    Args:
        robot: whose posture it is.
        stance: contacts to hold.
        initial: (nq,) start of the search; None takes the robot's posture ``half_sitting`` if it has one, else
            ``zero``.
        solver: "sqp" or "ipopt", or one of another package, such as the studies' "feasible_sqp".
        options: for the solver; its time limit is the whole answer's. None for the defaults and 30 s.
        explain: after a failure, find out what is in conflict and what would have to go; this solves up to six
            problems more, as long as the options' time limit allows.
        restarts: searches from random starts (always the same ones) after the first failed, unless it is proved that
            there is no posture; they end where half of the time limit is over.
        largest_margin: also tell the margin of equilibrium, and take the forces of the largest margin instead of any
            that hold the posture, see :func:`with_largest_margin`.
        kinematics: of the robot, to be used again.
        **requirements: what else the posture has to fulfil, see :class:`PostureRequirements`.

    Returns:
        The posture with forces and torques, or the least-violating one with the reason.

    Raises:
        InputError: something can't be used; it names field, value and remedy.
    """
    initial = robot.default_posture if initial is None else np.asarray(initial, dtype=float)
    return solve_problem(
        PostureProblem(robot, stance, PostureRequirements(**requirements), start=initial, kinematics=kinematics),
        initial,
        solver=solver,
        options=options,
        explain=explain,
        restarts=restarts,
        largest_margin=largest_margin,
    )


def solve_problem(
    problem: PostureProblem,
    initial: ArrayLike,
    *,
    solver: str = DEFAULT_SOLVER,
    options: SolverOptions | None = None,
    explain: bool = True,
    restarts: int = RESTARTS,
    largest_margin: bool = False,
    warm_start: SolverResult | None = None,
) -> PostureResult:
    """Solves a posture problem; one that is solved again and again is put together once.

    Args:
        problem: to solve.
        initial: (nq,) start of the search.
        solver: as for :func:`generate_posture`.
        options: likewise.
        explain: likewise.
        restarts: likewise.
        largest_margin: likewise.
        warm_start: solution of the same problem for slightly other data; the search starts from it instead of
            ``initial``.

    Raises:
        InputError: a start that can't be used, or an unknown solver.
    """
    options = options or SolverOptions(time_limit=DEFAULT_TIME_LIMIT)
    program = problem.program
    x0 = problem.start(initial) if warm_start is None else np.clip(warm_start.x, program.lower, program.upper)
    # The first evaluation on a machine compiles kernels, for a minute and more on a busy one: not the search's time. It
    # is where the search starts, which finds its values there.
    program.constraints(x0)
    program.jacobian(x0)
    program.constraint_curvature(x0, np.zeros(len(program.scale)))
    began = time.perf_counter()
    end = math.inf if options.time_limit is None else began + options.time_limit
    evaluations = program.evaluations
    collisions = problem.collisions
    distances, gradients = (0, 0) if collisions is None else (collisions.evaluations, collisions.gradients)

    def search(x0: NDArray[np.float64], warm_start: SolverResult | None, until: float) -> _Found:
        limits = options if until == math.inf else replace(options, time_limit=max(until - time.perf_counter(), 1e-3))
        solution = solve(program, x0, solver=solver, options=limits, warm_start=warm_start)
        solved = solution.code == ReturnCode.SUCCESS
        violations = () if solved else find_violations(problem, solution.x, options)
        if not violations:
            violations = find_overlaps(problem, solution.x)
            if violations:
                told = "shapes of the robot are in each other"
                solution = replace(solution, code=ReturnCode.INEQUALITIES_INFEASIBLE, message=told)
        return _Found(solution, x0, violations)

    found, starts, impossible = search(x0, warm_start, end), 1, ""
    if found.violations:
        impossible = out_of_reach(problem.kinematics.variables, problem.contacts, problem.user_tasks)
        # What is left of the other half is the explanation's.
        until = began + 0.5 * (end - began)
        if not impossible and found.solution.code != ReturnCode.LINEAR_INFEASIBLE:
            for q in _random_starts(problem, initial, restarts):
                if time.perf_counter() >= until:
                    break
                other, starts = search(problem.start(q), None, until), starts + 1
                if not other.violations or other.solution.residual < found.solution.residual:
                    found = other
                if not found.violations:
                    break
    conflict = Conflict((), "")
    elapsed = time.perf_counter() - began
    evaluations = program.evaluations - evaluations
    counted = (0, 0) if collisions is None else (collisions.evaluations - distances, collisions.gradients - gradients)
    if found.violations and explain:

        def again(reduced: NonlinearProgram, start: NDArray[np.float64]) -> SolverResult | None:
            left = end - time.perf_counter()
            if left <= 0.0:
                return None
            limits = options if left == math.inf else replace(options, time_limit=left)
            return solve(reduced, start, solver=solver, options=limits)

        conflict = find_conflict(problem, found.solution.x, found.start, again, options)
        elapsed = time.perf_counter() - began
    answer = _answer(problem, found, conflict, impossible, starts, evaluations, counted, elapsed)
    return with_largest_margin(problem, answer) if largest_margin else answer


@dataclass(frozen=True)
class _Found:
    """End of a search, where it began, and what it violates."""

    solution: SolverResult
    start: NDArray[np.float64]
    violations: tuple[Violation, ...]


def _random_starts(problem: PostureProblem, initial: ArrayLike, count: int) -> Iterator[NDArray[np.float64]]:
    """(nq,) postures with other joints, by turns about the first start and anywhere within the limits."""
    kinematics = problem.kinematics
    variables, rng = kinematics.variables, np.random.default_rng(0)
    x0 = kinematics.coordinates(np.asarray(initial, dtype=float))
    joints = np.ones(variables.size, dtype=bool)
    if variables.base is not None:
        joints[variables.base_columns] = False
    low, high = np.maximum(variables.lower, x0 - _WIDTH), np.minimum(variables.upper, x0 + _WIDTH)
    for index in range(count):
        about, anywhere = x0 + _SPREAD * rng.standard_normal(variables.size), rng.uniform(low, np.maximum(low, high))
        x = np.where(joints, anywhere if index % 2 else about, x0)
        yield kinematics.configuration(np.clip(x, variables.lower, variables.upper))


def _answer(
    problem: PostureProblem,
    found: _Found,
    conflict: Conflict,
    impossible: str,
    starts: int,
    evaluations: int,
    distances: tuple[int, int],
    elapsed: float,
) -> PostureResult:
    """Return the result of the best search."""
    solution, violations = found.solution, found.violations
    if violations:
        explanation = describe(violations, conflict, starts, impossible)
    elif solution.code != ReturnCode.SUCCESS:
        explanation = f"Found, but the criterion may not be minimal: {solution.message}."
    else:
        explanation = "Found."
    program, state, x = problem.program, problem.state, solution.x
    state.set(x)
    model = state.place_forces()
    by_forces = problem.stability == "forces"
    count = len(model.points)
    return PostureResult(
        success=not violations,
        status=solution.code,
        explanation=explanation,
        q=problem.posture(x),
        x=x.copy(),
        forces=model.forces[:count].copy(),
        force_points=model.places[:count].copy(),
        force_contacts=tuple(point.placed.contact.location.name for point in model.points),
        torques=np.where(problem.kinematics.variables.driven, model.efforts(), 0.0) if by_forces else np.zeros(0),
        torque_names=problem.kinematics.names if by_forces else (),
        criterion=program.criterion(x),
        violations=violations,
        conflicting=conflict.names,
        removal=conflict.removal,
        impossible=impossible,
        starts=starts,
        solver=solution.solver,
        iterations=solution.iterations,
        evaluations=evaluations,
        distance_evaluations=distances[0],
        distance_gradients=distances[1],
        residual=solution.residual,
        time=elapsed,
        solution=solution,
    )
