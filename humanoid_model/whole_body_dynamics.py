# SPDX-License-Identifier: Apache-2.0
r"""Dynamics of the whole body: zero-moment points, and the quadratic program of inverse dynamics.

Zero-moment points are those of the motion of all bodies, and of contact forces. The program has tasks, the dynamics of
the base, friction pyramids and efforts. Its unknowns are the accelerations and the forces at the corners that bear,
:math:`x=(\dot v, f)`,

.. math::

    \min_x\ \sum_i w_i\lVert J_i\dot v-b_i\rVert^2+w_f\lVert f-\bar f\rVert^2\quad\text{with}\quad
    \begin{aligned}
        M_b\dot v-J_{c,b}^\top f&=-h_b,\\
        -\bar\tau-h_j\le M_j\dot v-J_{c,j}^\top f&\le\bar\tau-h_j,
    \end{aligned}
    \qquad |f_x|,|f_y|\le\tfrac{\mu}{\sqrt 2}f_z.

The rows of the base are equations; what the rows of the driven joints amount to are their efforts. Free fall without
efforts keeps to all of these, so there always is an answer. Bounds of accelerations, and of what they amount to along
lines, as barriers give them, are kept to as far as these let it: what is beyond them costs far more than tasks do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import daqp
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array, Reals
from humanoid_model.compiling import uncounted


def multibody_zero_moment_point(
    model: pin.Model, q: Reals, v: Reals, a: Reals
) -> tuple[Array, Array]:
    """Zero-moment points on the ground z = 0, and the forces there.

    Args:
        model: of the robot; its gravity is along -z.
        q: configurations, shape (k, nq).
        v: velocities, shape (k, nv).
        a: accelerations, shape (k, nv).

    Returns:
        Points [m], shape (k, 2), and forces of the ground [N], shape (k, 3); a point means nothing where its force
        doesn't point upwards.
    """
    data = model.createData()
    mass = pin.computeTotalMass(model)
    weight = -mass * model.gravity.linear
    points, forces = np.empty((len(q), 2)), np.empty((len(q), 3))
    for i in range(len(q)):
        rate = pin.computeCentroidalMomentumTimeVariation(model, data, q[i], v[i], a[i])
        force = rate.linear + weight
        moment = rate.angular + np.cross(data.com[0], force)
        points[i] = -moment[1] / force[2], moment[0] / force[2]
        forces[i] = force
    return points, forces


def zero_moment_point(
    places: ArrayLike, forces: ArrayLike, up: ArrayLike = (0.0, 0.0, 1.0), height: float | None = None
) -> Array:
    r"""(3,) point of a horizontal plane about which contact forces have no moment across the vertical [m].

    :math:`p = (n\times M_O + h f)/(f\cdot n)`, with the moment about the origin and the plane at height h.

    Args:
        places: where the forces act, in the world [m], shape (m, 3).
        forces: on the robot, in the world [N], shape (m, 3).
        up: unit vector against gravity, shape (3,).
        height: of the plane, ``up @ p`` [m]; None for that of the places, weighted by their vertical forces: on flat
            ground the ground itself, elsewhere a choice of plane that the field has no agreement on.

    Returns:
        The point; not a number where nothing presses.
    """
    at, f = (np.asarray(one, dtype=float).reshape(-1, 3) for one in (places, forces))
    vertical = np.asarray(up, dtype=float)
    force = f.sum(axis=0)
    carried = float(force @ vertical)
    if not carried > 0.0:
        return np.full(3, np.nan)
    if height is None:
        height = float((f @ vertical) @ (at @ vertical)) / carried
    products = at.T @ f
    moment = np.array(
        [products[1, 2] - products[2, 1], products[2, 0] - products[0, 2], products[0, 1] - products[1, 0]]
    )
    across = pin.skew(vertical) @ moment + height * force  # its part along up is height * carried
    return np.asarray(across / carried)


_EQUALITY = 5
"""DAQP's mark of an equality."""
_REGULARISATION = 1e-6
"""Weight of all accelerations, which keeps the program strictly convex."""
_SOFT = 8
"""DAQP's mark of a bound that may be exceeded at a cost."""
_BARRIER = 1e6
"""Weight of the square by which an acceleration is beyond its bound."""
_FREE = 1e30
"""What DAQP takes for infinite."""
_ITERATIONS = 300
"""Of the solver at most; what robots ask for in walking takes up to a hundred."""
_BASE = 6


@dataclass(frozen=True, eq=False)
class WholeBodyProgram:
    """Minimise x' H x / 2 + g' x with lower <= rows x <= upper, the first six rows equations.

    Attributes:
        hessian: (n, n) H.
        gradient: (n,) g.
        rows: (6 + joints + 5 corners + lines, n) of the base [N, N m], the driven joints [N m], the pyramids [N], the
            lines [m/s²].
        lower: their least values.
        upper: their greatest values.
        bias: (joints,) efforts of the driven joints without accelerations and contact forces [N m].
        bounds: (2, nv) least and greatest accelerations, kept to as far as the rows let them; infinite where there are
            none.
        lines: how many of the last rows are kept to as far as the others let them.
    """

    hessian: Array
    gradient: Array
    rows: Array
    lower: Array
    upper: Array
    bias: Array
    bounds: Array
    lines: int

    def solve(self) -> Array | None:
        """(n,) accelerations and forces; None where none is found that is finite and keeps to all rows."""
        soft = self.bounds.shape[1]
        sense = np.zeros(soft + len(self.upper), np.intc)
        sense[:soft], sense[soft : soft + _BASE], sense[len(sense) - self.lines :] = _SOFT, _EQUALITY, _SOFT
        upper, lower = np.concatenate([self.bounds[1], self.upper]), np.concatenate([self.bounds[0], self.lower])
        return _solve(self.hessian, self.gradient, self.rows, upper, lower, sense)

    def solve_near(self, x: Array, Z: Array, hessian: Array, gradient: Array) -> Array | None:
        """(m,) z of least z' H z / 2 + g' z for which x + Z z is in no bound or row further than x is.

        Args:
            x: (n,) that fulfils the equations.
            Z: (n, m) directions that leave them fulfilled.
            hessian: (m, m) H, which may be singular.
            gradient: (m,) g.
        """
        bounded = np.flatnonzero(np.isfinite(self.bounds).any(axis=0))
        rows = np.vstack([Z[bounded], self.rows[_BASE:] @ Z])
        here = np.concatenate([x[bounded], self.rows[_BASE:] @ x])
        upper = np.concatenate([self.bounds[1, bounded], self.upper[_BASE:]]) - here
        lower = np.concatenate([self.bounds[0, bounded], self.lower[_BASE:]]) - here
        free = np.zeros(len(rows), np.intc)
        return _solve(hessian, gradient, rows, np.maximum(upper, 0.0), np.minimum(lower, 0.0), free)

    @property
    def equations(self) -> Array:
        """(6, n) rows of the base."""
        return self.rows[:_BASE]

    def efforts(self, x: Array) -> Array:
        """(joints,) efforts that accelerations and forces take [N m]."""
        return np.asarray(self.rows[_BASE : _BASE + len(self.bias)] @ x + self.bias)


def _solve(H: Array, g: Array, rows: Array, upper: Array, lower: Array, sense: NDArray[np.intc]) -> Array | None:
    """Answer of the solver, None where it has none that is finite."""
    x, _, status, _ = daqp.solve(H, g, rows, upper, lower, sense, rho_soft=1.0 / _BARRIER, iter_limit=_ITERATIONS)
    return np.asarray(x) if status > 0 and math.isfinite(x.sum()) else None


class WeightedTasks:
    """Squared errors of accelerations J a - b, each with its weight.

    Args:
        count: of accelerations.
    """

    def __init__(self, count: int) -> None:
        self._rows: list[Array] = [np.zeros((0, count))]
        self._targets: list[Array] = [np.zeros(0)]
        self._weights: list[Array] = [np.zeros(0)]
        self._curvature: Array = np.full(count, _REGULARISATION)
        self._slope: Array = np.zeros(count)

    def add(self, J: Array, target: Array, weight: float) -> None:
        """Add a task (k, count) with its target (k,)."""
        self._rows.append(J)
        self._targets.append(target)
        self._weights.append(np.full(len(target), weight))

    def add_single(self, columns: NDArray[np.int64], targets: Array, weight: float) -> None:
        """Single accelerations with their targets."""
        self._curvature[columns] += weight
        self._slope[columns] -= weight * targets

    def sums(self) -> tuple[Array, Array]:
        """Return hessian (count, count) and gradient (count,) of half of what all of them cost."""
        J, weights = np.concatenate(self._rows), np.concatenate(self._weights)
        weighted = weights[:, None] * J
        hessian, gradient = weighted.T @ J, self._slope - np.concatenate(self._targets) @ weighted
        hessian.flat[:: len(gradient) + 1] += self._curvature
        return hessian, gradient


@uncounted()
def _fill_rows(
    M: np.ndarray, bias: np.ndarray, J: np.ndarray, root: int, driven: np.ndarray, efforts: np.ndarray, inner: float,
    rows: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> None:  # fmt: skip
    """Write a program's rows but for lines, zero before, with their bounds; arguments as of :meth:`BodyLimits.program`.

    Args:
        M: its upper half counts.
        bias: as there.
        J: of the corners.
        root: as of :class:`BodyLimits`, likewise the next two.
        driven: written nowhere.
        efforts: likewise.
        inner: coefficient of the pyramids within the friction cones.
        rows: written.
        lower: written.
        upper: written.
    """
    nv, forces, moved = len(bias), len(J), _BASE + len(driven)
    for r in range(moved):
        own = root + r if r < _BASE else driven[r - _BASE]
        for c in range(nv):
            rows[r, c] = M[min(own, c), max(own, c)]
        for c in range(forces):
            rows[r, nv + c] = -J[c, own]
        most = 0.0 if r < _BASE else efforts[r - _BASE]
        lower[r], upper[r] = -most - bias[own], most - bias[own]
    for k in range(forces // 3):
        for side in range(5):
            r, at = moved + 5 * k + side, nv + 3 * k
            if side < 4:
                rows[r, at + side // 2] = 1.0 if side % 2 == 0 else -1.0
            rows[r, at + 2] = -inner if side < 4 else -1.0
            lower[r], upper[r] = -_FREE, 0.0


@dataclass(frozen=True, eq=False)
class BodyLimits:
    """What every step's program keeps to.

    Attributes:
        root: first of the base's six velocities.
        driven: (joints,) velocities of the driven joints.
        efforts: (joints,) greatest efforts of these [N m].
        friction: coefficient of the soles.
        force_weight: of squared contact forces, less the wanted ones.
    """

    root: int
    driven: NDArray[np.int64]
    efforts: Array
    friction: float
    force_weight: float

    def program(
        self, tasks: WeightedTasks, M: Array, bias: Array, J_corners: Array, wanted: Array, bounds: Array,
        J_lines: Array, least: Array
    ) -> WholeBodyProgram:  # fmt: skip
        """Return the program of one step.

        Args:
            tasks: what accelerations are to be.
            M: (nv, nv) mass matrix, of which the upper half counts.
            bias: (nv,) h, Coriolis and centrifugal forces and gravity [N, N m].
            J_corners: (3 corners, nv) Jacobian of the bearing corners, each in axes whose last one is the ground's
                normal.
            wanted: (3 corners,) forces in these axes that would be best [N].
            bounds: (2, nv) least and greatest accelerations, infinite where they have none.
            J_lines: (lines, nv) Jacobian of what is to move apart.
            least: (lines,) its accelerations at least [m/s²].
        """
        nv, forces = len(bias), len(J_corners)
        count, first = nv + forces, _BASE + len(self.driven) + 5 * (forces // 3)
        H, g = np.zeros((count, count)), np.empty(count)
        H[:nv, :nv], g[:nv] = tasks.sums()
        H.flat[nv * (count + 1) :: count + 1] = self.force_weight
        g[nv:] = -self.force_weight * wanted
        rest, inner = first + len(least), self.friction / math.sqrt(2.0)
        rows, lower, upper = np.zeros((rest, count)), np.empty(rest), np.full(rest, _FREE)
        _fill_rows(M, bias, J_corners, self.root, self.driven, self.efforts, inner, rows, lower, upper)
        rows[first:, :nv], lower[first:] = J_lines, least
        return WholeBodyProgram(H, g, rows, lower, upper, bias[self.driven], bounds, len(least))
