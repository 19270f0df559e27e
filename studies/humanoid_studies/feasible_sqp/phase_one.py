# SPDX-License-Identifier: Apache-2.0
"""Phase 1 (specification 001 section 4.3.2): a point within bounds, linear constraints, nonlinear inequalities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, solve_quadratic_program
from humanoid_studies.feasible_sqp.feasible_descent import FeasibleDescent
from humanoid_studies.feasible_sqp.one_sided_form import Gradients, OneSidedForm, Values
from humanoid_studies.feasible_sqp.search_direction import Direction, Linearisation

_LINEAR_TOLERANCE = 1e-9
_MIN_PROGRESS = 1e-2  # of the violation, and of the steepest gradient met: less is no hope


def satisfy_linear(form: OneSidedForm, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Phase 1a: the point (n,) nearest ``x`` (n,) within bounds and linear constraints; None if there is none."""
    if (form.lower > form.upper).any() or (form.linear_lower > form.linear_upper).any():
        return None
    inside = np.clip(x, form.lower, form.upper)
    linear = form.linear_values(inside)
    outside = np.maximum(form.linear_lower - linear, linear - form.linear_upper)
    if np.max(outside, initial=0.0) <= _LINEAR_TOLERANCE:
        return np.asarray(inside)
    nearest = solve_quadratic_program(
        QuadraticProgram(
            np.eye(len(x)),
            np.zeros(len(x)),
            form.linear_jacobian,
            form.linear_lower - linear,
            form.linear_upper - linear,
            form.lower - inside,
            form.upper - inside,
        )
    )
    return None if nearest is None else np.clip(inside + nearest.x, form.lower, form.upper)


class InequalityMaximum:
    """Phase 1b's program: the largest nonlinear inequality of another one, under its bounds and linear rows alone.

    It is read like a :class:`OneSidedForm` whose objectives are the inequalities and that has no nonlinear constraint.
    """

    def __init__(self, form: OneSidedForm) -> None:
        self._form = form
        self.lower, self.upper = form.lower, form.upper
        self.linear_jacobian = form.linear_jacobian
        self.linear_lower, self.linear_upper = form.linear_lower, form.linear_upper

    def values(self, x: NDArray[np.float64]) -> Values:
        """Return the inequalities as objectives at ``x`` (n,)."""
        return self.of(self._form.constraint_values(x))

    def of(self, values: Values) -> Values:
        """Return the inequalities among ``values`` as objectives."""
        return Values(values.inequalities, np.empty(0), np.empty(0), values.linear)

    def gradients(self, x: NDArray[np.float64]) -> Gradients:
        """Return gradients of the inequalities as those of the objectives at ``x`` (n,)."""
        none = np.empty((0, len(x)))
        return Gradients(self._form.constraint_gradients(x).inequalities, none, none)

    def constraint_gradients(self, x: NDArray[np.float64]) -> Gradients:
        """Empty: it has no nonlinear constraints."""
        none = np.empty((0, len(x)))
        return Gradients(none, none, none)

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """None: nothing is known of the inequalities' curvature."""
        return None


class InequalityDescent(FeasibleDescent):
    """Phase 1b's descent: it gives up where the largest inequality can hardly decrease any more.

    A point is judged by what the model promises against the violation that is left: fast failure is the purpose of
    the phase (specification 001 section 4.3.4).
    """

    _steepest = 0.0

    def _stationary(self, here: Linearisation, B: NDArray[np.float64], direction: Direction) -> bool:
        steepness = np.linalg.norm(here.gradients.objectives, axis=1)
        self._steepest = max(self._steepest, float(steepness.max()))
        violation = float(np.max(here.values.objectives))
        return bool(
            -here.slope(direction.step) <= _MIN_PROGRESS * violation
            and np.linalg.norm(B @ direction.step) <= _MIN_PROGRESS * self._steepest
        )
