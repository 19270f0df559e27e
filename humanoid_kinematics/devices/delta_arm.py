# SPDX-License-Identifier: Apache-2.0
"""The delta of the haptic syntaxeur: geometry and statics in closed form (specification §8.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError

_LEGS = np.radians([0.0, 120.0, 240.0])
_ALONG = np.stack([np.cos(_LEGS), np.sin(_LEGS), np.zeros(3)], axis=1)
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class DeltaArm:
    """Three arms turned by motors, each with a parallelogram to the plate; z points from the base to the plate.

    Attributes:
        base_radius: from the base's centre to a motor's axis [m] (Table F-1).
        plate_radius: from the plate's centre to a bar's end [m].
        arm: length of an arm [m].
        bar: length of a bar [m].
        ratio: of the belt from motor to arm (Table F-2: sector 144 mm, pinion 9 mm).
    """

    base_radius: float = 0.150
    plate_radius: float = 0.050
    arm: float = 0.160
    bar: float = 0.265
    ratio: float = 16.0

    def elbows(self, angles: ArrayLike) -> Array:
        """(3, 3) ends of the arms, moved by what the plate's radius takes off [m]."""
        theta = np.asarray(angles, float)[:, None]
        reach = self.base_radius - self.plate_radius + self.arm * np.cos(theta)
        return np.asarray(reach * _ALONG + self.arm * np.sin(theta) * _UP)

    def forward(self, angles: ArrayLike) -> Array:
        """(3,) place of the plate by the arms' angles (3,) [rad], outside of the elbows' plane.

        Raises:
            InputError: bars that don't meet.
        """
        E = self.elbows(angles)
        a, b = E[1] - E[0], E[2] - E[0]
        normal = np.cross(a, b)
        square = normal @ normal
        # Centre of the circle through the elbows; the bars' ends are on the line through it.
        to_centre = np.cross((a @ a) * b - (b @ b) * a, normal) / (2.0 * square) if square > 0.0 else np.zeros(3)
        height = self.bar**2 - to_centre @ to_centre
        if not (height >= 0.0 and square > 0.0):
            raise InputError(
                f"the bars don't meet at {np.degrees(angles)} deg", element="angles", remedy="Give angles within reach"
            )
        return np.asarray(E[0] + to_centre + np.sqrt(height / square) * normal * np.sign(normal[2]))

    def inverse(self, place: ArrayLike) -> Array:
        """(3,) angles of the arms [rad] by the plate's place (3,) [m], knees outward.

        Raises:
            InputError: a place out of reach.
        """
        x, y, z = np.asarray(place, float)
        u = _ALONG[:, 0] * x + _ALONG[:, 1] * y - (self.base_radius - self.plate_radius)
        v = _ALONG[:, 0] * y - _ALONG[:, 1] * x
        cosine = (u**2 + v**2 + z**2 + self.arm**2 - self.bar**2) / (2.0 * self.arm * np.hypot(u, z))
        if not (np.abs(cosine) <= 1.0).all():
            raise InputError(f"place is {[x, y, z]}", element="plate", remedy="Give a place within reach")
        return np.asarray(np.arctan2(z, u) - np.arccos(cosine))

    def jacobian(self, angles: ArrayLike) -> Array:
        """(3, 3) velocity of the plate by those of the arms [m/rad]."""
        theta = np.asarray(angles, float)[:, None]
        bars = self.forward(angles) - self.elbows(angles)
        turning = self.arm * (np.cos(theta) * _UP - np.sin(theta) * _ALONG)
        return np.linalg.solve(bars, np.diag((bars * turning).sum(axis=1)))

    def motor_torques(self, angles: ArrayLike, force: ArrayLike) -> Array:
        """(3,) torques of the motors [N m] that push a hand at the plate with a force (3,) [N]."""
        return np.asarray(self.jacobian(angles).T @ np.asarray(force, float) / self.ratio)
