# SPDX-License-Identifier: Apache-2.0
"""Optimal gaits of mechanisms with loops, by Pontryagin's principle (specification 003)."""

from humanoid_model.extensions import optional_library

optional_library("casadi", "planner")  # what is below imports it without asking

from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings  # noqa: E402
from humanoid_studies.planar_gait.global_step.optimize_step import optimize_step, optimize_walk  # noqa: E402
from humanoid_studies.planar_gait.optimal_control.end_state import EndState  # noqa: E402
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties  # noqa: E402
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem  # noqa: E402
from humanoid_studies.planar_gait.solvers.alternative_criteria import Criterion, solve_criterion  # noqa: E402
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution  # noqa: E402
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions, synthesize_phase  # noqa: E402
from humanoid_studies.planar_gait.solvers.synthesize_gait import (  # noqa: E402
    GaitSettings,
    GaitSolution,
    PhaseSettings,
    phase_problem,
    synthesize_gait,
)
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState  # noqa: E402
from humanoid_studies.planar_gait.specification.gait_plan import GaitPlan  # noqa: E402
from humanoid_studies.planar_gait.specification.phase_spec import (  # noqa: E402
    MAX_CYCLES,
    PhaseKind,
    PhaseSpec,
    PlannedPhase,
    cyclic_walk,
    plan_phase,
    walk_between_rests,
)
from humanoid_studies.planar_gait.specification.step_data import StepData, WalkData, load_walk  # noqa: E402
from humanoid_studies.planar_gait.specification.walker import BipWalker  # noqa: E402

__all__ = [
    "MAX_CYCLES",
    "BipWalker",
    "BoundaryState",
    "Criterion",
    "EndState",
    "GaitPlan",
    "GaitSettings",
    "GaitSolution",
    "GlobalSettings",
    "Penalties",
    "PhaseKind",
    "PhaseProblem",
    "PhaseSettings",
    "PhaseSolution",
    "PhaseSpec",
    "PlannedPhase",
    "StepData",
    "SynthesisOptions",
    "WalkData",
    "cyclic_walk",
    "load_walk",
    "optimize_step",
    "optimize_walk",
    "phase_problem",
    "plan_phase",
    "solve_criterion",
    "synthesize_gait",
    "synthesize_phase",
    "walk_between_rests",
]
