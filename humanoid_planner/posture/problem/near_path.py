# SPDX-License-Identifier: Apache-2.0
"""Distance to a path of postures as a criterion (specification 001 section 4.5, K3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.criterion import Criterion
from humanoid_planner.posture.problem.state import PostureState


class NearPath(Criterion):
    """K3: squared distance of the configuration to a piecewise-linear path of postures, (3.27).

    The floating base counts like the joints (E-04), its translation in metres and its angles in radians. The gradient
    is that of the distance to the nearest point of the path; it jumps where two points are equally near.

    Attributes:
        points: (p, nx) kinematic variables of the path's postures.
    """

    def __init__(self, kinematics: RobotKinematics, postures: Sequence[ArrayLike]) -> None:
        """Take the path.

        Args:
            kinematics: of the robot.
            postures: (nq,) each, in Pinocchio's order; two or more.

        Raises:
            InputError: fewer, or one that can't be used.
        """
        if len(postures) < 2:
            raise InputError(
                f"has {len(postures)} postures", element="path of the criterion", remedy="Give two or more"
            )
        self._postures = [np.array(q, dtype=float) for q in postures]
        self.bind(kinematics)

    def bind(self, kinematics: RobotKinematics) -> None:
        """Express the path in the variables of ``kinematics``."""
        self.points = np.array([kinematics.coordinates(q) for q in self._postures])

    def nearest(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the path's nearest point to (nx,) variables.

        Returns:
            (nx,) the point, and the (nx,) unit direction of the path there, zero where the point is a vertex.
        """
        starts, spans = self.points[:-1], np.diff(self.points, axis=0)
        squares = np.einsum("ij,ij->i", spans, spans)
        along = np.einsum("ij,ij->i", x - starts, spans) / np.where(squares > 0.0, squares, 1.0)
        shares = np.clip(along, 0.0, 1.0)
        candidates = starts + shares[:, None] * spans
        gaps = x - candidates
        best = int(np.argmin(np.einsum("ij,ij->i", gaps, gaps)))
        inside = 0.0 < shares[best] < 1.0
        direction = spans[best] / np.sqrt(squares[best]) if inside else np.zeros_like(x)
        return candidates[best], direction

    def value(self, state: PostureState) -> float:
        """Squared distance."""
        x = state.x[: self.points.shape[1]]
        d = x - self.nearest(x)[0]
        return float(d @ d)

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """2 (x - p(s))."""
        count = self.points.shape[1]
        x = state.x[:count]
        g = np.zeros(state.size)
        g[:count] = 2.0 * (x - self.nearest(x)[0])
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """2 (I - t t^T) along the path's direction t, 2 I at its vertices."""
        count = self.points.shape[1]
        direction = self.nearest(state.x[:count])[1]
        H = np.zeros((state.size, state.size))
        H[:count, :count] = 2.0 * (np.eye(count) - np.outer(direction, direction))
        return H
