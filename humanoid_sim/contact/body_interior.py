# SPDX-License-Identifier: Apache-2.0
"""The interior-point method of :mod:`humanoid_sim.contact.interior_point` on the graph of free bodies that touch.

Its systems, the Delassus operator plus a positive definite block per contact, are those of
:mod:`humanoid_sim.contact.body_newton` with that block in place of the contact's law: they take time linear in a row or
a stack of bodies.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_sim.contact.block_nsgs import CONTACT, block_natural_map, law_residuals
from humanoid_sim.contact.body_newton import BodyGraph, Linearised, factor_system, inverse, solve_system
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import copy_vector
from humanoid_sim.contact.interior_point import BOUNDARY, TIE, jordan_divide, longest_step, nesterov_todd
from humanoid_sim.delassus.body_operator import BodyOperator, operator_velocity

_STALL = 20
"""Iterations without a better residual after which the method ends."""


@apart(error_model="numpy")
def body_interior(
    operator: BodyOperator, graph: BodyGraph, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, tolerance: float,
    max_iterations: int, v: np.ndarray, residuals: np.ndarray, deadline: float,
) -> int:  # fmt: skip
    """Interior-point iterations from the cones' axes; the initial forces are only kept if nothing better is found.

    Arguments are those of :func:`~humanoid_sim.contact.body_newton.body_newton`.

    Returns:
        Number of iterations done. The problem is solved if ``residuals[0] <= tolerance``.
    """
    m, n = mu.size, 3 * mu.size
    starts, kinds, parents, diagonal = np.arange(m + 1) * 3, np.full(m, CONTACT), np.arange(m), np.empty(n)
    P, x, y = np.empty(n), np.zeros(n), np.zeros(n)  # as in interior_point
    size = 0.0
    for i in range(m):
        k = 3 * i
        block, frictional = operator.diagonal[i], mu[i] > 0.0
        mean = block[0, 0] if not frictional else (block[0, 0] / mu[i] ** 2 + block[1, 1] + block[2, 2]) / 3.0
        P[k] = (mu[i] if frictional else 1.0) * math.sqrt(mean)
        P[k + 1] = P[k + 2] = math.sqrt(mean) if frictional else 0.0
        for r in range(3):
            diagonal[k + r] = block[r, r]
            if P[k + r] > 0.0:
                size = max(size, abs(v_free[k + r]) / P[k + r])
    operator_velocity(operator, v_free, f, v)
    best, best_residual = f.copy(), block_natural_map(diagonal, v_free, starts, kinds, mu, parents, f, v)
    x[::3] = size
    y[::3] = size
    scaling, root, inner = np.zeros((m, 3, 3)), np.zeros((m, 3, 3)), np.empty((3, 3))
    laws = Linearised(
        np.empty((m, 3, 3)), np.empty((m, 3, 3)), np.zeros((m, 3, 3)), np.zeros((m, 3, 3)), np.empty(m),
        np.zeros(m, dtype=np.bool_),
    )  # fmt: skip
    rhs, psi, lam, dx, dy = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n), np.zeros(n)
    defect, target, part, other = np.empty(n), np.zeros(n), np.empty(3), np.empty(3)
    trial = np.zeros(n)
    for r in range(0, n, 3):
        trial[r] = x[r] / P[r]
    operator_velocity(operator, v_free, trial, v)
    clock = np.empty(2, dtype=np.int64)
    timed = deadline < np.inf
    mark, lasts = seconds(clock) if timed else 0.0, 0.0
    iteration, stalled = 0, 0
    while iteration < max_iterations and stalled < _STALL and best_residual > tolerance:
        if timed:
            now = seconds(clock)
            lasts = max(lasts, now - mark)
            mark = now
            if now + 2.0 * lasts > deadline:
                break
        iteration += 1
        gap, power = 0.0, 0.0
        for i in range(m):
            k = 3 * i
            if P[k + 1] > 0.0:
                nesterov_todd(x[k : k + 3], y[k : k + 3], scaling[i], root[i])
            else:
                scaling[i, 0, 0] = y[k] / x[k]
                scaling[i, 1, 1] = scaling[i, 2, 2] = 1.0
                root[i, 0, 0] = math.sqrt(scaling[i, 0, 0])
                root[i, 1, 1] = root[i, 2, 2] = 1.0
            for r in range(3):
                lam[k + r] = root[i, r, 0] * x[k] + root[i, r, 1] * x[k + 1] + root[i, r, 2] * x[k + 2]
                gap += x[k + r] * y[k + r]
                defect[k + r] = y[k + r] - v[k + r] / P[k + r] if P[k + r] > 0.0 else 0.0
            if P[k + 1] > 0.0:
                defect[k] -= math.hypot(y[k + 1], y[k + 2])  # De Saxcé's term
            for r in range(3):
                power += x[k] * abs(defect[k + r])
            if P[k + 1] > 0.0:  # the contact's block for forces
                for r in range(3):
                    for s in range(3):
                        inner[r, s] = P[k + r] * scaling[i, r, s] * P[k + s]
                    inner[r, r] += operator.compliance[k + r]
                inverse(inner, laws.E_inverse[i])
            else:
                laws.E_inverse[i, 0, 0] = 1.0 / (P[k] * scaling[i, 0, 0] * P[k] + operator.compliance[k])
            for r in range(3):
                for s in range(3):
                    laws.S[i, r, s] = laws.E_inverse[i, r, s]
        gap /= m
        if not factor_system(operator.sides, graph, laws):
            break
        sigma, alpha = 0.0, 0.0
        for stage in range(2):  # predictor towards the boundary, corrector towards the central path
            for i in range(m):
                k = 3 * i
                centre = lam[k : k + 3]
                if stage == 0:  # lam \ (-lam o lam)
                    for r in range(3):
                        target[k + r] = -centre[r]
                else:
                    # -lam o lam + sigma gap e - (root^-1 dy) o (root dx), with root^-1 dy = target - root dx
                    for r in range(3):
                        part[r] = root[i, r, 0] * dx[k] + root[i, r, 1] * dx[k + 1] + root[i, r, 2] * dx[k + 2]
                    for r in range(3):
                        other[r] = target[k + r] - part[r]
                    if P[k + 1] > 0.0:
                        first = part[0] * other[0] + part[1] * other[1] + part[2] * other[2]
                        second = part[0] * other[1] + other[0] * part[1]
                        third = part[0] * other[2] + other[0] * part[2]
                        part[0] = sigma * gap - first
                        part[1] = -second
                        part[2] = -third
                        jordan_divide(centre, part, other)
                        for r in range(3):
                            target[k + r] = other[r] - centre[r]
                    else:
                        target[k] = (sigma * gap - part[0] * other[0]) / centre[0] - centre[0]
                for r in range(3):
                    rhs[k + r] = defect[k + r] + (
                        root[i, r, 0] * target[k] + root[i, r, 1] * target[k + 1] + root[i, r, 2] * target[k + 2]
                    )
            for r in range(n):
                psi[r] = -P[r] * rhs[r]
            if not solve_system(operator.sides, graph, laws, psi, dx):
                alpha = np.nan
                break
            for r in range(n):
                dx[r] *= P[r]
            alpha = 1.0 / BOUNDARY
            for i in range(m):
                k = 3 * i
                for r in range(3):  # dy = root target - scaling dx
                    dy[k + r] = 0.0
                    for c in range(3):
                        dy[k + r] += root[i, r, c] * target[k + c] - scaling[i, r, c] * dx[k + c]
                alpha = min(alpha, longest_step(x[k : k + 3], dx[k : k + 3]))
                alpha = min(alpha, longest_step(y[k : k + 3], dy[k : k + 3]))
            alpha *= BOUNDARY
            if stage == 0:
                # No nearer to the boundary than the term of De Saxcé is known: it has to settle meanwhile.
                sigma = min(1.0, max((1.0 - alpha) ** 3, 1e-4, TIE * power / (gap * m)))
        for r in range(n):
            x[r] += alpha * dx[r]
            y[r] += alpha * dy[r]
        if not math.isfinite(alpha):
            break
        for r in range(n):
            trial[r] = x[r] / P[r] if P[r] > 0.0 else 0.0
        operator_velocity(operator, v_free, trial, v)
        residual = block_natural_map(diagonal, v_free, starts, kinds, mu, parents, trial, v)
        stalled += 1
        if residual < best_residual:
            if residual < 0.9 * best_residual:
                stalled = 0
            best_residual = residual
            copy_vector(trial, best)
    copy_vector(best, f)
    operator_velocity(operator, v_free, f, v)
    law_residuals(diagonal, v_free, starts, kinds, mu, parents, f, v, residuals)
    return iteration
