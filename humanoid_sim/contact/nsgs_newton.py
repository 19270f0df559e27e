# SPDX-License-Identifier: Apache-2.0
"""Gauss-Seidel where its sweeps converge fast, Newton on all contacts else, and interior points if need be."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted, uncounted
from humanoid_sim.contact.alart_curnier_global import alart_curnier_global
from humanoid_sim.contact.block_nsgs import GOOD_RESIDUAL
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import add_contact_force, block_inverse, contact_residuals, copy_vector, natural_map
from humanoid_sim.contact.interior_point import interior_point
from humanoid_sim.contact.nsgs import optimal_steps, solve_one_contact

_PATIENCE = 4
_PATIENCE_PER_CONTACT = 1
"""Sweeps that may be left to do, as many as take the time of a Newton solve: a system costs m sweeps or so."""
_FEW = 16
_FIRST_ITERATIONS = 3
"""So few contacts, with forces to start from, begin with so many Newton iterations: a system costs a sweep or two, and
where contacts stay as they were in the last step the first one solves the problem."""
_FIRST_SECONDS = 1e-3
"""Time that has to be left for them [s], ten times what they take."""
_SHARE = 0.03
"""Of the tolerance, for these and for the initial forces: what comes to rest starts from forces that last longer."""
_NEWTON_ITERATIONS = 40
_INTERIOR_ITERATIONS = 100
_SWEEPS_AFTER_FAILURE = 30
_PROGRESS = 0.1
"""A turn of sweeps and Newton that makes a good residual no better than this part of it was the last one."""
_INTERIOR_COST = 4.0
"""Newton systems that an interior-point iteration is taken to cost where the clock decides (1.2 to 4 measured)."""


@apart(error_model="numpy")
def nsgs_newton(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
    deadline: float = np.inf,
) -> int:
    """Sweeps while they get there in time, else Newton, in turns until solved; few contacts begin with Newton.

    After each sweep the rate of convergence foretells how many more there will be. If these take longer than a few
    Newton systems, :func:`alart_curnier_global` goes on from the forces reached. Where it gets stuck,
    :func:`interior_point` looks for the neighbourhood of the solution, and Newton goes on from there; then from no
    forces. Should these fail too, sweeps and Newton take turns, each time with twice as many sweeps. What goes on is
    always the better iterate. Arguments are those of :func:`~humanoid_sim.contact.nsgs.nsgs`; sweeps and Newton's
    systems count together. ``deadline`` is the time of :func:`~humanoid_sim.contact.clock.seconds` at which all is to
    be done but the first sweep: what is seen or taken to cost no more is begun.

    Returns:
        Number of sweeps and Newton iterations done, fewer than may be made where a good residual gets no better. The
        problem is solved if ``residuals[0] <= tolerance``.
    """
    m = mu.size
    iteration = 0
    timed = deadline < np.inf
    in_time = not timed or _affordable(1, 1, _FIRST_SECONDS, deadline) > 0
    if m <= _FEW and max_iterations > 1 and in_time and f.any():
        iteration = alart_curnier_global(
            W, v_free, mu, f, _SHARE * tolerance, min(_FIRST_ITERATIONS, max_iterations), v, residuals
        )
    else:
        contact_residuals(W, v_free, mu, f, v, residuals)
    if residuals[0] <= tolerance:
        return iteration
    clock = np.empty(2, dtype=np.int64)
    inverses = np.empty((m, 3, 3))
    steps = np.empty((m, 2))
    for i in range(m):
        block = W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        block_inverse(block, inverses[i])
        steps[i, 0], steps[i, 1] = optimal_steps(block)
    v_loc = np.empty(3)
    best = f.copy()
    best_residual = residuals[0]
    patience = _PATIENCE + _PATIENCE_PER_CONTACT * m
    longest = _SWEEPS_AFTER_FAILURE
    first = True
    last = residuals[0]
    newton_seconds = 0.0
    while iteration < max_iterations:
        sweep = 0
        mark = seconds(clock) if timed else 0.0
        sweep_seconds = 0.0
        while iteration < max_iterations:
            sweep += 1
            iteration += 1
            for i in range(m):
                k = 3 * i
                f_0, f_1, f_2 = f[k], f[k + 1], f[k + 2]
                for r in range(3):
                    v_loc[r] = v[k + r] - W[k + r, k] * f_0 - W[k + r, k + 1] * f_1 - W[k + r, k + 2] * f_2
                block = W[k : k + 3, k : k + 3]
                solve_one_contact(block, inverses[i], steps[i, 0], steps[i, 1], v_loc, mu[i], f[k : k + 3])
                add_contact_force(W, k, f[k] - f_0, f[k + 1] - f_1, f[k + 2] - f_2, v)
            residual = natural_map(W, v_free, mu, f, v)
            if residual <= tolerance:
                # Believed only once the velocities have been computed anew, free of accumulated rounding.
                contact_residuals(W, v_free, mu, f, v, residuals)
                if residuals[0] <= tolerance:
                    return iteration
                residual = residuals[0]
            if timed:
                now = seconds(clock)
                sweep_seconds = now - mark
                mark = now
                if now + 3.0 * sweep_seconds > deadline:  # one more, what is left of it and what it does
                    max_iterations = iteration
            if first or sweep >= longest:
                rate = math.log(residual / last)
                if rate >= 0.0 or patience * rate > math.log(tolerance / residual):
                    break
            last = residual
        if residual < best_residual:
            best_residual = residual
            copy_vector(f, best)
        if timed:
            now = seconds(clock)
            if newton_seconds == 0.0:
                newton_seconds = max(_newton_sweeps(m) * sweep_seconds, 1e-9)
            if now + newton_seconds > deadline:
                continue
        copy_vector(best, f)
        if iteration < max_iterations:
            limit = _affordable(_NEWTON_ITERATIONS, max_iterations - iteration, newton_seconds, deadline)
            done = alart_curnier_global(W, v_free, mu, f, tolerance, limit, v, residuals)
            iteration += done
            if residuals[0] <= tolerance:
                return iteration
            if timed and done > 0:
                newton_seconds = (seconds(clock) - now) / done
        if first and iteration < max_iterations:
            for interior in (_INTERIOR_ITERATIONS, 0):
                if residuals[0] < best_residual:
                    best_residual = residuals[0]
                    copy_vector(f, best)
                for k in range(f.size):
                    f[k] = 0.0
                limit = _affordable(interior, max_iterations - iteration, _INTERIOR_COST * newton_seconds, deadline)
                if limit > 0:
                    iteration += interior_point(W, v_free, mu, f, tolerance, limit, v, residuals)
                    if residuals[0] <= tolerance:
                        return iteration
                limit = _affordable(_NEWTON_ITERATIONS, max_iterations - iteration, newton_seconds, deadline)
                if limit > 0:
                    iteration += alart_curnier_global(W, v_free, mu, f, tolerance, limit, v, residuals)
                    if residuals[0] <= tolerance:
                        return iteration
            first = False
        before = best_residual
        if residuals[0] < best_residual:
            best_residual = residuals[0]
            copy_vector(f, best)
        if best_residual <= GOOD_RESIDUAL and best_residual > _PROGRESS * before:
            break
        last = residuals[0]
        longest *= 2
    copy_vector(best, f)
    contact_residuals(W, v_free, mu, f, v, residuals)
    return iteration


@uncounted()
def _newton_sweeps(m: int) -> float:
    """Sweeps that a Newton system of m contacts is taken to cost; measured are 1.3 with 8, 9 with 67, 250 with 300.

    From 25 contacts on LAPACK's threads solve it, which take many times as long where the cores have other work.
    """
    sweeps = 2.0 + m * m / 300.0
    return sweeps if m <= 24 else 4.0 * sweeps


@counted()
def _affordable(wanted: int, left: int, cost: float, deadline: float) -> int:
    """Return how many iterations may be made: wanted, left, and in time at so many seconds each."""
    limit = min(wanted, left)
    if deadline < np.inf:
        clock = np.empty(2, dtype=np.int64)
        limit = min(limit, int(max(deadline - seconds(clock), 0.0) / cost))
    return limit
