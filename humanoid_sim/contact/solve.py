# SPDX-License-Identifier: Apache-2.0
"""One interface for all contact solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from time import perf_counter
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_model.extensions import load_extensions, others
from humanoid_sim.contact.alart_curnier_global import alart_curnier_global
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import contact_residuals
from humanoid_sim.contact.interior_point import interior_point
from humanoid_sim.contact.nsgs import nsgs
from humanoid_sim.contact.nsgs_newton import nsgs_newton
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

LawResidual = Callable[
    [NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], float
]
"""(W, v_free, mu, f, v) -> relative residual of a solver's own law of friction."""


@dataclass(frozen=True)
class ContactSolver:
    """A contact solver and what may be asked of it.

    Attributes:
        source: the solver itself, or where it is imported from when it is first used, ``"package.module:function"``.
        anytime: whether a call with few iterations brings the forces nearer and the next call goes on from
            them, so that it can be stopped by the clock.
        law: residual of the law that it solves, where that is not Coulomb's, itself or where it is imported from; None
            for exact solvers.
        looks_at_clock: whether the kernel takes a deadline, a time of :func:`~humanoid_sim.contact.clock.seconds`, as
            one more argument, and gives up unsolved for that reason and for its iterations only.
    """

    source: SolverKernel | str
    anytime: bool = False
    law: LawResidual | str | None = None
    looks_at_clock: bool = False

    @property
    def kernel(self) -> SolverKernel:
        """The solver itself."""
        return cast(SolverKernel, resolve_name(self.source)) if isinstance(self.source, str) else self.source

    @property
    def law_residual(self) -> LawResidual | None:
        """Residual of the law that it solves; None for Coulomb's."""
        return cast(LawResidual, resolve_name(self.law)) if isinstance(self.law, str) else self.law


SOLVERS: dict[str, ContactSolver] = {
    "nsgs": ContactSolver(nsgs, anytime=True),
    "nsgs_newton": ContactSolver(nsgs_newton, anytime=True, looks_at_clock=True),
    "alart_curnier_global": ContactSolver(alart_curnier_global, anytime=True),
    "interior_point": ContactSolver(interior_point),
}
"""Contact solvers by name; :func:`register_solver` adds one of one's own, other packages add theirs
(:mod:`humanoid_model.extensions`)."""


def register_solver(
    name: str,
    kernel: SolverKernel | str,
    *,
    anytime: bool = False,
    law_residual: LawResidual | str | None = None,
    replace: bool = False,
) -> None:
    """Make a contact solver of one's own known by a name, for :func:`solve_contacts` and simulations.

    Args:
        name: the name.
        kernel: the solver, compiled or plain Python. It reads W, v_free and mu, starts from the forces f,
            overwrites them, and fills v and the residuals (``contact_residuals`` does). Or where it is imported from
            when it is first used, ``"package.module:function"``.
        anytime: whether it may be called for a few iterations at a time, each call going on from the
            forces of the last.
        law_residual: for a solver of an approximate law of friction, how far forces are from that law, as a function
            or where it is imported from.
        replace: whether the name may be that of an existing solver, which it then takes the place of.

    Raises:
        InputError: an empty name, a name that is taken without ``replace``, a kernel that can't be called.
    """
    if not name or name != name.strip():
        raise InputError(f"the solver's name is {name!r}", element="name", remedy="Give a word")
    if not callable(kernel) and not (isinstance(kernel, str) and ":" in kernel):
        raise InputError(
            f"the kernel of the solver '{name}' is {kernel!r}",
            element="kernel",
            remedy="Give a function (W, v_free, mu, f, tolerance, max_iterations, v, residuals) -> iterations, or "
            "where it is, 'package.module:function'",
        )
    if name in SOLVERS and not replace:
        raise InputError(
            f"there is a contact solver '{name}' already",
            element="name",
            remedy="Choose another name, or say replace=True to take its place",
        )
    SOLVERS[name] = ContactSolver(kernel, anytime, law_residual)


def solver_names() -> list[str]:
    """All names of contact solvers, those of other installed packages too."""
    load_extensions("contact_solvers")
    return sorted(SOLVERS)


def find_solver(method: str) -> SolverKernel:
    """Look a contact solver up by name.

    Raises:
        InputError: there is none of that name.
    """
    return _find(method).kernel


def _find(method: str) -> ContactSolver:
    if not isinstance(method, str) or (method not in SOLVERS and method not in solver_names()):
        raise InputError(
            f"there is no contact solver '{method}'",
            element="method",
            remedy=f"Choose one of {', '.join(sorted(SOLVERS))}{others('contact_solvers')}",
        )
    return SOLVERS[method]


def solve_contacts(
    problem: ContactProblem,
    method: str = "nsgs_newton",
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 2000,
    warm_start: ArrayLike | None = None,
    time_budget: float | None = None,
) -> ContactResult:
    """Solve a frictional contact problem.

    Args:
        problem: the problem.
        method: one of :data:`SOLVERS`; the default is that of simulations.
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of sweeps, pivots or Newton iterations.
        warm_start: forces to start from, shape (m, 3); zero if not given.
        time_budget: seconds after which no further iteration is begun; None for no limit. The best iterate so
            far is returned.

    Returns:
        Forces, velocities, residuals, iterations, status and time. A problem that did not converge is
        returned with its best iterate and says so in the status.

    Raises:
        InputError: unknown method, tolerance, iteration bound or budget out of range, a budget for a solver that
            can't be stopped, warm start of another shape, a solver whose library is not installed.
    """
    solver = _find(method)
    if not tolerance > 0.0:
        raise InputError(f"the tolerance is {tolerance}", element="tolerance", remedy="Give a positive number")
    if max_iterations < 1:
        raise InputError(f"max_iterations is {max_iterations}", element="max_iterations", remedy="Give 1 or more")
    if time_budget is not None:
        if not time_budget > 0.0:
            raise InputError(
                f"the time budget is {time_budget} s", element="time_budget", remedy="Give a positive number, or None"
            )
        if not solver.anytime:
            raise InputError(
                f"the solver '{method}' can't be stopped on the way",
                element="time_budget",
                remedy=f"Choose one of {', '.join(sorted(n for n, s in SOLVERS.items() if s.anytime))}, or no budget",
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
    kernel, law_residual = solver.kernel, solver.law_residual
    begin = perf_counter()
    out_of_time = False
    if solver.looks_at_clock:
        deadline = np.inf if time_budget is None else seconds(np.empty(2, dtype=np.int64)) + time_budget
        iterations = kernel(  # type: ignore[call-arg]
            problem.W, problem.v_free, problem.mu, f, tolerance, max_iterations, v, residuals, deadline
        )
        out_of_time = iterations < max_iterations
    elif time_budget is None:
        iterations = kernel(problem.W, problem.v_free, problem.mu, f, tolerance, max_iterations, v, residuals)
    else:
        iterations, out_of_time = solve_in_time(
            kernel, problem.W, problem.v_free, problem.mu, f, tolerance, max_iterations, v, residuals,
            begin + time_budget,
        )  # fmt: skip
    elapsed = perf_counter() - begin
    if residuals[0] <= tolerance:
        status = ContactStatus.CONVERGED
    elif law_residual is not None and law_residual(problem.W, problem.v_free, problem.mu, f, v) <= tolerance:
        status = ContactStatus.APPROXIMATE
    elif out_of_time:
        status = ContactStatus.TIME_LIMIT
    else:
        status = ContactStatus.NOT_CONVERGED
    return ContactResult(
        f.reshape(m, 3), v.reshape(m, 3), Residuals(*residuals.tolist()), iterations, status, elapsed
    )


def solve_in_time(
    kernel: SolverKernel,
    W: NDArray[np.float64],
    v_free: NDArray[np.float64],
    mu: NDArray[np.float64],
    f: NDArray[np.float64],
    tolerance: float,
    max_iterations: int,
    v: NDArray[np.float64],
    residuals: NDArray[np.float64],
    deadline: float,
) -> tuple[int, bool]:
    """Iterate in chunks, each from the forces of the last, with a look at the clock between them.

    The first chunk is one iteration. The next ones are as long as half of the time that is left allows at the pace seen
    so far: the clock is read a few times in all, and the deadline, a time of ``perf_counter``, is overrun by an
    iteration at most as long as iterations cost alike.

    Returns:
        Iterations, and whether the time is why they ended. ``f``, ``v`` and ``residuals`` are those of the best
        iterate between two readings.
    """
    begin = perf_counter()
    best = f.copy()
    contact_residuals(W, v_free, mu, best, v, residuals)
    best_residual = float(residuals[0])
    iterations = 0
    chunk = 1
    out_of_time = False
    while best_residual > tolerance and iterations < max_iterations:
        done = kernel(W, v_free, mu, f, tolerance, chunk, v, residuals)
        iterations += done
        if residuals[0] < best_residual:
            best_residual = float(residuals[0])
            best[:] = f
        now = perf_counter()
        if done < chunk and best_residual > tolerance:  # it gave up by itself
            break
        if now >= deadline:
            out_of_time = best_residual > tolerance
            break
        pace = max((now - begin) / max(iterations, 1), 1e-9)
        chunk = min(max(int(0.5 * (deadline - now) / pace), 1), max_iterations - iterations)
    f[:] = best
    contact_residuals(W, v_free, mu, f, v, residuals)
    return iterations, out_of_time
