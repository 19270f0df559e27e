# SPDX-License-Identifier: Apache-2.0
"""scipy's ``solve_bvp`` behind the interface of our own solver, for comparison (specification 003 section 2.26.2)."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_bvp

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.solvers.boundary_value_problem import BoundaryValueProblem, BoundaryValueResult


def solve_scipy(
    problem: BoundaryValueProblem, mesh: Reals, y: Reals, tolerance: float = 1e-6, max_nodes: int = 3000
) -> BoundaryValueResult:
    """Solves a boundary value problem with ``scipy.integrate.solve_bvp`` and the exact Jacobian.

    Args:
        problem: rates and conditions.
        mesh: (K,) from 0 to 1.
        y: (K, d) guess.
        tolerance: greatest root mean square of an interval's relative residual.
        max_nodes: of the mesh.

    Returns:
        Its solution, or its last iterate and its message.
    """
    count = problem.start_count

    def conditions(first: Reals, last: Reals) -> Reals:
        return np.concatenate([problem.start(first)[0], problem.end(last)[0]])

    def condition_jacobians(first: Reals, last: Reals) -> tuple[Reals, Reals]:
        d = problem.dimension
        by_first, by_last = np.zeros((d, d)), np.zeros((d, d))
        by_first[:count], by_last[count:] = problem.start(first)[1], problem.end(last)[1]
        return by_first, by_last

    solution = solve_bvp(
        lambda _, values: problem.rates(np.ascontiguousarray(values.T)).T,
        conditions,
        mesh,
        y.T,
        fun_jac=lambda _, values: problem.rates_and_jacobian(np.ascontiguousarray(values.T))[1].transpose(1, 2, 0),
        bc_jac=condition_jacobians,
        tol=tolerance,
        max_nodes=max_nodes,
    )
    values = np.ascontiguousarray(solution.y.T)
    return BoundaryValueResult(
        bool(solution.success),
        "converged" if solution.success else str(solution.message),
        np.asarray(solution.x),
        values,
        np.ascontiguousarray(solution.yp.T),
        float(np.max(solution.rms_residuals)),
        float(np.abs(conditions(values[0], values[-1])).max()),
        int(solution.niter),
        int(solution.niter),
        (),
    )
