# SPDX-License-Identifier: Apache-2.0
"""Positions of joints over time, as a trajectory message has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model import InputError
from humanoid_model.checks import check_numbers


class JointPath:
    """Positions of joints over time, on straight lines between points.

    Attributes:
        joints: names.
        times: (n,) since the start [s].
        positions: (n, k) [rad, m].
    """

    def __init__(self, joints: Sequence[str], times: ArrayLike, positions: ArrayLike) -> None:
        """Check the numbers.

        Raises:
            InputError: no points, times that don't rise from 0 or later, wrong sizes, numbers that aren't finite,
                positions above 1e4 in size, or a joint that is named twice.
        """
        self.joints = tuple(joints)
        self.times, self.positions = np.asarray(times, float), np.asarray(positions, float)
        if len(set(self.joints)) < len(self.joints):
            raise InputError(f"are {list(joints)}", element="joint_names", remedy="Name each joint once")
        if self.times.ndim != 1 or self.positions.shape != (len(self.times), len(self.joints)) or not len(self.times):
            raise InputError(
                f"has shape {self.positions.shape} for {len(self.joints)} joints and {self.times.shape} times",
                element="positions", remedy="Give one point or more, with a position of each joint and a time",
            )  # fmt: skip
        check_numbers(self.positions, "positions")
        check_numbers(self.times, "times", np.inf)
        if self.times[0] < 0.0 or not (np.diff(self.times) > 0.0).all():
            raise InputError("don't rise", element="times", remedy="Give each point a later time than the one before")

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> dict[str, float]:
        """Return positions by joint at a time; the first point's before it, the last one's after it."""
        return {
            joint: float(np.interp(time, self.times, column))
            for joint, column in zip(self.joints, self.positions.T, strict=True)
        }
