# SPDX-License-Identifier: Apache-2.0
"""Measured signals: filtered, biased, noisy, rounded, late; the same of orientations, pixels and force-torque sensors.

Raw readings of a force-torque sensor give the external wrench (specification 000 §20.2). All wrenches are in the
sensor's frame, force first. P is the weight of what the sensor carries, :math:`f_e` what the surroundings do to it, and
:math:`f_c = f_e + P` (without acceleration) what it does to the rest of the robot, which is
:meth:`SimulatedRobot.wrench <humanoid_sim.world.simulated_robot.SimulatedRobot.wrench>`. The thesis writes forces
only; here torques obey the same equations.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.sensor import Noise

_BLOCK = 64
"""So many samples are drawn at once."""


@dataclass
class NoiseSource:
    """Standard normal numbers for channels, each group of them from a generator of its own.

    What a group draws doesn't depend on which other groups there are.

    Attributes:
        groups: generators, and how many channels each of them has.
        block: numbers that were drawn at once, shape (_BLOCK, 2, n).
        used: so many of its samples are used up.
    """

    groups: list[tuple[np.random.Generator, int]]
    block: Array = field(default_factory=lambda: np.zeros((0, 2, 0)))
    used: int = 0

    def draw(self) -> Array:
        """Return two numbers for each channel, shape (2, n)."""
        if self.used == len(self.block):
            own = [generator.standard_normal((_BLOCK, 2, count)) for generator, count in self.groups]
            self.block, self.used = np.concatenate(own, axis=2), 0
        self.used += 1
        return np.asarray(self.block[self.used - 1])


@dataclass
class SignalState:
    """State of a signal.

    Attributes:
        source: of the noise.
        bias: present errors, shape (n,).
        filtered: what the filter holds, shape (n,); None before the first sample.
        history: last samples, the newest first, shape (longest latency + 1, n).
    """

    source: NoiseSource
    bias: NDArray[np.float64]
    filtered: NDArray[np.float64] | None
    history: NDArray[np.float64]


class NoisySignal:
    r"""n channels, each disturbed by its own :class:`~humanoid_model.sensor.Noise`, sampled at a constant period T.

    A sample x passes the filter :math:`y \mathrel{+}= (1 - e^{-T/\tau})(x - y)`, whose memory is the first sample, gets
    bias and noise, is rounded, and is returned ``latency`` samples later; the first sample is returned until then. As
    many random numbers are drawn for silent channels as for noisy ones.
    """

    def __init__(self, noises: Sequence[Noise], period: float, source: np.random.Generator | NoiseSource) -> None:
        """Start without memory.

        Args:
            noises: one for each of n channels; biases must be one number each.
            period: T [s].
            source: where random numbers come from.

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
        resolution = np.array([noise.resolution for noise in noises])
        self._rounded = np.flatnonzero(resolution > 0.0)
        self._resolution = resolution[self._rounded]
        self._blend = np.array(
            [1.0 if noise.time_constant == 0.0 else -math.expm1(-period / noise.time_constant) for noise in noises]
        )
        self._latency = np.array([noise.latency for noise in noises], dtype=np.int64)
        self._channels = np.arange(len(noises))
        bias = np.array([np.ravel(noise.bias)[0] for noise in noises], dtype=float)
        depth = int(self._latency.max(initial=0)) + 1
        if isinstance(source, np.random.Generator):
            source = NoiseSource([(source, len(noises))])
        self._state = SignalState(source, bias, None, np.zeros((depth, len(noises))))

    def sample(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is measured of values, shape (n,), at the next sampling time."""
        state = self._state
        first = state.filtered is None
        before = values if state.filtered is None else state.filtered
        state.filtered = before + self._blend * (values - before)
        wander, white = state.source.draw()
        measured = state.filtered + state.bias + self._deviation * white
        state.bias = state.bias + self._walk * wander
        if len(self._rounded):
            measured[self._rounded] = self._resolution * np.rint(measured[self._rounded] / self._resolution)
        if first:
            state.history[:] = measured
        else:
            state.history[1:] = state.history[:-1].copy()
            state.history[0] = measured
        return state.history[self._latency, self._channels]

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
        """Start without memory; the arguments are those of :class:`NoisySignal`.

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


_NONE = Noise()


def check_picture_noises(noises: Mapping[str, Noise]) -> None:
    """Refuse noises of a camera that make no sense.

    Raises:
        InputError: a number is negative or not finite, biases of another number than three for colours and one for
            distances, or a filter, a walk or a latency, which pictures don't have.
    """
    for quantity, noise in noises.items():
        check_noise(noise, 3 if quantity == "colour" else 1)
        for name in ("bias_walk", "time_constant", "latency"):
            if getattr(noise, name):
                raise InputError(
                    f"{name} is {getattr(noise, name)}", element=f"noise.{quantity}",
                    remedy="Leave it out: each pixel of a camera has deviation, bias and resolution",
                )  # fmt: skip


def noisy_colours(
    picture: NDArray[np.uint8], noises: Mapping[str, Noise], generator: np.random.Generator
) -> NDArray[np.uint8]:
    """Return a picture, shape (height, width, 3), with the noise ``colour``, in levels of 0..255."""
    return np.clip(np.round(_disturbed(picture, noises.get("colour", _NONE), generator)), 0, 255).astype(np.uint8)


def noisy_distances(distances: Array, noises: Mapping[str, Noise], generator: np.random.Generator) -> Array:
    r"""Return distances with the noise ``inverse_depth`` [1/m] and then ``depth`` [m]; infinite ones stay.

    Stereo and structured-light cameras measure a disparity :math:`d = b f / z`; an error :math:`\sigma` of
    :math:`1/z` is one of :math:`\sigma z^2` of the distance, and its resolution makes steps that grow likewise
    (K. Khoshelham, S. O. Elberink, Accuracy and resolution of Kinect depth data, 2012). What is lost, with a distance
    that isn't positive, is infinite.

    Args:
        distances: along the optical axis [m], shape (height, width).
        noises: by quantity.
        generator: where random numbers come from; as many are drawn without noise as with it.
    """
    with np.errstate(divide="ignore"):
        inverse = _disturbed(1.0 / distances, noises.get("inverse_depth", _NONE), generator)
        found = _disturbed(1.0 / np.maximum(inverse, 0.0), noises.get("depth", _NONE), generator)
    return np.where(np.isfinite(distances) & (found > 0.0), found, np.inf)


def _disturbed(values: NDArray[np.uint8] | Array, noise: Noise, generator: np.random.Generator) -> Array:
    measured: Array = values + np.asarray(noise.bias) + noise.deviation * generator.standard_normal(values.shape)
    return noise.resolution * np.round(measured / noise.resolution) if noise.resolution > 0.0 else measured


@dataclass(frozen=True)
class ForceSensor:
    r"""Gain and offset: :math:`f_c = G (f_l + f_d)`.

    Attributes:
        gain: calibration G, shape (6, 6); the identity for a perfect sensor.
        offset: :math:`f_d`, in raw units, shape (6,); what was read when the sensor was zeroed.
    """

    gain: NDArray[np.float64] = field(default_factory=lambda: np.eye(6))
    offset: NDArray[np.float64] = field(default_factory=lambda: np.zeros(6))
    _inverse: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: wrong shape, a value that is not finite, a gain that can't be inverted.
        """
        gain, offset = np.array(self.gain, dtype=float), np.array(self.offset, dtype=float)
        if gain.shape != (6, 6) or not np.all(np.isfinite(gain)):
            raise InputError(
                f"gain has the shape {gain.shape}" if gain.shape != (6, 6) else "gain is not finite",
                element="gain",
                remedy="Give 6 rows of 6 finite numbers",
            )
        if np.linalg.matrix_rank(gain) < 6:
            raise InputError("gain is singular", element="gain", remedy="Give a matrix that can be inverted")
        if offset.shape != (6,) or not np.all(np.isfinite(offset)):
            raise InputError(f"offset is {offset.tolist()}", element="offset", remedy="Give 6 finite numbers")
        object.__setattr__(self, "gain", gain)
        object.__setattr__(self, "_inverse", np.linalg.inv(gain))
        object.__setattr__(self, "offset", offset)

    def raw(self, wrench: NDArray[np.float64]) -> NDArray[np.float64]:
        r"""Raw reading :math:`f_l = G^{-1} f_c - f_d`, shape (6,), of the wrench on the rest of the robot."""
        return np.asarray(self._inverse @ wrench - self.offset)

    def carried(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        r"""Wrench on the rest of the robot :math:`f_c = G (f_l + f_d)`, shape (6,), of a raw reading."""
        return self.gain @ (raw + self.offset)

    def external(self, raw: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        r"""External wrench :math:`f_e = -P + G (f_l + f_d)` (5.6) of a raw reading, without acceleration, shape (6,).

        Args:
            raw: :math:`f_l`, shape (6,).
            weight: P, of what the sensor carries, in its frame, shape (6,).
        """
        return self.carried(raw) - weight

    def zeroed(self, wrench: NDArray[np.float64]) -> ForceSensor:
        """Return sensor zeroed while it carries a wrench, shape (6,): its raw reading is then zero."""
        return ForceSensor(self.gain, np.asarray(np.linalg.solve(self.gain, wrench), dtype=np.float64))


def identify_force_sensor(raw: ArrayLike, weights: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Gain and offset from raw readings in several postures without contact, where :math:`P = G (f_l + f_d)`.

    Args:
        raw: readings, shape (k, n): n = 3 for forces alone, 6 with torques.
        weights: weight of what the sensor carries in its frame, in the same postures, shape (k, n).

    Returns:
        G, shape (n, n), and :math:`f_d`, shape (n,), by least squares.

    Raises:
        InputError: the shapes differ, a value is not finite, or the postures don't tell all of G: at least n + 1 are
            needed, and for torques weights at several levers.
    """
    readings, carried = np.array(raw, dtype=float), np.array(weights, dtype=float)
    if readings.ndim != 2 or readings.shape != carried.shape:
        raise InputError(
            f"raw readings have the shape {readings.shape}, weights {carried.shape}",
            element="raw",
            remedy="Give a row of each per posture",
        )
    for name, values in (("raw", readings), ("weights", carried)):
        if not np.all(np.isfinite(values)):
            raise InputError(f"{name} holds a value that is not finite", element=name, remedy="Give finite numbers")
    columns = np.hstack([readings, np.ones((len(readings), 1))])
    solution, _, rank, _ = np.linalg.lstsq(columns, carried, rcond=1e-9)
    n = readings.shape[1]
    gain = solution[:n].T
    if rank < n + 1 or np.linalg.matrix_rank(gain) < n:
        raise InputError(
            f"{len(readings)} postures tell only {rank} of {n + 1} columns",
            element="raw",
            remedy="Add postures that turn the sensor about other axes",
        )
    return gain, np.linalg.solve(gain, solution[n])
