# SPDX-License-Identifier: Apache-2.0
"""Static equilibrium by contact forces as tasks: balance, friction cones or pyramids, and limits of joint efforts.

Specification 001 sections 4.9 and 4.10; the tasks on the centre of mass, which need no forces, are in ``stability``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.posture.tasks.state import ForceModel, PostureState
from humanoid_planner.posture.tasks.task import Task

#: Part of the weight below which the denominator of the cone rows is rounded off. Their gradient vanishes at the apex,
#: as that of (3.69) does everywhere: at a thousandth, points that bear nothing kept solvers from converging.
_ROUNDING = 1e-6
#: Sides of the pyramids around the cones.
_SIDES = 4
#: Force, in weights, below which the cones' curvature, one over the force, no longer grows.
_FLATTENING = 1e-3


class ForceBalance(Task):
    """Gravity, contact forces and loads are in equilibrium (3.57), (3.58), (3.70), over the weight."""

    def __init__(self, model: ForceModel) -> None:
        super().__init__("equilibrium", np.zeros(6), np.zeros(6), unit="N and N m", scale=model.weight)

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(
            f"equilibrium of {what}" for what in ("force x", "force y", "force z", "moment x", "moment y", "moment z")
        )

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(6,) wrench of all that acts on the robot [N, N m]."""
        return state.place_forces().wrench()

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(6, state.size) its derivative."""
        return state.place_forces().wrench_jacobian(state.size)


def cone_lift(friction: NDArray[np.float64], margin: float) -> NDArray[np.float64]:
    """Return how far a cone's apex moves up for its boundary to move in by a margin; both in the unit of force."""
    safe = np.where(friction > 0, friction, 1.0)
    return np.where(friction > 0, margin * np.sqrt(1 + safe**2) / safe, margin)


class FrictionCones(Task):
    r"""Contact forces in their friction cones (3.68), (3.69), exact and round.

    The row of a point is :math:`(|f_t|^2-\mu^2f_n^2)/(\sqrt{|f_t|^2+\epsilon^2}+\mu f_n)`: it has the sign of (3.69),
    but grows with the force, not with its square, so that its gradient doesn't vanish where forces are small. With a
    margin the cone's apex is moved up its axis, so that every force keeps that distance from the cone's boundary.
    """

    def __init__(self, model: ForceModel, margin: float) -> None:
        # Without friction the tangents have bounds of zero instead: the row's gradient would vanish there.
        self._indices = np.flatnonzero(~model.bilateral & (model.friction > 0))
        self._mu = model.friction[self._indices]
        self._lift = cone_lift(self._mu, margin) / model.weight
        count = len(self._indices)
        super().__init__("friction", np.full(count, -np.inf), np.zeros(count), unit="of the weight")
        self._points = [model.points[i].placed.label for i in self._indices]

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"friction of {label}, point {index}" for index, label in enumerate(self._points))

    def _parts(self, state: PostureState) -> tuple[NDArray[np.float64], ...]:
        f = state.force_variables[self._indices]
        normal = self._mu * (f[:, 2] - self._lift)
        square = f[:, 0] ** 2 + f[:, 1] ** 2
        root = np.sqrt(square + _ROUNDING**2)
        return f, normal, square, root

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(k,) not positive inside the cones."""
        _, normal, square, root = self._parts(state)
        # Normal forces have a bound of their own; below it the cone is continued linearly.
        inside = np.maximum(normal, 0.0)
        return np.asarray((square - inside**2) / (root + inside) - np.minimum(normal, 0.0))

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(k, state.size) derivative."""
        f, normal, square, root = self._parts(state)
        inside = np.maximum(normal, 0.0)
        above = root + inside
        value = (square - inside**2) / above
        J = np.zeros((len(f), state.size))
        rows = np.arange(len(f))
        first = state.first_force + 3 * self._indices
        for tangent in (0, 1):
            J[rows, first + tangent] = (2 * f[:, tangent] - value * f[:, tangent] / root) / above
        by_normal = np.where(normal > 0, (-2 * inside - value) / above, -1.0)
        J[rows, first + 2] = self._mu * by_normal
        return J

    def curvature(self, state: PostureState, multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
        """(state.size, state.size) sum of the cones' Hessians, each times its multiplier.

        That of the cone itself, |f_t| - mu f_n, whose surface the rows share; bounded where the force is tiny.

        Args:
            state: where.
            multipliers: (k,) not negative.
        """
        f, _, square, _ = self._parts(state)
        root = np.sqrt(square + _FLATTENING**2)
        H = np.zeros((state.size, state.size))
        first = state.first_force + 3 * self._indices
        share = multipliers / root
        x, y = f[:, 0] / root, f[:, 1] / root
        H[first, first] = share * (1 - x * x)
        H[first + 1, first + 1] = share * (1 - y * y)
        H[first, first + 1] = H[first + 1, first] = -share * x * y
        return H


class FrictionPyramids(Task):
    """Pyramids around the friction cones: they forbid nothing that the cones allow, but are linear.

    A cone's linearisation holds along the force that it was made at. Where points bear next to nothing, the
    direction of their force turns with each step, and without the pyramids solvers chase it.
    """

    linear = True

    def __init__(self, model: ForceModel, margin: float) -> None:
        self._indices = np.flatnonzero(~model.bilateral & (model.friction > 0))
        self._mu = model.friction[self._indices]
        lift = cone_lift(self._mu, margin) / model.weight
        count = len(self._indices)
        angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
        self._directions = np.column_stack([np.cos(angles), np.sin(angles)])
        upper = np.repeat(-self._mu * lift, _SIDES)
        super().__init__("friction pyramids", np.full(count * _SIDES, -np.inf), upper, unit="of the weight")
        self._points = [model.points[i].placed.label for i in self._indices]
        self._J: NDArray[np.float64] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(
            f"friction of {label}, point {index}" for index, label in enumerate(self._points) for _ in range(_SIDES)
        )

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(k sides,) tangential force along each side's direction, less friction times the normal force."""
        f = state.force_variables[self._indices]
        return np.asarray((f[:, :2] @ self._directions.T - (self._mu * f[:, 2])[:, None]).ravel())

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(k sides, state.size) derivative, a constant."""
        if self._J is None or self._J.shape[1] != state.size:
            J = np.zeros((self.size, state.size))
            for row, (index, mu) in enumerate(zip(self._indices, self._mu, strict=True)):
                first = state.first_force + 3 * index
                rows = slice(row * _SIDES, (row + 1) * _SIDES)
                J[rows, first : first + 2] = self._directions
                J[rows, first + 2] = -mu
            self._J = J
        return self._J


class TorqueLimits(Task):
    """Efforts that hold the posture within the joints' limits, the efforts eliminated by (3.67, E-08).

    Passive joints with springs give the effort of their spring and no other; joints that float give none, which the
    equilibrium of the whole robot covers for its base.

    Attributes:
        rows: (m,) variables that the rows are about.
    """

    def __init__(self, model: ForceModel, state: PostureState, limited: bool) -> None:
        variables = state.kinematics.variables
        lower, upper = -variables.effort.copy(), variables.effort.copy()
        sprung = variables.stiffness > 0
        floating = ~variables.driven
        if not limited:
            lower[:], upper[:] = -np.inf, np.inf
        lower[sprung | floating] = upper[sprung | floating] = 0.0
        limited_rows = np.isfinite(lower) | np.isfinite(upper)
        limited_rows[variables.base_columns] = False
        kept = self.rows = np.flatnonzero(limited_rows)
        scale = np.where(upper > lower, np.where(np.isfinite(upper), upper, 1.0), model.weight)[kept]
        super().__init__(
            "torque limits" if limited else "passive joints",
            lower[kept],
            upper[kept],
            unit="N m",
            scale=np.maximum(scale, 1e-6),
        )
        self._names = [variables.names[row] for row in kept]
        self._stiffness = np.where(sprung, variables.stiffness, 0.0)[kept]
        self._rests = variables.rests[kept]

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"torque of {name}" for name in self._names)

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) efforts of the joints' drives [N m] or [N]."""
        efforts = state.place_forces().efforts()[self.rows]
        return np.asarray(efforts + self._stiffness * (state.x[self.rows] - self._rests))

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivative."""
        model = state.place_forces()
        J = np.zeros((self.size, state.size))
        J[:, : state.first_force] = model.efforts_jacobian()[self.rows]
        J[:, state.first_force : state.first_extra] = model.efforts_by_force()[self.rows]
        J[np.arange(self.size), self.rows] += self._stiffness
        return J


class TorqueVariables(Task):
    """Torques as variables of their own, tied to configuration and forces by (3.11); their limits are bounds.

    Attributes:
        rows: (m,) driven variables, whose torques are the first extra variables.
    """

    def __init__(self, model: ForceModel, state: PostureState) -> None:
        variables = state.kinematics.variables
        self.rows = np.flatnonzero(variables.driven)
        self.limits = variables.effort[self.rows]
        # As a variable a torque is in units of its limit, so that all are of the size of one.
        self.units = np.where(np.isfinite(self.limits) & (self.limits > 0), self.limits, 1.0)
        super().__init__("statics", np.zeros(len(self.rows)), np.zeros(len(self.rows)), unit="N m", scale=self.units)
        self._names = [variables.names[row] for row in self.rows]

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"statics of {name}" for name in self._names)

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) tau + J^T f - g [N m]."""
        torques = state.extras[: len(self.rows)] * self.units
        return np.asarray(torques - state.place_forces().efforts()[self.rows])

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivative."""
        model = state.place_forces()
        J = np.zeros((self.size, state.size))
        J[:, : state.first_force] = -model.efforts_jacobian()[self.rows]
        J[:, state.first_force : state.first_extra] = -model.efforts_by_force()[self.rows]
        J[np.arange(self.size), state.first_extra + np.arange(self.size)] += self.units
        return J
