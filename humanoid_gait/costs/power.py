# SPDX-License-Identifier: Apache-2.0
"""Mechanical power of the motors, positive and negative work alike."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from humanoid_gait.costs.instant import Instant


@dataclass(frozen=True)
class PowerCost:
    r"""Sum of the motors' powers without their signs, smoothed: :math:`\sum_j\sqrt{(\tau_j\dot q_j)^2+s^2}-s`.

    Attributes:
        weight: [1/J].
        smoothing: s [W]; the smaller the nearer to the work itself, and the harder to solve.
    """

    weight: float = 1.0
    smoothing: float = 1.0

    def rate(self, instant: Instant) -> ca.SX:
        """Return the weighted sum."""
        power = instant.effort * instant.joint_rate
        return self.weight * ca.sum1(ca.sqrt(power**2 + self.smoothing**2) - self.smoothing)
