# SPDX-License-Identifier: Apache-2.0
"""Nonlinear programs and the solvers for them."""

from humanoid_planner.optimisation.program import SolverOptions

__all__ = ["SolverOptions"]
