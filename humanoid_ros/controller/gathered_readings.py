# SPDX-License-Identifier: Apache-2.0
"""Messages of a robot's sensors put together to the measurement of a tick."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu, JointState

from humanoid_model.arrays import Array
from humanoid_model.controller import Measurement
from humanoid_ros.messages.conversions import array, fill_quaternion, fill_vector
from humanoid_ros.messages.serialized_message import NumberReader

_SAME = 1e-6
"""Stamps that differ by less are those of one time [s]."""
_KEPT = 32
"""Readings of a sensor that wait at most: nobody asks while no joint states come."""
_COVARIANCES = ("angular_velocity_covariance", "linear_acceleration_covariance", "orientation_covariance")
_IMU = ""
"""Stands for the inertial unit where force-torque sensors have their names."""


class GatheredReadings:
    """Makes a measurement of each message with joint states.

    A sensor that was read at the same time as the joints in the tick before is waited for, until the next joint states
    come at most. Others give their newest reading, an inertial unit the mean of those since the last tick. Readings
    older than ``patience`` are none; joints that a message leaves out, and what isn't finite, are NaN.

    Attributes:
        malformed: what was wrong with the newest message that couldn't be used; empty: none.
    """

    def __init__(self, joints: Sequence[str], wrenches: Sequence[str], patience: float) -> None:
        """Begin without readings.

        Args:
            joints: names in the order of measurements.
            wrenches: names of force-torque sensors.
            patience: age of a reading that is still used [s].
        """
        self._joints = {name: place for place, name in enumerate(joints)}
        self._patience = patience
        self.malformed = ""
        self._order: tuple[list[str], Array] | None = None
        self._pending: Measurement | None = None
        self._joint_states = NumberReader(JointState, _of_joints, _write_joints)
        self._imu = NumberReader(Imu, _of_imu, _write_imu)
        self._wrenches: dict[str, NumberReader] = {}
        self._read = {_IMU: deque[tuple[float, Array]](maxlen=_KEPT)}
        self.listen(wrenches)
        self._told = -math.inf
        self._together: set[str] = set()

    def listen(self, wrenches: Iterable[str]) -> None:
        """Take readings of more force-torque sensors from now on."""
        for name in wrenches:
            self._wrenches[name] = NumberReader(WrenchStamped, _of_wrench, _write_wrench)
            self._read[name] = deque(maxlen=_KEPT)

    def take_joints(self, data: bytes, arrival: float) -> list[Measurement]:
        """Take joint states.

        Args:
            data: the serialised message.
            arrival: when it came, for hardware that doesn't stamp [s].

        Returns:
            Measurements that are complete now.
        """
        done = [] if self._pending is None else [self._finished(self._pending)]
        message, numbers, time = self._joint_states.read(data)
        names, count, speeds = message.name, len(message.position), len(message.velocity)
        if self._order is None or self._order[0] is not names:
            self._order = names, np.array([self._joints.get(name, -1) for name in names], dtype=np.int64)
        places = self._order[1]
        if count != len(places) or speeds not in (0, count):
            self.malformed = f"joint states have {count} positions and {speeds} velocities for {len(places)} names"
            return done
        self.malformed = ""
        known = places >= 0
        q = np.full(len(self._joints), math.nan)
        q[places[known]] = numbers[:count][known]
        v = None
        if speeds:
            v = np.full(len(self._joints), math.nan)
            v[places[known]] = numbers[count : 2 * count][known]
        self._together = {
            name for name, read in self._read.items() if any(abs(at - self._told) < _SAME for at, _ in reversed(read))
        }
        self._pending = Measurement(time or arrival, q, v)
        return [*done, *self._complete()]

    def take_imu(self, data: bytes, arrival: float) -> list[Measurement]:
        """Take a reading of the inertial unit; as :meth:`take_joints`."""
        _, numbers, time = self._imu.read(data)
        self._read[_IMU].append((time or arrival, numbers[:6].reshape(2, 3)))
        return self._complete()

    def take_wrench(self, name: str, data: bytes, arrival: float) -> list[Measurement]:
        """Take a reading of a force-torque sensor; as :meth:`take_joints`."""
        _, wrench, time = self._wrenches[name].read(data)
        self._read[name].append((time or arrival, wrench))
        return self._complete()

    def _complete(self) -> list[Measurement]:
        """Return the measurement for which all has come that is read at its time."""
        pending = self._pending
        if pending is None or any(self._read[name][-1][0] < pending.time - _SAME for name in self._together):
            return []
        return [self._finished(pending)]

    def _finished(self, pending: Measurement) -> Measurement:
        """Return a measurement of joints with what else was read."""
        time, before, self._pending, self._told = pending.time, self._told, None, pending.time
        inertia = [values for at, values in self._read[_IMU] if before + _SAME < at < time + _SAME]
        rate, force = sum(inertia[1:], inertia[0]) / len(inertia) if inertia else (None, None)
        wrenches = {}
        for name in self._wrenches:
            newest = next((one for one in reversed(self._read[name]) if one[0] < time + _SAME), None)
            if newest is not None and time - newest[0] <= self._patience and np.isfinite(newest[1]).all():
                wrenches[name] = newest[1]
        return Measurement(time, pending.joint_positions, pending.joint_velocities, rate, force, wrenches)


def _of_joints(message: JointState) -> list[float]:
    return [*message.position, *message.velocity, *message.effort]


def _write_joints(message: JointState, values: list[float], time: Time) -> None:
    message.header.stamp, n, m = time, len(message.position), len(message.position) + len(message.velocity)
    message.position, message.velocity, message.effort = values[:n], values[n:m], values[m:]


def _of_imu(message: Imu) -> list[float]:
    vectors, own = (message.angular_velocity, message.linear_acceleration), message.orientation
    orientation = (own.x, own.y, own.z, own.w)
    covariances = (getattr(message, name) for name in _COVARIANCES)
    return [*(one for own in vectors for one in array(own)), *orientation, *(one for own in covariances for one in own)]


def _write_imu(message: Imu, values: list[float], time: Time) -> None:
    message.header.stamp = time
    fill_vector(message.angular_velocity, values)
    fill_vector(message.linear_acceleration, values[3:])
    fill_quaternion(message.orientation, values[6:])
    for place, name in enumerate(_COVARIANCES):
        setattr(message, name, values[10 + 9 * place : 19 + 9 * place])


def _of_wrench(message: WrenchStamped) -> list[float]:
    return [*array(message.wrench.force), *array(message.wrench.torque)]


def _write_wrench(message: WrenchStamped, values: list[float], time: Time) -> None:
    message.header.stamp = time
    fill_vector(message.wrench.force, values)
    fill_vector(message.wrench.torque, values[3:])
