# SPDX-License-Identifier: Apache-2.0
"""Readings of force-torque sensors: their offsets, learned while nothing touches what hangs on them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from humanoid_control.estimation.settings import EstimatorSettings
from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_model.checks import check_array, check_known
from humanoid_model.sensor import Sensor

_SWAY = 0.05
"""Time over which what swings is accelerated one way: so long is a reading's error the same [s]."""


class WrenchReadings:
    """Wrenches through joints, less the sensors' offsets.

    Attributes:
        sensors: by name, those that are read.
        values: what they read less their offsets, force first, NaN where there is no reading, shape (S, 6).
        offsets: shape (S, 6).
        carried: mass [kg] and centre of mass in the sensor's frame [m], in the posture that robots begin in, of the
            link and all beyond it, shape (S, 4).
    """

    def __init__(self, robot: Robot, sensors: Mapping[str, Sensor], settings: EstimatorSettings) -> None:
        """Weigh what hangs on some force-torque sensors of a robot, by name."""
        self.sensors = sensors
        self._known = {name for name, sensor in robot.sensors.items() if sensor.type == "force_torque"}
        count = len(self.sensors)
        self.values, self.offsets = np.full((count, 6), np.nan), np.zeros((count, 6))
        self._doubts = np.tile(np.square(settings.wrench_offset), (count, 1))
        self._walk, self._noise = np.square(settings.wrench_walk), np.square(settings.wrench_noise)
        self.carried = np.zeros((count, 4))
        data = robot.model.createData()
        pin.centerOfMass(robot.model, data, robot.default_posture, True)
        for row, sensor in zip(self.carried, self.sensors.values(), strict=True):
            link = robot.parts.links[sensor.link]
            placement = link.placement_joint_link * sensor.placement_link_sensor
            row[0], row[1:] = data.mass[link.joint_id], placement.actInv(data.com[link.joint_id])  # com: in the joint

    def take(self, wrenches: Mapping[str, Array], faults: list[str]) -> None:
        """Take the readings of a tick.

        Args:
            wrenches: by sensor, shape (6,); those of others aren't needed.
            faults: what is wrong is added.

        Raises:
            InputError: an unknown sensor, another length.
        """
        self.values[:] = np.nan
        for name in wrenches:
            check_known(name, self._known, "measurement.wrenches", "force-torque sensor")
        for k, name in enumerate(self.sensors):
            if name in wrenches:
                try:
                    self.values[k] = wrenches[name]
                except ValueError:
                    check_array(wrenches[name], f"measurement.wrenches['{name}']", (6,))
                    raise
        if not math.isfinite(self.values.sum()):
            silent = [name for name, row in zip(self.sensors, self.values, strict=True) if not np.isfinite(row).all()]
            faults.append(f"no wrench of {', '.join(silent)}: contacts there are judged by their speed")
        self.values -= self.offsets

    def learn(self, k: int, residual: Array, dt: float) -> None:
        """Learn the offset of sensor k, on which nothing bears, from what it reads less weight and offset, (6,)."""
        doubt = self._doubts[k]
        doubt += self._walk * dt
        gain = doubt * dt / (doubt * dt + self._noise * _SWAY)
        self.offsets[k] += np.repeat(gain, 3) * residual
        doubt *= 1.0 - gain
