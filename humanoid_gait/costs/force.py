# SPDX-License-Identifier: Apache-2.0
"""Squares of contact forces: they share the load between corners, feet and hands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from humanoid_gait.costs.instant import Instant


@dataclass(frozen=True)
class ForceCost:
    """Sum of squared forces at corners, in weights of the robot.

    Attributes:
        weight: [1/s].
        holds: names of the contacts that count; None for all.
    """

    weight: float = 1e-3
    holds: Sequence[str] | None = None

    def rate(self, instant: Instant) -> ca.SX:
        """Return the weighted sum."""
        total = ca.SX(0.0)
        for hold, forces in zip(instant.holds, instant.forces, strict=True):
            if self.holds is None or hold in self.holds:
                total += ca.sumsqr(forces / instant.weight)
        return self.weight * total
