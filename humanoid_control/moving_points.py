# SPDX-License-Identifier: Apache-2.0
"""Jacobians of points that a joint carries, how fast they are, and how they would accelerate by themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.compiling import uncounted


def moving_coordinates(model: pin.Model, joint: int) -> Array:
    """(nv,) 1 for coordinates of the velocity that move a joint's frame, 0 for the others."""
    moved = np.zeros(model.nv)
    for above in list(model.supports[joint])[1:]:
        own = model.joints[above]
        moved[own.idx_v : own.idx_v + own.nv] = 1.0
    return moved


@uncounted()
def _move(
    moved: np.ndarray, J: np.ndarray, v: np.ndarray, places: np.ndarray, rows: np.ndarray, speeds: np.ndarray,
    drifts: np.ndarray
) -> None:  # fmt: skip
    """Fill what :class:`MovingPoints` has, zero before; arguments are those of :meth:`MovingPoints.of`."""
    nv, last = len(v), 3 * len(places)
    for c in range(nv):
        if moved[c] == 0.0:
            continue
        for i in range(3):
            rows[last + i, c] = J[0, c, 3 + i]
            speeds[last + i] += J[0, c, 3 + i] * v[c]
            drifts[last + i] += J[1, c, 3 + i] * v[c]
        for k in range(len(places)):
            x, y, z = places[k, 0], places[k, 1], places[k, 2]
            for part in range(2):
                a, b, d = J[part, c, 3], J[part, c, 4], J[part, c, 5]
                along = (J[part, c, 0] + b * z - d * y, J[part, c, 1] + d * x - a * z, J[part, c, 2] + a * y - b * x)
                for i in range(3):
                    if part == 0:
                        rows[3 * k + i, c] = along[i]
                        speeds[3 * k + i] += along[i] * v[c]
                    else:
                        drifts[3 * k + i] += along[i] * v[c]
    a, b, d = speeds[last], speeds[last + 1], speeds[last + 2]
    for k in range(0, last, 3):
        x, y, z = speeds[k], speeds[k + 1], speeds[k + 2]
        drifts[k] += b * z - d * y
        drifts[k + 1] += d * x - a * z
        drifts[k + 2] += a * y - b * x


class MovingPoints(NamedTuple):
    """Of k points three rows each, of the turning of what carries them the last three.

    Attributes:
        J: Jacobian of their velocities in the world's axes, shape (3 k + 3, nv).
        speeds: shape (3 k + 3,) [m/s, rad/s].
        drifts: accelerations where those of the coordinates are zero, likewise [m/s², rad/s²].
    """

    J: Array
    speeds: Array
    drifts: Array

    @classmethod
    def of(cls, moved: Array, J: Array, v: Array, places: Array) -> MovingPoints:
        """Return the motion of points.

        Args:
            moved: (nv,) as of :func:`moving_coordinates`, of the joint that carries them.
            J: (2, nv, 6) Jacobian of all joints and its rate: velocities of what is at the world's origin, then of
                turning, as Pinocchio's ``data.J.T``, ``data.dJ.T``.
            v: (nv,) velocity.
            places: (k, 3) in the world [m].
        """
        count = 3 * len(places) + 3
        points = cls(np.zeros((count, len(v))), np.zeros(count), np.zeros(count))
        _move(moved, J, v, places, *points)
        return points
