# SPDX-License-Identifier: Apache-2.0
"""The planner thesis' didactic robot: two links that walk on a line (specification 001 section 2.3)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError


@dataclass(frozen=True)
class TwoLinkRobot:
    """Point O at (x, y) with the segments OP1 and OP2, which make the angles theta_1, theta_2 with the vertical.

    P_i = (x + l_i sin theta_i, y - l_i cos theta_i); the ground is y <= 0. A configuration is (x, y, theta_1,
    theta_2), a point of R² x SO(2)² (E-01): angles count modulo 2 pi. Contact is made by P1 and P2 alone. Feet are
    numbered 1 and 2 as in the thesis.

    Attributes:
        l1: length of the first link [m].
        l2: length of the second one [m], shorter.
    """

    l1: float = 1.0
    l2: float = 0.6

    def __post_init__(self) -> None:
        """Check the lengths.

        Raises:
            InputError: they aren't finite, or not l1 > l2 > 0.
        """
        if not (math.isfinite(self.l1) and self.l1 > self.l2 > 0.0):
            raise InputError(f"lengths {self.l1} and {self.l2}", element="two-link robot", remedy="Let l1 > l2 > 0")

    def feet(self, q: ArrayLike) -> NDArray[np.float64]:
        """(2, 2) P1 and P2 at a configuration (4,)."""
        x, y, a, b = np.asarray(q, dtype=float)
        return np.array(
            [
                [x + self.l1 * math.sin(a), y - self.l1 * math.cos(a)],
                [x + self.l2 * math.sin(b), y - self.l2 * math.cos(b)],
            ]
        )

    def touches(self, foot: int, q: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Whether a foot is on the ground's line: C^i, y = l_i cos theta_i (2.1). The other one may be below it."""
        return abs(float(self.feet(q)[_index(foot), 1])) <= tolerance

    def stands_on(self, foot: int, q: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Return whether a foot alone touches the ground: C^i_free, (2.2)-(2.4)."""
        other = self.feet(q)[2 - foot, 1]
        return self._is_upright(q, foot) and self.touches(foot, q, tolerance) and float(other) > tolerance

    def stands_on_both(self, q: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Return whether both feet touch the ground: T_free (2.5)."""
        return self._is_upright(q, 1) and self.touches(1, q, tolerance) and self.touches(2, q, tolerance)

    def in_contact(self, q: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Whether the robot touches the ground by its feet alone, and is nowhere below: C_c without obstacles."""
        return bool(
            float(np.min(self.feet(q)[:, 1])) >= -tolerance
            and (self.touches(1, q, tolerance) or self.touches(2, q, tolerance))
        )

    def leaf(self, foot: int, abscissa: float, theta: ArrayLike) -> NDArray[np.float64]:
        """(4,) configuration with a foot on the ground at ``abscissa``, of angles ``theta`` (2,): (2.6), (2.7)."""
        angles = np.asarray(theta, dtype=float)
        length, angle = (self.l1, self.l2)[_index(foot)], float(angles[_index(foot)])
        return np.array([abscissa - length * math.sin(angle), length * math.cos(angle), *angles])

    def project(self, q: ArrayLike) -> NDArray[np.float64]:
        """(3,) p_y(q) = (x, theta_1, theta_2): one-to-one on configurations in contact."""
        return np.asarray(q, dtype=float)[[0, 2, 3]]

    def lift(self, projected: ArrayLike) -> NDArray[np.float64]:
        """(4,) the configuration in contact over a projected one (3,): the inverse of :meth:`project` (E-02).

        Raises:
            InputError: both links point up, so that O would be below the ground.
        """
        x, a, b = np.asarray(projected, dtype=float)
        y = max(self.l1 * math.cos(a), self.l2 * math.cos(b))
        if y < 0.0:
            raise InputError(
                f"angles {a:g} and {b:g} point both links upwards",
                element="two-link robot",
                remedy="Let one angle be within a right angle of zero",
            )
        return np.array([x, y, a, b])

    def transition(self, x1: float, x2: float) -> NDArray[np.float64]:
        """(4,) the one configuration that stands on both feet with P1 at ``x1`` and P2 at ``x2``.

        Raises:
            InputError: the feet are too near or too far apart: not l1 - l2 < |x2 - x1| < l1 + l2.
        """
        span = x1 - x2
        if not self.l1 - self.l2 < abs(span) < self.l1 + self.l2:
            raise InputError(
                f"feet {abs(span):g} apart",
                element="two-link robot",
                remedy=f"Let them be between {self.l1 - self.l2:g} and {self.l1 + self.l2:g} apart",
            )
        x = 0.5 * (x1 + x2) + (self.l2**2 - self.l1**2) / (2.0 * span)
        y = math.sqrt(max(self.l1**2 - (x1 - x) ** 2, 0.0))  # rounding, where the links lie on the ground
        return np.array([x, y, math.atan2(x1 - x, y), math.atan2(x2 - x, y)])

    def step(self, foot: int, start: ArrayLike, end: ArrayLike, samples: int = 50) -> NDArray[np.float64]:
        """Return a step: a path on one foot from one configuration on both feet to another one.

        The links turn one after the other: first the standing one to the vertical, which lifts the other foot, then the
        swinging one, then the standing one again.

        Args:
            foot: that keeps its place.
            start: (4,) configuration on both feet.
            end: (4,) another one with the same place of ``foot``.
            samples: configurations on each of the three parts.

        Returns:
            (3 samples + 1, 4) path; all but its ends stand on ``foot`` alone.

        Raises:
            InputError: an end that doesn't stand on both feet, or different places of ``foot``.
        """
        ends = np.array([start, end], dtype=float)
        for q in ends:
            if not self.stands_on_both(q):
                raise InputError(
                    f"{q.tolist()} doesn't stand on both feet", element="step", remedy="Begin and end in T_free"
                )
        place = [float(self.feet(q)[_index(foot), 0]) for q in ends]
        if abs(place[0] - place[1]) > 1e-9:
            raise InputError(
                f"foot {foot} is at {place[0]:g} and at {place[1]:g}", element="step", remedy="Keep it in its place"
            )
        mine = _index(foot)
        other = 1 - mine
        # l_i cos theta_i > l_j cos theta_j: upright on the standing foot the swinging link has to stay beyond a cone
        # about the vertical if it is the longer one, and may turn all round if it is the shorter one.
        angles = np.array([ends[0, 2:], ends[0, 2:], ends[1, 2:], ends[1, 2:]])
        angles[1:3, mine] = 0.0
        if foot == 2 and angles[1, other] * angles[2, other] < 0.0:
            angles[2:, other] += 2.0 * math.pi * np.sign(angles[1, other])  # over the top
        shares = np.linspace(0.0, 1.0, samples + 1)
        parts = [
            a + shares[: samples + (index == 2), None] * (b - a)
            for index, (a, b) in enumerate(itertools.pairwise(angles))
        ]
        return np.array([self.leaf(foot, place[0], theta) for theta in np.concatenate(parts)])

    def is_walk(self, configurations: Sequence[ArrayLike], tolerance: float = 1e-9) -> bool:
        """Return whether configurations stand on both feet, and each keeps a foot of the one before in its place."""
        if not all(self.stands_on_both(q, tolerance) for q in configurations):
            return False
        places = np.array([self.feet(q)[:, 0] for q in configurations]).reshape(-1, 2)
        kept = np.abs(np.diff(places, axis=0)) <= tolerance
        return bool(kept.any(axis=1).all())

    def _is_upright(self, q: ArrayLike, foot: int) -> bool:
        """Return whether a foot's angle is within ]-pi/2, pi/2[, modulo 2 pi."""
        return math.cos(float(np.asarray(q, dtype=float)[1 + foot])) > 0.0


def _index(foot: int) -> int:
    if foot not in (1, 2):
        raise InputError(f"foot {foot}", element="two-link robot", remedy="Feet are 1 and 2")
    return foot - 1
