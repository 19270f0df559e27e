# SPDX-License-Identifier: Apache-2.0
"""A solved gait solved once more for the legs in each other's parts.

The thesis' models have parts, not legs: the rear or stance leg has the one column of its table, the front or swing leg
the other, at every step. A robot's legs keep their masses where they change parts. If these differ, the motion and the
torques of the phases in which the legs have changed parts are those of the problem with the legs' data exchanged,
between the same states and in the same time, so that phases still join.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from humanoid_model.progress import ProgressCallback, as_part
from humanoid_studies.planar_gait.optimal_control.control_rows import ControlRow, FootForces, cut_foot
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions, synthesize_phase
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.phase_spec import PlannedPhase
from humanoid_studies.planar_gait.specification.walker import Walker

ALIKE = 1e-9
"""Greatest difference of the mass matrix' constants, relative to the largest of them, that counts as none."""


def exchange_legs(
    solution: GaitSolution,
    options: SynthesisOptions | None = None,
    cycles: int = 1,
    progress: ProgressCallback | None = None,
) -> GaitSolution:
    """Return the gait of the robot with its legs exchanged: what ``gait_trajectory`` takes as ``exchanged``.

    Args:
        solution: a gait.
        options: how phases are solved; their time limit is that of all of them.
        cycles: how many times the gait will be repeated. Phases in which the legs are exchanged in none of them are
            given back as they are, and so are all of a robot whose legs are alike.
        progress: told of what is going on in each phase, its part; cancels by returning True.

    Returns:
        The gait; a phase that couldn't be solved is there with its best iterate.
    """
    chosen = options or SynthesisOptions()
    deadline = time.perf_counter() + chosen.time_limit
    plan, walker = solution.plan, solution.plan.walker.with_legs_exchanged()
    count, flags = len(solution.phases), plan.legs_exchanged(cycles)
    phases = list(plan.phases)
    solved: dict[int, PhaseSolution] = {}
    found = list(solution.phases)
    for index, (planned, phase) in enumerate(zip(plan.phases, solution.phases, strict=True)):
        problem = _exchanged(plan.walker, walker, planned, phase)
        phases[index] = dataclasses.replace(planned, model=problem.model)
        if not any(flags[index::count]) or _alike(problem, phase.problem):
            continue
        if id(phase) not in solved:  # phases that repeat share their solution
            own = dataclasses.replace(chosen, time_limit=max(deadline - time.perf_counter(), 1e-3))

            solved[id(phase)] = synthesize_phase(problem, own, as_part(progress, index, "legs exchanged: "))
        found[index] = solved[id(phase)]
    return GaitSolution(dataclasses.replace(plan, walker=walker, phases=tuple(phases)), tuple(found))


def _exchanged(
    walker: Walker, exchanged: Walker, planned: PlannedPhase, phase: PhaseSolution
) -> PhaseProblem:
    """Return the problem of a solved phase with the legs' data exchanged, its duration the one that was found."""
    problem = phase.problem
    fresh = exchanged.single_support() if planned.spec.own is None else exchanged.double_support(planned.spec.own)
    model = problem.model.replace(tree=fresh.tree)
    before, root = walker.root_forces(problem.model), exchanged.root_forces(model)
    feet = problem.feet
    if feet is not None:
        feet = (root, *(cut_foot(model, contact.name) for contact in model.contacts))
    return problem.replace(
        model=model,
        rows=tuple(_on_other_foot(row, before, root) for row in problem.rows),
        feet=feet,
        duration=phase.duration,
        duration_range=None,
    )


def _on_other_foot(row: ControlRow, foot: FootForces, other: FootForces) -> ControlRow:
    """Return a condition on the forces under one foot put to another one, whose weight differs."""
    size = max(len(part.accelerations) for part in (row, *foot.normal, foot.tangential))

    def terms(part: ControlRow) -> np.ndarray:
        return np.array([*part.ground, *part.controls, *part.on_accelerations(size)])

    forces, others = (*foot.normal, foot.tangential), (*other.normal, other.tangential)
    factors = np.linalg.lstsq(np.stack([terms(force) for force in forces], axis=1), terms(row), rcond=None)[0]
    # What the row has beside the forces, the least that they have to be, stays.
    shift = sum(
        factor * (new.constant - old.constant) for factor, old, new in zip(factors, forces, others, strict=True)
    )
    return row.above(-float(shift))


def _alike(problem: PhaseProblem, other: PhaseProblem) -> bool:
    """Return whether two problems of the same robot but for its legs' masses have the same masses."""
    first, second = problem.model.tree, other.model.tree
    pairs = [(first.inertia, second.inertia), (first.moments, second.moments)]
    if any(np.abs(one - two).max() > ALIKE * np.abs(one).max() for one, two in pairs):
        return False
    return all(
        abs(row.constant - same.constant) <= ALIKE * first.mass * first.gravity
        for row, same in zip(_watched(problem), _watched(other), strict=True)
    )


def _watched(problem: PhaseProblem) -> list[ControlRow]:
    return [row for foot in problem.checked_feet for row in (*foot.normal, foot.tangential)]
