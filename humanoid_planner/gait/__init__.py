# SPDX-License-Identifier: Apache-2.0
"""Optimal gaits of mechanisms with loops, by Pontryagin's principle (specification 003)."""

from humanoid_model.optional_library import optional_library

optional_library("casadi", "planner")  # what is below imports it without asking

from humanoid_planner.gait.global_step.optimize_step import optimize_step, optimize_walk  # noqa: E402
from humanoid_planner.gait.solvers.synthesize import synthesize_phase  # noqa: E402
from humanoid_planner.gait.solvers.synthesize_gait import synthesize_gait  # noqa: E402

__all__ = ["optimize_step", "optimize_walk", "synthesize_gait", "synthesize_phase"]
