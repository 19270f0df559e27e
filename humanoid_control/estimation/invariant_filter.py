# SPDX-License-Identifier: Apache-2.0
r"""A right-invariant extended Kalman filter of an inertial sensor on a body that touches its surroundings.

State: rotation R, velocity v and position p of the sensor in the world, places d and, of contacts that hold a whole
sole, orientations Z of contacts, an element of :math:`SE_{2+N}(3) \times SO(3)^N`, and the biases of gyroscope and
accelerometer (R. Hartley, M. Ghaffari, R. M. Eustice, J. W. Grizzle, Contact-aided invariant extended Kalman filtering
for robot state estimation, IJRR 2020; the orientations are added here, in the same sense).

Errors are right-invariant: without biases they evolve by a matrix that doesn't depend on the state, and what joints
see of a contact is linear in them, also by a constant matrix. The filter therefore converges from wherever it starts,
and never thinks that it knows heading or place, which neither inertia nor contacts tell. (Left-invariant errors suit
measurements in the world, as of satellites.)
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_control.estimation.filter_kernels import (
    CONTACTS,
    NONE,
    POSITION,
    VELOCITY,
    FilterState,
    add_contact,
    correct,
    propagate,
    remove_contact,
)
from humanoid_model.arrays import Array

GRAVITY = 9.81
"""m/s²; the world's z axis points up."""


class InvariantFilter:
    """Rotation, velocity, position and biases of an inertial sensor, with their covariance.

    Attributes:
        state: arrays that change in place.
    """

    def __init__(self, contacts: int) -> None:
        """Begin at the origin, at rest, without contacts and without doubt.

        Args:
            contacts: how many there may be at once.
        """
        n = CONTACTS + 6 * contacts
        self.state = FilterState(
            np.tile(np.eye(3), (1 + contacts, 1, 1)), np.zeros((2 + contacts, 3)), np.zeros((2, 3)),
            np.full(contacts, NONE), np.zeros((n, n)), np.zeros((contacts, 6)), GRAVITY,
            np.zeros((9 + contacts, 3, 3)), np.zeros((8, n)), np.zeros((6, 6)),
        )  # fmt: skip

    @property
    def rotation(self) -> Array:
        """Of the sensor in the world, shape (3, 3)."""
        return self.state.rotations[0]

    @property
    def velocity(self) -> Array:
        """Of the sensor in the world [m/s], shape (3,)."""
        return self.state.vectors[0]

    @property
    def position(self) -> Array:
        """Of the sensor in the world [m], shape (3,)."""
        return self.state.vectors[1]

    @property
    def biases(self) -> Array:
        """Of gyroscope [rad/s] and accelerometer [m/s²] in the sensor's frame, shape (2, 3)."""
        return self.state.biases

    @property
    def covariance(self) -> Array:
        """Of the error, shape (n, n)."""
        return self.state.covariance

    @property
    def kinds(self) -> NDArray[np.int64]:
        """Of the contacts, shape (N,): NONE, POINT or POSE."""
        return self.state.kinds

    def reset(self, rotation: Array, velocity: Array, position: Array, deviations: Array) -> None:
        """Begin anew, without contacts.

        Args:
            rotation: of the sensor in the world, shape (3, 3).
            velocity: m/s, shape (3,).
            position: m, shape (3,).
            deviations: of rotation, velocity, position and biases, which begin at zero, independent; shape (15,).
        """
        self.state.rotations[0], self.state.vectors[0], self.state.vectors[1] = rotation, velocity, position
        self.state.biases[:], self.state.kinds[:], self.state.covariance[:] = 0.0, NONE, 0.0
        self.state.trends[:] = 0.0
        self.doubt(deviations)

    def doubt(self, deviations: Array) -> None:
        """Add independent errors of rotation, velocity, position and biases, with these deviations, shape (15,)."""
        A = np.diag(deviations)
        for at, vector in ((VELOCITY, self.velocity), (POSITION, self.position)):
            A[at : at + 3, :3] = pin.skew(vector) * deviations[:3]
        self.covariance[:CONTACTS, :CONTACTS] += A @ A.T

    def propagate(self, imu: Array, noise: Array, contact_noise: Array, dt: float) -> None:
        """Integrate an inertial measurement over a step; see :func:`.filter_kernels.propagate`."""
        propagate(self.state, imu, noise, contact_noise, dt)

    def add(self, contact: int, kind: int, seen: Array, noise: Array) -> None:
        """Add a contact where it is seen; one that is there already begins anew."""
        self.remove(contact)
        add_contact(self.state, contact, kind, seen, noise)

    def remove(self, contact: int) -> None:
        """Forget a contact."""
        if self.state.kinds[contact] != NONE:
            remove_contact(self.state, contact)

    def turned(self, contact: int, seen: Array) -> Array:
        """(3,) by how much a contact seems to have turned since it began, in the world [rad]."""
        return np.asarray(pin.log3(self.rotation @ seen[:3] @ self.state.rotations[1 + contact].T))

    def correct(self, contact: int, seen: Array, noise: Array, gate: Array) -> bool:
        """Correct by a contact and return whether it was believed; see :func:`.filter_kernels.correct`."""
        distance = correct(self.state, contact, seen, noise, gate)
        return bool(distance <= gate[self.state.kinds[contact] - 1])
