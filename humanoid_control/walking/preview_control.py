# SPDX-License-Identifier: Apache-2.0
"""Preview control of the zero-moment point of a cart on a table (Kajita et al., ICRA 2003), and its reference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_discrete_are

from humanoid_control.walking.footstep_plan import Footstep, FootstepPlan
from humanoid_model.errors import InputError


def zmp_reference(
    plan: FootstepPlan, start: NDArray[np.float64], targets: Mapping[str, NDArray[np.float64]], dt: float
) -> NDArray[np.float64]:
    """Return the reference of the zero-moment point on the ground.

    It is at a point of the standing sole in single support and goes straight to the next one in double support; it
    begins where the robot's centre of mass is, and ends half way between the feet.

    Args:
        plan: of the footsteps.
        start: where it begins [m], shape (2,).
        targets: by sole, the point of its frame that is to bear the weight [m], shape (2,).
        dt: time between samples [s].

    Returns:
        m, from time 0 to the plan's end, shape (k, 2).
    """

    def point(foot: Footstep) -> NDArray[np.float64]:
        return np.asarray((foot.placement.act(np.append(targets[foot.sole], 0.0)))[:2])

    phases = plan.phases
    knots, points = [0.0, phases[0].end], [start, start]
    for phase in phases[1:]:
        if phase.swing is not None:
            knots += [phase.start, phase.end]
            points += [point(phase.supports[0])] * 2
    knots.append(phases[-1].start + plan.double_support * plan.step_time)
    points.append(0.5 * (point(phases[-1].supports[0]) + point(phases[-1].supports[1])))
    times = dt * np.arange(round(plan.duration / dt) + 1)
    rows = np.array(points)
    return np.column_stack([np.interp(times, knots, rows[:, axis]) for axis in range(2)])


@dataclass(frozen=True)
class CartMotion:
    """Motion of k samples along any number of axes d.

    Attributes:
        position: of the cart, the centre of mass [m], shape (k, d).
        velocity: m/s, shape (k, d).
        acceleration: m/s^2, shape (k, d).
        zero_moment_point: of the cart [m], shape (k, d).
    """

    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    zero_moment_point: NDArray[np.float64]


class PreviewController:
    r"""Moves a cart so that its zero-moment point follows a reference known some time ahead.

    The cart is at height :math:`z_c`; its state is position, velocity and acceleration, its input the jerk u, constant
    over a time step, and its zero-moment point :math:`p = x - \frac{z_c}{g}\ddot x`. The input

    .. math:: u_k = -G_i\sum_{i\le k}(p_i-p^{ref}_i) - G_x x_k - \sum_{l=1}^{N} G_l\,p^{ref}_{k+l}

    minimises :math:`\sum_k Q_e (p_k-p_k^{ref})^2 + R\,\Delta u_k^2` (Katayama et al. 1985) as far as the reference is
    seen.

    Attributes:
        dt: time step [s].
        A: of the state, shape (3, 3).
        B: of the input, shape (3,).
        C: zero-moment point of the state, shape (3,).
        riccati: solution of the discrete algebraic Riccati equation of the error system, shape (4, 4).
        integral_gain: :math:`G_i`.
        state_gain: :math:`G_x`, shape (3,).
        preview_gains: :math:`G_l`, shape (N,).
    """

    def __init__(
        self,
        height: float,
        *,
        dt: float = 5e-3,
        horizon: float = 1.6,
        gravity: float = 9.81,
        error_weight: float = 1.0,
        input_weight: float = 1e-6,
    ) -> None:
        r"""Compute the gains.

        Args:
            height: of the cart over the ground [m].
            dt: time step [s].
            horizon: how far ahead the reference is seen [s].
            gravity: m/s^2.
            error_weight: :math:`Q_e`.
            input_weight: R, of the jerk's differences.

        Raises:
            InputError: a number that is not positive, a horizon shorter than the time step.
        """
        numbers = {
            "height": height, "dt": dt, "horizon": horizon, "gravity": gravity, "error_weight": error_weight,
            "input_weight": input_weight,
        }  # fmt: skip
        for name, value in numbers.items():
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"{name} is {value}", element=name, remedy="Give a positive number")
        if horizon < dt:
            raise InputError(
                f"horizon is {horizon} s, less than the time step of {dt} s", element="horizon", remedy="Look further"
            )
        self.dt = dt
        self.A = np.array([[1.0, dt, dt**2 / 2.0], [0.0, 1.0, dt], [0.0, 0.0, 1.0]])
        self.B = np.array([dt**3 / 6.0, dt**2 / 2.0, dt])
        self.C = np.array([1.0, 0.0, -height / gravity])
        # Error system of Katayama: its state is the error and the state's difference, its input the jerk's difference.
        B = np.concatenate([[self.C @ self.B], self.B])[:, None]
        F = np.vstack([self.C @ self.A, self.A])
        A = np.hstack([np.array([[1.0], [0.0], [0.0], [0.0]]), F])
        Q = np.diag([error_weight, 0.0, 0.0, 0.0])
        self.riccati = P = solve_discrete_are(A, B, Q, np.array([[input_weight]]))
        normal = input_weight + float((B.T @ P @ B)[0, 0])
        gains = (B.T @ P @ A)[0] / normal
        self.integral_gain = float(gains[0])
        self.state_gain = (B.T @ P @ F)[0] / normal
        closed = A - np.outer(B[:, 0], gains)
        count = round(horizon / dt)
        self.preview_gains = np.empty(count)
        X = -P[:, 0]
        self.preview_gains[0] = -self.integral_gain
        for place in range(1, count):
            X = closed.T @ X
            self.preview_gains[place] = float(B[:, 0] @ X) / normal

    def track(self, reference: NDArray[np.float64], start: NDArray[np.float64] | None = None) -> CartMotion:
        """Move from rest after a reference, which keeps its last value.

        Args:
            reference: of the zero-moment point [m], shape (k, d) with k samples of d axes.
            start: where the cart rests at first [m], shape (d,); the first value of the reference if not given.

        Raises:
            InputError: no sample, or a value that is not finite.
        """
        reference = np.asarray(reference, dtype=float)
        if reference.ndim != 2 or not len(reference) or not np.all(np.isfinite(reference)):
            raise InputError(
                f"the reference has the shape {reference.shape}" if reference.ndim != 2 else "not all are numbers",
                element="reference",
                remedy="Give one row of finite numbers for each sample",
            )
        k, d = reference.shape
        # Counted from there, the input is zero at rest, however short the preview.
        origin = reference[0] if start is None else np.asarray(start, dtype=float)
        shifted = reference - origin
        n = len(self.preview_gains)
        ahead = np.vstack([shifted, np.repeat(shifted[-1:], n, axis=0)])
        preview = np.array([self.preview_gains @ ahead[i + 1 : i + 1 + n] for i in range(k)])
        states = np.empty((k, 3, d))
        points = np.empty((k, d))
        state: NDArray[np.float64] = np.zeros((3, d))
        total = np.zeros(d)
        for i in range(k):
            states[i], points[i] = state, self.C @ state
            total = total + points[i] - shifted[i]
            jerk = -self.integral_gain * total - self.state_gain @ state - preview[i]
            state = self.A @ state + np.outer(self.B, jerk)
        return CartMotion(states[:, 0] + origin, states[:, 1], states[:, 2], points + origin)
