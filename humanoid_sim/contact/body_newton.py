# SPDX-License-Identifier: Apache-2.0
r"""Newton's method and interior points on all contacts of free bodies, on the graph of the bodies that touch.

Newton's equations are those of :mod:`humanoid_sim.contact.alart_curnier_global`, :math:`(A + B W) d = -\psi`. With
:math:`W = X M^{-1} X^T + C` of the bodies' inertias M, the twists :math:`w = M^{-1} X^T d` that the step makes are the
unknowns: contact by contact :math:`d = -E^{-1} (\psi + B X w)` with the 3 x 3 blocks :math:`E = A + B C`, which leaves
the system of :mod:`humanoid_sim.contact.body_graph`. In C contacts yield a little more than they do: forces of
redundant contacts move along their self-stresses no further than needed, and the less the shorter the steps are that
the line search allows.

The systems of :mod:`humanoid_sim.contact.interior_point`, the Delassus operator plus a block per contact, are the same
with that block in place of the contact's law. As they need not be symmetric, the steps know the derivative of De
Saxcé's term, :math:`u = y_t / \|y_t\|`: the block is :math:`(I - e_n u^T) \Theta` in place of :math:`\Theta`. Where
holding the term during a step ends at 1e-4, they reach 1e-6 to 1e-8.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import FAST, uncounted
from humanoid_sim.contact.alart_curnier_global import contact_derivatives, contact_function
from humanoid_sim.contact.block_nsgs import CONTACT, block_natural_map, law_residuals
from humanoid_sim.contact.body_graph import BodyGraph, Linearised, factor_system, solve_system
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import copy_vector
from humanoid_sim.contact.interior_point import (
    add_de_saxce,
    aim,
    centring,
    complete_step,
    scale_cones,
    scale_contact,
    start_path,
)
from humanoid_sim.contact.nsgs import optimal_steps
from humanoid_sim.delassus.constraint_rows import BodyOperator, operator_velocity

_BACKTRACKS = 10
_MEMORY = 20
"""Accepted steps whose worst merit a new step has to beat: the function has kinks, its norm can't always fall."""
_SUFFICIENT = 1e-4
_FIRST_SHIFT, _LAST_SHIFT = 1e-6, 1e-9
"""Contacts yield by as much of their own block as the residual is, within these bounds; what they feel is exact."""
_SHORT, _LONG = 0.2, 0.9
_STIFFER, _SOFTEST = 0.1, 1e4
"""After a step shorter than the first part contacts yield ten times as much, after one longer than the second a tenth,
and never more than so many times the least."""
_STRAIGHT, _GOLDEN = 8, 0.6180339887498949
"""After so many iterations contacts yield up to ten times less or more, in turn: else two shifts lead from each other's
end to each other's beginning for good."""
_FAILURES = 6
"""Steps in a row without progress after which the method gives up."""


class BodyProblem(NamedTuple):
    """A contact problem of free bodies.

    Attributes:
        operator: of the contacts.
        graph: of the bodies, all of them free.
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
    """

    operator: BodyOperator
    graph: BodyGraph
    v_free: np.ndarray
    mu: np.ndarray


@apart(error_model="numpy", _nrt=False, fastmath=FAST)
def _linearise(
    operator: BodyOperator, mu: np.ndarray, steps: np.ndarray, sizes: np.ndarray, f: np.ndarray, v: np.ndarray,
    shift: float, laws: Linearised,
) -> None:  # fmt: skip
    """Write the contacts' laws at forces f, shape (3m,), that give velocities v, shape (3m,); see :class:`Linearised`.

    Args:
        operator: of the contacts.
        mu: friction coefficients, shape (m,).
        steps: normal and tangential steps, shape (m, 2).
        sizes: mean of the diagonal of each contact's own block, shape (m,).
        f: forces.
        v: velocities.
        shift: part of its own block that a contact yields.
        laws: receives them.
    """
    for c in range(mu.size):
        k = 3 * c
        A, B = laws.A[c], laws.B[c]
        laws.is_open[c] = contact_derivatives(steps[c, 0], steps[c, 1], mu[c], f[k : k + 3], v[k : k + 3], A, B)
        laws.shifts[c] = shift * sizes[c]
        if laws.is_open[c]:  # E is A, the identity
            for r in range(3):
                for s in range(3):
                    laws.E_inverse[c, r, s] = A[r, s]
                    laws.S[c, r, s] = 0.0
            continue
        for r in range(3):
            for s in range(3):
                A[r, s] += B[r, s] * (operator.compliance[k + s] + laws.shifts[c])
        E, S = laws.E_inverse[c], laws.S[c]  # the first rows of A and B have but the normal
        E[0, 0], E[0, 1], E[0, 2] = 1.0 / A[0, 0], 0.0, 0.0
        S[0, 0], S[0, 1], S[0, 2] = E[0, 0] * B[0, 0], 0.0, 0.0
        determinant = 1.0 / (A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1])
        E[1, 1], E[1, 2] = determinant * A[2, 2], -determinant * A[1, 2]
        E[2, 1], E[2, 2] = -determinant * A[2, 1], determinant * A[1, 1]
        for r in range(1, 3):
            E[r, 0] = -(E[r, 1] * A[1, 0] + E[r, 2] * A[2, 0]) * E[0, 0]
            S[r, 0] = E[r, 0] * B[0, 0] + E[r, 1] * B[1, 0] + E[r, 2] * B[2, 0]
            S[r, 1] = E[r, 1] * B[1, 1] + E[r, 2] * B[2, 1]
            S[r, 2] = E[r, 1] * B[1, 2] + E[r, 2] * B[2, 2]


@uncounted(fastmath=FAST)
def _merit(steps: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray, psi: np.ndarray) -> float:
    """Squared function of all contacts."""
    total = 0.0
    for c in range(mu.size):
        k = 3 * c
        total += contact_function(steps[c, 0], steps[c, 1], mu[c], f[k : k + 3], v[k : k + 3], psi[k : k + 3])
    return total


@apart(error_model="numpy")
def body_newton(
    problem: BodyProblem, f: np.ndarray, tolerance: float, max_iterations: int, v: np.ndarray, residuals: np.ndarray,
    deadline: float,
) -> int:  # fmt: skip
    """Newton iterations with a line search on the merit, the squared function in the metric of the inertia.

    Args:
        problem: what is solved.
        f: initial forces, overwritten with the best ones found, shape (3m,).
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of linear systems solved.
        v: receives the contact velocities, shape (3m,).
        residuals: receives those of :func:`~humanoid_sim.contact.block_nsgs.law_residuals`, shape (5,).
        deadline: time of :func:`~humanoid_sim.contact.clock.seconds` at which all is to be done.

    Returns:
        Number of iterations done. The problem is solved if ``residuals[0] <= tolerance``.
    """
    operator, graph, v_free, mu = problem.operator, problem.graph, problem.v_free, problem.mu
    m, n = mu.size, 3 * mu.size
    starts, kinds, parents = np.arange(m + 1) * 3, np.full(m, CONTACT), np.arange(m)
    steps, diagonal, sizes = np.empty((m, 2)), np.empty(n), np.empty(m)
    for c in range(m):
        block = operator.diagonal[c]
        steps[c, 0], steps[c, 1] = optimal_steps(block)
        sizes[c] = (block[0, 0] + block[1, 1] + block[2, 2]) / 3.0
        for r in range(3):
            diagonal[3 * c + r] = block[r, r]
    operator_velocity(operator, v_free, f, v)
    residual = block_natural_map(diagonal, v_free, starts, kinds, mu, parents, f, v)
    psi, direction, change, zero = np.empty(n), np.empty(n), np.empty(n), np.zeros(n)
    laws = Linearised(
        np.empty((m, 3, 3)), np.empty((m, 3, 3)), np.empty((m, 3, 3)), np.empty((m, 3, 3)), np.empty(m),
        np.empty(m, dtype=np.bool_),
    )  # fmt: skip
    trial_f, trial_v = np.empty(n), np.empty(n)
    best, best_residual = f.copy(), residual
    memory = np.full(_MEMORY, _merit(steps, mu, f, v, psi))
    clock = np.empty(2, dtype=np.int64)
    timed = deadline < np.inf
    mark, lasts = seconds(clock) if timed else 0.0, 0.0
    failures, growth, iteration = 0, 1.0, 0
    while residual > tolerance and iteration < max_iterations and failures < _FAILURES:
        if timed:
            now = seconds(clock)
            lasts = max(lasts, now - mark)
            mark = now
            if now + 2.0 * lasts > deadline:
                break
        iteration += 1
        shift = growth * min(_FIRST_SHIFT, max(_LAST_SHIFT, residual))
        if iteration > _STRAIGHT:
            shift *= 10.0 ** (2.0 * (iteration * _GOLDEN % 1.0) - 1.0)
        _linearise(operator, mu, steps, sizes, f, v, shift, laws)
        accepted = factor_system(operator.sides, graph, laws)
        accepted = accepted and solve_system(operator.sides, graph, laws, psi, direction)
        length = 1.0
        if accepted:
            operator_velocity(operator, zero, direction, change)
            reference = memory.max()
            accepted = False
            for _ in range(_BACKTRACKS):
                for r in range(n):
                    trial_f[r] = f[r] + length * direction[r]
                    trial_v[r] = v[r] + length * change[r]
                accepted = _merit(steps, mu, trial_f, trial_v, psi) <= (1.0 - _SUFFICIENT * length) * reference
                if accepted:
                    break
                length *= 0.5
        if not accepted:
            failures += 1
            growth *= 1e3
            _merit(steps, mu, f, v, psi)
            continue
        if length < _SHORT:
            growth = min(growth / _STIFFER, _SOFTEST)
        elif length > _LONG:
            growth = max(growth * _STIFFER, 1.0)
        copy_vector(trial_f, f)
        operator_velocity(operator, v_free, f, v)  # anew: updates would carry rounding of large steps along
        residual = block_natural_map(diagonal, v_free, starts, kinds, mu, parents, f, v)
        memory[iteration % _MEMORY] = _merit(steps, mu, f, v, psi)
        if residual < best_residual:
            best_residual = residual
            copy_vector(f, best)
            failures = 0
    copy_vector(best, f)
    operator_velocity(operator, v_free, f, v)
    law_residuals(diagonal, v_free, starts, kinds, mu, parents, f, v, residuals)
    return iteration


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

    Arguments are those of :func:`body_newton`. Besides, ``growth`` is the number of
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
