# SPDX-License-Identifier: Apache-2.0
"""The thesis' price of soles that come too low."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from humanoid_gait.costs.instant import Instant


@dataclass(frozen=True)
class ClearanceCost:
    """Squares of the heights that corners of a location lack (thesis equation III.21).

    Attributes:
        location: contact location whose corners have to stay up.
        height: above which they cost nothing [m].
        weight: [1/(m² s)].
    """

    location: str
    height: float = 0.0
    weight: float = 5000.0

    def rate(self, instant: Instant) -> ca.SX:
        """Return the weighted sum; its second derivative jumps where a corner comes too low."""
        lack = self.height - instant.corners(self.location)[:, 2]
        return self.weight * ca.sum1(ca.if_else(lack > 0.0, lack**2, 0.0))
