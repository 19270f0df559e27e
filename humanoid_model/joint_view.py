# SPDX-License-Identifier: Apache-2.0
"""A joint of a simulated robot as the URDF names it: one number, or three for a ball joint.

A URDF writes a ball joint as three revolute joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.description import RobotDescription


class BallJoint:
    r"""Conversions between a ball joint's quaternion and the angles of its three revolute members.

    The rotation is :math:`e^{\theta_1 a_1}e^{\theta_2 a_2}e^{\theta_3 a_3}` with orthogonal axes
    :math:`a_i` in the joint frame; where the second angle is at +-90 degrees the other two
    are not unique.

    Attributes:
        axes: unit axes in the frame of the ball joint, one per column, shape (3, 3).
    """

    def __init__(self, description: RobotDescription, members: Sequence[str]) -> None:
        """Read the axes of the member joints.

        Args:
            description: the robot.
            members: names of the three joints, parent first.
        """
        rotation = np.eye(3)
        axes = np.empty((3, 3))
        for column, name in enumerate(members):
            joint = description.joints[name]
            if column > 0:
                rotation = rotation @ joint.placement.rotation
            axes[:, column] = rotation @ joint.axis
        self.axes: NDArray[np.float64] = rotation.T @ axes
        self._handedness = float(np.sign(np.linalg.det(self.axes)))

    def angles(self, quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return angles of the members [rad], shape (3,), of a unit quaternion (x, y, z, w)."""
        # In the basis of the axes a left-handed triple turns the other way about the third.
        R = self.axes.T @ pin.Quaternion(np.array(quaternion)).matrix() @ self.axes
        s = self._handedness
        return np.array(
            [
                np.arctan2(-s * R[1, 2], R[2, 2]),
                np.arcsin(np.clip(s * R[0, 2], -1.0, 1.0)),
                np.arctan2(-s * R[0, 1], R[0, 0]),
            ]
        )

    def quaternion(self, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the unit quaternion (x, y, z, w), shape (4,), of the members' angles [rad]."""
        R = np.eye(3)
        for axis, angle in zip(self.axes.T, angles, strict=True):
            R = R @ pin.exp3(axis * angle)
        return np.asarray(pin.Quaternion(R).coeffs())

    def rate_matrix(self, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Matrix E, shape (3, 3), with body-frame angular velocity = E times the members' velocities."""
        after_second = pin.exp3(self.axes[:, 2] * angles[2])
        after_first = pin.exp3(self.axes[:, 1] * angles[1]) @ after_second
        return np.column_stack(
            [after_first.T @ self.axes[:, 0], after_second.T @ self.axes[:, 1], self.axes[:, 2]]
        )


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
