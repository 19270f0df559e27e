# SPDX-License-Identifier: Apache-2.0
"""Messages of a robot's sensors put together to the measurement of a tick."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu, JointState

from humanoid_model.arrays import Array
from humanoid_model.controller import Measurement
from humanoid_ros.messages.conversions import array, seconds

_SAME = 1e-6
"""Stamps that differ by less are those of one time [s]."""
_KEPT = 32
"""Readings of a sensor that wait at most: nobody asks while no joint states come."""
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
        self._read = {name: deque[tuple[float, Array]](maxlen=_KEPT) for name in (_IMU, *wrenches)}
        self._told = -math.inf
        self._together: set[str] = set()

    def take_joints(self, message: JointState, arrival: float) -> list[Measurement]:
        """Take joint states.

        Args:
            message: what came.
            arrival: when, for hardware that doesn't stamp [s].

        Returns:
            Measurements that are complete now.
        """
        done = [] if self._pending is None else [self._finished(self._pending)]
        names = message.name
        if self._order is None or self._order[0] != names:
            self._order = list(names), np.array([self._joints.get(name, -1) for name in names], dtype=np.int64)
        places = self._order[1]
        positions, velocities = np.array(message.position), np.array(message.velocity)
        if len(positions) != len(places) or len(velocities) not in (0, len(places)):
            self.malformed = (
                f"joint states have {len(positions)} positions and {len(velocities)} velocities for {len(places)} names"
            )
            return done
        self.malformed = ""
        known = places >= 0
        q = np.full(len(self._joints), math.nan)
        q[places[known]] = positions[known]
        v = None
        if len(velocities):
            v = np.full(len(self._joints), math.nan)
            v[places[known]] = velocities[known]
        self._together = {
            name for name, read in self._read.items() if any(abs(at - self._told) < _SAME for at, _ in read)
        }
        self._pending = Measurement(seconds(message.header.stamp) or arrival, q, v)
        return [*done, *self._complete()]

    def take_imu(self, message: Imu, arrival: float) -> list[Measurement]:
        """Take a reading of the inertial unit; as :meth:`take_joints`."""
        inertia = np.array([array(message.angular_velocity), array(message.linear_acceleration)])
        self._read[_IMU].append((seconds(message.header.stamp) or arrival, inertia))
        return self._complete()

    def take_wrench(self, name: str, message: WrenchStamped, arrival: float) -> list[Measurement]:
        """Take a reading of a force-torque sensor; as :meth:`take_joints`."""
        wrench = np.concatenate([array(message.wrench.force), array(message.wrench.torque)])
        self._read[name].append((seconds(message.header.stamp) or arrival, wrench))
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
        by_then = {name: [one for one in read if one[0] < time + _SAME] for name, read in self._read.items()}
        inertia = [values for at, values in by_then.pop(_IMU) if before + _SAME < at]
        rate, force = np.mean(inertia, axis=0) if inertia else (None, None)
        newest = {name: read[-1] for name, read in by_then.items() if read}
        wrenches = {
            name: wrench for name, (at, wrench) in newest.items()
            if time - at <= self._patience and np.isfinite(wrench).all()
        }  # fmt: skip
        return Measurement(time, pending.joint_positions, pending.joint_velocities, rate, force, wrenches)
