# SPDX-License-Identifier: Apache-2.0
"""Tendons: lengths made of joint positions or of distances between points, with a force along them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humanoid_model.value_equality import ValueEquality


@dataclass(frozen=True, eq=False)
class TendonPoint(ValueEquality):
    """A point that a tendon goes straight to and from.

    Attributes:
        body: name in the scene, empty for the world.
        point: (3,) in the body frame [m].
    """

    body: str
    point: np.ndarray


@dataclass(frozen=True)
class TendonDrive:
    """A drive along a tendon.

    Attributes:
        stiffness: of a position servo, zero for others [N/m].
        damping: velocity gain [N s/m].
        effort: largest force; infinite when unlimited [N].
    """

    stiffness: float
    damping: float
    effort: float


@dataclass(frozen=True, eq=False)
class Tendon(ValueEquality):
    """A length that depends on the configuration, and the force along it.

    The length is the sum of ``coefficient * position`` of the joints, or of the straight pieces of each branch over its
    divisor, as of a rope over pulleys. Units are those of a length in metres; a tendon of hinges has rad and N m.

    Attributes:
        name: in the scene.
        joints: joints, ``robot/joint``, of one coordinate each and their coefficients; empty for one through points.
        branches: divisor and points, two at least, of each branch; empty for one of joints.
        stiffness: of its spring [N/m].
        damping: viscous friction [N s/m].
        rest: lengths between which the spring has no force [m].
        limits: shortest and longest length, infinite where there is none [m].
        drive: what pulls it, None for a passive one.
    """

    name: str
    joints: tuple[tuple[str, float], ...] = ()
    branches: tuple[tuple[float, tuple[TendonPoint, ...]], ...] = ()
    stiffness: float = 0.0
    damping: float = 0.0
    rest: tuple[float, float] = (0.0, 0.0)
    limits: tuple[float, float] = (-math.inf, math.inf)
    drive: TendonDrive | None = None

    def holds(self, name: str) -> bool:
        """Whether a robot or body, by its name in the scene, carries a part of it."""
        bodies = [point.body for _, points in self.branches for point in points] + [joint for joint, _ in self.joints]
        return any(body == name or body.startswith(f"{name}/") for body in bodies)
