# SPDX-License-Identifier: Apache-2.0
"""A measured signal: filtered, biased, noisy, rounded and late."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.sensor import Noise


@dataclass
class SignalState:
    """State of a signal.

    Attributes:
        generator: source of the noise.
        bias: present errors, shape (n,).
        filtered: what the filter holds, shape (n,); None before the first sample.
        history: last samples, the newest first, shape (longest latency + 1, n).
    """

    generator: np.random.Generator
    bias: NDArray[np.float64]
    filtered: NDArray[np.float64] | None
    history: NDArray[np.float64]


class NoisySignal:
    r"""n channels, each disturbed by its own :class:`~humanoid_model.sensor.Noise`, sampled at a constant period T.

    A sample x passes the filter :math:`y \mathrel{+}= (1 - e^{-T/\tau})(x - y)`, whose memory is the first sample, gets
    bias and noise, is rounded, and is returned ``latency`` samples later; the first sample is returned until then. As
    many random numbers are drawn for silent channels as for noisy ones.
    """

    def __init__(self, noises: Sequence[Noise], period: float, generator: np.random.Generator) -> None:
        """Start without memory.

        Args:
            noises: one for each of n channels; biases must be one number each.
            period: T [s].
            generator: where random numbers come from.

        Raises:
            InputError: a number is negative, not finite or not a single one; the period is not positive.
        """
        if not (math.isfinite(period) and period > 0.0):
            raise InputError(f"period is {period}", element="period", remedy="Give a positive time in seconds")
        for noise in noises:
            check_noise(noise, axes=1)
        self._period = period
        self._deviation = np.array([noise.deviation for noise in noises])
        self._walk = np.array([noise.bias_walk for noise in noises]) * math.sqrt(period)
        self._resolution = np.array([noise.resolution for noise in noises])
        self._blend = np.array(
            [1.0 if noise.time_constant == 0.0 else -math.expm1(-period / noise.time_constant) for noise in noises]
        )
        self._latency = np.array([noise.latency for noise in noises], dtype=np.int64)
        bias = np.array([np.ravel(noise.bias)[0] for noise in noises], dtype=float)
        depth = int(self._latency.max(initial=0)) + 1
        self._state = SignalState(generator, bias, None, np.zeros((depth, len(noises))))

    def sample(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is measured of values, shape (n,), at the next sampling time."""
        state = self._state
        first = state.filtered is None
        before = values if state.filtered is None else state.filtered
        state.filtered = before + self._blend * (values - before)
        wander, white = state.generator.standard_normal((2, values.size))
        measured = state.filtered + state.bias + self._deviation * white
        state.bias = state.bias + self._walk * wander
        rounded = self._resolution > 0.0
        measured[rounded] = self._resolution[rounded] * np.round(measured[rounded] / self._resolution[rounded])
        if first:
            state.history[:] = measured
        else:
            state.history[1:] = state.history[:-1].copy()
            state.history[0] = measured
        return state.history[self._latency, np.arange(values.size)]

    def save(self) -> SignalState:
        """Return a copy of the signal's state."""
        return copy.deepcopy(self._state)

    def restore(self, state: SignalState) -> None:
        """Go back to what :meth:`save` returned."""
        self._state = copy.deepcopy(state)


def per_axis(noise: Noise, axes: int) -> list[Noise]:
    """One noise for each of several axes of a quantity.

    Raises:
        InputError: a number is negative or not finite, or biases are given for another number of axes.
    """
    check_noise(noise, axes)
    biases = np.broadcast_to(np.ravel(noise.bias), (axes,))
    return [
        Noise(
            noise.deviation, float(bias), noise.bias_walk, noise.resolution, noise.time_constant, noise.latency
        )
        for bias in biases
    ]


def check_noise(noise: Noise, axes: int) -> None:
    """Refuse a noise that makes no sense.

    Raises:
        InputError: a number is negative or not finite, or biases are given for another number of axes than ``axes``.
    """
    for name in ("deviation", "bias_walk", "resolution", "time_constant", "latency"):
        value = getattr(noise, name)
        if not (math.isfinite(value) and value >= 0.0):
            raise InputError(f"{name} is {value}", element=f"noise.{name}", remedy="Give a finite number, 0 or more")
    if noise.latency != int(noise.latency):
        raise InputError(
            f"latency is {noise.latency}", element="noise.latency", remedy="Give a whole number of samples"
        )
    biases = np.ravel(noise.bias)
    if biases.size not in (1, axes) or not np.all(np.isfinite(biases)):
        raise InputError(
            f"bias is {noise.bias}",
            element="noise.bias",
            remedy=f"Give one finite number, or {axes}" if axes > 1 else "Give one finite number",
        )
