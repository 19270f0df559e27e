# SPDX-License-Identifier: Apache-2.0
r"""Which contacts bear: log-odds from force, speed and what is told, with hysteresis.

.. math:: \ln\frac{P}{1-P} = \frac{f/mg - c}{s} + \min\Bigl(0, 3\ln\frac{\sigma_f}{\sigma_c} +
   \frac{|v|^2}{2}\bigl(\frac{1}{\sigma_f^2} - \frac{1}{\sigma_c^2}\bigr)\Bigr) + \ln\frac{t}{1-t}

with the normal force f, a likelihood ratio of the speed v of a contact that bears and of one that is free, and the
probability t that is told. Where no force is measured, a contact that stands still is one.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_control.estimation.settings import EstimatorSettings
from humanoid_model.arrays import Array
from humanoid_model.compiling import uncounted
from humanoid_model.contact import ContactLocation

_CERTAIN = 0.01
"""Nearest to none and to certain that what is told of a contact counts as."""
_STRONGEST = 10.0
"""Log-odds that a force adds or takes at most."""
_BEGINS, _ENDS = math.log(9.0), 0.0
"""Log-odds from which on a contact holds, and below which it does no longer: nine to one, and even."""


@uncounted()
def external_wrench(
    seen: np.ndarray, sensor: np.ndarray, wrench: np.ndarray, carried: np.ndarray, gravity: np.ndarray, out: np.ndarray
) -> None:
    """Write what the surroundings do at a contact, in its frame, into ``out``: force and torque (6,).

    Args:
        seen: the contact's frame in any other, rotation and, in the last row, origin [m], shape (4, 3).
        sensor: the force-torque sensor's, likewise.
        wrench: what it reads, without offset, shape (6,).
        carried: mass [kg] and centre of mass in the sensor's frame [m] of what hangs on it, shape (4,).
        gravity: in the frame in which both are seen [m/s²], shape (3,).
        out: written.
    """
    f_0, f_1, f_2 = wrench[0], wrench[1], wrench[2]
    m = carried[0]
    w_0 = m * (sensor[0, 0] * gravity[0] + sensor[1, 0] * gravity[1] + sensor[2, 0] * gravity[2])
    w_1 = m * (sensor[0, 1] * gravity[0] + sensor[1, 1] * gravity[1] + sensor[2, 1] * gravity[2])
    w_2 = m * (sensor[0, 2] * gravity[0] + sensor[1, 2] * gravity[1] + sensor[2, 2] * gravity[2])
    t_0 = wrench[3] - (carried[2] * w_2 - carried[3] * w_1)
    t_1 = wrench[4] - (carried[3] * w_0 - carried[1] * w_2)
    t_2 = wrench[5] - (carried[1] * w_1 - carried[2] * w_0)
    f_0, f_1, f_2 = f_0 - w_0, f_1 - w_1, f_2 - w_2
    for i in range(3):
        out[i], out[3 + i] = 0.0, 0.0
        for j in range(3):  # the sensor's axes in the contact's
            turn_0 = seen[0, i] * sensor[0, j] + seen[1, i] * sensor[1, j] + seen[2, i] * sensor[2, j]
            out[i] += turn_0 * (f_0 if j == 0 else (f_1 if j == 1 else f_2))
            out[3 + i] += turn_0 * (t_0 if j == 0 else (t_1 if j == 1 else t_2))
    x, y, z = sensor[3, 0] - seen[3, 0], sensor[3, 1] - seen[3, 1], sensor[3, 2] - seen[3, 2]
    a = seen[0, 0] * x + seen[1, 0] * y + seen[2, 0] * z
    b = seen[0, 1] * x + seen[1, 1] * y + seen[2, 1] * z
    c = seen[0, 2] * x + seen[1, 2] * y + seen[2, 2] * z
    out[3] += b * out[2] - c * out[1]
    out[4] += c * out[0] - a * out[2]
    out[5] += a * out[1] - b * out[0]


def centre_of_pressure(wrench: Array) -> tuple[float, float]:
    """Return where on a patch a wrench (6,) in its frame presses, x and y [m]; NaN without pressure."""
    _, _, force, about_x, about_y, _ = wrench.tolist()
    return (-about_y / force, about_x / force) if force > 0.0 else (math.nan, math.nan)


class ContactDetector:
    """Judges one contact in each tick.

    Attributes:
        location: the place on the robot.
    """

    def __init__(self, location: ContactLocation, weight: float, settings: EstimatorSettings) -> None:
        """Choose the contact.

        Args:
            location: the place on the robot.
            weight: of the robot [N].
            settings: how contacts behave.
        """
        self.location = location
        self._threshold, self._scale = settings.contact_load * weight, settings.load_scale * weight
        held, free = settings.contact_speed, settings.free_speed
        self._still, self._slope = 3.0 * math.log(free / held), 0.5 / free**2 - 0.5 / held**2
        self._width = settings.edge_width
        starts = np.asarray(location.patch, dtype=float)
        edges = np.roll(starts, -1, axis=0) - starts
        if len(starts) > 2:
            inwards = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
            self._edges: list[tuple[float, ...]] = np.column_stack([inwards, -(inwards * starts).sum(1)]).tolist()

    def odds(self, force: float, speed: float, told: float | None) -> float:
        """Return the logarithm of the odds that it bears.

        Args:
            force: along its normal [N], NaN where none is measured.
            speed: measured [m/s].
            told: probability, None if nothing is told.
        """
        still = self._still + self._slope * speed**2
        return (min(still, 0.0) if math.isfinite(force) else still) + self.load_odds(force, told)

    def load_odds(self, force: float, told: float | None) -> float:
        """Return the logarithm of the odds that it bears, however fast it is; arguments are those of :meth:`odds`."""
        odds = 0.0
        if math.isfinite(force):
            odds += min(max((force - self._threshold) / self._scale, -_STRONGEST), _STRONGEST)
        if told is not None:
            share = min(max(told, _CERTAIN), 1.0 - _CERTAIN)
            odds += math.log(share / (1.0 - share))
        return odds

    def holds(self, odds: float, held: bool) -> bool:
        """Whether the contact counts as one, when it did or didn't before."""
        return odds > (_ENDS if held else _BEGINS)

    def rolls(self, x: float, y: float) -> float:
        """How far the centre of pressure has come to the edge of an area: 0 within, 1 at the edge; 0 if it is NaN."""
        margin = min(a * x + b * y + c for a, b, c in self._edges)
        return 0.0 if math.isnan(margin) else min(max(1.0 - margin / self._width, 0.0), 1.0)
