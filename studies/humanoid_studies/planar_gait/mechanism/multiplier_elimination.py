# SPDX-License-Identifier: Apache-2.0
"""Hamilton's equations of the closed mechanism with the multipliers eliminated (specification 003 section 2.6, I.16).

A reference and a simulator of the closed mechanism; optimisation uses the open tree with cut forces as controls. The
printed equations have the sign of V_{,q} and a factor G_r missing: errata ER-02 and ER-03.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.lagrange import closure_bias
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel


def multipliers(model: PhaseModel, x: ArrayLike, torques: ArrayLike, correction: ArrayLike = 0.0) -> Array:
    """(m,) lambda that keep the closures' second derivatives at zero, or at a correction.

        lambda = A [F_1^T H_e F_1 + G_r (F_{1,q} F_1 + M^-1 F_2)] + A G_r M^-1 Q^a,   A = -(G_r M^-1 G_r^T)^-1,

    with F_{1,q} F_1 = -M^-1 M' v.

    Args:
        model: with its closures.
        x: (2n,) angles and momenta.
        torques: (n_a,) of the actuators [N m].
        correction: (m,) second derivative of g to aim at, for stabilisation [m/s²].
    """
    state = np.asarray(x, dtype=float)
    q, p = state[: model.n], state[model.n :]
    tree = model.tree
    M, v = tree.mass_matrix(q), tree.velocity(q, p)
    G = model.closure_jacobian(q)
    F2 = tree.momentum_rate(q, v) - model.damping @ v
    free = np.linalg.solve(M, F2 + model.torque_matrix @ np.asarray(torques, dtype=float) - tree.mass_rate(q, v) @ v)
    drift = closure_bias(model, q, v) + G @ free - np.asarray(correction, dtype=float)
    return np.asarray(-np.linalg.solve(G @ np.linalg.solve(M, G.T), drift))


def eliminated_rate(model: PhaseModel, x: ArrayLike, torques: ArrayLike, stabilisation: float = 0.0) -> Array:
    """(2n,) x' of the closed mechanism, equation (I.16).

    Args:
        model: with its closures.
        x: (2n,) angles and momenta; exactly, the closures and their rates have to vanish.
        torques: (n_a,) of the actuators [N m].
        stabilisation: Baumgarte's rate a: g'' = -2 a g' - a² g in place of g'' = 0 [1/s].
    """
    state = np.asarray(x, dtype=float)
    q, p = state[: model.n], state[model.n :]
    v = model.tree.velocity(q, p)
    G = model.closure_jacobian(q)
    aim = -2.0 * stabilisation * (G @ v) - stabilisation**2 * model.closure(q)
    forces = G.T @ multipliers(model, state, torques, aim)
    efforts = model.torque_matrix @ np.asarray(torques, dtype=float) + forces
    return np.concatenate([v, model.tree.momentum_rate(q, v) - model.damping @ v + efforts])


@dataclass(frozen=True, eq=False)
class ClosedMotion:
    """A simulated motion of a closed mechanism.

    Attributes:
        t: (K,) times [s].
        q: (K, n) angles [rad].
        v: (K, n) rates [rad/s].
        multipliers: (K, m) forces along X and Y that close the loops [N].
        gap: (K,) greatest distance that a loop is open [m].
    """

    t: Array
    q: Array
    v: Array
    multipliers: Array
    gap: Array


def simulate_closed(
    model: PhaseModel,
    q: ArrayLike,
    v: ArrayLike,
    torques: Callable[[float, Array, Array], ArrayLike],
    duration: float,
    stabilisation: float = 20.0,
    samples: int = 101,
) -> ClosedMotion:
    """Integrates the closed mechanism under given torques.

    Args:
        model: with its closures.
        q: (n,) angles that close the loops [rad].
        v: (n,) rates that keep them closed [rad/s].
        torques: (n_a,) from time, angles and rates.
        duration: [s].
        stabilisation: Baumgarte's rate, which keeps rounding and integration from opening the loops [1/s].
        samples: number of times of the result.

    Raises:
        InputError: the duration isn't positive, the loops aren't closed at the start, or the integration ends early, at
            a singular configuration.
    """
    if not (np.isfinite(duration) and duration > 0.0):
        raise InputError(f"is {duration} s", element="duration", remedy="Give a time above 0")
    start_q, start_v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    open_by = float(np.abs(model.closure(start_q)).max(initial=0.0))
    rate = float(np.abs(model.closure_jacobian(start_q) @ start_v).max(initial=0.0))
    if open_by > 1e-6 or rate > 1e-6:
        raise InputError(
            f"loops are open by {open_by:.2e} m and open at {rate:.2e} m/s",
            element="start",
            remedy="Start from a closed configuration and rates that keep it closed",
        )

    def slope(t: float, x: Array) -> Array:
        angles, rates = x[: model.n], model.tree.velocity(x[: model.n], x[model.n :])
        return eliminated_rate(model, x, torques(t, angles, rates), stabilisation)

    times = np.asarray(np.linspace(0.0, duration, samples), dtype=np.float64)
    run = solve_ivp(
        slope, (0.0, duration), model.state(start_q, start_v), t_eval=times, method="DOP853", rtol=1e-9, atol=1e-10
    )
    if not run.success:
        raise InputError(
            f"integration ended: {run.message}", element=model.name, remedy="Keep clear of singular configurations"
        )
    angles, momenta = run.y[: model.n].T, run.y[model.n :].T
    rates = model.tree.velocity(angles, momenta)
    forces = [
        multipliers(model, x, torques(float(t), a, r)) for t, x, a, r in zip(times, run.y.T, angles, rates, strict=True)
    ]
    gaps = model.closure(angles).reshape(samples, -1, 2)
    return ClosedMotion(times, angles, rates, np.array(forces), np.linalg.norm(gaps, axis=-1).max(axis=-1))
