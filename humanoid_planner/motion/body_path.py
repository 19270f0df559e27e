# SPDX-License-Identifier: Apache-2.0
"""Ways of hands and feet between contacts: along the normal, a spline, along the normal (section 8.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from humanoid_model.checks import check_number

_SAMPLES = 200
"""Of the spline, to measure its length."""


class BodyPath:
    """Where a body's contact frame goes.

    It leaves a contact along its normal and comes to the next one along that one's; what is between is a cubic spline
    with the tangents of both straight pieces, or, at an end without contact, a free one. The orientation stays on the
    straight pieces and turns about a fixed axis at constant speed, per length, along the spline.

    Attributes:
        length: of the whole [m].
        turn: angle per length between the straight pieces [rad/m].
    """

    def __init__(
        self,
        start: pin.SE3,
        end: pin.SE3,
        *,
        leaves: bool,
        arrives: bool,
        approach: float,
        lift: float = 0.0,
        via: Sequence[ArrayLike] = (),
    ) -> None:
        """Lay a path.

        Args:
            start: contact frame at the beginning, z along the normal, in the world.
            end: likewise at the end.
            leaves: whether it begins in a contact.
            arrives: whether it ends in one.
            approach: length of the straight pieces [m].
            lift: how strongly the spline is drawn along the normals, beyond what the ends differ by [m].
            via: (3,) points that the spline passes through, in their order [m].

        Raises:
            InputError: a length that can't be used.
        """
        check_number(approach, "approach")
        check_number(lift, "lift")
        self._start, self._end = start, end
        up_a, up_b = np.array(start.rotation[:, 2]), np.array(end.rotation[:, 2])
        self._before = approach if leaves else 0.0
        self._after = approach if arrives else 0.0
        a = start.translation + self._before * up_a
        b = end.translation + self._after * up_b
        points = np.array([a, *(np.asarray(point, dtype=float) for point in via), b])
        chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
        knots = np.concatenate([[0.0], np.cumsum(np.maximum(chords, 1e-9))])
        # As a Bezier curve: its inner points lie above the ends by the lift and by what the other end is higher.
        scale = 3.0 / (knots[1] - knots[0]), 3.0 / (knots[-1] - knots[-2])
        rise_a, rise_b = max(float((b - a) @ up_a), 0.0), max(float((a - b) @ up_b), 0.0)
        tangent_a = scale[0] * (rise_a + lift) * up_a if leaves else (points[1] - points[0]) * scale[0] / 3.0
        tangent_b = -scale[1] * (rise_b + lift) * up_b if arrives else (points[-1] - points[-2]) * scale[1] / 3.0
        self._curve = CubicSpline(knots, points, bc_type=((1, tangent_a), (1, tangent_b)))
        self._u = np.linspace(0.0, knots[-1], _SAMPLES + 1)
        steps = np.linalg.norm(np.diff(self._curve(self._u), axis=0), axis=1)
        self._lengths = np.concatenate([[0.0], np.cumsum(steps)])
        self.length = float(self._before + self._lengths[-1] + self._after)
        self._turn = pin.log3(start.rotation.T @ end.rotation)
        self.turn = float(np.linalg.norm(self._turn) / max(self._lengths[-1], 1e-9))

    def near_end(self, s: float, way: float) -> bool:
        """Return whether a share s of the length, from 0 to 1, is on a straight piece, so near to its contact [m]."""
        along = s * self.length
        return along <= min(self._before, way) or along >= self.length - min(self._after, way)

    def placement(self, s: float) -> pin.SE3:
        """Contact frame in the world at a share s of the length, from 0 to 1."""
        along = s * self.length
        if along <= self._before:
            lifted = self._start.translation + along * self._start.rotation[:, 2]
            return pin.SE3(self._start.rotation, lifted)
        rest = self.length - along
        if rest <= self._after:
            return pin.SE3(self._end.rotation, self._end.translation + rest * self._end.rotation[:, 2])
        way = along - self._before
        place: NDArray[np.float64] = self._curve(np.interp(way, self._lengths, self._u))
        turn = self._start.rotation @ pin.exp3(self._turn * (way / self._lengths[-1]))
        return pin.SE3(turn, place)
