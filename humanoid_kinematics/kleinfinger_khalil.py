# SPDX-License-Identifier: Apache-2.0
"""Kleinfinger-Khalil parameters: one joint and the body it moves in six numbers, in trees and loops alike."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin


@dataclass(frozen=True)
class KleinfingerKhalil:
    """Place of a joint's frame, whose z is the joint's axis, in the frame of the joint before it (specification §3.3).

    The frame is ``Rz(gamma) Tz(epsilon) Rx(alpha) Tx(d) Rz(theta) Tz(r)``. A revolute joint's variable is ``theta``, a
    prismatic joint's is ``r``; the value here is the initial one. ``gamma`` and ``epsilon`` are zero but where a body
    carries several joints.

    Attributes:
        theta: angle about z of the joint [rad].
        r: distance along z of the joint [m].
        alpha: angle about x from the z before to z of the joint [rad].
        d: distance along x from the z before to z of the joint [m].
        gamma: angle about the z before, to the x of this branch [rad].
        epsilon: distance along the z before, to the x of this branch [m].
    """

    theta: float = 0.0
    r: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    gamma: float = 0.0
    epsilon: float = 0.0

    @property
    def placement(self) -> pin.SE3:
        """Placement of the joint's frame in the frame before it, the variable included (eq. 3.9, its sign mended)."""
        cg, sg = math.cos(self.gamma), math.sin(self.gamma)
        ca, sa = math.cos(self.alpha), math.sin(self.alpha)
        ct, st = math.cos(self.theta), math.sin(self.theta)
        rotation = np.array(
            [
                [cg * ct - sg * ca * st, -cg * st - sg * ca * ct, sg * sa],
                [sg * ct + cg * ca * st, -sg * st + cg * ca * ct, -cg * sa],
                [sa * st, sa * ct, ca],
            ]
        )
        translation = np.array(
            [self.d * cg + self.r * sg * sa, self.d * sg - self.r * cg * sa, self.r * ca + self.epsilon]
        )
        return pin.SE3(rotation, translation)

    @classmethod
    def from_placement(cls, placement: pin.SE3) -> KleinfingerKhalil:
        """Return the parameters of any placement of one joint's frame in another's.

        Six numbers for six freedoms: there always are such. Where the two z are parallel, to 1e-8, ``epsilon`` is zero,
        and ``gamma`` too where they are on one line.
        """
        rotation, translation = placement.rotation, placement.translation
        x, y, z = (float(value) for value in translation)
        sine = math.hypot(rotation[0, 2], rotation[1, 2])
        if sine > 1e-8:
            alpha = math.atan2(sine, rotation[2, 2])
            gamma = math.atan2(rotation[0, 2], -rotation[1, 2])
            # The x of the branch could as well point the other way: take the smaller turn.
            if abs(gamma) > math.pi / 2:
                alpha, gamma = -alpha, gamma - math.copysign(math.pi, gamma)
            d = x * math.cos(gamma) + y * math.sin(gamma)
            r = (x * math.sin(gamma) - y * math.cos(gamma)) / math.sin(alpha)
            side = math.copysign(1.0, alpha)
            theta = math.atan2(side * rotation[2, 0], side * rotation[2, 1])
            return cls(theta, r, alpha, d, gamma, z - r * math.cos(alpha))
        d = math.hypot(x, y)
        gamma = math.atan2(y, x) if d > 1e-12 else 0.0
        if rotation[2, 2] > 0:
            return cls(math.atan2(rotation[1, 0], rotation[0, 0]) - gamma, z, 0.0, d, gamma)
        return cls(gamma - math.atan2(rotation[1, 0], rotation[0, 0]), -z, math.pi, d, gamma)

    def at_zero(self, kind: str) -> pin.SE3:
        """Return the placement with the joint's variable at zero.

        Args:
            kind: ``"revolute"`` or ``"prismatic"``.
        """
        return dataclasses.replace(self, **({"theta": 0.0} if kind == "revolute" else {"r": 0.0})).placement
