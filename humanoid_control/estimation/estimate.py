# SPDX-License-Identifier: Apache-2.0
"""What an estimator says in each tick."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio as pin

from humanoid_control.estimation.contact_detection import centre_of_pressure
from humanoid_control.estimation.filter_kernels import CONTACTS, GYRO_BIAS, POSITION, ROTATION, VELOCITY
from humanoid_control.estimation.load_observer import Load
from humanoid_model.arrays import Array


@dataclass(frozen=True, eq=False)
class ContactEstimate:
    """A place on the robot that may bear.

    Attributes:
        odds: logarithm of the odds that it does.
        held: it counts as a contact.
        slipped: it wasn't where it had been in this tick.
        place: of its frame in the world, rotation and, in the last row, origin [m], shape (4, 3); of a contact that is
            held, where it stands: the height of the ground under it.
        wrench: of the surroundings in its frame, force first [N, N m], NaN where none is measured, shape (6,).
    """

    odds: float
    held: bool
    slipped: bool
    place: Array
    wrench: Array

    @property
    def probability(self) -> float:
        """That it bears."""
        return 0.5 * (1.0 + math.tanh(0.5 * self.odds))

    @property
    def placement(self) -> pin.SE3:
        """Its frame in the world; z is the normal out of the ground into the robot."""
        return pin.SE3(self.place[:3], self.place[3])

    @property
    def pressure(self) -> tuple[float, float]:
        """Centre of pressure in its frame, x and y [m]; NaN without pressure."""
        return centre_of_pressure(self.wrench)


@dataclass(frozen=True, eq=False)
class Estimate:
    """State of a robot on a free base, and how well it is known.

    Attributes:
        time: of the controller's clock [s].
        q: configuration of the robot's model, shape (nq,).
        v: velocity, shape (nv,): the base's twist is in the base frame, linear first.
        base: rotation of the base link in the world and, in the last row, its origin [m], shape (4, 3).
        imu: likewise of the inertial measurement unit.
        biases: of gyroscope [rad/s] and accelerometer [m/s²] in the sensor's frame, shape (2, 3).
        covariance: of rotation, velocity, position of the sensor, its biases and the contacts in their order, zero for
            those that aren't held; right-invariant errors in the world as :mod:`.filter_kernels` defines them, (n, n).
        gyro_variance: of a rate that was measured [rad²/s²].
        rate_covariance: of the base's velocity and rate against the sensor by errors of joints' velocities, in the
            sensor's axes, shape (6, 6).
        contacts: by location.
        wrench_offsets: by force-torque sensor [N, N m], shape (6,) each.
        load: what it carries beyond its model, and what pulls at it.
        faults: what was wrong in this tick with the measurement, and what was done.
    """

    time: float
    q: Array
    v: Array
    base: Array
    imu: Array
    biases: Array
    covariance: Array
    gyro_variance: float
    rate_covariance: Array
    contacts: Mapping[str, ContactEstimate]
    wrench_offsets: Mapping[str, Array]
    load: Load
    faults: tuple[str, ...]

    @cached_property
    def placement_world_base(self) -> pin.SE3:
        """Base link in the world."""
        return pin.SE3(self.base[:3], self.base[3])

    @cached_property
    def pose_covariance(self) -> Array:
        """Of the base's place [m], then of its rotation about the world's axes [rad], shape (6, 6)."""
        A = self._rows(POSITION, self.base[3])
        A[3:, ROTATION : ROTATION + 3] = np.eye(3)
        return np.asarray(A @ self.covariance @ A.T)

    @cached_property
    def twist_covariance(self) -> Array:
        """Of the base's linear velocity [m/s], then angular [rad/s], in the base frame, shape (6, 6)."""
        A, turn = np.zeros((6, len(self.covariance))), self.base[:3].T
        sensor, lever = turn @ self.imu[:3], turn @ (self.base[3] - self.imu[3])
        A[:3, VELOCITY : VELOCITY + 3], A[3:, GYRO_BIAS : GYRO_BIAS + 3] = turn, -sensor
        A[:3, GYRO_BIAS : GYRO_BIAS + 3] = pin.skew(lever) @ sensor
        spin, turned = np.vstack([-pin.skew(lever), np.eye(3)]), np.kron(np.eye(2), sensor)
        known = A @ self.covariance @ A.T + turned @ self.rate_covariance @ turned.T
        return np.asarray(known + self.gyro_variance * spin @ spin.T)

    def place_covariance(self, contact: str) -> Array:
        """Of the place of a contact that is held, in the world [m²], (3, 3): its last entry is the ground's height.

        Raises:
            KeyError: there is no such contact.
        """
        place = self.contacts[contact].place[3]
        A = self._rows(CONTACTS + 6 * list(self.contacts).index(contact), place)[:3]
        return np.asarray(A @ self.covariance @ A.T)

    def _rows(self, at: int, place: Array) -> Array:
        """(6, n) with the rows that make the error of a place from that part of the right-invariant error."""
        A = np.zeros((6, len(self.covariance)))
        A[:3, at : at + 3], A[:3, ROTATION : ROTATION + 3] = np.eye(3), -pin.skew(place)
        return A

    @property
    def tilt_deviation(self) -> float:
        """Of the larger of the two angles of the base from the vertical [rad]."""
        return float(np.sqrt(np.linalg.eigvalsh(self.covariance[:2, :2])[-1]))
