# SPDX-License-Identifier: Apache-2.0
"""What to call it when constraints can't be met together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.optimisation.program import NonlinearProgram
from humanoid_planner.optimisation.result import ReturnCode, SolverOptions


def violation(program: NonlinearProgram, constraints: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) signed distances of the constraints' values out of their bounds: positive above the upper."""
    above = np.maximum(constraints - program.constraint_upper, 0.0)
    return above - np.maximum(program.constraint_lower - constraints, 0.0)


def tolerances(program: NonlinearProgram, options: SolverOptions) -> NDArray[np.float64]:
    """(m,) largest violations at a solution."""
    equality = program.constraint_lower == program.constraint_upper
    return np.where(equality, options.equality_tolerance, options.inequality_tolerance)


def share_of_equalities(
    program: NonlinearProgram, violation: NDArray[np.float64], tolerance: NDArray[np.float64]
) -> float:
    """Part of the summed violation beyond the tolerances that is the equalities'; 0 where nothing is violated."""
    sizes = np.where(np.abs(violation) > tolerance, np.abs(violation), 0.0)
    of_equalities = sizes[program.constraint_lower == program.constraint_upper].sum()
    return float(of_equalities) / max(float(sizes.sum()), 1e-300)


def contradiction(share_of_equalities: float) -> tuple[ReturnCode, str]:
    """Code and words for a point from where the violation falls no more, by who violates there."""
    if share_of_equalities > 0.9:
        return ReturnCode.EQUALITIES_UNSATISFIED, "the equalities can't be met nearby"
    if share_of_equalities < 0.1:
        return ReturnCode.INEQUALITIES_INFEASIBLE, "the inequalities can't be met nearby"
    return ReturnCode.DIRECTION_FAILED, "equalities and inequalities contradict each other nearby"
