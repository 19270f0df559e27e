# SPDX-License-Identifier: Apache-2.0
"""Guide trajectories: the way that a robot's root should take, its corners rounded, and the criterion that follows it.

Specification 001 section 7.5.2: the valley potential (K4) around the nearest point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_number
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.criteria import Criterion
from humanoid_planner.posture.tasks.state import PostureState

#: Corners are left by at most this part of the shorter adjacent segment (specification 001 Appendix B).
DEVIATION = 0.05
#: Intervals of a rounded corner that the nearest point is first looked for in.
_INTERVALS = 8
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True, eq=False)
class NearestPoint:
    """A point of the path and how it moves with the query.

    Attributes:
        point: (n,) of the path, all coordinates.
        length: path length of the root up to there.
        velocity: (n,) of the point by the path parameter; zero at the path's ends.
        rate: of the length by the path parameter.
        gradient: (n,) of the path parameter by the query; zero beyond the path's ends.
    """

    point: NDArray[np.float64]
    length: float
    velocity: NDArray[np.float64]
    rate: float
    gradient: NDArray[np.float64]


class GuidePath:
    r"""A piecewise-linear curve in n coordinates whose corners are rounded, twice continuously differentiable.

    The thesis rounds corners by arcs of a circle. Then the nearest point moves at a speed that jumps where an arc
    begins (as 1 / (1 - curvature * offset) does), and with it the gradient of the path length, unless the query is on
    the path. Here a corner V between unit directions a and b becomes the quartic

    .. math:: V + \tau\,(b\,g(s) - a\,g(1 - s)),\quad g(s) = 2s^3 - s^4,\quad s\in[0, 1],

    whose velocity goes smoothly from a to b and whose curvature vanishes at both ends: nearest point and
    path length have continuous derivatives as long as the query is nearer to the curve than its radius of
    curvature. It starts a length tau before the corner and passes it at 3/8 tau sin(angle / 2).
    """

    def __init__(self, points: ArrayLike, root: ArrayLike, deviation: float = DEVIATION) -> None:
        """Take key points.

        Args:
            points: (p, n) key points, in coordinates that are comparable with each other.
            root: (k,) indices of the coordinates that nearest points are looked for in: they have to tell
                the path's points from each other.
            deviation: largest distance of the rounded curve to a corner, as a part of the shorter adjacent segment.

        Raises:
            InputError: fewer than two points; a segment along which the root doesn't move; a path that turns back.
        """
        points = np.array(points, dtype=float)
        self._root = np.array(root, dtype=np.int64)
        if points.ndim != 2 or len(points) < 2 or not np.isfinite(points).all():
            raise InputError(
                f"has key points of shape {points.shape}", element="guide", remedy="Give two or more finite rows"
            )
        check_number(deviation, "guide deviation", upper=1.0)
        spans = np.diff(points, axis=0)
        lengths = np.linalg.norm(spans, axis=1)
        still = np.flatnonzero(np.linalg.norm(spans[:, self._root], axis=1) < 1e-9)
        if len(still):
            raise InputError(
                f"the root doesn't move between key points {still[0]} and {still[0] + 1}",
                element="guide",
                remedy="Let it move a little there",
            )
        directions = spans / lengths[:, None]
        cuts = np.zeros(len(points))  # how long before and after each corner the rounding begins
        for corner in range(1, len(points) - 1):
            a, b = directions[corner - 1], directions[corner]
            here, there = a[self._root], b[self._root]
            if here @ there < (-1 + 1e-6) * np.linalg.norm(here) * np.linalg.norm(there):
                raise InputError(
                    f"the root turns back at key point {corner}", element="guide", remedy="Let it go another way"
                )
            shorter = float(min(lengths[corner - 1], lengths[corner]))
            per_cut = 0.1875 * float(np.linalg.norm(b - a))  # 3/8 sin(angle / 2)
            cuts[corner] = min(0.5 * shorter, deviation * shorter / per_cut if per_cut > 1e-9 else 0.0)
        self._pieces: list[_Piece] = []
        for index, direction in enumerate(directions):
            start = points[index] + cuts[index] * direction
            end = points[index + 1] - cuts[index + 1] * direction
            if np.linalg.norm(end - start) > 1e-12:
                self._pieces.append(_line(start, end - start))
            if index + 1 < len(directions) and cuts[index + 1] > 0:
                self._pieces.append(_blend(points[index + 1], cuts[index + 1], direction, directions[index + 1]))
        totals = [piece.root_length(1.0, self._root) for piece in self._pieces]
        self._before = np.concatenate([[0.0], np.cumsum(totals)])
        self._of_root = np.ascontiguousarray([piece.coefficients[:, self._root] for piece in self._pieces])
        self.size = points.shape[1]

    @property
    def length(self) -> float:
        """Path length of the root."""
        return float(self._before[-1])

    def nearest(self, y: NDArray[np.float64]) -> NearestPoint:
        """Return the path's point whose root is nearest to that of (n,) coordinates; of several the first."""
        wanted = y[self._root]
        index, s = _nearest(self._of_root, wanted)
        piece = self._pieces[index]
        point, velocity = piece.position(s), piece.velocity(s)
        length = float(self._before[index]) + piece.root_length(s, self._root)
        direction = velocity[self._root]
        gradient = np.zeros(self.size)
        at_end = (index == 0 and s <= 0.0) or (index == len(self._pieces) - 1 and s >= 1.0)
        if at_end:
            return NearestPoint(point, length, np.zeros(self.size), 0.0, gradient)
        # The derivative of velocity . (point - wanted) = 0, which defines s.
        bend = float(direction @ direction + piece.acceleration(s)[self._root] @ (point[self._root] - wanted))
        gradient[self._root] = direction / max(bend, 1e-12)
        return NearestPoint(point, length, velocity, float(np.linalg.norm(direction)), gradient)


@dataclass(frozen=True, eq=False)
class _Piece:
    """A polynomial of s in [0, 1].

    Attributes:
        coefficients: (5, n) of s to the powers 0 to 4.
    """

    coefficients: NDArray[np.float64]

    def position(self, s: float) -> NDArray[np.float64]:
        return np.array([1.0, s, s**2, s**3, s**4]) @ self.coefficients

    def velocity(self, s: float) -> NDArray[np.float64]:
        return np.array([0.0, 1.0, 2 * s, 3 * s**2, 4 * s**3]) @ self.coefficients

    def acceleration(self, s: float) -> NDArray[np.float64]:
        return np.array([0.0, 0.0, 2.0, 6 * s, 12 * s**2]) @ self.coefficients

    def root_length(self, s: float, root: NDArray[np.int64]) -> float:
        if not self.coefficients[2:].any():
            return s * float(np.linalg.norm(self.coefficients[1, root]))
        nodes = 0.5 * s * (_NODES + 1)
        powers = np.array([0.0 * nodes, 0.0 * nodes + 1, 2 * nodes, 3 * nodes**2, 4 * nodes**3])
        return 0.5 * s * float(_WEIGHTS @ np.linalg.norm(powers.T @ self.coefficients[:, root], axis=1))


def _line(start: NDArray[np.float64], span: NDArray[np.float64]) -> _Piece:
    """Return start + s span."""
    still = np.zeros_like(start)
    return _Piece(np.array([start, span, still, still, still]))


def _blend(corner: NDArray[np.float64], cut: float, a: NDArray[np.float64], b: NDArray[np.float64]) -> _Piece:
    """Return a rounded corner, see :class:`GuidePath`."""
    turn = 2 * cut * (b - a)
    return _Piece(np.array([corner - cut * a, 2 * cut * a, np.zeros_like(a), turn, -0.5 * turn]))


@njit(cache=True)
def _nearest(pieces: NDArray[np.float64], wanted: NDArray[np.float64]) -> tuple[int, float]:
    """Return the piece of a curve and its parameter that are nearest to a point; of several the first.

    Args:
        pieces: (m, 5, k) coefficients.
        wanted: (k,).
    """
    best, best_piece, best_s = math.inf, 0, 0.0
    for index in range(len(pieces)):
        c = pieces[index]
        if not c[2:].any():
            s = min(max((wanted - c[0]) @ c[1] / (c[1] @ c[1]), 0.0), 1.0)
        else:
            s = _nearest_of_blend(c, wanted)
        gap = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * c[4]))) - wanted
        square = gap @ gap
        if square < best - 1e-15:
            best, best_piece, best_s = square, index, s
    return best_piece, best_s


@njit(cache=True)
def _nearest_of_blend(c: NDArray[np.float64], wanted: NDArray[np.float64]) -> float:
    """Return the best of some samples, refined by Newton's method between its neighbours."""
    least, chosen = math.inf, 0
    for sample in range(_INTERVALS + 1):
        s = sample / _INTERVALS
        gap = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * c[4]))) - wanted
        if gap @ gap < least:
            least, chosen = gap @ gap, sample
    low, high, s = max(chosen - 1, 0) / _INTERVALS, min(chosen + 1, _INTERVALS) / _INTERVALS, chosen / _INTERVALS
    for _ in range(50):
        gap = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * c[4]))) - wanted
        direction = c[1] + s * (2 * c[2] + s * (3 * c[3] + s * 4 * c[4]))
        slope = direction @ gap
        if slope > 0:
            high = s
        else:
            low = s
        bend = direction @ direction + (2 * c[2] + s * (6 * c[3] + s * 12 * c[4])) @ gap
        following = s - slope / bend if bend > 0 else -1.0
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - s) < 1e-14:
            break
        s = following
    return min(max(s, 0.0), 1.0)


#: Metres that count as much as one radian (specification 001 Appendix B).
RADIAN = 0.5


class NearGuide(Criterion):
    r"""K4: a valley along a guide that falls towards its end.

    m is the guide's posture whose root (position and orientation of the floating base) is nearest to that of x, l'
    the path length of the root up to there. With d = x - m and lengths in which a radian counts ``RADIAN`` metres,

    .. math::
        U_T = |d|^2 - k\,l' \quad(6.7),\qquad
        U_T = \begin{cases}\frac12|d|^2 - k\,l' & |d|\le d_0\\
        d_0|d| - \frac12d_0^2 - k\,l' & |d| > d_0\end{cases}\quad(6.8, E-18).

    Attributes:
        progress: k [m], what a metre of the root's path is worth.
        switch: d0 [m]; None takes (6.7).
        path: the guide, in metres.
    """

    def __init__(
        self,
        kinematics: RobotKinematics,
        postures: Sequence[ArrayLike],
        progress: float,
        switch: float | None = 1.0,
        deviation: float = DEVIATION,
    ) -> None:
        """Take the guide.

        Args:
            kinematics: of a robot with a floating base.
            postures: (nq,) key postures in Pinocchio's order, two or more; the root moves between any two.
            progress: k [m].
            switch: d0 [m], where the mixed potential becomes linear; None takes the quadratic one.
            deviation: of rounded corners, see :class:`GuidePath`.

        Raises:
            InputError: a robot without floating base, or values that can't be used.
        """
        if kinematics.variables.base is None:
            raise InputError(
                f"robot '{kinematics.robot.name}' has no floating base", element="guide", remedy="Give one that has"
            )
        self.progress = check_number(progress, "progress of the guide")
        self.switch = None if switch is None else check_number(switch, "switch of the guide", lower=1e-9)
        self._deviation = deviation
        self._postures = [np.array(q, dtype=float) for q in postures]
        self.bind(kinematics)

    def bind(self, kinematics: RobotKinematics) -> None:
        """Express the guide in the variables of ``kinematics``."""
        variables = kinematics.variables
        turning = np.zeros(variables.size, dtype=bool)
        turning[variables.tree.dof_column[~variables.tree.is_length()]] = True
        self._scale = np.where(turning, RADIAN, 1.0)
        points = np.array([kinematics.coordinates(q) for q in self._postures])
        self.path = GuidePath(points * self._scale, variables.base_columns, self._deviation)

    def value(self, state: PostureState) -> float:
        """U_T [m^2]."""
        y = self._scale * state.x[: state.first_force]
        near = self.path.nearest(y)
        square = float((y - near.point) @ (y - near.point))
        if self.switch is None:
            valley = square
        elif square <= self.switch**2:
            valley = 0.5 * square
        else:
            valley = self.switch * np.sqrt(square) - 0.5 * self.switch**2
        return float(valley - self.progress * near.length)

    def _slope(self, distance: float) -> float:
        """Return the derivative of the valley by half the squared distance."""
        if self.switch is None:
            return 2.0
        return min(1.0, self.switch / max(distance, 1e-300))

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """Its gradient."""
        y = self._scale * state.x[: state.first_force]
        near = self.path.nearest(y)
        d = y - near.point
        slope = self._slope(float(np.linalg.norm(d)))
        by_parameter = -slope * float(d @ near.velocity) - self.progress * near.rate
        g = np.zeros(state.size)
        g[: state.first_force] = self._scale * (slope * d + by_parameter * near.gradient)
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Gauss-Newton approximation: that of the squared distance, less steep where the valley is linear."""
        y = self._scale * state.x[: state.first_force]
        near = self.path.nearest(y)
        slope = self._slope(float(np.linalg.norm(y - near.point)))
        J = (np.eye(len(y)) - np.outer(near.velocity, near.gradient)) * self._scale
        H = np.zeros((state.size, state.size))
        H[: state.first_force, : state.first_force] = slope * J.T @ J
        return H
