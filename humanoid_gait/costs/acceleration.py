# SPDX-License-Identifier: Apache-2.0
"""Squares of accelerations: what keeps joints quiet that efforts leave free."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from humanoid_gait.costs.instant import Instant


@dataclass(frozen=True)
class AccelerationCost:
    """Sum of squared accelerations of all coordinates.

    Attributes:
        weight: [s³/rad²].
    """

    weight: float = 1e-5

    def rate(self, instant: Instant) -> ca.SX:
        """Return the weighted sum."""
        return self.weight * ca.sumsqr(instant.change)
