# SPDX-License-Identifier: Apache-2.0
"""The two-point boundary value problem of a phase, transversality included (specification 003 sections 2.24 and 2.25).

y = (x, w), 4n components, on s = t/T in [0, 1]; a free duration is one more component with T' = 0 and one more
condition, H = 0. At an end with conditions psi(x) = 0 the costate is w = -psi_x^T lambda: the part of w along the null
space of psi_x vanishes there. lambda follows from the rest, so that no unknown is added.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi
import numpy as np

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem


class ExtremalProblem:
    """Boundary value problem of a phase problem.

    Args:
        problem: the phase.

    Attributes:
        system: Pontryagin's conditions.
        dimension: 4n, one more where the duration is free.
        start_count: conditions at the start.

    Raises:
        InputError: conditions at an end that contradict or repeat each other.
    """

    def __init__(self, problem: PhaseProblem) -> None:
        self.problem = problem
        self.system = PontryaginSystem(problem)
        n = self.system.n
        self._n = n
        self._free = problem.free_duration
        self.dimension = 4 * n + int(self._free)
        self.start_count = 2 * n
        self._start = _end_conditions(problem, problem.start, "start")
        self._end: _End = _end_conditions(problem, problem.end, "end")
        if problem.hard_closure:
            self._end = _on_closure(problem, problem.end)

    def duration(self, y: Reals) -> float:
        """Return t of a solution (K, d) [s]."""
        return float(y[0, -1]) if self._free else self.problem.duration

    def pack(self, x: Reals, w: Reals, duration: float) -> Reals:
        """(K, d) y of states and costates."""
        y = np.concatenate([x, w], axis=1)
        return np.concatenate([y, np.full((len(y), 1), duration)], axis=1) if self._free else y

    def split(self, y: Reals) -> tuple[Reals, Reals]:
        """(K, 2n) states and costates."""
        return y[:, : 2 * self._n], y[:, 2 * self._n : 4 * self._n]

    def rates(self, y: Reals) -> Reals:
        """(K, d) T (x', w')."""
        x, w = self.split(y)
        at = self.system.evaluate(x, w)
        rates = np.zeros_like(y)
        rates[:, : 2 * self._n], rates[:, 2 * self._n : 4 * self._n] = at.x_rate, at.w_rate
        return rates * self._durations(y)[:, None]

    def rates_and_jacobian(self, y: Reals) -> tuple[Reals, Reals]:
        """(K, d) rates and (K, d, d) their derivatives."""
        x, w = self.split(y)
        at = self.system.evaluate(x, w)
        T = self._durations(y)
        m = 4 * self._n
        rates, J = np.zeros_like(y), np.zeros((len(y), self.dimension, self.dimension))
        plain = np.concatenate([at.x_rate, at.w_rate], axis=1)
        rates[:, :m] = plain * T[:, None]
        J[:, :m, :m] = self.system.jacobian(x, w, at) * T[:, None, None]
        if self._free:
            J[:, :m, m] = plain
        return rates, J

    def start(self, y: Reals) -> tuple[Reals, Reals]:
        """Conditions at the start and their derivative."""
        return self._with_zeros(self._start(y[: 4 * self._n]))

    def end(self, y: Reals) -> tuple[Reals, Reals]:
        """Conditions at the end, H = 0 last where the duration is free, and their derivative."""
        value, J = self._with_zeros(self._end(y[: 4 * self._n]))
        if not self._free:
            return value, J
        m, n = 4 * self._n, self._n
        x, w = y[None, : 2 * n], y[None, 2 * n : m]
        at = self.system.evaluate(x, w)
        row = np.zeros((1, self.dimension))
        row[0, : 2 * n], row[0, 2 * n : m] = -at.w_rate[0], at.x_rate[0]  # H_x = -w', H_w = x'
        return np.append(value, at.hamiltonian), np.concatenate([J, row])

    def _durations(self, y: Reals) -> Reals:
        return y[:, -1] if self._free else np.full(len(y), self.problem.duration)

    def _with_zeros(self, pair: tuple[Reals, Reals]) -> tuple[Reals, Reals]:
        value, J = pair
        return value, np.concatenate([J, np.zeros((len(J), 1))], axis=1) if self._free else J


_End = Callable[[Reals], tuple[Reals, Reals]]


def _end_conditions(problem: PhaseProblem, end: EndState, name: str) -> _End:
    """2n conditions on (x, w) at one end."""
    n = problem.model.n
    model = problem.scaled_model
    if end.fixed:
        given = model.state(end.q, end.v)
        J = np.concatenate([np.eye(2 * n), np.zeros((2 * n, 2 * n))], axis=1)
        return lambda y: (y[: 2 * n] - given, J)
    expressions = CasadiPhase(model)
    x, multiplier = casadi.SX.sym("x", 2 * n), casadi.SX.sym("lambda", 2 * n)
    q, v = x[:n], expressions.tree.velocity(x[:n], x[n:])
    psi = end_conditions(problem, end, expressions, q, v)
    count = psi.numel()
    curvature = casadi.jacobian(casadi.jtimes(psi, x, multiplier[:count], True), x)
    results = [casadi.densify(item) for item in (psi, casadi.jacobian(psi, x), curvature)]
    evaluate = casadi.Function("psi", [x, multiplier], results)

    def conditions(y: Reals) -> tuple[Reals, Reals]:
        state, w = y[: 2 * n], y[2 * n :]
        values, P, _ = (np.array(item) for item in evaluate(state, np.zeros(2 * n)))
        _, singular, right = np.linalg.svd(P, full_matrices=True)
        if count and singular[-1] < 1e-10 * max(1.0, singular[0]):
            raise InputError(
                f"{count} conditions have rank {int((singular > 1e-10 * singular[0]).sum())}",
                element=name,
                remedy="Leave out those that repeat others",
            )
        null = right[count:]
        multipliers = -np.linalg.lstsq(P.T, w, rcond=None)[0] if count else np.zeros(0)
        padded = np.zeros(2 * n)
        padded[:count] = multipliers
        second = np.array(evaluate(state, padded)[2])
        J = np.zeros((2 * n, 4 * n))
        J[:count, : 2 * n] = P
        J[count:, : 2 * n] = null @ second
        J[count:, 2 * n :] = null
        return np.concatenate([values.ravel(), null @ w]), J

    return conditions


def end_conditions(
    problem: PhaseProblem, end: EndState, expressions: CasadiPhase, q: casadi.SX, v: casadi.SX
) -> casadi.SX:
    """psi(q, v) of one end: what isn't free, then the further conditions.

    Raises:
        InputError: more conditions than states.
    """
    free_q, free_v = end.free_masks(problem.model)
    n = problem.model.n
    rows = [q[j] - float(end.q[j]) for j in range(n) if not free_q[j]]
    rows += [v[j] - float(end.v[j]) for j in range(n) if not free_v[j]]
    if end.conditions is not None:
        rows.append(end.conditions(expressions, q, v))
    psi = casadi.vertcat(*rows) if rows else casadi.SX(0, 1)
    if psi.numel() > 2 * n:
        raise InputError(
            f"{psi.numel()} conditions for {2 * n} states",
            element="end",
            remedy="Free some of the angles or velocities",
        )
    return psi


def _on_closure(problem: PhaseProblem, end: EndState) -> _End:
    """Return conditions of a fixed end of a chain that is closed by its accelerations.

    From a start that is closed the motion stays so: 2m of the 2n conditions repeat what holds anyway. They are left to
    the costate, whose part along the normals of {g = 0, g' = 0} does nothing.
    """
    n, model = problem.model.n, problem.scaled_model
    if not end.fixed or not problem.start.fixed:
        raise InputError(
            "is set with an end that isn't fixed",
            element="hard_closure",
            remedy="Give both ends in full, or use penalties",
        )
    for name, state in (("start", problem.start), ("end", problem.end)):
        gap = np.abs(model.closure(state.q)).max()
        rate = np.abs(model.closure_jacobian(state.q) @ state.v).max()
        if gap > 1e-6 or rate > 1e-6:
            raise InputError(
                f"leaves the loop open by {gap:g} m, {rate:g} m/s", element=name, remedy="Give a closed state"
            )
    given = model.state(end.q, end.v)
    G = model.closure_jacobian(end.q)
    M = model.tree.mass_matrix(end.q)
    # Derivative of (g, G M^-1 p) by (q, p): G' by q as in the velocities' part of psi above.
    v = np.asarray(end.v)
    inverse = np.linalg.inv(M)
    by_q = np.stack([model.tree.mass_derivative(end.q, k) @ v for k in range(n)], axis=1)
    rate_by_q = model.closure_hessian(end.q) * v - G @ inverse @ by_q
    if problem.hard_angles:
        turned = np.eye(n)[[model.tree.index(closure.coordinate) for closure in model.angle_closures]]
        rate_by_q = np.concatenate([rate_by_q, -turned @ inverse @ by_q])
        G = np.concatenate([G, turned])
    normals = np.block([[G, np.zeros_like(G)], [rate_by_q, G @ inverse]])
    m2 = len(normals)
    _, _, right = np.linalg.svd(normals, full_matrices=True)
    J = np.zeros((2 * n, 4 * n))
    J[: 2 * n - m2, : 2 * n] = right[m2:]
    J[2 * n - m2 :, 2 * n :] = right[:m2]

    def conditions(y: Reals) -> tuple[Reals, Reals]:
        return np.concatenate([right[m2:] @ (y[: 2 * n] - given), right[:m2] @ y[2 * n :]]), J

    return conditions
