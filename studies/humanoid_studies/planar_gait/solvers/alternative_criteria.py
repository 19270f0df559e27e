# SPDX-License-Identifier: Apache-2.0
"""Criteria that the thesis weighs and leaves aside: energy and effort rate (specification 003 section 2.16).

- **Energy** J_e, integral of sum zeta_i |rate_i u_i|. Its best controls jump between least, zero and greatest: no
  boundary value problem with continuous controls finds them. Here controls are constant on each of N intervals, so that
  the work of a torque on an interval is exactly torque times angle wherever its joint doesn't turn back on the way; its
  absolute value is split into what is given and what is taken.
- **Effort rate** J_d, integral of sum (d(gamma_i u_i)/dt)² xi_i mu. The controls are states, continuous and linear on
  each interval, and their rates the controls.

Motion by Hermite-Simpson on each interval, momenta M(q) v as in :mod:`.direct`; penalties on closures and inequalities,
bounds and constraints of the controls are those of the phase problem. IPOPT with casadi's own derivatives: a
comparison, not the fast way.
"""

from __future__ import annotations

import enum
import math
import time
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from scipy.integrate import simpson

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.phase_expressions import PhaseExpressions
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import PhaseParameters, phase_parameters
from humanoid_studies.planar_gait.solvers.direct import (
    ONE_AT_A_TIME,
    TIME_LIMIT,
    DirectOptions,
    check_size,
    solve_direct,
)


class Criterion(enum.Enum):
    """What is minimised."""

    ENERGY = "energy"
    EFFORT_RATE = "effort rate"


@dataclass(frozen=True)
class CriterionOptions:
    """Settings of the transcription.

    Attributes:
        intervals: N, equally long.
        effort_share: weight of the quadratic effort beside the criterion, in the criterion's unit. Small, it settles
            what the criterion leaves open: forces that do no work and torques of joints at rest cost no energy, and
                efforts
            that stay the same cost no rate, however great.
        tolerance: of IPOPT.
        max_iterations: of IPOPT.
        time_limit: of each of IPOPT's runs, none of which begins after it [s].
    """

    intervals: int = 40
    effort_share: float = 1.0
    tolerance: float = 1e-6
    max_iterations: int = 1000
    time_limit: float = TIME_LIMIT

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            InputError: fewer than two intervals, a share that isn't positive and finite, or a time limit of 0 or less.
        """
        if not (isinstance(self.intervals, (int, np.integer)) and self.intervals >= 2):
            raise InputError(f"is {self.intervals}", element="intervals", remedy="Give a whole number, 2 or more")
        if not self.time_limit > 0.0:
            raise InputError(f"is {self.time_limit} s", element="time_limit", remedy="Give more than 0")
        if not (math.isfinite(self.effort_share) and self.effort_share > 0.0):
            raise InputError(f"is {self.effort_share}", element="effort_share", remedy="Give a number above 0")


@dataclass(frozen=True, eq=False)
class CriterionResult:
    """A motion that is best by another criterion; IPOPT's last iterate if it failed.

    Attributes:
        converged: whether IPOPT is satisfied.
        status: its own word for it.
        iterations: of IPOPT.
        t: (2 N + 1,) nodes and middles [s].
        q: (2 N + 1, n) angles [rad].
        v: (2 N + 1, n) velocities [rad/s].
        u: (2 N, N_u) controls just after each of these times but the last one, where they end, on the two halves of
            each
            interval: constant on both (energy), or at beginning and middle (effort rate).
        energy: J_e, integral of sum |power| [J].
        effort_rate: J_d [1/s]; of controls that jump there is none: inf.
        effort: the quadratic criterion, without penalties.
        cost: what was minimised, penalties included.
        infeasibility: greatest violation of a constraint.
        seconds: time of the solve.
    """

    converged: bool
    status: str
    iterations: int
    t: Reals
    q: Reals
    v: Reals
    u: Reals
    energy: float
    effort_rate: float
    effort: float
    cost: float
    infeasibility: float
    seconds: float


def solve_criterion(
    problem: PhaseProblem, criterion: Criterion, options: CriterionOptions | None = None
) -> CriterionResult:
    """Minimises energy or effort rate over a phase, from its motion of least effort.

    Args:
        problem: between ends that are given in full, in a given time.
        criterion: to minimise, beside the problem's penalties.
        options: settings.

    Raises:
        InputError: free ends or a free duration, more intervals than fit into memory, or a torque without bounds where
            energy is minimised: it would be an infinite blow.
    """
    options = options or CriterionOptions()
    check_size(phase_parameters(problem).shape, options.intervals, "intervals")
    model = problem.model
    if not (problem.start.fixed and problem.end.fixed) or problem.free_duration:
        raise InputError("has a free end or duration", element="problem", remedy="Give both ends and the duration")
    limits = np.stack([model.control_lower, model.control_upper])[:, : model.torque_count]
    if criterion is Criterion.ENERGY and not np.isfinite(limits).all():
        worst = model.control_names[int(np.argmin(np.isfinite(limits).all(axis=0)))]
        raise InputError(
            f"torque '{worst}' has no bounds",
            element="problem.model",
            remedy="Give every torque its bounds (model.with_bounds): least energy takes blows as strong as allowed",
        )
    started = time.perf_counter()
    program = _Program(problem, criterion, options)
    return program.solve(started)


class _Program:
    """Unknowns, in units of their own: states, controls, slacks of inequalities, parts of the work."""

    def __init__(self, problem: PhaseProblem, criterion: Criterion, options: CriterionOptions) -> None:
        self.problem, self.criterion, self.options = problem, criterion, options
        self.parameters: PhaseParameters = phase_parameters(problem)
        self.n, self.controls = problem.model.n, problem.model.control_count
        self.unit = 1.0 / np.sqrt(self.parameters.values["effort"])
        self.point = self._point_function()

    def _point_function(self) -> casadi.Function:
        e = PhaseExpressions(self.parameters)
        shape = e.shape
        Z = casadi.vertcat(e.q, e.momentum)
        D = casadi.vertcat(e.v, e.momentum_rate)
        rest = [e.momentum_rate - e.mass_rate - casadi.mtimes(e.mass_matrix, e.a)] if shape.accelerated else []
        equal = sum(item.numel() for item in rest) + e.equalities.numel()
        R = casadi.vertcat(*rest, e.equalities, e.rows, e.inequalities)
        self.accelerations = self.n if shape.accelerated else 0
        self.R_lower = np.concatenate([np.zeros(equal + e.rows.numel()), np.full(e.inequalities.numel(), -np.inf)])
        self.R_upper = np.concatenate(
            [np.zeros(equal), np.full(e.rows.numel(), np.inf), np.zeros(e.inequalities.numel())]
        )
        self.inequalities = e.inequalities.numel()
        state = casadi.vertcat(e.q, e.v)
        a = e.a if shape.accelerated else casadi.SX(0, 1)
        return casadi.Function(
            "point", [state, a, e.u, e.parameters], [Z, D, R, e.closure_penalty, e.effort], {"cse": True}
        )

    def _interval(self) -> casadi.Function:
        """Defects, rests, penalties and criterion of one interval.

        Unknowns of an interval beside its three states: controls at its beginning, middle and end, accelerations and
        slacks at these points.
        """
        n, N, h = self.n, self.controls, self.problem.duration / self.options.intervals
        states = [casadi.SX.sym(f"x{i}", 2 * n) for i in range(3)]
        a = [casadi.SX.sym(f"a{i}", self.accelerations) for i in range(3)]
        slack = [casadi.SX.sym(f"s{i}", self.inequalities) for i in range(3)]
        first, last = casadi.SX.sym("u_first", N), casadi.SX.sym("u_last", N)
        par = casadi.SX(self.parameters.vector)
        scaled = (first, 0.5 * (first + last), last)
        at = [self.point(x, b, casadi.DM(self.unit) * u, par) for x, b, u in zip(states, a, scaled, strict=True)]
        Z, D, R = ([item[i] for item in at] for i in range(3))
        defects = casadi.vertcat(
            Z[2] - Z[0] - h / 6.0 * (D[0] + 4.0 * D[1] + D[2]),
            Z[1] - 0.5 * (Z[0] + Z[2]) - h / 8.0 * (D[0] - D[2]),
        )
        weights = (h / 6.0, 4.0 * h / 6.0, h / 6.0)
        factors = casadi.DM(self.parameters.values["inequality_factors"])
        hard = self.problem.hard_inequalities
        for i in range(3):
            if self.inequalities and not hard:
                R[i][-self.inequalities :] -= slack[i]
        penalty = sum(w * (at[i][3] + 0.5 * casadi.dot(factors, slack[i] ** 2)) for i, w in enumerate(weights))
        effort = sum(w * at[i][4] for i, w in enumerate(weights))
        share = casadi.SX.sym("share")
        taken = casadi.SX.sym("work", 2 * self.problem.model.torque_count if self.energetic else 0)
        work = casadi.SX(0, 1)
        if self.energetic:
            torques = self.problem.model.torque_count
            turned = casadi.mtimes(casadi.SX(self.problem.model.torque_matrix.T), states[2][:n] - states[0][:n])
            work = turned * (casadi.DM(self.unit) * first)[:torques] - taken[:torques] + taken[torques:]
            criterion = casadi.sum1(taken)
        else:
            criterion = casadi.sumsqr(last - first) / h
        criterion += share * effort
        return casadi.Function(
            "interval",
            [*states, first, last, *a, *slack, taken, share],
            [casadi.vertcat(defects, work, *R), penalty + criterion],
            {"cse": True},
        )

    @property
    def energetic(self) -> bool:
        """Whether energy is minimised."""
        return self.criterion is Criterion.ENERGY

    def solve(self, started: float) -> CriterionResult:
        """Build the program and goes from the motion of least effort to that of the criterion."""
        n, N, K, model = self.n, self.controls, self.options.intervals, self.problem.model
        points, u_count = 2 * K + 1, K if self.energetic else K + 1
        torques = model.torque_count if self.energetic else 0
        m, k = self.accelerations, self.inequalities
        x, u = casadi.MX.sym("x", 2 * n, points), casadi.MX.sym("u", N, u_count)
        a, slack = casadi.MX.sym("a", 3 * m, K), casadi.MX.sym("s", 3 * k, K)
        work, share = casadi.MX.sym("w", 2 * torques, K), casadi.MX.sym("share")
        first, last = (u, u) if self.energetic else (u[:, :K], u[:, 1:])
        interval = self._interval().map("intervals", "serial", K, [12], [])
        g, cost = interval(
            x[:, 0:-2:2], x[:, 1::2], x[:, 2::2], first, last,
            a[:m, :], a[m : 2 * m, :], a[2 * m :, :], slack[:k, :], slack[k : 2 * k, :], slack[2 * k :, :], work, share,
        )  # fmt: skip
        unknowns = casadi.vertcat(*(casadi.vec(item) for item in (x, u, a, slack, work)))
        nlp = {"x": unknowns, "p": share, "f": casadi.sum2(cost), "g": casadi.vec(g)}
        equal = np.zeros(4 * n + torques)
        g_lower = np.tile(np.concatenate([equal, np.tile(self.R_lower, 3)]), K)
        g_upper = np.tile(np.concatenate([equal, np.tile(self.R_upper, 3)]), K)
        state_lower, state_upper = np.full((points, 2 * n), -np.inf), np.full((points, 2 * n), np.inf)
        for place, end in ((0, self.problem.start), (points - 1, self.problem.end)):
            state_lower[place] = state_upper[place] = np.concatenate([end.q, end.v])
        u_bounds = [np.tile(bound / self.unit, u_count) for bound in (model.control_lower, model.control_upper)]
        free = np.full(a.numel() + slack.numel(), np.inf)
        lower = np.concatenate([state_lower.ravel(), u_bounds[0], -free, np.zeros(work.numel())])
        upper = np.concatenate([state_upper.ravel(), u_bounds[1], free, np.full(work.numel(), np.inf)])
        shares, (motion, parts) = self._guess()
        values = np.concatenate([motion, np.zeros(free.size), parts])
        solver = {warm: casadi.nlpsol("criterion", "ipopt", nlp, self._settings(warm)) for warm in (False, True)}
        multipliers, iterations = np.zeros(g.numel()), 0
        with ONE_AT_A_TIME:
            for warm, weight in enumerate(shares):
                answer = solver[warm > 0](
                    x0=np.clip(values, lower, upper), p=weight, lam_g0=multipliers, lbx=lower, ubx=upper,
                    lbg=g_lower, ubg=g_upper,
                )  # fmt: skip
                statistics = solver[warm > 0].stats()
                iterations += int(statistics["iter_count"])
                values, multipliers = np.array(answer["x"]).ravel(), np.array(answer["lam_g"]).ravel()
                if time.perf_counter() - started > self.options.time_limit:
                    statistics["return_status"] = "Maximum_WallTime_Exceeded"
                    break
        statistics["iter_count"] = iterations
        return self._result(answer, statistics, u_count, g_lower, g_upper, started)

    def _guess(self) -> tuple[list[float], tuple[Reals, Reals]]:
        """Motion of least effort, the shares of effort to go through, and unknowns: states and controls, then work.

        Energy has many local minima: with the effort's share going down from where it outweighs the energy, the motion
        follows the one that least effort leads to.
        """
        K, model = self.options.intervals, self.problem.model
        guess = solve_direct(self.problem, DirectOptions(time_limit=self.options.time_limit))
        s = np.linspace(0.0, 1.0, 2 * K + 1)
        q, v, u = (
            np.stack([np.interp(s, guess.s, column) for column in values.T], axis=1)
            for values in (guess.q, guess.v, guess.u / self.unit)
        )
        controls = u[1::2] if self.energetic else u[::2]
        shares, parts = [self.options.effort_share], np.zeros(0)
        if self.energetic:
            torques = (controls * self.unit)[:, : model.torque_count]
            done = torques * (np.diff(q[::2], axis=0) @ model.torque_matrix)
            parts = np.concatenate([np.maximum(done, 0.0), np.maximum(-done, 0.0)], axis=1).ravel()
            high = 10.0 * float(np.abs(done).sum()) / max(guess.cost, 1e-9)
            while high > self.options.effort_share:
                shares.insert(-1, high)
                high /= 10.0
        states = np.concatenate([q, v], axis=1).ravel()
        return shares, (np.concatenate([states, controls.ravel()]), parts)

    def _settings(self, warm: bool) -> dict[str, Any]:
        near = {"warm_start_init_point": "yes", "mu_init": 1e-3, "warm_start_bound_push": 1e-4} if warm else {}
        return {
            "ipopt": {
                "print_level": 0,
                "sb": "yes",
                "tol": self.options.tolerance,
                "max_iter": self.options.max_iterations,
                "max_wall_time": self.options.time_limit,
                "mu_strategy": "adaptive",
                "nlp_scaling_method": "none",
                **near,
            },
            "print_time": False,
        }

    def _result(
        self, end: Any, statistics: Any, u_count: int, g_lower: Reals, g_upper: Reals, started: float
    ) -> CriterionResult:
        n, N, K = self.n, self.controls, self.options.intervals
        model, T = self.problem.model, self.problem.duration
        values, g = np.array(end["x"]).ravel(), np.array(end["g"]).ravel()
        size = 2 * n * (2 * K + 1)
        states = values[:size].reshape(-1, 2 * n)
        u = values[size : size + N * u_count].reshape(u_count, N) * self.unit
        q, v, t = states[:, :n], states[:, n:], np.linspace(0.0, T, 2 * K + 1)
        h = T / K
        ends = (u, u) if self.energetic else (u[:-1], u[1:])
        thirds = np.stack([ends[0], 0.5 * (ends[0] + ends[1]), ends[1]], axis=1)
        rates = np.stack([v[0:-2:2], v[1::2], v[2::2]], axis=1)
        power = np.abs(thirds[..., : model.torque_count] * model.torque_rates(rates)).sum(axis=-1)
        squares = (thirds**2 * self.problem.effort.diagonal(model)).sum(axis=-1)
        jumps = np.diff(u, axis=0) / self.unit
        status = str(statistics["return_status"])
        return CriterionResult(
            converged=status in ("Solve_Succeeded", "Solved_To_Acceptable_Level"),
            status=status,
            iterations=int(statistics["iter_count"]),
            t=t,
            q=q,
            v=v,
            u=thirds[:, :2].reshape(2 * K, N),
            energy=float(simpson(power, dx=0.5 * h, axis=1).sum()),
            effort_rate=math.inf if self.energetic else float((jumps**2).sum() / h),
            effort=float(0.5 * simpson(squares, dx=0.5 * h, axis=1).sum()) + T * self.problem.effort.time_weight,
            cost=float(end["f"]),
            infeasibility=float(np.maximum(np.maximum(g_lower - g, g - g_upper), 0.0).max()),
            seconds=time.perf_counter() - started,
        )
