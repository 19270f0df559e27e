# SPDX-License-Identifier: Apache-2.0
"""Contact forces of the simulation beside what a force sensor tells of them (specification 000, F149)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.module import Module
from humanoid_sim.sensing.noisy_sensors import NoisySensors

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class ForceSeries:
    """Wrenches on the link of a sensor and all beyond it over time, in the sensor's frame, force first.

    Attributes:
        time: s, shape (k,).
        simulated: of contacts and applied wrenches, as the simulation computed them [N, N m], shape (k, 6).
        sensed: what the sensor tells by equation (5.6), shape (k, 6).
    """

    time: NDArray[np.float64]
    simulated: NDArray[np.float64]
    sensed: NDArray[np.float64]

    @property
    def difference(self) -> NDArray[np.float64]:
        """Sensed less simulated, shape (k, 6): the inertia that (5.6) leaves out, and noise."""
        return self.sensed - self.simulated

    @property
    def largest(self) -> NDArray[np.float64]:
        """Largest absolute difference of each component, shape (6,)."""
        return np.abs(self.difference).max(axis=0)

    @property
    def root_mean_square(self) -> NDArray[np.float64]:
        """Root mean square of the difference of each component, shape (6,)."""
        return np.asarray(np.sqrt((self.difference**2).mean(axis=0)))


class ForceComparison(Module):
    """Records the external wrench at a force-torque sensor twice: from the contacts and from the sensor.

    Attributes:
        name: ``"force_comparison/<robot>/<sensor>"``.
    """

    def __init__(self, robot: str, sensor: str, *, measured: NoisySensors | None = None) -> None:
        """Choose the sensor.

        Args:
            robot: name in the scene.
            sensor: name of a force-torque sensor of it.
            measured: module whose readings are compared, added before; ideal readings if not given.
        """
        self.name = f"force_comparison/{robot}/{sensor}"
        self.requires = () if measured is None else (measured.name,)
        self._robot = robot
        self._sensor = sensor
        self._measured = measured
        self._rows: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]] = []

    def attach(self, simulation: Simulation) -> None:
        """Check that robot and sensor are there.

        Raises:
            InputError: they are not.
        """
        if self._robot not in simulation.robots:
            raise InputError(
                f"there is no robot '{self._robot}'",
                element="robot",
                remedy=f"There are {', '.join(simulation.robots) or 'none'}",
            )
        simulation.robots[self._robot].wrench(self._sensor)

    def after_step(self, simulation: Simulation) -> None:
        """Record both wrenches."""
        robot, sensors = simulation.robots[self._robot], simulation.sensors
        simulated = sensors.external_wrench(self._robot, robot.robot, self._sensor)
        if self._measured is None:
            sensed = robot.wrench(self._sensor) - sensors.weight(self._robot, robot.robot, self._sensor)
        else:
            sensed = self._measured.external_wrench(self._robot, self._sensor)
        self._rows.append((simulation.time, simulated, sensed))

    @property
    def series(self) -> ForceSeries:
        """What has been recorded."""
        times = np.array([time for time, _, _ in self._rows])
        simulated = np.array([wrench for _, wrench, _ in self._rows]).reshape(-1, 6)
        return ForceSeries(times, simulated, np.array([wrench for _, _, wrench in self._rows]).reshape(-1, 6))

    def save(self) -> int:
        """Return how much has been recorded; what is recorded after it is dropped when this is restored."""
        return len(self._rows)

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, int)
        del self._rows[state:]
