# SPDX-License-Identifier: Apache-2.0
r"""Raw readings of a force-torque sensor, and the external wrench that they tell (specification 000 §20.2).

All wrenches are in the sensor's frame, force first. P is the weight of what the sensor carries, :math:`f_e` what the
surroundings do to it, and :math:`f_c = f_e + P` (without acceleration) what it does to the rest of the robot, which is
:meth:`SimulatedRobot.wrench <humanoid_sim.world.simulated_robot.SimulatedRobot.wrench>`. The thesis writes forces
only; here torques obey the same equations.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError


@dataclass(frozen=True)
class ForceSensor:
    r"""Gain and offset: :math:`f_c = G (f_l + f_d)`.

    Attributes:
        gain: calibration G, shape (6, 6); the identity for a perfect sensor.
        offset: :math:`f_d`, in raw units, shape (6,); what was read when the sensor was zeroed.
    """

    gain: NDArray[np.float64] = field(default_factory=lambda: np.eye(6))
    offset: NDArray[np.float64] = field(default_factory=lambda: np.zeros(6))

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
        object.__setattr__(self, "offset", offset)

    def raw(self, wrench: NDArray[np.float64]) -> NDArray[np.float64]:
        r"""Raw reading :math:`f_l = G^{-1} f_c - f_d`, shape (6,), of the wrench on the rest of the robot."""
        return np.linalg.solve(self.gain, wrench) - self.offset

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
