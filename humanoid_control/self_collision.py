# SPDX-License-Identifier: Apache-2.0
r"""Parts of a robot that may not touch each other, as bounds of accelerations in a whole-body program.

Each moving body has a capsule around its collision shapes, so distances have continuous normals except where axes are
parallel or cross. Two capsules whose gap is h keep apart by a barrier of the second order, as joints keep to their
ranges (Nguyen & Sreenath 2016):

.. math:: \ddot h\ge -k^2\max(h-m,0)-2k\dot h,\qquad \dot h=n\cdot(v_a-v_b),

with the margin m and the unit vector n between the nearest points. Within the margin it brakes and doesn't part them,
since standing feet may be nearer. That the nearest points slide along the capsules is left out of :math:`\ddot h`.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import pinocchio as pin

from humanoid_control.moving_points import moving_coordinates
from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_model.capsules import Capsules, capsules_of
from humanoid_model.compiling import uncounted
from humanoid_model.self_overlap import own_postures

_NEAR = 0.1
"""Gap beyond the margin up to which a pair counts [m],"""
_STRONGEST = 30.0
"""where it bounds an acceleration that may come about [m/s²]."""
_SAMPLES = 1000
"""Postures by chance."""


@uncounted()
def _gaps(
    placements: np.ndarray, ends: np.ndarray, radii: np.ndarray, pairs: np.ndarray, points: np.ndarray,
    gaps: np.ndarray, axis: np.ndarray
) -> None:  # fmt: skip
    """Write gaps (m,) of pairs, and the points of their axes next to each other (m, 2, 3).

    Args:
        placements: (k, 4, 4) of the capsules' joints in the world.
        ends: as of :class:`Capsules`.
        radii: likewise.
        pairs: likewise.
        points: written.
        gaps: written.
        axis: (2, 3) to work with.
    """
    for m in range(len(pairs)):
        for side in range(2):
            k = pairs[m, side]
            M = placements[k]
            for i in range(3):
                points[m, side, i], axis[side, i] = M[i, 3], 0.0
                for j in range(3):
                    points[m, side, i] += M[i, j] * ends[k, 0, j]
                    axis[side, i] += M[i, j] * (ends[k, 1, j] - ends[k, 0, j])
        aa, bb, ab, aw, bw = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(3):
            away = points[m, 0, i] - points[m, 1, i]
            aa += axis[0, i] * axis[0, i]
            bb += axis[1, i] * axis[1, i]
            ab += axis[0, i] * axis[1, i]
            aw += axis[0, i] * away
            bw += axis[1, i] * away
        # Ericson, Real-Time Collision Detection, §5.1.9
        determinant, s, t = aa * bb - ab * ab, 0.0, 0.0
        if determinant > 1e-12 * aa * bb:
            s = min(max((ab * bw - bb * aw) / determinant, 0.0), 1.0)
        if bb > 0.0:
            t = min(max((ab * s + bw) / bb, 0.0), 1.0)
        if aa > 0.0:
            s = min(max((ab * t - aw) / aa, 0.0), 1.0)
        square = 0.0
        for i in range(3):
            points[m, 0, i] += s * axis[0, i]
            points[m, 1, i] += t * axis[1, i]
            square += (points[m, 0, i] - points[m, 1, i]) ** 2
        gaps[m] = np.sqrt(square) - radii[pairs[m, 0]] - radii[pairs[m, 1]]


@uncounted()
def _bounds(
    moved: np.ndarray, pairs: np.ndarray, points: np.ndarray, gaps: np.ndarray, v: np.ndarray, J: np.ndarray,
    timing: np.ndarray, twist: np.ndarray, rows: np.ndarray, least: np.ndarray
) -> int:  # fmt: skip
    """Write rows (r, nv) and least accelerations (r,) of pairs that are near, and return r.

    Args:
        moved: which coordinates move a capsule, (k, nv), 0 or 1.
        pairs: as of :class:`Capsules`.
        points: of the axes next to each other, (m, 2, 3).
        gaps: (m,).
        v: (nv,) velocity.
        J: (2, nv, 6) as of :class:`.MovingPoints`.
        timing: margin and rate.
        twist: (2, 6) to work with.
        rows: written.
        least: written.
    """
    count, margin, rate = 0, timing[0], timing[1]
    for m in range(len(pairs)):
        if gaps[m] > margin + _NEAR:
            continue
        x, y, z = points[m, 0, 0], points[m, 0, 1], points[m, 0, 2]
        n0, n1, n2 = x - points[m, 1, 0], y - points[m, 1, 1], z - points[m, 1, 2]
        length = max(np.sqrt(n0 * n0 + n1 * n1 + n2 * n2), 1e-9)
        n0, n1, n2 = n0 / length, n1 / length, n2 / length
        # The nearest points differ along n alone, so one lever serves both.
        t0, t1, t2 = y * n2 - z * n1, z * n0 - x * n2, x * n1 - y * n0
        closing, drift = 0.0, 0.0
        for side in range(2):
            for i in range(6):
                twist[side, i] = 0.0
        for c in range(len(v)):
            one, other = moved[pairs[m, 0], c], moved[pairs[m, 1], c]
            for i in range(6):
                twist[0, i] += one * J[0, c, i] * v[c]
                twist[1, i] += other * J[0, c, i] * v[c]
            j = J[0, c]
            row = n0 * j[0] + n1 * j[1] + n2 * j[2] + t0 * j[3] + t1 * j[4] + t2 * j[5]
            rows[count, c] = (one - other) * row
            closing += rows[count, c] * v[c]
            j = J[1, c]
            row = n0 * j[0] + n1 * j[1] + n2 * j[2] + t0 * j[3] + t1 * j[4] + t2 * j[5]
            drift += (one - other) * row * v[c]
        for side in range(2):
            x, y, z = points[m, side, 0], points[m, side, 1], points[m, side, 2]
            p, q, r = twist[side, 3], twist[side, 4], twist[side, 5]
            u0, u1, u2 = twist[side, 0] + q * z - r * y, twist[side, 1] + r * x - p * z, twist[side, 2] + p * y - q * x
            own = n0 * (q * u2 - r * u1) + n1 * (r * u0 - p * u2) + n2 * (p * u1 - q * u0)
            drift += own if side == 0 else -own
        braked = -rate * rate * max(gaps[m] - margin, 0.0) - 2.0 * rate * closing
        if braked > -_STRONGEST:
            least[count] = braked - drift
            count += 1
    return count


class SelfCollision:
    """Keeps parts of one robot from touching.

    Left out are bodies with at most three joints in between, those that the robot's file lets through, what is nearer
    than the margin in one of the robot's own postures, as its capsules then are too thick, and what no posture by
    chance brings together.

    Attributes:
        capsules: around its bodies.
        gaps: of the capsules' pairs where it was looked at last, (m,) [m].
    """

    def __init__(self, robot: Robot, margin: float) -> None:
        """Find capsules and pairs.

        Args:
            robot: whose parts they are.
            margin: gap that they keep [m].
        """
        self._model, self._margin = robot.model, margin
        known = _KNOWN.setdefault(robot, {})
        if margin not in known:
            known[margin] = self._find(robot, margin)
        self.capsules, self._moved = known[margin]
        count = len(self.capsules.pairs)
        self.gaps, self._points = np.zeros(count), np.zeros((count, 2, 3))
        self._rows, self._least = np.empty((count, robot.model.nv)), np.empty(count)

    def _find(self, robot: Robot, margin: float) -> tuple[Capsules, Array]:
        """Capsules whose pairs count, and which coordinates move them, (k, nv), 0 or 1."""
        self.capsules = capsules_of(robot)
        in_own = self._nearest([*own_postures(robot).values()])
        free = np.isfinite(robot.limits.lower) & np.isfinite(robot.limits.upper)
        some, random = np.tile(robot.default_posture, (_SAMPLES, 1)), np.random.default_rng(0)
        some[:, free] = random.uniform(robot.limits.lower[free], robot.limits.upper[free], (_SAMPLES, free.sum()))
        by_chance = self._nearest([pin.normalize(robot.model, q) for q in some])
        joints, ends, radii, pairs = self.capsules
        used, kept = np.unique(pairs[(in_own > margin) & (by_chance < margin)], return_inverse=True)
        moved = [moving_coordinates(robot.model, joint) for joint in joints[used].tolist()]
        found = Capsules(joints[used], ends[used], radii[used], kept.reshape(-1, 2))
        return found, np.array(moved).reshape(-1, robot.model.nv)

    def _nearest(self, postures: list[Array]) -> Array:
        """(m,) least gaps in some postures [m]."""
        data, least = self._model.createData(), np.full(len(self.capsules.pairs), np.inf)
        for q in postures:
            pin.forwardKinematics(self._model, data, q)
            self._look(data)
            least = np.minimum(least, self.gaps)
        return least

    def _look(self, data: pin.Data) -> None:
        joints, ends, radii, pairs = self.capsules
        self.gaps, self._points = np.empty(len(pairs)), np.empty((len(pairs), 2, 3))
        placements, placed = np.empty((len(joints), 4, 4)), data.oMi
        for row, joint in zip(placements, joints.tolist(), strict=True):
            row[:] = placed[joint].homogeneous
        _gaps(placements, ends, radii, pairs, self._points, self.gaps, np.empty((2, 3)))

    def barriers(self, data: pin.Data, J: Array, v: Array, rate: float) -> tuple[Array, Array]:
        """Rows (r, nv) of pairs that are near, and the least accelerations (r,) along them [m/s²].

        Args:
            data: with joints' placements in this state.
            J: (2, nv, 6) joints' Jacobians and their rates, as of :class:`.MovingPoints`.
            v: (nv,) velocity.
            rate: k of the barrier [1/s].
        """
        self._look(data)
        count = _bounds(
            self._moved, self.capsules.pairs, self._points, self.gaps, v, J, np.array([self._margin, rate]),
            np.empty((2, 6)), self._rows, self._least,
        )  # fmt: skip
        return self._rows[:count].copy(), self._least[:count].copy()


_KNOWN: WeakKeyDictionary[Robot, dict[float, tuple[Capsules, Array]]] = WeakKeyDictionary()
"""What was found for a robot and a margin: it takes a tenth of a second, too long beside a controller's ticks."""
