# SPDX-License-Identifier: Apache-2.0
"""What inertial measurement units that integrate tell: means since they told last."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from humanoid_model.arrays import Array
from humanoid_sim.module import Module
from humanoid_sim.sensing.noisy_sensors import NoisySensors

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


class InertialMeans(Module):
    """Means of rate and specific force over the steps since they were taken last.

    Single readings of every second step miss the impact of a foot, and a velocity that is integrated from them is wrong
    by as much.

    Attributes:
        name: ``"inertial_means"``, with the robot's behind it if it is of one.
    """

    def __init__(self, robot: str = "", sensors: NoisySensors | None = None) -> None:
        """Choose whose.

        Args:
            robot: whose first unit is read; all units of all robots if not given.
            sensors: module whose readings are taken, added before; ideal ones if not given.
        """
        self.name = f"inertial_means/{robot}" if robot else "inertial_means"
        self.requires = () if sensors is None else (sensors.name,)
        self._robot, self._sensors = robot, sensors
        self._sums: dict[tuple[str, str], Array] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def attach(self, simulation: Simulation) -> None:
        """Find the units."""
        units: dict[tuple[str, str], Array] = {
            (robot, name): np.zeros((2, 3))
            for robot, own in simulation.robots.items()
            for name, sensor in own.robot.sensors.items()
            if sensor.type == "imu" and self._robot in ("", robot)
        }
        self._sums = dict(list(units.items())[:1]) if self._robot else units
        self._counts = dict.fromkeys(self._sums, 0)

    def after_step(self, simulation: Simulation) -> None:
        """Read all units."""
        for (robot, name), total in self._sums.items():
            own = simulation.robots[robot]
            reading = own.imu(name) if self._sensors is None else self._sensors.imu(robot, name)
            total[0] += reading.angular_velocity
            total[1] += reading.linear_acceleration
            self._counts[robot, name] += 1

    def take(self, robot: str, name: str = "") -> Array | None:
        """Mean rate [rad/s] and specific force [m/s²] in the sensor's frame since they were taken last, shape (2, 3).

        Args:
            robot: its name.
            name: of its unit; its first one if not given.

        Returns:
            None without a unit, or when no step was made since.
        """
        key = next((key for key in self._sums if key[0] == robot and name in ("", key[1])), None)
        if key is None or self._counts[key] == 0:
            return None
        mean = self._sums[key] / self._counts[key]
        self._sums[key], self._counts[key] = np.zeros((2, 3)), 0
        return np.asarray(mean)

    def save(self) -> object:
        """Return sums and counts."""
        return copy.deepcopy((self._sums, self._counts))

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, tuple)
        self._sums, self._counts = copy.deepcopy(state)
