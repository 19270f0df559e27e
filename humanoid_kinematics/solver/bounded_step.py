# SPDX-License-Identifier: Apache-2.0
"""One step: closures hold, commands come as near as they can in what the closures leave free, bounds aren't crossed.

The closures' rows fall into groups that share no joint (:class:`Groups`), so that a long chain with many loops costs
as much as its loops one by one. Of each group, a QR decomposition with pivots gives the rank, the smallest step
that closes it, and the motions it leaves free; commands are solved by damped least squares in these (closure first,
specification §3.15). Joints that would cross a bound are held there, and let go when that makes the answer better (an
active set, §3.14).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_model.compiling import plain_arguments

#: What a velocity is in a step: free, not to move, held at its lower or upper bound.
FREE, LOCKED, AT_LOWER, AT_UPPER = range(4)


class Groups(NamedTuple):
    """Rows of closures and the velocities that they move, in groups that share none; the last have no rows.

    Attributes:
        rows: group after group.
        row_begin: (n + 1,) where each group's rows begin.
        columns: velocities, group after group; each belongs to one group.
        column_begin: (n + 1,) where each group's velocities begin.
    """

    rows: NDArray[np.int64]
    row_begin: NDArray[np.int64]
    columns: NDArray[np.int64]
    column_begin: NDArray[np.int64]


class Linear(NamedTuple):
    """A linearised problem in scaled units: closures ``J x = e``, commands ``S x ~ b``.

    Attributes:
        J: (m, nv) rows of closures.
        e: (m,) what they should come to.
        S: (s, nv) rows of commands.
        b: (s,) what they should come to.
        lower: (nv,) lowest step, not above 0.
        upper: (nv,) highest step, not below 0.
        preferred: (nv,) step in what closures and commands leave free.
        groups: of the closures.
    """

    J: Array
    e: Array
    S: Array
    b: Array
    lower: Array
    upper: Array
    preferred: Array
    groups: Groups


def group_rows(J: NDArray[np.bool_]) -> Groups:
    """Find the groups of a pattern (m, nv) of rows that may be non-zero."""
    m, nv = J.shape
    left = set(range(m))
    groups: list[tuple[list[int], list[int]]] = []
    used: set[int] = set()
    while left:
        rows, columns, waiting = set(), set(), {min(left)}
        while waiting:
            rows |= waiting
            columns |= {int(k) for row in waiting for k in np.flatnonzero(J[row])}
            waiting = {row for row in left - rows if J[row, sorted(columns)].any()}
        left -= rows
        used |= columns
        groups.append((sorted(rows), sorted(columns)))
    groups.append(([], [k for k in range(nv) if k not in used]))
    return Groups(
        np.array([row for rows_of, _ in groups for row in rows_of], np.int64),
        np.cumsum([0, *(len(rows_of) for rows_of, _ in groups)]).astype(np.int64),
        np.array([k for _, columns_of in groups for k in columns_of], np.int64),
        np.cumsum([0, *(len(columns_of) for _, columns_of in groups)]).astype(np.int64),
    )


@njit(cache=True, error_model="numpy")
def decompose(A: np.ndarray, order: np.ndarray, beta: np.ndarray, diagonal: np.ndarray, tolerance: float) -> int:
    """Decompose the rows of ``A`` (m, n): ``A[order] = L Q^T``, most independent rows first; the rank.

    ``L`` (m, rank) is left below the diagonal of ``A`` and in ``diagonal``; the reflections of ``Q`` on and above it,
    with their factors in ``beta``. A row shorter than ``tolerance`` times the longest counts as dependent.
    """
    m, n = A.shape
    for i in range(m):
        order[i] = i
    longest = 0.0
    for k in range(min(m, n)):
        best, pivot = -1.0, k
        for i in range(k, m):
            length = 0.0
            for j in range(k, n):
                length += A[i, j] * A[i, j]
            if length > best:
                best, pivot = length, i
        best = math.sqrt(best)
        if k == 0:
            longest = best
        if best <= tolerance * longest or best < 1e-12:
            return k
        if pivot != k:
            order[k], order[pivot] = order[pivot], order[k]
            for j in range(n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
        alpha = -best if A[k, k] > 0.0 else best
        diagonal[k] = alpha
        A[k, k] -= alpha
        beta[k] = -1.0 / (alpha * A[k, k])  # 2 / |v|^2
        for i in range(k + 1, m):
            dot = 0.0
            for j in range(k, n):
                dot += A[k, j] * A[i, j]
            dot *= beta[k]
            for j in range(k, n):
                A[i, j] -= dot * A[k, j]
    return min(m, n)


@plain_arguments
@njit(cache=True, error_model="numpy")
def reflect(A: np.ndarray, beta: np.ndarray, rank: int, back: bool, x: np.ndarray) -> None:
    """Turn ``x`` (n,) into ``Q^T x``, or back into ``Q x``."""
    n = A.shape[1]
    for i in range(rank):
        k = rank - 1 - i if back else i
        dot = 0.0
        for j in range(k, n):
            dot += A[k, j] * x[j]
        dot *= beta[k]
        for j in range(k, n):
            x[j] -= dot * A[k, j]


@njit(cache=True, error_model="numpy")
def cholesky_solve(M: np.ndarray, x: np.ndarray, n: int) -> None:
    """Solve ``M x = x`` for a positive definite matrix, whose lower half is overwritten."""
    for j in range(n):
        for k in range(j):
            f = M[j, k]
            if f != 0.0:
                for i in range(j, n):
                    M[i, j] -= M[i, k] * f
        d = math.sqrt(M[j, j]) if M[j, j] > 1e-300 else 1e150
        for i in range(j, n):
            M[i, j] /= d
    for i in range(n):
        for k in range(i):
            x[i] -= M[i, k] * x[k]
        x[i] /= M[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= M[k, i] * x[k]
        x[i] /= M[i, i]


@njit(cache=True, error_model="numpy")
def _shortest(
    A: np.ndarray, order: np.ndarray, diagonal: np.ndarray, rank: int, e: np.ndarray, damping: float, y: np.ndarray
) -> None:
    """Solve ``L y ~ e[order]`` by least squares, damped."""
    m = A.shape[0]
    if rank == m and damping == 0.0:
        for i in range(m):
            y[i] = e[order[i]]
            for k in range(i):
                y[i] -= A[i, k] * y[k]
            y[i] /= diagonal[i]
        return
    L = np.zeros((m, rank))
    for i in range(m):
        for k in range(min(i, rank)):
            L[i, k] = A[i, k]
        if i < rank:
            L[i, i] = diagonal[i]
    M = np.zeros((rank, rank))
    floor = 1e-8 * abs(diagonal[0])
    for k in range(rank):
        y[k] = 0.0
        for i in range(k, m):
            y[k] += L[i, k] * e[order[i]]
    for i in range(m):
        for j in range(rank):
            f = L[i, j]
            if f != 0.0:
                for k in range(j, rank):
                    M[k, j] += L[i, k] * f
    for k in range(rank):
        M[k, k] += max(damping * damping, floor * floor)
    cholesky_solve(M, y, rank)


@njit(cache=True, error_model="numpy")
def _damped(Z: np.ndarray, b: np.ndarray, damping: float, z: np.ndarray) -> None:
    """Minimise ``|Z z - b|^2 + damping^2 |z|^2``."""
    s, n = Z.shape
    d2 = damping * damping
    if n <= s:
        M = np.zeros((n, n))
        z[:] = 0.0
        for r in range(s):
            for j in range(n):
                f = Z[r, j]
                if f != 0.0:
                    z[j] += f * b[r]
                    for i in range(j, n):
                        M[i, j] += f * Z[r, i]
        for i in range(n):
            M[i, i] += d2
        cholesky_solve(M, z, n)
        return
    M, mu = np.zeros((s, s)), b.copy()
    for i in range(s):
        for j in range(i + 1):
            dot = 0.0
            for k in range(n):
                dot += Z[i, k] * Z[j, k]
            M[i, j] = dot
        M[i, i] += d2
    cholesky_solve(M, mu, s)
    for k in range(n):
        z[k] = 0.0
    for i in range(s):
        for k in range(n):
            z[k] += Z[i, k] * mu[i]


@njit(cache=True, error_model="numpy")
def bounded_step(
    linear: Linear, held: np.ndarray, damping: float, closing: float, rank_tolerance: float, x: np.ndarray
) -> int:
    """Solve for a step; how many degrees of freedom the closures leave to the joints that aren't held.

    Args:
        linear: the problem.
        held: (nv,) which velocities are FREE or LOCKED; those at bounds are marked on return.
        damping: of the commands.
        closing: damping of the closures; 0 solves them fully.
        rank_tolerance: rows of closures shorter than this, relative to the longest, depend on the others.
        x: (nv,) the step.
    """
    J, e, S, b, lower, upper, preferred, groups = linear
    m, s, nv, count = J.shape[0], S.shape[0], x.shape[0], len(groups.row_begin) - 1
    size = 0
    for g in range(count):
        size += (groups.row_begin[g + 1] - groups.row_begin[g]) * (groups.column_begin[g + 1] - groups.column_begin[g])
    store = np.empty(size)  # decompositions, group after group
    order, beta, diagonal = np.empty(m, np.int64), np.empty(m), np.empty(m)
    rank, zs, free_count = np.zeros(count, np.int64), np.zeros(count + 1, np.int64), np.zeros(count, np.int64)
    free = np.empty(nv, np.int64)
    changed = np.ones(count, np.bool_)
    particular, rhs, y = np.zeros(nv), np.empty(m), np.empty(max(m, 1))
    Z, zp, row = np.empty((s, nv)), np.empty(nv), np.empty(nv)
    residual, z_all = np.empty(s), np.empty(nv)
    released = np.zeros(nv, np.int64)
    group_of = np.empty(nv, np.int64)
    gradient = np.empty(nv)
    for g in range(count):
        for c in range(groups.column_begin[g], groups.column_begin[g + 1]):
            group_of[groups.columns[c]] = g
    reached = np.zeros(nv)  # within bounds
    x[:] = 0.0
    for _ in range(3 * nv + 3):
        offset = 0
        total = 0
        for g in range(count):
            r0, r1 = groups.row_begin[g], groups.row_begin[g + 1]
            c0, c1 = groups.column_begin[g], groups.column_begin[g + 1]
            mg, room = r1 - r0, (r1 - r0) * (c1 - c0)
            if changed[g]:
                n = 0
                for c in range(c0, c1):
                    if held[groups.columns[c]] == FREE:
                        free[c0 + n] = groups.columns[c]
                        n += 1
                free_count[g] = n
                A = store[offset : offset + mg * n].reshape((mg, n))
                for i in range(mg):
                    r = groups.rows[r0 + i]
                    rhs[r0 + i] = e[r]
                    for c in range(c0, c1):
                        k = groups.columns[c]
                        if held[k] != FREE:
                            rhs[r0 + i] -= J[r, k] * x[k]
                    for j in range(n):
                        A[i, j] = J[r, free[c0 + j]]
                rank[g] = decompose(A, order[r0:r1], beta[r0:r1], diagonal[r0:r1], rank_tolerance)
                step = row[:n]
                step[:] = 0.0
                if rank[g] > 0:
                    _shortest(A, order[r0:r1], diagonal[r0:r1], rank[g], rhs[r0:r1], closing, y)
                    for k in range(rank[g]):
                        step[k] = y[k]
                    reflect(A, beta[r0:r1], rank[g], True, step)
                for j in range(n):
                    particular[free[c0 + j]] = step[j]
            offset += room
            total += free_count[g] - rank[g]
            zs[g + 1] = total
        # Commands in the motions that are left: S x = S (particular + held) + Z z.
        for i in range(s):
            residual[i] = b[i]
            for k in range(nv):
                residual[i] -= S[i, k] * (particular[k] if held[k] == FREE else x[k])
        offset = 0
        for g in range(count):
            r0, r1 = groups.row_begin[g], groups.row_begin[g + 1]
            c0, n = groups.column_begin[g], free_count[g]
            mg = r1 - r0
            A = store[offset : offset + mg * n].reshape((mg, n))
            offset += mg * (groups.column_begin[g + 1] - c0)
            part = row[:n]
            for i in range(-1, s):
                for j in range(n):
                    k = free[c0 + j]
                    part[j] = preferred[k] - particular[k] if i < 0 else S[i, k]
                reflect(A, beta[r0:r1], rank[g], False, part)
                for j in range(rank[g], n):
                    if i < 0:
                        zp[zs[g] + j - rank[g]] = part[j]
                    else:
                        Z[i, zs[g] + j - rank[g]] = part[j]
        z = z_all[:total]
        z[:] = 0.0
        if s > 0 and total > 0:
            for i in range(s):
                for k in range(total):
                    residual[i] -= Z[i, k] * zp[k]
            _damped(np.ascontiguousarray(Z[:, :total]), residual, damping, z)
        for k in range(total):
            z[k] += zp[k]
        offset = 0
        for g in range(count):
            r0, r1 = groups.row_begin[g], groups.row_begin[g + 1]
            c0, n = groups.column_begin[g], free_count[g]
            mg = r1 - r0
            A = store[offset : offset + mg * n].reshape((mg, n))
            offset += mg * (groups.column_begin[g + 1] - c0)
            part = row[:n]
            for j in range(n):
                part[j] = z[zs[g] + j - rank[g]] if j >= rank[g] else 0.0
            reflect(A, beta[r0:r1], rank[g], True, part)
            for j in range(n):
                x[free[c0 + j]] = particular[free[c0 + j]] + part[j]
            changed[g] = False
        # Go there from the last point within bounds; the first joint that meets a bound is held at it.
        part_of_way, joint = 1.0, -1
        for k in range(nv):
            if held[k] == FREE:
                bound = upper[k] if x[k] > reached[k] else lower[k]
                if abs(x[k] - reached[k]) > abs(bound - reached[k]) + 1e-12:
                    part = (bound - reached[k]) / (x[k] - reached[k])
                    if part < part_of_way:
                        part_of_way, joint = part, k
        for k in range(nv):
            x[k] = reached[k] + part_of_way * (x[k] - reached[k])
            reached[k] = x[k]
        if joint >= 0:
            held[joint] = AT_UPPER if abs(x[joint] - upper[joint]) < abs(x[joint] - lower[joint]) else AT_LOWER
            x[joint] = upper[joint] if held[joint] == AT_UPPER else lower[joint]
            reached[joint] = x[joint]
            changed[group_of[joint]] = True
            continue
        some = False
        for k in range(nv):
            some = some or held[k] >= AT_LOWER
        if not some:
            return total
        # Is one held that would rather move inward: to close what can't be closed so far, or for the commands?
        worst, joint = 1e-9, -1
        for r in range(m):
            rhs[r] = e[r]
            for k in range(nv):
                rhs[r] -= J[r, k] * x[k]
        for k in range(nv):
            if held[k] >= AT_LOWER and released[k] < 2:
                slope = 0.0
                for r in range(m):
                    slope -= J[r, k] * rhs[r]
                if held[k] == AT_LOWER:
                    slope = -slope
                if slope > worst:
                    worst, joint = slope, k
        if joint >= 0:
            held[joint] = FREE
            released[joint] += 1
            changed[group_of[joint]] = True
            continue
        if s == 0:
            return total
        for k in range(nv):
            gradient[k] = damping * damping * (x[k] - preferred[k])
        for i in range(s):
            f = b[i]
            for k in range(nv):
                f -= S[i, k] * x[k]
            for k in range(nv):
                gradient[k] -= S[i, k] * f
        offset = 0
        worst, joint = 1e-10, -1
        for g in range(count):
            r0, r1 = groups.row_begin[g], groups.row_begin[g + 1]
            c0, c1, n = groups.column_begin[g], groups.column_begin[g + 1], free_count[g]
            mg = r1 - r0
            A = store[offset : offset + mg * n].reshape((mg, n))
            offset += mg * (c1 - c0)
            part = row[:n]
            for j in range(n):
                part[j] = gradient[free[c0 + j]]
            reflect(A, beta[r0:r1], rank[g], False, part)
            for j in range(rank[g] - 1, -1, -1):
                y[j] = part[j]
                for i in range(j + 1, rank[g]):
                    y[j] -= A[i, j] * y[i]
                y[j] /= diagonal[r0 + j]
            for c in range(c0, c1):
                k = groups.columns[c]
                if held[k] < AT_LOWER or released[k] >= 2:
                    continue
                slope = gradient[k]
                for j in range(rank[g]):
                    slope -= J[groups.rows[r0 + order[r0 + j]], k] * y[j]
                if held[k] == AT_LOWER:
                    slope = -slope
                if slope > worst:
                    worst, joint = slope, k
        if joint < 0:
            return total
        held[joint] = FREE
        released[joint] += 1
        changed[group_of[joint]] = True
    return total
