# SPDX-License-Identifier: Apache-2.0
r"""The interior-point method of :mod:`humanoid_sim.contact.interior_point` on the graph of free bodies that touch.

Its systems, the Delassus operator plus a block per contact, are those of :mod:`humanoid_sim.contact.body_newton` with
that block in place of the contact's law: they take time linear in a row or a stack of bodies. As they need not be
symmetric, the steps know the derivative of De Saxcé's term, :math:`u = y_t / \|y_t\|`: the block is
:math:`(I - e_n u^T) \Theta` in place of :math:`\Theta`. Where holding the term during a step ends at 1e-4, they reach
1e-6 to 1e-8. As in Newton's method contacts yield a little more than they do.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_sim.contact.block_nsgs import CONTACT, block_natural_map, law_residuals
from humanoid_sim.contact.body_newton import BodyProblem, Linearised, factor_system, solve_system
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import copy_vector
from humanoid_sim.contact.cone_path import (
    add_de_saxce,
    aim,
    centring,
    complete_step,
    scale_cones,
    scale_contact,
    start_path,
)
from humanoid_sim.delassus.body_operator import operator_velocity

_STALL = 20
"""Iterations with the whole of De Saxcé's term and without a better residual after which the method ends."""
_START = 0.1
"""Where the path begins, as part of the fastest scaled free velocity."""
_SHIFT = 1e-8
"""Part of its own block that a contact yields, lest forces of redundant contacts drown in rounding."""
_JAMMED, _BACK = 0.1, 0.1
"""After two steps shorter than the first the path goes back towards the cones' axes, by the second times the root of
the mean complementarity: at a cone's boundary steps would stay short for good."""


@uncounted()
def _invert(A: np.ndarray, out: np.ndarray) -> None:
    """Compute the inverse of any regular 3 x 3 matrix."""
    for r in range(3):
        r1, r2 = (r + 1) % 3, (r + 2) % 3
        for s in range(3):
            s1, s2 = (s + 1) % 3, (s + 2) % 3
            out[s, r] = A[r1, s1] * A[r2, s2] - A[r1, s2] * A[r2, s1]
    scale = 1.0 / (A[0, 0] * out[0, 0] + A[0, 1] * out[1, 0] + A[0, 2] * out[2, 0])
    for r in range(3):
        for s in range(3):
            out[r, s] *= scale


@apart(error_model="numpy")
def body_interior(
    problem: BodyProblem, f: np.ndarray, tolerance: float, max_iterations: int, v: np.ndarray, residuals: np.ndarray,
    deadline: float, growth: float,
) -> int:  # fmt: skip
    """Interior-point iterations from the cones' axes; the initial forces are only kept if nothing better is found.

    Arguments are those of :func:`~humanoid_sim.contact.body_newton.body_newton`. Besides, ``growth`` is the number of
    iterations over which De Saxcé's term grows from nothing, where the problem is convex, to its whole, and 0 where it
    is whole from the beginning: each is another way to a solution.

    Returns:
        Number of iterations done. The problem is solved if ``residuals[0] <= tolerance``.
    """
    operator, graph, v_free, mu = problem.operator, problem.graph, problem.v_free, problem.mu
    m, n = mu.size, 3 * mu.size
    starts, kinds, parents, diagonal = np.arange(m + 1) * 3, np.full(m, CONTACT), np.arange(m), np.empty(n)
    P = np.empty(n)
    size = 0.0
    for i in range(m):
        k = 3 * i
        block = operator.diagonal[i]
        scale_contact(block, mu[i], P[k : k + 3])
        for r in range(3):
            diagonal[k + r] = block[r, r]
            if P[k + r] > 0.0:
                size = max(size, abs(v_free[k + r]) / P[k + r])
    operator_velocity(operator, v_free, f, v)
    best, best_residual = f.copy(), block_natural_map(diagonal, v_free, starts, kinds, mu, parents, f, v)
    path = start_path(P, _START * size)
    x, y, dx, dy, scaling, inner = path.x, path.y, path.dx, path.dy, path.scaling, np.empty((3, 3))
    laws = Linearised(
        np.empty((m, 3, 3)), np.empty((m, 3, 3)), np.zeros((m, 3, 3)), np.zeros((m, 3, 3)), np.empty(m),
        np.zeros(m, dtype=np.bool_),
    )  # fmt: skip
    psi, trial, u = np.empty(n), np.zeros(n), np.empty((m, 2))
    for r in range(0, n, 3):
        trial[r] = x[r] / P[r]
    operator_velocity(operator, v_free, trial, v)
    clock = np.empty(2, dtype=np.int64)
    timed = deadline < np.inf
    mark, lasts = seconds(clock) if timed else 0.0, 0.0
    iteration, stalled, jammed = 0, 0, 0
    while iteration < max_iterations and stalled < _STALL and best_residual > tolerance:
        if timed:
            now = seconds(clock)
            lasts = max(lasts, now - mark)
            mark = now
            if now + 2.0 * lasts > deadline:
                break
        iteration += 1
        gap = scale_cones(path)
        for r in range(n):
            path.defect[r] = y[r] - v[r] / P[r] if P[r] > 0.0 else 0.0
        share = min(1.0, (iteration - 1) / growth) if growth > 0.0 else 1.0
        power = add_de_saxce(path, share)
        for i in range(m):
            k = 3 * i
            slip = math.sqrt(y[k + 1] * y[k + 1] + y[k + 2] * y[k + 2]) if P[k + 1] > 0.0 else 0.0
            u_1, u_2 = (share * y[k + 1] / slip, share * y[k + 2] / slip) if slip > 0.0 else (0.0, 0.0)
            u[i, 0], u[i, 1] = u_1, u_2
            yields = _SHIFT / 3.0 * (diagonal[k] + diagonal[k + 1] + diagonal[k + 2])
            for c in range(3):  # the contact's block for forces
                inner[0, c] = scaling[i, 0, c] - u_1 * scaling[i, 1, c] - u_2 * scaling[i, 2, c]
                inner[1, c], inner[2, c] = scaling[i, 1, c], scaling[i, 2, c]
                for r in range(3):
                    inner[r, c] *= P[k + r] * P[k + c]
                inner[c, c] += operator.compliance[k + c] + yields
            if P[k + 1] > 0.0:
                _invert(inner, laws.E_inverse[i])
            else:
                laws.E_inverse[i, 0, 0] = 1.0 / inner[0, 0]
            for r in range(3):
                for c in range(3):
                    laws.S[i, r, c] = laws.E_inverse[i, r, c]
        if not factor_system(operator.sides, graph, laws):
            break
        sigma, alpha = 0.0, 0.0
        for stage in range(2):  # predictor towards the boundary, corrector towards the central path
            aim(path, stage, sigma * gap)
            for i in range(m):
                k = 3 * i
                rhs, defect = path.rhs, path.defect
                rhs[k] -= u[i, 0] * (rhs[k + 1] - defect[k + 1]) + u[i, 1] * (rhs[k + 2] - defect[k + 2])
                for r in range(k, k + 3):
                    psi[r] = -P[r] * rhs[r]
            if not solve_system(operator.sides, graph, laws, psi, dx):
                alpha = np.nan
                break
            for r in range(n):
                dx[r] *= P[r]
            alpha = complete_step(path)
            if stage == 0:
                sigma = centring(alpha, power, gap, m)
        for r in range(n):
            x[r] += alpha * dx[r]
            y[r] += alpha * dy[r]
        if not math.isfinite(alpha):
            break
        jammed = jammed + 1 if alpha < _JAMMED else 0
        if jammed == 2:
            jammed = 0
            for r in range(0, n, 3):
                x[r] += _BACK * math.sqrt(gap)
                y[r] += _BACK * math.sqrt(gap)
        size = 0.0
        for r in range(n):
            trial[r] = x[r] / P[r] if P[r] > 0.0 else 0.0
            size += abs(x[r]) + abs(y[r])
        if not math.isfinite(size):  # rounding has led out of a cone
            break
        operator_velocity(operator, v_free, trial, v)
        residual = block_natural_map(diagonal, v_free, starts, kinds, mu, parents, trial, v)
        stalled = stalled + 1 if share == 1.0 else 0
        if residual < best_residual:
            if residual < 0.9 * best_residual:
                stalled = 0
            best_residual = residual
            copy_vector(trial, best)
    copy_vector(best, f)
    operator_velocity(operator, v_free, f, v)
    law_residuals(diagonal, v_free, starts, kinds, mu, parents, f, v, residuals)
    return iteration
