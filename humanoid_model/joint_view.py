# SPDX-License-Identifier: Apache-2.0
"""A joint of a simulated robot as the URDF names it: one number, or three for a ball joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.ball_joint import BallJoint


@dataclass(frozen=True)
class JointView:
    """Where a joint is in the world's coordinates, and what its numbers mean there.

    Attributes:
        names: URDF joints: one, or the three members of a ball joint.
        q: its part of the world's configuration.
        v: its part of the world's velocity.
        ball: conversions of a ball joint, None for a joint of one coordinate.
        driven: whether an actuator moves it; springs and joints that mimic others are passive.
    """

    names: tuple[str, ...]
    q: slice
    v: slice
    ball: BallJoint | None
    driven: bool

    def positions(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions [rad or m], shape (1,) or (3,), at a configuration of the world."""
        return q[self.q].copy() if self.ball is None else self.ball.angles(q[self.q])

    def coordinates(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the configuration coordinates, shape (1,) or (4,), of positions."""
        return positions if self.ball is None else self.ball.quaternion(positions)

    def velocities(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Velocities [rad/s or m/s], shape (1,) or (3,), at a state of the world."""
        if self.ball is None:
            return v[self.v].copy()
        rates = self.ball.rate_matrix(self.ball.angles(q[self.q]))
        return np.linalg.pinv(rates, rcond=1e-6) @ v[self.v]

    def velocity_coordinates(
        self, positions: NDArray[np.float64], velocities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Velocity coordinates, shape (1,) or (3,), of positions and velocities."""
        return velocities if self.ball is None else self.ball.rate_matrix(positions) @ velocities

    def efforts(self, q: NDArray[np.float64], efforts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Efforts [N m or N] about the joint's axes, shape (1,) or (3,), of generalised efforts of the world."""
        if self.ball is None:
            return efforts[self.v].copy()
        return self.ball.rate_matrix(self.ball.angles(q[self.q])).T @ efforts[self.v]

    def effort_coordinates(
        self, q: NDArray[np.float64], efforts: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Generalised efforts, shape (1,) or (3,), of efforts about the joint's axes."""
        if self.ball is None:
            return efforts
        rates = self.ball.rate_matrix(self.ball.angles(q[self.q]))
        return np.linalg.pinv(rates.T, rcond=1e-6) @ efforts
