# SPDX-License-Identifier: Apache-2.0
"""Convex quadratic programs with hard or elastic constraints, solved by DAQP's dual active-set method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import daqp
import numpy as np
from numpy.typing import NDArray

_ACTIVE_AT_UPPER, _ACTIVE_AT_LOWER, _EQUALITY, _SOFT = 1, 3, 5, 8

_MIN_TIME_LIMIT = 1e-6  # time limit [s]; DAQP takes 0 for none

_SETTINGS = {
    "primal_tol": 1e-9,
    # DAQP takes a pivot below this for a singular working set. The pivots of elastic constraints are as small as the
    # compliance over the squared row norm, and far from singular: with the default, half of the programs cycle.
    "sing_tol": 1e-15,
    "iter_limit": 3000,
}


class QuadraticProgram(NamedTuple):
    """½ xᵀHx + gᵀx, to be minimised subject to ``lower <= A x <= upper`` and bounds of the variables.

    Attributes:
        H: (n, n) symmetric positive definite.
        g: (n,).
        A: (m, n).
        lower: (m,), -inf where there is none; equal to ``upper`` for an equality.
        upper: (m,), inf where there is none.
        variable_lower: (n,).
        variable_upper: (n,).
    """

    H: NDArray[np.float64]
    g: NDArray[np.float64]
    A: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    variable_lower: NDArray[np.float64]
    variable_upper: NDArray[np.float64]


@dataclass(frozen=True)
class QuadraticSolution:
    """Solution of a quadratic program.

    Attributes:
        x: (n,) minimiser.
        multipliers: (m,) of the constraints, positive where the upper bound acts, negative where the lower does.
        bound_multipliers: (n,) of the variables' bounds, likewise.
        iterations: changes of the working set.
    """

    x: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    bound_multipliers: NDArray[np.float64]
    iterations: int


def solve_quadratic_program(
    program: QuadraticProgram,
    *,
    weights: NDArray[np.float64] | None = None,
    compliance: float = 1e-7,
    working_set: NDArray[np.float64] | None = None,
    time_limit: float = math.inf,
) -> QuadraticSolution | None:
    """Solve a quadratic program.

    With ``weights`` the constraints (not the bounds) are elastic: a violation s of row i costs
    (weights[i] s)²/(2 compliance), so that a solution always exists, whatever the rank of A. Slacks are never formed:
    in the dual, an elastic row only adds its compliance to the diagonal.

    Args:
        program: to solve.
        weights: (m,) positive, or None for hard constraints.
        compliance: of elastic constraints.
        working_set: (n + m,) guess of the multipliers' signs, bounds first: positive where the upper bound acts.
        time_limit: of the search among working sets [s].

    Returns:
        The solution; None if there is none, the time is up or the solver failed.
    """
    H, g, A, lower, upper, variable_lower, variable_upper = program
    n = len(g)
    scale = np.ones(len(lower)) if weights is None else weights
    A = np.ascontiguousarray(A * scale[:, None])
    bound_upper = np.concatenate([variable_upper, upper * scale])
    bound_lower = np.concatenate([variable_lower, lower * scale])
    sense = np.zeros(n + len(lower), np.intc)
    if working_set is not None:
        sense[working_set > 0] = _ACTIVE_AT_UPPER
        sense[working_set < 0] = _ACTIVE_AT_LOWER
    sense[bound_upper <= bound_lower] = _EQUALITY
    model = daqp.Model()
    model.settings = {**_SETTINGS, "time_limit": 0.0 if math.isinf(time_limit) else max(time_limit, _MIN_TIME_LIMIT)}
    if weights is not None:
        sense[n:] |= _SOFT
    status, _ = model.setup(H, g, A, bound_upper, bound_lower, sense)
    if status < 0:
        return None
    if weights is not None:
        reciprocal = np.full(len(sense), compliance)
        model.soft_weights(rho_l=reciprocal, rho_u=reciprocal)
    x, _, status, info = model.solve()
    if status <= 0 or not np.isfinite(x).all():
        return None
    multipliers = info["lam"]
    return QuadraticSolution(
        np.clip(x, variable_lower, variable_upper), multipliers[n:] * scale, multipliers[:n], info["iterations"]
    )
