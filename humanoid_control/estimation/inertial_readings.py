# SPDX-License-Identifier: Apache-2.0
"""Readings of an inertial measurement unit, silence bridged."""

from __future__ import annotations

import math

import numpy as np

from humanoid_control.estimation.settings import EstimatorSettings
from humanoid_model.arrays import Array
from humanoid_model.checks import check_array
from humanoid_model.errors import InputError

_UNKNOWN_MOTION = np.array([0.3, 3.0])
"""Densities of rate [rad/s/√Hz] and specific force [m/s²/√Hz] while no reading tells them."""


class InertialReadings:
    """What an inertial measurement unit says of the step that ends now.

    Attributes:
        values: angular velocity [rad/s] and specific force [m/s²], shape (2, 3).
        noise: densities of both and of the walks of their biases, shape (4,), as the filter takes them.
        fresh: both were measured in this tick.
        stale: the last ones are older than patience lasts.
    """

    def __init__(self, settings: EstimatorSettings) -> None:
        """Take noise, ranges and patience from the settings."""
        walks = [settings.gyro_bias_walk, settings.force_bias_walk]
        self._measured = np.array([settings.gyro_noise, settings.force_noise, *walks])
        self._unknown = np.concatenate([_UNKNOWN_MOTION, walks])
        self._ranges = settings.gyro_range, settings.force_range
        self._patience, self._time = settings.patience, -math.inf
        self.values: Array = np.zeros((2, 3))
        self.noise: Array = self._measured
        self.fresh, self.stale = False, False

    def take(self, t: float, rate: Array | None, force: Array | None, faults: list[str]) -> None:
        """Take readings; without them the last ones stay, with a large doubt.

        Args:
            t: now [s].
            rate: angular velocity [rad/s], shape (3,); None if there is none.
            force: specific force [m/s²], shape (3,); None if there is none.
            faults: what is wrong is added.

        Raises:
            InputError: other lengths.
        """
        problem = "none"
        if rate is not None and force is not None:
            reading = np.empty((2, 3))
            try:
                reading[0], reading[1] = rate, force
            except ValueError:
                check_array(rate, "measurement.angular_velocity")
                check_array(force, "measurement.specific_force")
                raise InputError("isn't three numbers", element="measurement.specific_force") from None
            largest = np.abs(reading).max(axis=1).tolist()
            if largest[0] <= self._ranges[0] and largest[1] <= self._ranges[1]:
                self.values, self.noise, self._time = reading, self._measured, t
                self.fresh, self.stale = True, False
                return
            problem = f"up to {largest[0]:g} rad/s and {largest[1]:g} m/s²"
        self.noise, self.fresh, self.stale = self._unknown, False, not t - self._time <= self._patience
        faults.append(f"no inertial reading that can be believed ({problem}): held by contacts and encoders alone")
