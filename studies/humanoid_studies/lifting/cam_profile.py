# SPDX-License-Identifier: Apache-2.0
r"""The cam curve of constant velocity that a preliminary motion follows (specification 000 section 21.4, Fig. 5.19).

.. math:: V = \tfrac{V_m}{2}\left(1-\cos\tfrac{\pi T}{\tau}\right) \text{ for } T < \tau, \quad V_m = \tfrac{1}{1-\tau}
    \text{ up to } 1-\tau,

and symmetric after that. The thesis draws the curve without its equation; this one is the specification's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError


@dataclass(frozen=True)
class CamProfile:
    """Position from 0 to 1 over normalised time from 0 to 1.

    Attributes:
        ramp: tau, the share of time in which the velocity rises, and that in which it falls.
    """

    ramp: float = 0.2

    def __post_init__(self) -> None:
        """Check the ramp.

        Raises:
            InputError: it isn't above 0 and at most 0.5.
        """
        if not 0.0 < self.ramp <= 0.5:
            raise InputError(f"is {self.ramp}", element="ramp", remedy="Give a share above 0 and up to 0.5")

    def position(self, T: ArrayLike) -> Array:
        """P(T)."""
        tau, late, s = self._mirrored(T)
        rising = 0.5 * (s - tau / np.pi * np.sin(np.pi * s / tau))
        P = np.where(s < tau, rising, s - 0.5 * tau) / (1.0 - tau)
        return np.where(late, 1.0 - P, P)

    def velocity(self, T: ArrayLike) -> Array:
        """V(T) = dP/dT."""
        tau, _, s = self._mirrored(T)
        return np.asarray(np.where(s < tau, 0.5 * (1.0 - np.cos(np.pi * s / tau)), 1.0) / (1.0 - tau))

    def acceleration(self, T: ArrayLike) -> Array:
        """A(T) = dV/dT."""
        tau, late, s = self._mirrored(T)
        A = np.where(s < tau, 0.5 * np.pi / tau * np.sin(np.pi * s / tau), 0.0) / (1.0 - tau)
        return np.where(late, -A, A)

    def _mirrored(self, T: ArrayLike) -> tuple[float, NDArray[np.bool_], Array]:
        time = np.clip(np.asarray(T, dtype=float), 0.0, 1.0)
        late = time > 0.5
        return self.ramp, late, np.asarray(np.where(late, 1.0 - time, time), dtype=float)


@dataclass(frozen=True)
class CamMotion:
    """A path and a turn along one curve (5.15), up to the impact.

    Attributes:
        profile: of both.
        impact: normalised time of the impact; the thesis' is 0.5.
        whole: t_f, the time of the whole curve [s].
        path: alpha, the displacement of the whole curve [m].
        turn: beta, likewise [rad].
    """

    profile: CamProfile
    impact: float
    whole: float
    path: float
    turn: float

    @classmethod
    def to_impact(
        cls, profile: CamProfile, way: float, speed: float, turn_rate: float, impact: float = 0.5
    ) -> CamMotion:
        """Return the motion that reaches the impact with given velocities (5.17), (5.18).

        Args:
            profile: of both.
            way: from the start to the impact [m].
            speed: at the impact [m/s].
            turn_rate: at the impact [rad/s].
            impact: normalised time.

        Raises:
            InputError: a way, speed or time that isn't positive, or an impact at the curve's end.
        """
        if not (way > 0.0 and speed > 0.0 and 0.0 < impact < 1.0):
            raise InputError(
                f"way {way:g}, speed {speed:g}, impact {impact:g}",
                element="cam motion",
                remedy="Give a way and a speed above 0, and an impact within the curve",
            )
        P, V = float(profile.position(impact)), float(profile.velocity(impact))
        path = way / P
        whole = path * V / speed
        return cls(profile, impact, whole, path, turn_rate * whole / V)

    @property
    def duration(self) -> float:
        """Until the impact [s]."""
        return self.impact * self.whole

    def at(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """(K, 3) each: way and turn with their first and second derivatives, [m] first, [rad] second.

        Args:
            time: (K,) from the start [s].
        """
        T = np.asarray(time, dtype=float) / self.whole
        P = self.profile.position(T), self.profile.velocity(T) / self.whole, self.profile.acceleration(T)
        scale = np.array([self.path, self.turn])
        return P[0][:, None] * scale, P[1][:, None] * scale, P[2][:, None] / self.whole**2 * scale
