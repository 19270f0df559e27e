# SPDX-License-Identifier: Apache-2.0
"""The frictional contact problem at velocity level, and one interface for all its solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
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


class ContactProblem:
    r"""Find forces in their Coulomb cones and velocities with :math:`v = W f + v_{free}`.

    For each contact, in the order (n, t1, t2): :math:`0 \le v_n \perp f_n \ge 0`,
    :math:`\|f_t\| \le \mu f_n`, and where the contact slips :math:`f_t = -\mu f_n v_t/\|v_t\|`
    (specification 000 §§6.1 and 8.2, thesis equations 2.26-2.28 and 3.25-3.26).

    Attributes:
        W: Delassus operator, symmetric positive semi-definite with positive definite 3x3 diagonal blocks, shape
            (3m, 3m). With forces in N and a step dt in s it is dt times J M^-1 J^T [s/kg]; with
            impulses in N s it is J M^-1 J^T [1/kg].
        v_free: contact velocities that there would be without contact forces [m/s], shape (3m,).
        mu: friction coefficients, shape (m,).
    """

    def __init__(self, W: ArrayLike, v_free: ArrayLike, mu: ArrayLike) -> None:
        """Check and keep the data.

        Args:
            W: shape (3m, 3m).
            v_free: shape (3m,).
            mu: shape (m,), or one number for all contacts.

        Raises:
            InputError: wrong shape, a value that is not finite, an asymmetric W, a diagonal block that is
                not positive definite, a negative friction coefficient.
        """
        self.v_free = np.array(v_free, dtype=float).reshape(-1)
        if self.v_free.size % 3 != 0:
            raise InputError(
                f"v_free has {self.v_free.size} entries", element="v_free", remedy="Give 3 per contact"
            )
        m = self.v_free.size // 3
        self.W = np.array(W, dtype=float, order="C")
        if self.W.shape != (3 * m, 3 * m):
            raise InputError(
                f"W has shape {self.W.shape} beside {3 * m} free velocities",
                element="W",
                remedy=f"Give a matrix of shape ({3 * m}, {3 * m})",
            )
        mu_array = np.array(mu, dtype=float)
        self.mu = np.full(m, float(mu_array)) if mu_array.ndim == 0 else mu_array
        if self.mu.shape != (m,):
            raise InputError(
                f"mu has shape {self.mu.shape} for {m} contacts",
                element="mu",
                remedy=f"Give one coefficient, or {m}",
            )
        for name, values in (("W", self.W), ("v_free", self.v_free), ("mu", self.mu)):
            if not np.all(np.isfinite(values)):
                index = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
                raise InputError(
                    f"{name}{list(index)} is {values[index]}", element=name, remedy="Give finite numbers"
                )
        if np.any(self.mu < 0.0):
            i = int(np.argmax(self.mu < 0.0))
            raise InputError(
                f"mu[{i}] is {self.mu[i]}", element="mu", remedy="A friction coefficient is 0 or more"
            )
        size = np.abs(self.W).max(initial=0.0)
        if np.abs(self.W - self.W.T).max(initial=0.0) > 1e-9 * size:
            raise InputError(
                "W is not symmetric", element="W", remedy="A Delassus operator J M^-1 J^T is symmetric"
            )
        for i in range(m):
            block = self.W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
            lowest = float(np.linalg.eigvalsh(block)[0])
            if lowest <= 0.0:
                raise InputError(
                    f"the block of contact {i} has the eigenvalue {lowest:.3g}",
                    element="W",
                    remedy="Each contact must be free to move in three directions without the others",
                )


    @property
    def blocks(self) -> NDArray[np.float64]:
        """W in 3 x 3 blocks, contact against contact, sharing its memory, shape (m, m, 3, 3)."""
        m = self.mu.size
        return self.W.reshape(m, 3, m, 3).transpose(0, 2, 1, 3)


class ContactStatus(Enum):
    """How a contact solver ended."""

    CONVERGED = "converged"
    """The natural-map residual is within the tolerance."""
    APPROXIMATE = "solved with an approximate law of friction"
    """The solver has solved its own problem (no friction, faceted cones), which is not the exact one."""
    NOT_CONVERGED = "not converged"
    """Out of iterations, or stuck."""
    TIME_LIMIT = "time limit"
    """Out of time; the best iterate so far is returned."""


@dataclass(frozen=True)
class Residuals:
    r"""What is left of each condition of the contact problem; all are zero at a solution.

    Attributes:
        natural_map: distance to the fixed point of the projection on the Coulomb cones, relative to the largest
            force; the tolerance of the solvers bounds this one.
        complementarity: largest :math:`|f_n v_n|` [W, or J for impulses].
        cone: largest force outside its cone [N or N s].
        dissipation: largest gap to the maximum dissipation :math:`\mu f_n \|v_t\| + f_t\cdot v_t` [W or J].
        approach: largest remaining approach velocity [m/s].
    """

    natural_map: float
    complementarity: float
    cone: float
    dissipation: float
    approach: float


@dataclass(frozen=True)
class ContactResult:
    """Answer of a contact solver.

    Attributes:
        impulses: one row (n, t1, t2) per contact in the unit that the problem's W implies, shape (m, 3).
        velocities: contact velocities after the step [m/s], shape (m, 3).
        residuals: how well the conditions hold.
        iterations: sweeps done.
        status: whether the residual is within the tolerance.
        time: seconds spent.
    """

    impulses: NDArray[np.float64]
    velocities: NDArray[np.float64]
    residuals: Residuals
    iterations: int
    status: ContactStatus
    time: float

    @property
    def converged(self) -> bool:
        """Whether the natural-map residual is within the tolerance that was asked for."""
        return self.status is ContactStatus.CONVERGED


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
