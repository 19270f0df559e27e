# SPDX-License-Identifier: Apache-2.0
"""Stability of two feet that both slide: the centre of mass above the line that joins their middles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.state import PostureState
from humanoid_planner.posture.tasks.task import Task


class CentreOfMassOnLine(Task):
    """The centre of mass projects between two points of the robot, on the line through them (thesis section 3.6.2.2).

    Where patches slide, the support polygon isn't known before the posture is; the line lies in every polygon that
    they can make.
    """

    def __init__(
        self,
        kinematics: RobotKinematics,
        first: tuple[str, NDArray[np.float64]],
        second: tuple[str, NDArray[np.float64]],
        margin: float = 0.0,
    ) -> None:
        """Take the two points.

        Args:
            kinematics: of the robot.
            first: link, and point (3,) in its frame [m].
            second: likewise.
            margin: smallest distance from the projection to the two points [m].
        """
        self._points = (first, second)
        for link, _ in self._points:
            kinematics.body_of(link)
        super().__init__(
            "centre of mass on the line between the feet", [0.0, margin, margin], [0.0, math.inf, math.inf], unit="m"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"{self.name}: {what}" for what in ("off the line", "beyond the first", "beyond the second"))

    def _parts(self, state: PostureState) -> tuple[NDArray[np.float64], ...]:
        kinematics = state.kinematics
        A, B = (kinematics.point(link, point)[:2] for link, point in self._points)
        G = kinematics.centre_of_mass()[:2]
        along = B - A
        length = max(float(np.hypot(*along)), 1e-9)
        return A, B, G, along / length, np.array(length)

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(3,) distances: beside the line, from the first point along it, from the second back along it [m]."""
        A, B, G, t, _ = self._parts(state)
        d = G - A
        return np.array([t[0] * d[1] - t[1] * d[0], t @ d, t @ (B - G)])

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(3, state.size) derivative."""
        A, B, G, t, length = self._parts(state)
        kinematics = state.kinematics
        nx = kinematics.size
        JA, JB = (kinematics.point_jacobian(link, point)[:2] for link, point in self._points)
        JG = kinematics.centre_of_mass_jacobian()[:2]
        # The unit vector turns by the part of B - A's motion that is across it.
        Jt = (np.eye(2) - np.outer(t, t)) @ (JB - JA) / length
        d, e = G - A, B - G
        J = np.zeros((3, state.size))
        J[0, :nx] = Jt[0] * d[1] + t[0] * (JG - JA)[1] - Jt[1] * d[0] - t[1] * (JG - JA)[0]
        J[1, :nx] = d @ Jt + t @ (JG - JA)
        J[2, :nx] = e @ Jt + t @ (JB - JG)
        return J
