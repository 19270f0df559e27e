# SPDX-License-Identifier: Apache-2.0
"""Pontryagin's conditions of a phase: maximising control, adjoint, exact Jacobian (specification 003, 2.21 to 2.23).

With v, eta, v', kappa and mu as further variables, everything follows from one function without an inverse,

    L = w_q . v + w_p . p'(q, v, u) - l_r(q, v, u) + mu . c(q, v, v', u)
        + eta . (p - M v) + kappa . (p'(q, v, u) - M' v - M v'),

with c the affine constraints of the controls (kept above zero or at zero). Its partial derivatives by (v, eta, u, v',
kappa, mu) vanish; they give M v = p, the maximising control, and M eta = s of section 2.23. What remains,

    q' = L_{w_q},   p' = L_{w_p},   w_q' = -L_q,   w_p' = -L_p = -eta,

is the boundary value problem (II.26), and its Jacobian is that of L's gradient with the inner variables eliminated:
exact on each set of active bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.optimal_control.maximiser import Maximiser
from humanoid_studies.planar_gait.optimal_control.node_function import NodeFunction
from humanoid_studies.planar_gait.optimal_control.phase_expressions import PhaseExpressions
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import PhaseParameters, PhaseShape, phase_parameters


@dataclass(frozen=True, eq=False)
class ExtremalPoint:
    """What Pontryagin's conditions give at K points (x, w) of the phase.

    Attributes:
        v: (K, n) velocities.
        u: (K, N) maximising controls.
        acceleration: (K, n) v', where constraints depend on it.
        eta: (K, n) M^-1 s.
        kappa: (K, n) multipliers of the accelerations, where constraints depend on them.
        multipliers: (K, e + r) of the equality rows and the inequality rows; the latter are not negative.
        active: (K, e + r) rows that hold as equalities.
        free: (K, N) controls that aren't at a bound of their own.
        x_rate: (K, 2n).
        w_rate: (K, 2n).
        running_cost: (K,) l_r.
        hamiltonian: (K,) H = w . f - l_r.
        feasible: (K,) whether some control fulfils all constraints there.
    """

    v: Reals
    u: Reals
    acceleration: Reals
    eta: Reals
    kappa: Reals
    multipliers: Reals
    active: NDArray[np.bool_]
    free: NDArray[np.bool_]
    x_rate: Reals
    w_rate: Reals
    running_cost: Reals
    hamiltonian: Reals
    feasible: NDArray[np.bool_]


class _Compiled:
    """Node functions of one shape."""

    def __init__(self, parameters: PhaseParameters, shifted: bool) -> None:
        e = PhaseExpressions(parameters, shifted)
        shape = parameters.shape
        n, N = shape.n, shape.control_count
        w_q, w_p = casadi.SX.sym("w_q", n), casadi.SX.sym("w_p", n)
        eta, kappa = casadi.SX.sym("eta", n), casadi.SX.sym("kappa", n)
        constraints = casadi.vertcat(e.equalities, e.rows)
        r = constraints.numel()
        mu = casadi.SX.sym("mu", r)
        core = (
            casadi.dot(w_q, e.v)
            + casadi.dot(w_p, e.momentum_rate)
            - e.effort
            - e.penalty
            + casadi.dot(mu, constraints)
        )
        if shape.accelerated:
            core += casadi.dot(kappa, e.momentum_rate - e.mass_rate - casadi.mtimes(e.mass_matrix, e.a))
        L = core - casadi.dot(eta, e.momentum)
        inner = [e.v, eta, e.u]
        if shape.accelerated:
            inner += [e.a, kappa]
        if r:
            inner += [mu]
        self.row_count, self.inner_count = r, sum(item.numel() for item in inner)
        own = [e.shift] if shifted else []
        at = [e.q, e.v]
        self.dynamics = NodeFunction(
            "dynamics", [*at, *own], e.parameters, [e.mass_matrix, e.control_matrix, e.free_rate, e.penalty]
        )
        zero = casadi.substitute(constraints, casadi.vertcat(e.u, e.a), casadi.SX.zeros(N + n))
        self.rows = NodeFunction(
            "rows",
            at,
            e.parameters,
            [zero, casadi.jacobian(constraints, e.u), casadi.jacobian(constraints, e.a), e.mass_rate],
        )
        extra = [e.a, kappa, mu, *own]
        self.inequalities = NodeFunction("inequalities", at, e.parameters, [e.inequalities]) if shifted else None
        self.velocity_gradient = NodeFunction(
            "velocity_gradient",
            [e.q, e.v, e.u, w_q, w_p, *extra],
            e.parameters,
            [casadi.gradient(core, e.v)],
        )
        self.coordinate_gradient = NodeFunction(
            "coordinate_gradient",
            [e.q, e.v, e.u, w_p, eta, *extra],
            e.parameters,
            [casadi.gradient(L, e.q)],
        )
        outer = casadi.vertcat(e.q, w_p)
        variables = casadi.vertcat(outer, *inner)
        self.hessian = NodeFunction(
            "hessian",
            [e.q, e.v, e.u, w_p, eta, *extra],
            e.parameters,
            # w_q enters through w_q . v alone and has no part in second derivatives.
            [casadi.hessian(casadi.substitute(L, w_q, casadi.SX.zeros(n)), variables)[0]],
        )


_COMPILED: dict[tuple[PhaseShape, bool], _Compiled] = {}


class PontryaginSystem:
    """Pontryagin's conditions of one problem, evaluated at all nodes at once.

    Args:
        problem: the phase.
        shifted: whether state inequalities are shifted before they are penalised, by what :meth:`evaluate` is given:
            the augmented Lagrangian of Hestenes, Powell and Rockafellar.

    Attributes:
        problem: the phase.
        n: number of coordinates.
        maximiser: what gives u(x, w).
    """

    def __init__(self, problem: PhaseProblem, shifted: bool = False) -> None:
        parameters = phase_parameters(problem)
        key = (parameters.shape, shifted)
        if key not in _COMPILED:
            _COMPILED[key] = _Compiled(parameters, shifted)
        self._functions = _COMPILED[key]
        self._numbers = parameters.vector
        self.problem = problem
        self.shape = parameters.shape
        self.n = parameters.shape.n
        model = problem.model
        self.maximiser = Maximiser(
            parameters.values["effort"], model.control_lower, model.control_upper, self.shape.equality_count
        )
        self._time_weight = problem.effort.time_weight

    def velocity(self, x: Reals) -> Reals:
        """(K, n) v = M^-1 p at states (K, 2n)."""
        return self.problem.tree.velocity(x[:, : self.n], x[:, self.n :])

    def running_cost(self, q: Reals, v: Reals, u: Reals) -> Reals:
        """(K,) l_r at given velocities and controls."""
        penalty = self._functions.dynamics(q, v, self._numbers)[3][:, 0]
        return np.asarray(self._time_weight + 0.5 * (self.maximiser.weights * u**2).sum(axis=1) + penalty)

    def inequalities(self, q: Reals, v: Reals) -> Reals:
        """(K, h) excesses of the state inequalities that are penalised; of shifted systems only."""
        assert self._functions.inequalities is not None
        return self._functions.inequalities(q, v, self._numbers)[0]

    def evaluate(self, x: Reals, w: Reals, shift: Reals | None = None) -> ExtremalPoint:
        """Maximising control and rates at K states and costates, each (K, 2n).

        Args:
            x: (K, 2n) states.
            w: (K, 2n) costates.
            shift: (K, h) what is added to the state inequalities, of a shifted system.
        """
        n, numbers, functions = self.n, self._numbers, self._functions
        own = () if shift is None else (shift,)
        q, p = x[:, :n], x[:, n:]
        w_q, w_p = w[:, :n], w[:, n:]
        v = self.problem.tree.velocity(q, p)
        M, B, free_rate, penalty = functions.dynamics(q, v, *own, numbers)
        y = np.einsum("kij,ki->kj", B, w_p)
        K, r = len(x), functions.row_count
        acceleration: Reals = np.zeros((K, n))
        kappa: Reals = np.zeros((K, n))
        if r:
            c0, c_u, c_a, mass_rate = functions.rows(q, v, numbers)
            c_u, c_a = c_u.reshape(K, r, -1), c_a.reshape(K, r, -1)
            if self.shape.accelerated:
                # v' = M^-1 (p'_0 - M' v + B u): its dependence on u goes into the rows.
                solved = np.linalg.solve(M, np.concatenate([B, (free_rate - mass_rate)[..., None]], axis=-1))
                c_u = c_u + c_a @ solved[..., :-1]
                c0 = c0 + (c_a @ solved[..., -1:])[..., 0]
            u, multipliers, active, free, feasible = self.maximiser.with_rows(y, c_u, c0)
            if self.shape.accelerated:
                acceleration = (solved[..., :-1] @ u[..., None])[..., 0] + solved[..., -1]
                pulled = np.einsum("kri,kr->ki", c_a, multipliers)
                kappa = np.linalg.solve(M, pulled[..., None])[..., 0]
        else:
            u, free = self.maximiser.in_box(y)
            multipliers, active = np.zeros((K, 0)), np.zeros((K, 0), dtype=bool)
            feasible = np.ones(K, dtype=bool)
        extra = (acceleration, kappa, multipliers, *own)
        (s,) = functions.velocity_gradient(q, v, u, w_q, w_p, *extra, numbers)
        eta = np.linalg.solve(M, s[..., None])[..., 0]
        (L_q,) = functions.coordinate_gradient(q, v, u, w_p, eta, *extra, numbers)
        p_rate = free_rate + np.einsum("kij,kj->ki", B, u)
        effort = self._time_weight + 0.5 * (self.maximiser.weights * u**2).sum(axis=1)
        cost = effort + penalty[:, 0]
        hamiltonian = (w_q * v).sum(axis=1) + (w_p * p_rate).sum(axis=1) - cost
        return ExtremalPoint(
            v,
            u,
            acceleration,
            eta,
            kappa,
            multipliers,
            active,
            free,
            np.concatenate([v, p_rate], axis=1),
            np.concatenate([-L_q, -eta], axis=1),
            cost,
            hamiltonian,
            feasible,
        )

    def jacobian(self, x: Reals, w: Reals, at: ExtremalPoint, shift: Reals | None = None) -> Reals:
        """(K, 4n, 4n) derivative of (x', w') by (x, w) at points that :meth:`evaluate` gave, for the same shift."""
        n = self.n
        own = () if shift is None else (shift,)
        K, q, w_p = len(x), x[:, : self.n], w[:, self.n :]
        (H,) = self._functions.hessian(
            q, at.v, at.u, w_p, at.eta, at.acceleration, at.kappa, at.multipliers, *own, self._numbers
        )
        z = slice(2 * n, 2 * n + self._functions.inner_count)
        inner = H[:, z, z].copy()
        outer = H[:, z, : 2 * n]  # by q and w_p
        right = np.zeros((K, self._functions.inner_count, 4 * n))
        right[:, :, :n] = outer[:, :, :n]
        right[:, :, 3 * n :] = outer[:, :, n:]
        identity = np.arange(n)
        right[:, n + identity, n + identity] = 1.0  # L_{eta p}
        right[:, identity, 2 * n + identity] = 1.0  # L_{v w_q}
        _hold(inner, right, ~at.free, 2 * n)
        if at.active.shape[1]:
            _hold(inner, right, ~at.active, self._functions.inner_count - at.active.shape[1])
        dz = -np.linalg.solve(inner, right)
        dv, deta = dz[:, :n], dz[:, n : 2 * n]
        J = np.empty((K, 4 * n, 4 * n))
        rows = H[:, : 2 * n, z] @ dz  # of L_q and L_{w_p}
        rows[:, :, :n] += H[:, : 2 * n, :n]
        rows[:, :, 3 * n :] += H[:, : 2 * n, n : 2 * n]
        J[:, :n] = dv
        J[:, n : 2 * n] = rows[:, n:]
        J[:, 2 * n : 3 * n] = -rows[:, :n]
        J[:, 3 * n :] = -deta
        return J


def _hold(inner: Reals, right: Reals, held: NDArray[np.bool_], start: int) -> None:
    """Replace equations of variables that don't move by dz = 0."""
    nodes, which = np.nonzero(held)
    index = start + which
    inner[nodes, index, :] = 0.0
    inner[nodes, index, index] = 1.0
    right[nodes, index, :] = 0.0
