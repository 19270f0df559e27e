# SPDX-License-Identifier: Apache-2.0
"""One interface for all contact solvers."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_sim.contact.nsgs import nsgs
from humanoid_sim.contact.problem import ContactProblem, ContactResult, ContactStatus, Residuals

SolverKernel = Callable[
    [
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        float,
        int,
        NDArray[np.float64],
        NDArray[np.float64],
    ],
    int,
]
"""(W, v_free, mu, f in/out, tolerance, max_iterations, v out, residuals out) -> iterations."""

SOLVERS: dict[str, SolverKernel] = {"nsgs": nsgs}
"""Contact solvers by name; a solver of one's own is added here."""


def find_solver(method: str) -> SolverKernel:
    """Look a contact solver up by name.

    Raises:
        InputError: there is none of that name.
    """
    if method not in SOLVERS:
        raise InputError(
            f"there is no contact solver '{method}'",
            element="method",
            remedy=f"Choose one of {', '.join(sorted(SOLVERS))}",
        )
    return SOLVERS[method]


def solve_contacts(
    problem: ContactProblem,
    method: str = "nsgs",
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 2000,
    warm_start: ArrayLike | None = None,
) -> ContactResult:
    """Solve a frictional contact problem.

    Args:
        problem: the problem.
        method: ``"nsgs"``, block Gauss-Seidel with exact cones.
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of sweeps.
        warm_start: forces to start from, shape (m, 3); zero if not given.

    Returns:
        Forces, velocities, residuals, iterations, status and time. A problem that did not converge is
        returned with its best iterate and says so in the status.

    Raises:
        InputError: unknown method, tolerance or iteration bound out of range, warm start of another shape.
    """
    kernel = find_solver(method)
    if not tolerance > 0.0:
        raise InputError(f"the tolerance is {tolerance}", element="tolerance", remedy="Give a positive number")
    if max_iterations < 1:
        raise InputError(
            f"max_iterations is {max_iterations}", element="max_iterations", remedy="Give 1 or more"
        )
    m = problem.mu.size
    f = np.zeros(3 * m)
    if warm_start is not None:
        start = np.asarray(warm_start, dtype=float)
        if start.size != 3 * m or not np.all(np.isfinite(start)):
            raise InputError(
                f"the warm start has shape {start.shape}",
                element="warm_start",
                remedy=f"Give finite forces of shape ({m}, 3)",
            )
        f[:] = start.reshape(-1)
    v = np.empty(3 * m)
    residuals = np.zeros(5)
    begin = time.perf_counter()
    iterations = kernel(problem.W, problem.v_free, problem.mu, f, tolerance, max_iterations, v, residuals)
    elapsed = time.perf_counter() - begin
    status = ContactStatus.CONVERGED if residuals[0] <= tolerance else ContactStatus.NOT_CONVERGED
    return ContactResult(
        f.reshape(m, 3), v.reshape(m, 3), Residuals(*residuals.tolist()), iterations, status, elapsed
    )
