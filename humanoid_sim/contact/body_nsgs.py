# SPDX-License-Identifier: Apache-2.0
"""Gauss-Seidel over many contacts by way of the bodies' twists: a sweep takes time linear in the contacts."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_sim.contact.block_nsgs import CONTACT, GOOD_RESIDUAL, block_natural_map, law_residuals
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import block_inverse, copy_vector
from humanoid_sim.contact.nsgs import optimal_steps, solve_one_contact
from humanoid_sim.delassus.constraint_rows import (
    BodyOperator,
    contact_velocity_of_twists,
    operator_velocity,
    push_bodies,
)

_MOST_SWEEPS = 100
"""A heap whose answer is further away than this gets the best forces found: more sweeps gain little."""
_WATCHED_SWEEPS = 10


@uncounted()
def _sweep(
    operator: BodyOperator, inverses: np.ndarray, steps: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray,
    v: np.ndarray, part: np.ndarray, up: bool,
) -> None:  # fmt: skip
    """Solve one contact after the other, each with the newest twists of its bodies; work space is part, shape (3,)."""
    m = mu.size
    for place in range(m):
        c = place if up else m - 1 - place
        k = 3 * c
        block = operator.diagonal[c]
        f_0, f_1, f_2 = f[k], f[k + 1], f[k + 2]
        contact_velocity_of_twists(operator, c, v_free, f, v)
        for r in range(3):
            part[r] = v[k + r] - (block[r, 0] * f_0 + block[r, 1] * f_1 + block[r, 2] * f_2)
        solve_one_contact(block, inverses[c], steps[c, 0], steps[c, 1], part, mu[c], f[k : k + 3])
        if f[k] != f_0 or f[k + 1] != f_1 or f[k + 2] != f_2:
            push_bodies(operator, c, f[k] - f_0, f[k + 1] - f_1, f[k + 2] - f_2)


@uncounted()
def _own_blocks(operator: BodyOperator, inverses: np.ndarray, steps: np.ndarray) -> None:
    """Inverses of the contacts' own blocks, shape (m, 3, 3), and normal and tangential steps, shape (m, 2)."""
    for c in range(steps.shape[0]):
        block_inverse(operator.diagonal[c], inverses[c])
        steps[c, 0], steps[c, 1] = optimal_steps(operator.diagonal[c])


@apart(error_model="numpy")
def sweep_bodies(
    operator: BodyOperator, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, sweeps: int, v: np.ndarray
) -> None:
    """Make sweeps up and down the contacts, wherever they lead: forces for Newton's method to begin with.

    Args:
        operator: of the contacts.
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: forces, overwritten, shape (3m,).
        sweeps: how many.
        v: work space, shape (3m,).
    """
    inverses, steps, part = np.empty((mu.size, 3, 3)), np.empty((mu.size, 2)), np.empty(3)
    _own_blocks(operator, inverses, steps)
    operator_velocity(operator, v_free, f, v)
    for sweep in range(sweeps):
        _sweep(operator, inverses, steps, v_free, mu, f, v, part, sweep % 2 == 0)


@apart(error_model="numpy")
def body_nsgs(
    operator: BodyOperator,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
    deadline: float,
) -> int:
    """Sweeps up and down the contacts, each solved exactly with the newest twists of its bodies.

    Arguments and answer are those of :func:`~humanoid_sim.contact.block_nsgs.block_nsgs`, the problem by its operator,
    free velocities and friction coefficients, shapes (3m,) and (m,).
    """
    m = mu.size
    starts = np.arange(m + 1) * 3
    kinds = np.full(m, CONTACT)
    parents = np.arange(m)
    diagonal = np.empty(3 * m)
    inverses, steps = np.empty((m, 3, 3)), np.empty((m, 2))
    _own_blocks(operator, inverses, steps)
    for c in range(m):
        for r in range(3):
            diagonal[3 * c + r] = operator.diagonal[c, r, r]
    operator_velocity(operator, v_free, f, v)
    residual = block_natural_map(diagonal, v_free, starts, kinds, mu, parents, f, v)
    best, best_residual, watched = f.copy(), residual, residual
    part = np.empty(3)
    clock = np.empty(2, dtype=np.int64)
    timed = deadline < np.inf
    mark = seconds(clock) if timed else 0.0
    sweep = 0
    while residual > tolerance and sweep < min(max_iterations, _MOST_SWEEPS):
        sweep += 1
        _sweep(operator, inverses, steps, v_free, mu, f, v, part, sweep % 2 == 1)
        operator_velocity(operator, v_free, f, v)  # anew, free of accumulated rounding
        residual = block_natural_map(diagonal, v_free, starts, kinds, mu, parents, f, v)
        if residual < best_residual:
            best_residual = residual
            copy_vector(f, best)
        if sweep % _WATCHED_SWEEPS == 0:
            gain = (_MOST_SWEEPS - sweep) / _WATCHED_SWEEPS * math.log(best_residual / watched)
            if best_residual <= GOOD_RESIDUAL and gain > math.log(tolerance / best_residual):
                break
            watched = best_residual
        if timed:
            now = seconds(clock)
            if now + 3.0 * (now - mark) > deadline:  # one more, what is left of it and what it does
                break
            mark = now
    copy_vector(best, f)
    operator_velocity(operator, v_free, f, v)
    law_residuals(diagonal, v_free, starts, kinds, mu, parents, f, v, residuals)
    return sweep
