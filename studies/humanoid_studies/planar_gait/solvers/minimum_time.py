# SPDX-License-Identifier: Apache-2.0
r"""Least time along a given path, within bounds of the controls (specification 003 section 2.31).

On a path q(s) the motion is s(t) alone. With a = s'' and b = s'^2 the controls are affine in (a, b),

    Bp(q) u = M q_s a + (M q_ss + c(q, q_s)) b + V_{,q},

with c the terms of velocity, and the time, the integral of ds / sqrt(b), is convex in b: the phase plane of Bobrow et
al. (1983) as the convex program of Verscheure et al. (2009), which takes mechanisms with loops and more controls than
coordinates as they are. Here a is constant on each interval and b is linear, which is exact for constant a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.solvers.direct import ONE_AT_A_TIME, TIME_LIMIT

MAX_INTERVALS = 10_000
"""Of a path: each is a block of expressions of its own."""
_CLOSED = 1e-4
"""Greatest gap along a path through waypoints that closes well enough [m]."""


_IPOPT = {"print_level": 0, "sb": "yes", "max_iter": 500, "max_wall_time": TIME_LIMIT}


@dataclass(frozen=True, eq=False)
class MinimumTimeResult:
    """The fastest motion along a path.

    Attributes:
        converged: whether the program is solved; else a path that can't be followed at all, at no speed.
        status: the solver's word for it.
        duration: least time [s].
        s: (K + 1,) nodes of the path from 0 to 1.
        t: (K + 1,) when they are passed [s].
        q: (K + 1, n) angles at the nodes [rad].
        v: (K + 1, n) velocities there [rad/s].
        u: (K, N) controls at the middles of the intervals.
    """

    converged: bool
    status: str
    duration: float
    s: Reals
    t: Reals
    q: Reals
    v: Reals
    u: Reals


def time_path(
    model: PhaseModel, waypoints: ArrayLike, intervals: int = 100, start_rate: float = 0.0, end_rate: float = 0.0
) -> MinimumTimeResult:
    """Find the fastest way along a smooth path.

    Args:
        model: whose controls are bounded, and whose joints' rates are where they have limits.
        waypoints: (W, n) angles, equally spaced in the path's parameter; a cubic spline goes through them [rad].
        intervals: K, at most :data:`MAX_INTERVALS`.
        start_rate: s' at the beginning [1/s].
        end_rate: s' at the end [1/s].

    Raises:
        InputError: fewer than three waypoints, a path that opens the loops, a control without bounds that could drive
            it arbitrarily fast, damped joints (their efforts aren't affine in b), or a negative rate.
    """
    path = np.asarray(waypoints, dtype=float)
    if path.ndim != 2 or path.shape[1:] != (model.n,) or len(path) < 3 or not np.isfinite(path).all():
        raise InputError(
            f"have shape {path.shape}", element="waypoints", remedy=f"Give three or more rows of {model.n} angles"
        )
    for name, rate in (("start_rate", start_rate), ("end_rate", end_rate)):
        if not (math.isfinite(rate) and rate >= 0.0):
            raise InputError(f"is {rate}", element=name, remedy="Give 0 or more")
    if not (isinstance(intervals, (int, np.integer)) and 2 <= intervals <= MAX_INTERVALS):
        raise InputError(
            f"is {intervals}", element="intervals", remedy=f"Give a whole number from 2 to {MAX_INTERVALS}"
        )
    if np.any(model.damping):
        raise InputError("has damped joints", element=model.name, remedy="Leave the damping out for this estimate")
    unbounded = ~(np.isfinite(model.control_lower) & np.isfinite(model.control_upper))[: model.torque_count]
    if unbounded.any():
        name = model.control_names[int(np.argmax(unbounded))]
        raise InputError(f"torque '{name}' has no bounds", element=model.name, remedy="Give them by model.with_bounds")
    spline = CubicSpline(np.linspace(0.0, 1.0, len(path)), path)
    gap = np.abs(model.closure(spline(np.linspace(0.0, 1.0, 4 * intervals + 1)))).max(initial=0.0)
    if gap > _CLOSED:
        raise InputError(
            f"open the loop by {gap:.2g} m between them",
            element="waypoints",
            remedy="Give closed ones, and more of them",
        )
    return _solve(model, spline, intervals, start_rate, end_rate)


def _solve(model: PhaseModel, spline: CubicSpline, K: int, start_rate: float, end_rate: float) -> MinimumTimeResult:
    h = 1.0 / K
    s = np.linspace(0.0, 1.0, K + 1)
    by_a, by_b, constant, B = _efforts(model, spline, s[:-1] + 0.5 * h)
    b, u = casadi.MX.sym("b", K + 1), casadi.MX.sym("u", model.control_count, K)
    a, middle = (b[1:] - b[:-1]) / (2.0 * h), 0.5 * (b[1:] + b[:-1])
    unit = np.maximum(np.abs(constant).max(), 1.0)
    balance = [
        (casadi.mtimes(casadi.DM(B[k]), u[:, k]) - a[k] * by_a[k] - middle[k] * by_b[k] - constant[k]) / unit
        for k in range(K)
    ]
    # Time of an interval of constant a: h over the mean of the rates at its ends.
    root = casadi.sqrt(b + 1e-12)
    time = casadi.sum1(2.0 * h / (root[1:] + root[:-1]))
    highest = np.full(K + 1, np.inf)
    limited = np.isfinite(model.rate_limit)
    if limited.any():
        rates = np.abs(model.joint_rates(spline(s, 1))[:, limited])
        highest = ((model.rate_limit[limited] / np.maximum(rates, 1e-12)) ** 2).min(axis=1)
    lower, upper = np.zeros(K + 1), highest
    lower[0] = upper[0] = start_rate**2
    lower[-1] = upper[-1] = end_rate**2
    bounds = [np.tile(limit, K) for limit in (model.control_lower, model.control_upper)]
    program = {"x": casadi.vertcat(b, casadi.vec(u)), "f": time, "g": casadi.vertcat(*balance)}
    settings: dict[str, Any] = {"ipopt": _IPOPT, "print_time": False}
    guess = np.clip(np.full(K + 1, 1.0), lower, upper)
    held = np.linalg.pinv(B) @ constant[..., None]
    with ONE_AT_A_TIME:
        solver = casadi.nlpsol("timing", "ipopt", program, settings)
        end = solver(
            x0=np.concatenate([guess, held.ravel()]),
            lbx=np.concatenate([lower, bounds[0]]),
            ubx=np.concatenate([upper, bounds[1]]),
            lbg=0.0,
            ubg=0.0,
        )
        status = str(solver.stats()["return_status"])
    x = np.array(end["x"]).ravel()
    rate = np.sqrt(np.maximum(x[: K + 1], 0.0))
    t = np.concatenate([[0.0], np.cumsum(2.0 * h / np.maximum(rate[1:] + rate[:-1], 1e-9))])
    return MinimumTimeResult(
        converged=status in ("Solve_Succeeded", "Solved_To_Acceptable_Level"),
        status=status,
        duration=float(t[-1]),
        s=s,
        t=t,
        q=np.asarray(spline(s)),
        v=np.asarray(spline(s, 1)) * rate[:, None],
        u=x[K + 1 :].reshape(K, model.control_count),
    )


def _efforts(model: PhaseModel, spline: CubicSpline, s: Reals) -> tuple[Reals, Reals, Reals, Reals]:
    """(K, n) efforts by a, by b and at rest, and (K, n, N) Bp, at points of the path."""
    q, first, second = spline(s), spline(s, 1), spline(s, 2)
    M, none = model.tree.mass_matrix(q), np.zeros((len(s), model.control_count))

    def times(matrix: Reals, vector: Reals) -> Reals:
        return np.asarray((matrix @ vector[..., None])[..., 0])

    at_rest = -model.momentum_rate(q, np.zeros_like(q), none)
    moving = times(model.tree.mass_rate(q, first), first) - model.momentum_rate(q, first, none)
    return times(M, first), times(M, second) + moving - at_rest, at_rest, model.control_matrix(q)
