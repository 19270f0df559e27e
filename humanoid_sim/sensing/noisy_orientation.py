# SPDX-License-Identifier: Apache-2.0
"""A measured orientation: the parts of a noisy signal, on rotations."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.sensor import Noise
from humanoid_sim.sensing.noisy_signal import NoisySignal, SignalState, per_axis


@dataclass
class OrientationState:
    """State of a measured orientation.

    Attributes:
        error: of the noise in the sensor's axes.
        filtered: rotation that the filter holds, shape (3, 3); None before the first sample.
        history: last quaternions, the newest first, shape (latency + 1, 4).
    """

    error: SignalState
    filtered: NDArray[np.float64] | None
    history: NDArray[np.float64]


class NoisyOrientation:
    """Orientation of a sensor, disturbed by rotations about its own axes.

    The filter moves along the shortest rotation; the resolution rounds the rotation vector of the whole orientation.
    """

    def __init__(self, noise: Noise, period: float, generator: np.random.Generator) -> None:
        """Start without memory; the arguments are those of :class:`~humanoid_sim.sensing.noisy_signal.NoisySignal`.

        Raises:
            InputError: a number makes no sense.
        """
        errors = [replace(each, resolution=0.0, time_constant=0.0, latency=0) for each in per_axis(noise, 3)]
        self._error = NoisySignal(errors, period, generator)
        self._resolution = noise.resolution
        self._blend = 1.0 if noise.time_constant == 0.0 else -math.expm1(-period / noise.time_constant)
        self._filtered: NDArray[np.float64] | None = None
        self._history: NDArray[np.float64] = np.zeros((int(noise.latency) + 1, 4))

    def sample(self, quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
        """Measured quaternion x, y, z, w, shape (4,), of a true one."""
        R = np.asarray(pin.Quaternion(np.array(quaternion)).matrix())
        first = self._filtered is None
        if self._filtered is not None:
            R = self._filtered @ pin.exp3(self._blend * pin.log3(self._filtered.T @ R))
        self._filtered = R
        R = R @ pin.exp3(self._error.sample(np.zeros(3)))
        if self._resolution > 0.0:
            R = pin.exp3(self._resolution * np.round(pin.log3(R) / self._resolution))
        measured = np.array(pin.Quaternion(R).coeffs())
        if first:
            self._history[:] = measured
        else:
            self._history[1:] = self._history[:-1].copy()
            self._history[0] = measured
        return np.array(self._history[-1])

    def save(self) -> OrientationState:
        """Return a copy of the measurement's state."""
        return OrientationState(self._error.save(), copy.deepcopy(self._filtered), self._history.copy())

    def restore(self, state: OrientationState) -> None:
        """Go back to what :meth:`save` returned."""
        self._error.restore(state.error)
        self._filtered = copy.deepcopy(state.filtered)
        self._history = state.history.copy()
