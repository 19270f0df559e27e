# SPDX-License-Identifier: Apache-2.0
"""The haptic syntaxeur as a device model: a delta with a wrist, in a hand that follows a script (specification §8).

The hand is a spring and a damper to where it wants to be; the handle has a mass, moves within the workspace and is
pushed by the force that is displayed: so a wall stops it, and how stably can be tried. The delta's geometry and statics
are in closed form (§8.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_kinematics.devices.device import HybridDevice, Response
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


WRIST_RANGE = float(np.radians(15.0))
"""How far the wrist turns about each axis, at full deflection [rad] (§8.4)."""
MAX_FORCE = 5.0
"""Force that the motors give in every place and direction [N] (§6.1.3.2: 5 to 10 N)."""
MAX_TORQUE = 0.2
"""Torque of the wrist [N m]; approximate, the thesis gives none."""
WORKSPACE = (0.170, 0.110, 0.260)
"""Radius of the handle's cylinder, and where it begins and ends before the base [m] (§6.1.3.2, §8.3)."""


@dataclass(frozen=True)
class Hand:
    """A hand that holds the handle; values of an arm at rest, approximate.

    Attributes:
        stiffness: [N/m].
        damping: [N s/m].
        mass: of hand and handle [kg].
    """

    stiffness: float = 300.0
    damping: float = 15.0
    mass: float = 0.3


class Syntaxeur(HybridDevice):
    """The device in a hand. Places are in the hand's axes, from the workspace's middle; the base plate is vertical.

    Attributes:
        arm: the delta.
        hand: that holds it.
        mount: (3, 3) axes of the delta in the hand's: its z, away from the base, is the hand's x.
        position: (3,) of the handle [m].
        velocity: (3,) of the handle [m/s].
        force: (3,) that is displayed [N].
        torque: (3,) that is displayed [N m].
    """

    def __init__(
        self,
        name: str = "syntaxeur",
        arm: DeltaArm | None = None,
        hand: Hand | None = None,
        response: Response | None = None,
    ) -> None:
        """Hold the handle in the workspace's middle."""
        super().__init__(name, response)
        self.arm = arm if arm is not None else DeltaArm()
        self.hand = hand if hand is not None else Hand()
        self.mount: Array = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
        self.position: Array = np.zeros(3)
        self.velocity: Array = np.zeros(3)
        self.force: Array = np.zeros(3)
        self.torque: Array = np.zeros(3)
        self._wanted: Array | None = None

    def move(self, wanted: ArrayLike, wrist: ArrayLike, seconds: float) -> None:
        """Let the hand pull for a while.

        Args:
            wanted: (3,) where the hand wants to be [m].
            wrist: (3,) angles of the wrist [rad].
            seconds: how long, some milliseconds at most.

        Raises:
            InputError: a value that isn't finite; the handle stays.
        """
        goal, turned = self._finite("hand", wanted, 3), self._finite("wrist", wrist, 3)
        hand = self.hand
        pace = np.zeros(3) if self._wanted is None else (goal - self._wanted) / seconds
        self._wanted = goal
        # Implicit in the hand's spring and damper, which is stable at any step.
        pull = hand.stiffness * (goal - self.position) + hand.damping * pace + self.force
        inertia = hand.mass + seconds * (hand.damping + seconds * hand.stiffness)
        self.velocity = (hand.mass * self.velocity + seconds * pull) / inertia
        free = self.position + seconds * self.velocity
        self.position = self._within(free)
        if (self.position != free).any():
            self.velocity = np.zeros(3)
        self.post(self.position, np.clip(turned / WRIST_RANGE, -1.0, 1.0))

    def display(self, force: ArrayLike, torque: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Push the hand from now on, as far as the motors can: force (3,) [N], torque (3,) [N m].

        Raises:
            InputError: a value that isn't finite; what was displayed stays.
        """
        pushed, turned = self._finite("force", force, 3), self._finite("torque", torque, 3)
        self.force = pushed * min(1.0, MAX_FORCE / max(float(np.linalg.norm(pushed)), 1e-300))
        self.torque = turned * min(1.0, MAX_TORQUE / max(float(np.linalg.norm(turned)), 1e-300))

    @property
    def angles(self) -> Array:
        """(3,) angles of the delta's arms [rad]."""
        return self.arm.inverse(self._in_delta(self.position))

    @property
    def motor_torques(self) -> Array:
        """(3,) torques of the delta's motors [N m] that display the force."""
        return self.arm.motor_torques(self.angles, self.mount.T @ self.force)

    def _in_delta(self, position: Array) -> Array:
        return np.asarray(self.mount.T @ position + [0.0, 0.0, 0.5 * (WORKSPACE[1] + WORKSPACE[2])])

    def _within(self, position: Array) -> Array:
        """Bring a place into the workspace."""
        x, y, z = self.mount.T @ position
        out = min(1.0, WORKSPACE[0] / max(float(np.hypot(x, y)), 1e-300))
        half = 0.5 * (WORKSPACE[2] - WORKSPACE[1])
        inside = np.array([out * x, out * y, np.clip(z, -half, half)])
        return position if out == 1.0 and abs(z) <= half else np.asarray(self.mount @ inside)
