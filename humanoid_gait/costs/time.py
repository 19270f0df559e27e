# SPDX-License-Identifier: Apache-2.0
"""The price of time, for durations that are free."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from humanoid_gait.costs.instant import Instant


@dataclass(frozen=True)
class TimeCost:
    """So much for every second.

    Attributes:
        weight: [1/s].
    """

    weight: float = 1.0

    def rate(self, instant: Instant) -> ca.SX:
        """Return the price."""
        del instant
        return ca.SX(self.weight)
