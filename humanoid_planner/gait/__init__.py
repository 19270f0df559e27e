# SPDX-License-Identifier: Apache-2.0
"""Optimal gaits of mechanisms with loops, by Pontryagin's principle (specification 003)."""

from humanoid_model.optional_library import optional_library

optional_library("casadi", "planner")  # what is below imports it without asking

from humanoid_planner.gait.gait_result import GaitResult  # noqa: E402
from humanoid_planner.gait.generation import generate_gait  # noqa: E402
from humanoid_planner.gait.global_step.global_settings import GlobalSettings  # noqa: E402
from humanoid_planner.gait.global_step.optimize_step import optimize_step, optimize_walk  # noqa: E402
from humanoid_planner.gait.optimal_control.effort import QuadraticEffort  # noqa: E402
from humanoid_planner.gait.optimal_control.penalties import Obstacle, Penalties  # noqa: E402
from humanoid_planner.gait.solvers.synthesize import SynthesisOptions, synthesize_phase  # noqa: E402
from humanoid_planner.gait.solvers.synthesize_gait import (  # noqa: E402
    GaitSettings,
    GaitSolution,
    PhaseSettings,
    synthesize_gait,
)
from humanoid_planner.gait.specification.gait_model import GaitModel, load_gait_model  # noqa: E402
from humanoid_planner.gait.specification.gait_spec import (  # noqa: E402
    GaitBounds,
    GaitDefaults,
    GaitSolverOptions,
    GaitSpec,
    GaitStage,
    GaitWeights,
    StageQuantity,
)
from humanoid_planner.gait.specification.phase_spec import (  # noqa: E402
    PhaseKind,
    PhaseSpec,
    cyclic_walk,
    walk_between_rests,
)
from humanoid_planner.gait.specification.step_data import RestData, StepData, WalkData, load_walk  # noqa: E402
from humanoid_planner.gait.trajectory import GaitTrajectory, gait_trajectory  # noqa: E402

__all__ = [
    "GaitBounds",
    "GaitDefaults",
    "GaitModel",
    "GaitResult",
    "GaitSettings",
    "GaitSolution",
    "GaitSolverOptions",
    "GaitSpec",
    "GaitStage",
    "GaitTrajectory",
    "GaitWeights",
    "GlobalSettings",
    "Obstacle",
    "Penalties",
    "PhaseKind",
    "PhaseSettings",
    "PhaseSpec",
    "QuadraticEffort",
    "RestData",
    "StageQuantity",
    "StepData",
    "SynthesisOptions",
    "WalkData",
    "cyclic_walk",
    "gait_trajectory",
    "generate_gait",
    "load_gait_model",
    "load_walk",
    "optimize_step",
    "optimize_walk",
    "synthesize_gait",
    "synthesize_phase",
    "walk_between_rests",
]
