# SPDX-License-Identifier: Apache-2.0
"""The boundary value problem of a phase that touches state limits, by an augmented Lagrangian.

Penalties r/2 max(0, h)² on state inequalities h(q, v) <= 0 keep them in the limit r -> infinity, and their problems get
stiff on the way. With estimates mu(t) of the multipliers the penalty is

    r/2 (max(0, h + mu/r)² - (mu/r)²)

instead (Hestenes 1969, Powell 1969, Rockafellar 1973). As soon as mu is right its extremal is that of the limits
themselves, at any r that is large enough for a minimum, and mu <- r max(0, h + mu/r) improves the estimates: the
costates of a transcription with hard limits belong to this problem as they are, not to one with soft limits.

The problem isn't autonomous: s = t/T is one more component, s' = 1 and s(0) = 0.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.optimal_control.extremal_problem import ExtremalProblem
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import phase_parameters
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem
from humanoid_studies.planar_gait.optimal_control.state_multipliers import StateMultipliers


class LimitedExtremalProblem:
    """Boundary value problem of a phase with state inequalities by their augmented Lagrangian.

    y = (x, w, s).

    Args:
        problem: the phase, both of whose ends and whose duration are given; its inequalities are penalties.
        multipliers: estimates.

    Attributes:
        problem: the phase.
        system: Pontryagin's conditions.
        dimension: 4n + 1.
        start_count: conditions at the start.
    """

    def __init__(self, problem: PhaseProblem, multipliers: StateMultipliers) -> None:
        self.problem, self.multipliers = problem, multipliers
        self.system = PontryaginSystem(problem, shifted=True)
        self._plain = ExtremalProblem(problem.replace(duration_range=None))
        self._factors = phase_parameters(problem).values["inequality_factors"]
        self._m = 4 * self.system.n
        self.dimension = self._m + 1
        self.start_count = self._plain.start_count + 1

    def pack(self, x: Reals, w: Reals, s: Reals) -> Reals:
        """(K, d) y of states and costates at s."""
        return np.concatenate([x, w, np.asarray(s)[:, None]], axis=1)

    def split(self, y: Reals) -> tuple[Reals, Reals]:
        """(K, 2n) states and costates."""
        return self._plain.split(y[:, : self._m])

    def shift(self, y: Reals) -> Reals:
        """(K, h) mu / r."""
        return self.multipliers.at(y[:, -1]) / self._factors

    def rates(self, y: Reals) -> Reals:
        """(K, d) T (x', w', 1/T)."""
        at = self.system.evaluate(*self.split(y), self.shift(y))
        rates = np.concatenate([at.x_rate, at.w_rate], axis=1) * self.problem.duration
        return np.concatenate([rates, np.ones((len(y), 1))], axis=1)

    def rates_and_jacobian(self, y: Reals) -> tuple[Reals, Reals]:
        """(K, d) rates and (K, d, d) their derivatives.

        s is exact from the first iterate on: what rates change with it has no part in any correction, and is left out.
        """
        (x, w), shift = self.split(y), self.shift(y)
        at = self.system.evaluate(x, w, shift)
        T = self.problem.duration
        J = np.zeros((len(y), self.dimension, self.dimension))
        J[:, : self._m, : self._m] = self.system.jacobian(x, w, at, shift) * T
        rates = np.concatenate([at.x_rate, at.w_rate], axis=1) * T
        return np.concatenate([rates, np.ones((len(y), 1))], axis=1), J

    def start(self, y: Reals) -> tuple[Reals, Reals]:
        """Conditions at the start and their derivative."""
        value, J = self._plain.start(y[: self._m])
        whole = np.zeros((self.start_count, self.dimension))
        whole[:-1, : self._m], whole[-1, -1] = J, 1.0
        return np.append(value, y[-1]), whole

    def end(self, y: Reals) -> tuple[Reals, Reals]:
        """Conditions at the end and their derivative."""
        value, J = self._plain.end(y[: self._m])
        return value, np.concatenate([J, np.zeros((len(J), 1))], axis=1)

    def running_cost(self, y: Reals) -> Reals:
        """(K,) integrand of the augmented Lagrangian."""
        x, w = self.split(y)
        return self.system.evaluate(x, w, self.shift(y)).running_cost

    def excess(self, y: Reals) -> float:
        """Greatest excess over a limit, those of weight D counted sqrt(D) times."""
        weights = np.sqrt(self._factors / self.problem.penalties.inequality)
        return float((np.maximum(self.excesses(y), 0.0) * weights).max(initial=0.0))

    def excesses(self, y: Reals) -> Reals:
        """(K, h) h(q, v)."""
        x, _ = self.split(y)
        return self.system.inequalities(x[:, : self.system.n], self.system.velocity(x))

    def improved(self, mesh: Reals, y: Reals, middle_y: Reals) -> StateMultipliers:
        """Better estimates, r max(0, h + mu/r), their integrals with every node's hat function kept.

        What pulls for less than an interval would count too much or too little if it were sampled at nodes alone.

        Args:
            mesh: (K,) nodes of a solution.
            y: (K, d) its values.
            middle_y: (K - 1, d) its values in the middle of each interval.
        """
        nodes, middles = (
            self._factors * np.maximum(self.excesses(item) + self.shift(item), 0.0) for item in (y, middle_y)
        )
        h = np.diff(mesh)[:, None]
        total, widths = np.zeros_like(nodes), np.zeros((len(nodes), 1))
        for own in (slice(None, -1), slice(1, None)):
            total[own] += h * (nodes[own] + 2.0 * middles) / 3.0
            widths[own] += h
        return StateMultipliers(mesh, total / widths)

    def with_multipliers(self, multipliers: StateMultipliers, stiffer: float = 1.0) -> LimitedExtremalProblem:
        """Return the same phase with other estimates and penalty factors."""
        penalties = self.problem.penalties
        penalties = dataclasses.replace(penalties, inequality=stiffer * penalties.inequality)
        return LimitedExtremalProblem(self.problem.replace(penalties=penalties), multipliers)
