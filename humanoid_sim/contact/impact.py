# SPDX-License-Identifier: Apache-2.0
r"""Simultaneous impacts without friction (specification 000 §8.1, thesis equations 3.1 to 3.9; Ruspini and Khatib).

Newton's law at the contacts that push, and no contact slower than that law:
:math:`0 \le p \perp \Lambda p + (1 + e) v^- \ge 0`, with the normal-normal part of the Delassus operator. All impulses
act at the start of the step (thesis §3.1.5). The velocities of the bodies then change by :math:`M^{-1} J_n^T p` (3.9).
Lemke's complementary pivoting solves the linear complementarity problem (specification 000 §10.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.compiling import counted
from humanoid_model.errors import InputError

SOLVED = 0
RAY = 1
PIVOT_LIMIT = 2

_MIN_PIVOT = 1e-10
"""Relative to the largest entry of M: smaller entries of a column are rounding."""
_TIE = 1e-12
_REGULARISATIONS = (0.0, 1e-11, 1e-9, 1e-7)
"""Shifts of the diagonal, relative to the largest entry of M, tried one after the other."""
_GOOD = 1e-9
"""Relative residual with which an attempt is taken for the solution."""
_ACCEPTABLE = 1e-6
"""Relative residual with which the best of all attempts is; a shifted problem may have a solution where M has none."""


class LcpStatus(Enum):
    """How Lemke's method ended."""

    SOLVED = "solved"
    RAY_TERMINATION = "ray termination"
    """Pivoting came to a ray: there may be no solution, or the matrix is of a class that the method can't treat."""
    PIVOT_LIMIT = "pivot limit"


@dataclass(frozen=True)
class LcpResult:
    """Answer of :func:`solve_lcp`.

    Attributes:
        z: shape (n,).
        w: M z + q, shape (n,).
        status: how the method ended; z is zero unless it is ``SOLVED``.
        pivots: pivots of all attempts.
        residual: largest of ``|min(z, w)|``, z scaled by the diagonal of M to the unit of w, relative to the largest q.
    """

    z: NDArray[np.float64]
    w: NDArray[np.float64]
    status: LcpStatus
    pivots: int
    residual: float


@counted()
def _pivot(T: np.ndarray, row: int, column: int) -> None:
    """Make the column of the tableau a unit vector with its one in ``row``."""
    n, width = T.shape
    inverse = 1.0 / T[row, column]
    for c in range(width):
        T[row, c] *= inverse
    T[row, column] = 1.0
    for r in range(n):
        factor = T[r, column]
        if r != row and factor != 0.0:
            for c in range(width):
                T[r, c] -= factor * T[row, c]
            T[r, column] = 0.0


@counted()
def _before(T: np.ndarray, a: int, b: int, column: int, sign: float) -> bool:
    """Whether row a precedes row b in the lexicographic order of the rows of (q, inverse basis) over their pivots."""
    n = T.shape[0]
    p_a = sign * T[a, column]
    p_b = sign * T[b, column]
    last = T.shape[1] - 1
    x = T[a, last] / p_a
    y = T[b, last] / p_b
    if abs(x - y) > _TIE * (1.0 + max(abs(x), abs(y))):
        return x < y
    for c in range(n):
        x = T[a, c] / p_a
        y = T[b, c] / p_b
        if abs(x - y) > _TIE * (1.0 + max(abs(x), abs(y))):
            return x < y
    return False


@counted()
def lemke(M: np.ndarray, q: np.ndarray, max_pivots: int, z: np.ndarray) -> tuple[int, int]:
    r"""Solve :math:`0 \le z \perp M z + q \ge 0` by Lemke's method with the covering vector of ones.

    Ties of the ratio test are broken lexicographically, so that degenerate problems don't cycle. It solves all problems
    with copositive-plus M that have a solution, those of contacts among them.

    Args:
        M: shape (n, n), entries of size one or so.
        q: shape (n,), likewise.
        max_pivots: bound on the number of pivots.
        z: receives the solution, zero where there is none, shape (n,).

    Returns:
        ``SOLVED``, ``RAY`` or ``PIVOT_LIMIT``, and the number of pivots.
    """
    n = q.size
    z[:] = 0.0
    lowest = 0.0
    for r in range(n):
        lowest = min(lowest, q[r])
    if lowest >= 0.0:
        return SOLVED, 0
    # Columns: w (the inverse basis), z, the artificial z0, q.
    T = np.zeros((n, 2 * n + 2))
    basis = np.arange(n)
    for r in range(n):
        T[r, r] = 1.0
        for c in range(n):
            T[r, n + c] = -M[r, c]
        T[r, 2 * n] = -1.0
        T[r, 2 * n + 1] = q[r]
    row = 0
    for r in range(1, n):  # the most negative q leaves: the order of the rows over minus their pivot of -1
        if _before(T, r, row, 2 * n, -1.0):
            row = r
    entering = 2 * n
    pivots = 0
    while True:
        leaving = basis[row]
        _pivot(T, row, entering)
        basis[row] = entering
        pivots += 1
        if leaving == 2 * n:
            for r in range(n):
                if n <= basis[r] < 2 * n:
                    z[basis[r] - n] = max(T[r, 2 * n + 1], 0.0)
            return SOLVED, pivots
        if pivots >= max_pivots:
            return PIVOT_LIMIT, pivots
        entering = leaving + n if leaving < n else leaving - n
        row = -1
        for r in range(n):
            if T[r, entering] > _MIN_PIVOT and (row < 0 or _before(T, r, row, entering, 1.0)):
                row = r
        if row < 0:
            return RAY, pivots
        # The artificial variable leaves if it may: only then is the problem solved.
        for r in range(n):
            if basis[r] == 2 * n and r != row and T[r, entering] > _MIN_PIVOT:
                mine = T[r, 2 * n + 1] / T[r, entering]
                best = T[row, 2 * n + 1] / T[row, entering]
                if mine <= best + _TIE * (1.0 + abs(best)):
                    row = r


@counted()
def lcp_residual(M: np.ndarray, q: np.ndarray, z: np.ndarray) -> float:
    """Largest ``|min(z, M z + q)|``, relative to the largest entry of q; z in units of w (M of size one)."""
    largest = 0.0
    scale = 0.0
    for r in range(q.size):
        w = q[r]
        for c in range(q.size):
            w += M[r, c] * z[c]
        largest = max(largest, abs(min(z[r], w)))
        scale = max(scale, abs(q[r]))
    return largest / scale if scale > 0.0 else largest


@counted()
def lemke_regularised(M: np.ndarray, q: np.ndarray, max_pivots: int, z: np.ndarray) -> tuple[int, int]:
    """:func:`lemke`, tried again with growing shifts of the diagonal where it ends in a ray or an inaccurate answer.

    Args:
        M: shape (n, n).
        q: shape (n,).
        max_pivots: bound on the number of pivots of each attempt.
        z: receives the solution of the best attempt, shape (n,).

    Returns:
        ``SOLVED``, else ``RAY`` or ``PIVOT_LIMIT`` as the first attempt ended; pivots of all.
    """
    n = q.size
    size_M = 0.0
    size_q = 0.0
    for r in range(n):
        size_q = max(size_q, abs(q[r]))
        for c in range(n):
            size_M = max(size_M, abs(M[r, c]))
    z[:] = 0.0
    if size_q == 0.0:
        return SOLVED, 0
    if size_M == 0.0:
        size_M = 1.0
    scaled = np.empty((n, n))
    p = q / size_q
    trial = np.empty(n)
    status = -1
    pivots = 0
    best = np.inf
    for shift in _REGULARISATIONS:
        for r in range(n):
            for c in range(n):
                scaled[r, c] = M[r, c] / size_M
            scaled[r, r] += shift
        outcome, count = lemke(scaled, p, max_pivots, trial)
        pivots += count
        if status < 0:
            status = outcome
        if outcome == SOLVED:
            for r in range(n):
                for c in range(n):
                    scaled[r, c] = M[r, c] / size_M
            residual = lcp_residual(scaled, p, trial)
            if residual < best:
                best = residual
                for r in range(n):
                    z[r] = trial[r] * size_q / size_M
            if residual <= _GOOD:
                return SOLVED, pivots
    if best <= _ACCEPTABLE:
        return SOLVED, pivots
    z[:] = 0.0
    return RAY if status == SOLVED else status, pivots


def solve_lcp(M: ArrayLike, q: ArrayLike, *, max_pivots: int | None = None) -> LcpResult:
    r"""Solve the linear complementarity problem :math:`0 \le z \perp M z + q \ge 0`.

    Args:
        M: shape (n, n), of any kind; a solution is certain to be found if M is copositive-plus (positive
            semi-definite, say) and there is one.
        q: shape (n,).
        max_pivots: bound on the pivots of each attempt; 50 n + 100 if not given.

    Returns:
        The solution, or how the method failed.

    Raises:
        InputError: no square matrix, a q of another length, a value that is not finite, a bound below 1.
    """
    matrix = np.array(M, dtype=float, order="C")
    vector = np.array(q, dtype=float).reshape(-1)
    n = vector.size
    if matrix.shape != (n, n):
        raise InputError(
            f"M has shape {matrix.shape} beside {n} entries of q", element="M", remedy=f"Give a matrix ({n}, {n})"
        )
    for name, values in (("M", matrix), ("q", vector)):
        if not np.all(np.isfinite(values)):
            index = [int(i) for i in np.argwhere(~np.isfinite(values))[0]]
            raise InputError(f"{name}{index} is {values[tuple(index)]}", element=name, remedy="Give finite numbers")
    limit = 50 * n + 100 if max_pivots is None else max_pivots
    if limit < 1:
        raise InputError(f"max_pivots is {limit}", element="max_pivots", remedy="Give 1 or more")
    z = np.zeros(n)
    status, pivots = lemke_regularised(matrix, vector, limit, z)
    size = float(np.abs(matrix).max(initial=0.0)) or 1.0
    return LcpResult(
        z=z,
        w=matrix @ z + vector,
        status=(LcpStatus.SOLVED, LcpStatus.RAY_TERMINATION, LcpStatus.PIVOT_LIMIT)[status],
        pivots=pivots,
        residual=float(lcp_residual(matrix / size, vector, z * size)),
    )


def check_normal_operator(
    Lambda_nn: ArrayLike, m: int, values: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the operator as an array, if it and the values beside it make a problem.

    Args:
        Lambda_nn: normal-normal part of J M^-1 J^T, symmetric positive semi-definite [1/kg], shape (m, m).
        m: number of contacts.
        values: what belongs to the contacts, by name, shape (m,) each.

    Raises:
        InputError: shapes that don't fit, a value that is not finite, an asymmetric operator, a diagonal that is not
            positive.
    """
    operator = np.array(Lambda_nn, dtype=float)
    if operator.shape != (m, m):
        raise InputError(
            f"Lambda_nn has shape {operator.shape} for {m} contacts",
            element="Lambda_nn",
            remedy=f"Give a matrix of shape ({m}, {m})",
        )
    for name, array in {"Lambda_nn": operator, **values}.items():
        if name != "Lambda_nn" and array.shape != (m,):
            raise InputError(
                f"{name} has shape {array.shape} for {m} contacts", element=name, remedy=f"Give one number, or {m}"
            )
        if not np.all(np.isfinite(array)):
            index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise InputError(f"{name}{list(index)} is {array[index]}", element=name, remedy="Give finite numbers")
    if np.abs(operator - operator.T).max(initial=0.0) > 1e-9 * np.abs(operator).max(initial=0.0):
        raise InputError("Lambda_nn is not symmetric", element="Lambda_nn", remedy="J_n M^-1 J_n^T is symmetric")
    if np.any(np.diag(operator) <= 0.0):
        i = int(np.argmax(np.diag(operator) <= 0.0))
        raise InputError(
            f"Lambda_nn[{i}, {i}] is {operator[i, i]}",
            element="Lambda_nn",
            remedy="A push must be able to move the contact: its diagonal is positive",
        )
    return operator


@dataclass(frozen=True)
class ImpactResult:
    """Answer of :func:`solve_impact`.

    Attributes:
        impulses: along the normals [N s], shape (m,).
        velocities: normal velocities after the impact [m/s], shape (m,).
        residual: what is left of the complementarity, relative to the approach.
        pivots: of Lemke's method.
        status: how it ended; the impulses are zero unless it is ``SOLVED``.
        time: seconds spent.
    """

    impulses: NDArray[np.float64]
    velocities: NDArray[np.float64]
    residual: float
    pivots: int
    status: LcpStatus
    time: float


def solve_impact(
    Lambda_nn: ArrayLike, v_minus: ArrayLike, e: ArrayLike, *, allowed: ArrayLike = 0.0
) -> ImpactResult:
    r"""Return impulses of simultaneous impacts.

    A contact whose gap is still to be closed may go on approaching at a speed a:
    :math:`0 \le p \perp \Lambda p + (1 + e) v^- + a \ge 0`.

    Args:
        Lambda_nn: normal-normal part of J M^-1 J^T, symmetric positive semi-definite [1/kg], shape (m, m).
        v_minus: normal velocities before the impact, negative where bodies approach [m/s], shape (m,).
        e: coefficients of restitution from 0 to 1, shape (m,), or one for all.
        allowed: approach speed that each contact may keep, 0 or more [m/s], shape (m,), or one for all.

    Returns:
        Impulses and velocities after the impact.

    Raises:
        InputError: shapes that don't fit, a value that is not finite, an asymmetric operator, a diagonal that is not
            positive, a coefficient outside 0 to 1, an allowed speed below 0.
    """
    v = np.array(v_minus, dtype=float).reshape(-1)
    m = v.size
    restitution, kept = (np.array(given, dtype=float) for given in (e, allowed))
    restitution, kept = (np.full(m, float(given)) if given.ndim == 0 else given for given in (restitution, kept))
    operator = check_normal_operator(Lambda_nn, m, {"v_minus": v, "e": restitution, "allowed": kept})
    outside = (restitution < 0.0) | (restitution > 1.0)
    if np.any(outside):
        i = int(np.argmax(outside))
        raise InputError(f"e[{i}] is {restitution[i]}", element="e", remedy="Restitution is between 0 and 1")
    if np.any(kept < 0.0):
        i = int(np.argmax(kept < 0.0))
        raise InputError(f"allowed[{i}] is {kept[i]}", element="allowed", remedy="Give a speed of 0 or more")
    begin = perf_counter()
    answer = solve_lcp(operator, (1.0 + restitution) * v + kept)
    return ImpactResult(
        impulses=answer.z,
        velocities=operator @ answer.z + v,
        residual=answer.residual,
        pivots=answer.pivots,
        status=answer.status,
        time=perf_counter() - begin,
    )
