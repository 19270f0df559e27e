# SPDX-License-Identifier: Apache-2.0
"""Dynamics, penalties and constraints of a problem's shape as casadi expressions of (q, v, v', u) and its numbers.

Velocities stand beside momenta, so that no expression contains the inverse of the mass matrix: transcription uses
p = M(q) v, and Pontryagin's function takes v from M v = p with the multiplier eta of section 2.23.
"""

from __future__ import annotations

import casadi
import numpy as np

from humanoid_studies.planar_gait.optimal_control.phase_shape import Pattern, PhaseParameters

Expression = casadi.SX


class PhaseExpressions:
    """Expressions of one shape.

    Args:
        parameters: whose shape counts; the values only tell how long each of them is.
        shifted: whether penalties on state inequalities are those of an augmented Lagrangian.

    Attributes:
        q: (n,) symbols of the angles.
        v: (n,) symbols of the velocities.
        a: (n,) symbols of the accelerations.
        u: (N,) symbols of the controls.
        parameters: column of all symbols of numbers.
        shift: (h,) symbols of what is added to the state inequalities before they are penalised; empty unless shifted.
        mass_matrix: (n, n) M.
        control_matrix: (n, N) Bp.
        momentum: (n,) p = M v.
        free_rate: (n,) p' without controls.
        momentum_rate: (n,) p'.
        mass_rate: (n,) M' v.
        effort: () l(u).
        gap: (m,) g(q) of the points that close the loops.
        slap: (k,) delta(q) of the angles that do.
        closure_penalty: () part of l_r that closures and slap angles have.
        penalty: () l_r(q, v) without the effort.
        inequalities: (h,) h(q, v), kept below zero.
        rows: (r,) affine constraints on the controls, kept above zero.
        equalities: (e,) accelerations of the closures, kept at zero.
    """

    def __init__(self, parameters: PhaseParameters, shifted: bool = False) -> None:
        shape = parameters.shape
        self.shape = shape
        n = shape.n
        self.q = casadi.SX.sym("q", n)
        self.v = casadi.SX.sym("v", n)
        self.a = casadi.SX.sym("a", n)
        self.u = casadi.SX.sym("u", shape.control_count)
        self._symbols = {name: casadi.SX.sym(name, value.size) for name, value in parameters.values.items()}
        self._shapes = {name: value.shape for name, value in parameters.values.items()}
        self.parameters = casadi.vertcat(*self._symbols.values())
        self.shift = casadi.SX.sym("shift", shape.inequality_count if shifted else 0)
        turning = shape.turning
        self._cos = [casadi.cos(self.q[j]) if turning[j] else casadi.SX(np.cos(shape.phase[j])) for j in range(n)]
        self._sin = [casadi.sin(self.q[j]) if turning[j] else casadi.SX(np.sin(shape.phase[j])) for j in range(n)]
        self._moving = [self.v[j] if turning[j] else casadi.SX(0.0) for j in range(n)]
        self._dynamics()
        W = self._symbols["effort"]
        self.effort = self._symbols["time_weight"] + 0.5 * casadi.sum1(W * self.u**2)
        self.inequalities = self._inequalities()
        self.gap = self._closure()[0]
        self.slap = casadi.vertcat(
            casadi.SX(0, 1),
            *(self.q[j] - self._symbols["angle_targets"][k] for k, j in enumerate(shape.angle_closures)),
        )
        self.closure_penalty = 0.5 * self._symbols["closure_factor"] * casadi.sumsqr(self.gap)
        self.closure_penalty += 0.5 * self._symbols["slap_factor"] * casadi.sumsqr(self.slap)
        self.penalty = self.closure_penalty + self._excess_penalty()
        self.rows = self._rows()
        self.equalities = self._equalities()

    def symbol(self, name: str) -> Expression:
        """Return symbols of one of the numbers."""
        return self._symbols[name]

    def _dynamics(self) -> None:
        n, v = self.shape.n, self.v
        M = [[casadi.SX(0.0)] * n for _ in range(n)]
        N = [[casadi.SX(0.0)] * n for _ in range(n)]
        re, im = self._symbols["inertia_re"], self._symbols["inertia_im"]
        for k, (i, j) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
            there = self.shape.inertia[k]
            if there == (False, False):
                continue
            c, s = self._cos, self._sin
            cosine, sine = c[j] * c[i] + s[j] * s[i], s[j] * c[i] - c[j] * s[i]
            E = re[k] if there[0] else casadi.SX(0.0)
            F = im[k] if there[1] else casadi.SX(0.0)
            M[i][j] = M[j][i] = E * cosine - F * sine
            N[i][j] = E * sine + F * cosine
            N[j][i] = -N[i][j]
        for i in range(n):
            M[i][i] = self._symbols["inertia_diagonal"][i]
        for k, (i, j) in enumerate(self.shape.rotors):
            M[i][j] += self._symbols["rotors"][k]
            if i != j:
                M[j][i] = M[i][j]
        self.mass_matrix = casadi.vertcat(*(casadi.horzcat(*row) for row in M))
        turned = casadi.vertcat(*(casadi.horzcat(*row) for row in N))
        moving = casadi.vertcat(*self._moving)
        self.momentum = casadi.mtimes(self.mass_matrix, v)
        whirl = moving * casadi.mtimes(turned, v)
        gravity = casadi.vertcat(*(self._symbols["gravity"] * real for real, _ in self._moments()))
        self.free_rate = whirl - gravity
        if self.shape.damped:
            self.free_rate -= casadi.mtimes(casadi.reshape(self._symbols["damping"], n, n), v)
        self.mass_rate = whirl - casadi.mtimes(turned, moving * v)
        columns = [casadi.SX(list(column)) for column in self.shape.torque_columns]
        jacobians = {point: self._point(point)[1] for point, _ in self.shape.force_points}
        for point, direction in self.shape.force_points:
            J = jacobians[point]
            columns.append(direction.real * J[0, :].T + direction.imag * J[1, :].T)
        self.control_matrix = casadi.horzcat(*columns)
        self.momentum_rate = self.free_rate + casadi.mtimes(self.control_matrix, self.u)

    def _turned(self, re: Expression, im: Expression, pattern: Pattern) -> list[tuple[Expression, Expression]]:
        """Real and imaginary part of c_j e^{i phi_j}."""
        terms = []
        for j in range(self.shape.n):
            a = re[j] if pattern[j][0] else casadi.SX(0.0)
            b = im[j] if pattern[j][1] else casadi.SX(0.0)
            terms.append((a * self._cos[j] - b * self._sin[j], a * self._sin[j] + b * self._cos[j]))
        return terms

    def _moments(self) -> list[tuple[Expression, Expression]]:
        return self._turned(self._symbols["moments_re"], self._symbols["moments_im"], self.shape.moments)

    def _point(self, name: str) -> tuple[Expression, Expression, Expression]:
        """(2,) place, (2, n) Jacobian and (2,) bias acceleration of a point."""
        pattern = dict(self.shape.points)[name]
        re, im = self._symbols[f"point_{name}_re"], self._symbols[f"point_{name}_im"]
        terms = self._turned(re, im, pattern)
        x = re[-1] if pattern[-1][0] else casadi.SX(0.0)
        y = im[-1] if pattern[-1][1] else casadi.SX(0.0)
        for j, (real, imaginary) in enumerate(terms):
            x += real if self.shape.turning[j] else -imaginary * self.q[j]
            y += imaginary if self.shape.turning[j] else real * self.q[j]
        return casadi.vertcat(x, y), _columns(terms), self._bias(terms)

    def _bias(self, terms: list[tuple[Expression, Expression]]) -> Expression:
        x, y = casadi.SX(0.0), casadi.SX(0.0)
        for j, (real, imaginary) in enumerate(terms):
            x -= real * self._moving[j] ** 2
            y -= imaginary * self._moving[j] ** 2
        return casadi.vertcat(x, y)

    def _closure(self) -> tuple[Expression, Expression, Expression]:
        """(m,) g, (m,) g' and (m,) g''."""
        gaps, rates, accelerations = [], [], []
        for k, name in enumerate(self.shape.point_closures):
            place, J, bias = self._point(name)
            target = casadi.vertcat(self._symbols["targets_re"][k], self._symbols["targets_im"][k])
            gaps.append(place - target)
            rates.append(casadi.mtimes(J, self.v))
            accelerations.append(casadi.mtimes(J, self.a) + bias)
        if not gaps:
            return casadi.SX(0, 1), casadi.SX(0, 1), casadi.SX(0, 1)
        return casadi.vertcat(*gaps), casadi.vertcat(*rates), casadi.vertcat(*accelerations)

    def _inequalities(self) -> Expression:
        shape = self.shape
        angles = [self._joint(j, self.q) for j in range(len(shape.joint_rows))]
        rates = [self._joint(j, self.v) for j in range(len(shape.joint_rows))]
        h = [self._symbols["joint_lower"][k] - angles[j] for k, j in enumerate(shape.lower_joints)]
        h += [angles[j] - self._symbols["joint_upper"][k] for k, j in enumerate(shape.upper_joints)]
        for sign in (1.0, -1.0):
            h += [sign * rates[j] - self._symbols["rate_limit"][k] for k, j in enumerate(shape.rated_joints)]
        for name in shape.clear_points:
            place = self._point(name)[0]
            h.append(self._envelope(place[0]) + self._symbols["clearance"] - place[1])
        return casadi.vertcat(*h) if h else casadi.SX(0, 1)

    def _joint(self, joint: int, values: Expression) -> Expression:
        row = self.shape.joint_rows[joint]
        return sum((row[i] * values[i] for i in range(self.shape.n) if row[i] != 0.0), casadi.SX(0.0))

    def _envelope(self, x: Expression) -> Expression:
        height = casadi.SX(0.0)
        for k in range(self.shape.obstacles):
            left, right, top, s = (self._symbols["obstacles"][4 * k + i] for i in range(4))
            height += 0.5 * top * (casadi.tanh((x - left) / s) - casadi.tanh((x - right) / s))
        return height

    def _excess_penalty(self) -> Expression:
        penalty = casadi.SX(0.0)
        if not self.shape.hard_inequalities:
            for k in range(self.shape.inequality_count):
                shift = self.shift[k] if self.shift.numel() else casadi.SX(0.0)
                h = self.inequalities[k] + shift
                beyond = casadi.if_else(h > 0.0, h**2, 0.0) - shift**2
                penalty += 0.5 * self._symbols["inequality_factors"][k] * beyond
        return penalty

    def _rows(self) -> Expression:
        count = len(self.shape.rows)
        if count == 0:
            return casadi.SX(0, 1)
        rows = []
        if any(self.shape.rows):
            terms = self._moments()
            weight = casadi.vertcat(0.0, self._symbols["mass"] * self._symbols["gravity"])
            ground = casadi.mtimes(_columns(terms), self.a) + self._bias(terms) + weight
        N = self.shape.control_count
        for k, accelerated in enumerate(self.shape.rows):
            beta = self._symbols["row_controls"][k * N : (k + 1) * N]
            row = casadi.dot(beta, self.u) + self._symbols["row_constant"][k]
            if accelerated:
                row += casadi.dot(self._symbols["row_ground"][2 * k : 2 * k + 2], ground)
                if self.shape.turned_rows:
                    n = self.shape.n
                    row += casadi.dot(self._symbols["row_accelerations"][k * n : (k + 1) * n], self.a)
            rows.append(row)
        return casadi.vertcat(*rows)

    def _equalities(self) -> Expression:
        if not self.shape.hard_closure:
            return casadi.SX(0, 1)
        gap, rate, acceleration = self._closure()
        beta = self._symbols["closure_rate"]
        if self.shape.hard_angles:
            turning = list(self.shape.angle_closures)
            gap = casadi.vertcat(gap, self.slap)
            rate = casadi.vertcat(rate, self.v[turning])
            acceleration = casadi.vertcat(acceleration, self.a[turning])
        return acceleration + 2.0 * beta * rate + beta**2 * gap


def _columns(terms: list[tuple[Expression, Expression]]) -> Expression:
    """(2, n) i c_j e^{i phi_j}: Jacobian of a point."""
    return casadi.horzcat(*(casadi.vertcat(-imaginary, real) for real, imaginary in terms))
