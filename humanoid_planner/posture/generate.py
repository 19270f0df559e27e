# SPDX-License-Identifier: Apache-2.0
"""Generating postures: a problem, a solver, and an answer that says why when there is none."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.contact import Stance
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_planner.optimisation.program import NonlinearProgram
from humanoid_planner.optimisation.result import ReturnCode, SolverOptions, SolverResult
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture.collision_task import CollisionTask
from humanoid_planner.posture.explanation import Conflict, describe, find_conflict, find_violations
from humanoid_planner.posture.posture_result import PostureResult, Violation
from humanoid_planner.posture.problem import PostureProblem

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
    **problem: Any,
) -> PostureResult:
    """Finds a posture that holds a stance, fulfils tasks, is in equilibrium and collides with nothing.

    Args:
        robot: whose posture it is.
        stance: contacts to hold.
        initial: (nq,) start of the search; None takes the robot's posture ``half_sitting`` if it has one, else
            ``zero``.
        solver: "sqp", "ipopt" or "feasible_sqp".
        options: for the solver.
        explain: after a failure, find out what is in conflict and what would have to go; this solves up to six
            problems more, as long as the options' time limit allows.
        **problem: what else the posture has to fulfil, see :class:`PostureProblem`.

    Returns:
        The posture with forces and torques, or the least-violating one with the reason.

    Raises:
        InputError: something can't be used; it names field, value and remedy.
    """
    initial = default_posture(robot) if initial is None else np.asarray(initial, dtype=float)
    return solve_problem(
        PostureProblem(robot, stance, start=initial, **problem),
        initial,
        solver=solver,
        options=options,
        explain=explain,
    )


def solve_problem(
    problem: PostureProblem,
    initial: ArrayLike,
    *,
    solver: str = DEFAULT_SOLVER,
    options: SolverOptions | None = None,
    explain: bool = True,
    warm_start: SolverResult | None = None,
) -> PostureResult:
    """Solves a posture problem; one that is solved again and again is put together once.

    Args:
        problem: to solve.
        initial: (nq,) start of the search.
        solver: as for :func:`generate_posture`.
        options: likewise.
        explain: likewise.
        warm_start: solution of the same problem for slightly other data; the search starts from it instead of
            ``initial``.

    Raises:
        InputError: a start that can't be used, or an unknown solver.
    """
    options = options or SolverOptions()
    began = time.perf_counter()
    program = problem.program
    evaluations = program.evaluations
    collisions = problem.collisions
    distances, gradients = (0, 0) if collisions is None else (collisions.evaluations, collisions.gradients)
    x0 = problem.start(initial) if warm_start is None else np.clip(warm_start.x, program.lower, program.upper)
    solution = solve(program, x0, solver=solver, options=options, warm_start=warm_start)
    evaluations = program.evaluations - evaluations
    elapsed = time.perf_counter() - began
    return _answer(problem, solution, x0, solver, options, explain, elapsed, evaluations, distances, gradients)


def default_posture(robot: Robot) -> NDArray[np.float64]:
    """(nq,) ``half_sitting`` where the robot has it, else ``zero``."""
    return robot.postures.get("half_sitting", robot.postures["zero"])


def named_posture(robot: Robot, name: str) -> NDArray[np.float64]:
    """(nq,) a posture of the robot's file.

    Raises:
        InputError: there is none of that name.
    """
    if name not in robot.postures:
        raise InputError(
            f"unknown posture '{name}'",
            element=f"robot '{robot.name}'",
            remedy=f"Postures are {', '.join(robot.postures)}",
        )
    return robot.postures[name]


def _answer(
    problem: PostureProblem,
    solution: SolverResult,
    x0: NDArray[np.float64],
    solver: str,
    options: SolverOptions,
    explain: bool,
    elapsed: float,
    evaluations: int,
    distances: int,
    gradients: int,
) -> PostureResult:
    began = time.perf_counter()
    program, state = problem.program, problem.state
    collisions: CollisionTask | None = problem.collisions
    counted = (0, 0) if collisions is None else (collisions.evaluations - distances, collisions.gradients - gradients)
    x = solution.x
    violations: tuple[Violation, ...] = ()
    conflict, explanation = Conflict((), ""), "Found."
    if solution.code != ReturnCode.SUCCESS:
        violations = find_violations(problem, x, options)
        explanation = f"Found, but the criterion could perhaps be lower: {solution.message}."
    if violations:
        if explain:
            # The time limit is the answer's, not that of each search for what would have to go.
            end = math.inf if options.time_limit is None else began - elapsed + options.time_limit

            def again(reduced: NonlinearProgram, start: NDArray[np.float64]) -> SolverResult | None:
                left = end - time.perf_counter()
                if left <= 0.0:
                    return None
                limits = options if left == math.inf else replace(options, time_limit=left)
                return solve(reduced, start, solver=solver, options=limits)

            conflict = find_conflict(problem, x, x0, again, options)
        explanation = describe(violations, conflict)
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
        torques=np.where(problem.kinematics.tree.driven, model.efforts(), 0.0) if by_forces else np.zeros(0),
        torque_names=problem.kinematics.names if by_forces else (),
        criterion=program.criterion(x),
        violations=violations,
        conflicting=conflict.names,
        removal=conflict.removal,
        solver=solution.solver,
        iterations=solution.iterations,
        evaluations=evaluations,
        distance_evaluations=counted[0],
        distance_gradients=counted[1],
        residual=solution.residual,
        time=elapsed + (time.perf_counter() - began if explain else 0.0),
        solution=solution,
    )
