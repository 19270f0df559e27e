# SPDX-License-Identifier: Apache-2.0
"""What a lighter trunk changes: cost of the best step, and continuation steps to a published phase (L-08, F-098).

The thesis expects (III.4) that masses nearer to a human's make the boundary value problem easier: of a person's mass
about half is in trunk, head and arms, of BIP's two thirds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.global_step.optimize_step import optimize_step
from humanoid_studies.planar_gait.models.bip import Bip
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.extremal_problem import ExtremalProblem
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.solvers.boundary_value_problem import BoundaryValueResult
from humanoid_studies.planar_gait.solvers.collocation import solve_collocation
from humanoid_studies.planar_gait.solvers.continuation import INERTIA_THEN_PENALTIES, follow
from humanoid_studies.planar_gait.solvers.guess import line_guess
from humanoid_studies.planar_gait.specification import seven_link
from humanoid_studies.planar_gait.specification.step_data import load_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker

_NODES = 41


@dataclass(frozen=True)
class TrunkMassPoint:
    """One mass of the trunk.

    Attributes:
        trunk_mass: [kg].
        total_mass: [kg].
        converged: whether the best step was found.
        cost_per_metre: its criterion over distance [1/m].
        cost_of_transport: its work over weight times distance.
        step_length: [m].
        peak_torque: [N m].
        continuation_steps: boundary value problems that the thesis' schedule takes to the published double support.
        newton_meshes: nodes of all of them, a measure of the work.
        continued: whether the schedule gets there.
    """

    trunk_mass: float
    total_mass: float
    converged: bool
    cost_per_metre: float
    cost_of_transport: float
    step_length: float
    peak_torque: float
    continuation_steps: int
    newton_meshes: int
    continued: bool


def study_trunk_mass(
    bip: Bip,
    masses: Sequence[float],
    speed: float = 0.75,
    settings: GlobalSettings | None = None,
    executor: Executor | None = None,
) -> tuple[TrunkMassPoint, ...]:
    """Best steps and continuation paths of a robot with other trunks.

    Args:
        bip: the robot.
        masses: of the trunk, its inertia in proportion [kg].
        speed: of the steps [m/s].
        settings: of the steps.
        executor: that masses are studied on side by side.

    Raises:
        InputError: no mass, or one that isn't finite and positive.
    """
    if not masses or not all(math.isfinite(mass) and mass > 0.0 for mass in masses):
        raise InputError(f"are {list(masses)}", element="masses", remedy="Give one or more numbers above 0 in kg")
    if executor is None:
        return tuple(_study(bip, mass, speed, settings) for mass in masses)
    futures = [executor.submit(_study, bip, mass, speed, settings) for mass in masses]
    return tuple(future.result() for future in futures)


def _study(bip: Bip, mass: float, speed: float, settings: GlobalSettings | None) -> TrunkMassPoint:
    robot = bip.with_trunk_mass(mass)
    found = optimize_step(BipWalker(robot), speed, None, settings, prove=False)
    steps, nodes, continued = continuation_effort(robot)
    return TrunkMassPoint(
        mass,
        robot.mass,
        found.converged,
        found.cost_per_metre,
        found.cost_of_transport,
        found.step_length,
        found.peak_torque,
        steps,
        nodes,
        continued,
    )


def continuation_effort(bip: Bip) -> tuple[int, int, bool]:
    """Boundary value problems, their nodes, and success of the thesis' schedule, from a straight line.

    The phase is the published cyclic double support, its costates begin at zero: no transcription helps.
    """
    walk = load_walk("bip_cyclic")
    model = bip.double_support(walk.step.step_length, min_toe_force=6.0)
    start, end = seven_link.double_support_start(bip, walk.step), seven_link.double_support_end(bip, walk.step)
    problem = PhaseProblem(model, EndState(start.q, start.v), EndState(end.q, end.v), walk.double_support)
    x, w = line_guess(problem, _NODES)
    y = ExtremalProblem(problem).pack(x, w, problem.duration)

    def solve(trial: PhaseProblem, mesh: np.ndarray, guess: np.ndarray) -> BoundaryValueResult:
        return solve_collocation(ExtremalProblem(trial), mesh, guess)

    path = follow(problem, INERTIA_THEN_PENALTIES, solve, np.linspace(0.0, 1.0, _NODES), y)
    return len(path.steps), sum(nodes for _, _, nodes, _ in path.steps), path.converged
