# SPDX-License-Identifier: Apache-2.0
"""First guesses made from the ends of a phase alone (specification 003 section 2.26.5)."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem


def cubic_guess(problem: PhaseProblem, points: int) -> tuple[Reals, Reals, Reals, Reals]:
    """Return motion between the ends: cubic angles with the ends' velocities, and the least efforts that come near it.

    Returns:
        (K, n) angles, velocities and accelerations, and (K, N) controls, within their own bounds.
    """
    model, T = problem.scaled_model, problem.duration
    s = np.linspace(0.0, 1.0, points)[:, None]
    a, b, va, vb = problem.start.q, problem.end.q, T * problem.start.v, T * problem.end.v
    q = a + s * va + s**2 * (3.0 * (b - a) - 2.0 * va - vb) + s**3 * (2.0 * (a - b) + va + vb)
    v = (va + 2.0 * s * (3.0 * (b - a) - 2.0 * va - vb) + 3.0 * s**2 * (2.0 * (a - b) + va + vb)) / T
    acceleration = (2.0 * (3.0 * (b - a) - 2.0 * va - vb) + 6.0 * s * (2.0 * (a - b) + va + vb)) / T**2
    needed = (model.tree.mass_matrix(q) @ acceleration[..., None])[..., 0]
    needed += (model.tree.mass_rate(q, v) @ v[..., None])[..., 0]
    needed -= model.momentum_rate(q, v, np.zeros((points, model.control_count)))
    unit = 1.0 / np.sqrt(problem.effort.diagonal(model))
    scaled = model.control_matrix(q) * unit
    u = (np.linalg.pinv(scaled) @ needed[..., None])[..., 0] * unit
    return q, v, acceleration, np.clip(u, model.control_lower, model.control_upper)


def line_guess(problem: PhaseProblem, points: int) -> tuple[Reals, Reals]:
    """(K, 2n) states on a straight line in (q, p) between the ends, and (K, 2n) costates of zero."""
    model = problem.scaled_model
    start, end = (model.state(state.q, state.v) for state in (problem.start, problem.end))
    x = start + np.linspace(0.0, 1.0, points)[:, None] * (end - start)
    return x, np.zeros_like(x)


def cubic_extremal_guess(problem: PhaseProblem, points: int) -> tuple[Reals, Reals]:
    """(K, 2n) states and (K, 2n) costates whose maximising controls move cubic angles about as they go.

    w_p is the least that gives the controls, B^T w_p = W u; w_q follows from M w_p' = -w_q, the adjoint without the
    terms of velocity.
    """
    q, v, _, u = cubic_guess(problem, points)
    model = problem.scaled_model
    wanted = u * problem.effort.diagonal(model)
    w_p = (np.linalg.pinv(np.swapaxes(model.control_matrix(q), 1, 2)) @ wanted[..., None])[..., 0]
    rates = np.gradient(w_p, problem.duration / (points - 1), axis=0)
    w_q = -(model.tree.mass_matrix(q) @ rates[..., None])[..., 0]
    return np.concatenate([q, model.tree.momentum(q, v)], axis=1), np.concatenate([w_q, w_p], axis=1)
