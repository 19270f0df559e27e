# SPDX-License-Identifier: Apache-2.0
"""A planar tree and a phase model as casadi expressions, from the very coefficients of the numeric ones.

    symbolic = CasadiPhase(model)
    x = casadi.SX.sym("x", 2 * model.n); u = casadi.SX.sym("u", model.control_count)
    rate = symbolic.state_rate(x, u)

Every argument is a column of SX (or DM); every result is an SX of the shape that the numeric function has without its
leading axes. :meth:`CasadiTree.solve` is the factorisation M = L D L^T written out, which
keeps expressions small.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi
import numpy as np

from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.mechanism.planar_point import PlanarPoint
from humanoid_studies.planar_gait.mechanism.planar_tree import PlanarTree
from humanoid_studies.planar_gait.mechanism.tree_equations import TreeEquations

Expression = casadi.SX


class CasadiTree(TreeEquations):
    """Expressions of :class:`PlanarTree`: the same equations of other terms.

    Args:
        tree: whose coefficients are taken.
    """

    def __init__(self, tree: PlanarTree) -> None:
        self.tree = tree

    def directions(self, q: Expression) -> tuple[list[Expression], list[Expression]]:
        """Cosines and sines of the angles and of the constant phases of translations."""
        tree = self.tree
        cosines = [casadi.cos(q[j]) if tree.turning[j] else casadi.SX(np.cos(tree.phase[j])) for j in range(tree.n)]
        sines = [casadi.sin(q[j]) if tree.turning[j] else casadi.SX(np.sin(tree.phase[j])) for j in range(tree.n)]
        return cosines, sines

    def _inertia_terms(self, q: Expression) -> tuple[list[list[Expression]], list[list[Expression]]]:
        """Real and imaginary part of E_ij e^{i (q_j - q_i)}."""
        tree = self.tree
        c, s = self.directions(q)
        real = [[casadi.SX(0.0)] * tree.n for _ in range(tree.n)]
        imaginary = [[casadi.SX(0.0)] * tree.n for _ in range(tree.n)]
        for i in range(tree.n):
            real[i][i] = casadi.SX(tree.inertia[i, i].real)
            for j in range(i + 1, tree.n):
                E, F = float(tree.inertia[i, j].real), float(tree.inertia[i, j].imag)
                if E == 0.0 and F == 0.0:
                    continue
                cosine, sine = c[j] * c[i] + s[j] * s[i], s[j] * c[i] - c[j] * s[i]  # of q_j - q_i
                real[i][j] = real[j][i] = E * cosine - F * sine
                imaginary[i][j] = E * sine + F * cosine
                imaginary[j][i] = -imaginary[i][j]
        return real, imaginary

    def _mass_entries(self, q: Expression) -> list[list[Expression]]:
        """M(q), rotors included."""
        real, rotors = self._inertia_terms(q)[0], self.tree.rotors
        for i, j in zip(*np.nonzero(rotors), strict=True):
            real[i][j] = real[i][j] + float(rotors[i, j])
        return real

    def mass_matrix(self, q: Expression) -> Expression:
        """(n, n) M(q)."""
        return _matrix(self._mass_entries(q))

    def turning_matrix(self, q: Expression) -> Expression:
        """(n, n) N(q): :meth:`PlanarTree.turning_matrix`."""
        return _matrix(self._inertia_terms(q)[1])

    def solve(self, q: Expression, right: Expression) -> Expression:
        """(n,) M(q)^-1 times a column."""
        real = self._mass_entries(q)
        n = self.tree.n
        L = [[casadi.SX(0.0)] * n for _ in range(n)]
        D: list[Expression] = []
        for j in range(n):
            D.append(real[j][j] - sum((L[j][k] ** 2 * D[k] for k in range(j)), casadi.SX(0.0)))
            for i in range(j + 1, n):
                L[i][j] = (real[i][j] - sum((L[i][k] * L[j][k] * D[k] for k in range(j)), casadi.SX(0.0))) / D[j]
        y: list[Expression] = []
        for i in range(n):
            y.append(right[i] - sum((L[i][k] * y[k] for k in range(i)), casadi.SX(0.0)))
        z = [y[i] / D[i] for i in range(n)]
        for i in reversed(range(n)):
            z[i] = z[i] - sum((L[k][i] * z[k] for k in range(i + 1, n)), casadi.SX(0.0))
        return casadi.vertcat(*z)

    def potential(self, q: Expression) -> Expression:
        """() V [J]."""
        return self.tree.mass * self.tree.gravity * self.position(self.tree.centre, q)[1]

    def potential_gradient(self, q: Expression) -> Expression:
        """(n,) V_{,j}."""
        c, s = self.directions(q)
        nu = self.tree.moments
        return self.tree.gravity * casadi.vertcat(
            *(float(nu[j].real) * c[j] - float(nu[j].imag) * s[j] for j in range(self.tree.n))
        )

    def _times(self, matrix: Expression, vector: Expression) -> Expression:
        return casadi.mtimes(matrix, vector)

    def _dot(self, first: Expression, second: Expression) -> Expression:
        return casadi.dot(first, second)

    def _angles(self, vector: Expression) -> Expression:
        return casadi.vertcat(*(vector[j] if self.tree.turning[j] else casadi.SX(0.0) for j in range(self.tree.n)))

    def _commutator(self, diagonal: Expression, matrix: Expression) -> Expression:
        on_diagonal = casadi.diag(diagonal)
        return casadi.mtimes(on_diagonal, matrix) - casadi.mtimes(matrix, on_diagonal)

    def position(self, point: PlanarPoint, q: Expression) -> Expression:
        """(2,) place of a point."""
        c, s = self.directions(q)
        x, y = casadi.SX(complex(point.origin).real), casadi.SX(complex(point.origin).imag)
        for j in range(self.tree.n):
            a, b = float(point.coefficients[j].real), float(point.coefficients[j].imag)
            if a == 0.0 and b == 0.0:
                continue
            real, imaginary = a * c[j] - b * s[j], a * s[j] + b * c[j]
            x += real if self.tree.turning[j] else -imaginary * q[j]
            y += imaginary if self.tree.turning[j] else real * q[j]
        return casadi.vertcat(x, y)

    def jacobian(self, point: PlanarPoint, q: Expression) -> Expression:
        """(2, n) derivative of a point's place."""
        c, s = self.directions(q)
        columns = []
        for j in range(self.tree.n):
            a, b = float(point.coefficients[j].real), float(point.coefficients[j].imag)
            columns.append(casadi.vertcat(-(a * s[j] + b * c[j]), a * c[j] - b * s[j]))
        return casadi.horzcat(*columns)

    def bias(self, point: PlanarPoint, q: Expression, v: Expression) -> Expression:
        """(2,) acceleration of a point at zero v'."""
        c, s = self.directions(q)
        x, y = casadi.SX(0.0), casadi.SX(0.0)
        for j in range(self.tree.n):
            a, b = float(point.coefficients[j].real), float(point.coefficients[j].imag)
            if self.tree.turning[j]:
                x -= (a * c[j] - b * s[j]) * v[j] ** 2
                y -= (a * s[j] + b * c[j]) * v[j] ** 2
        return casadi.vertcat(x, y)


class CasadiPhase:
    """Expressions of :class:`PhaseModel`.

    Args:
        model: whose coefficients are taken.

    Attributes:
        model: the numeric model.
        tree: expressions of its tree.
    """

    def __init__(self, model: PhaseModel) -> None:
        self.model = model
        self.tree = CasadiTree(model.tree)

    def control_matrix(self, q: Expression) -> Expression:
        """(n, N) Bp(q)."""
        columns = [casadi.SX(column) for column in self.model.torque_matrix.T]
        for force in self.model.cut_forces:
            J = self.tree.jacobian(self.model.points[force.point], q)
            columns.append((force.direction.real * J[0, :] + force.direction.imag * J[1, :]).T)
        return casadi.horzcat(*columns)

    def momentum_rate(self, q: Expression, v: Expression, u: Expression) -> Expression:
        """(n,) p' under controls u."""
        rate = self.tree.momentum_rate(q, v) + casadi.mtimes(self.control_matrix(q), u)
        if np.any(self.model.damping):
            rate -= casadi.mtimes(casadi.SX(self.model.damping), v)
        return rate

    def state_rate(self, x: Expression, u: Expression) -> Expression:
        """(2n,) x' = F(x) + B(x) u."""
        q, p = x[: self.model.n], x[self.model.n :]
        v = self.tree.velocity(q, p)
        return casadi.vertcat(v, self.momentum_rate(q, v, u))

    def acceleration(self, q: Expression, v: Expression, u: Expression) -> Expression:
        """(n,) v' under controls u."""
        return self.tree.acceleration(q, v, self.momentum_rate(q, v, u))

    def point(self, name: str, q: Expression) -> Expression:
        """(2,) place of a named point."""
        return self.tree.position(self.model.points[name], q)

    def closure(self, q: Expression) -> Expression:
        """(m,) g(q)."""
        gaps = [
            self.point(closure.point, q) - casadi.SX([closure.target.real, closure.target.imag])
            for closure in self.model.point_closures
        ]
        return casadi.vertcat(*gaps) if gaps else casadi.SX(0, 1)

    def slap(self, q: Expression) -> Expression:
        """(k,) delta(q)."""
        angles = [
            q[self.model.tree.index(closure.coordinate)] - closure.target for closure in self.model.angle_closures
        ]
        return casadi.vertcat(*angles) if angles else casadi.SX(0, 1)

    def joint_angles(self, q: Expression) -> Expression:
        """(joints,) relative angles."""
        return casadi.mtimes(casadi.SX(self.model.joint_matrix), q)

    def joint_rates(self, v: Expression) -> Expression:
        """(joints,) relative rates."""
        return casadi.mtimes(casadi.SX(self.model.joint_matrix), v)

    def torque_rates(self, v: Expression) -> Expression:
        """(n_a,) rates that the torques work on."""
        return casadi.mtimes(casadi.SX(self.model.torque_matrix.T), v)


def _matrix(rows: Sequence[Sequence[Expression]]) -> Expression:
    return casadi.vertcat(*(casadi.horzcat(*row) for row in rows))
