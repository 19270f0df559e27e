# SPDX-License-Identifier: Apache-2.0
"""The thesis' price of loops that are cut and don't quite close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from humanoid_gait.costs.instant import Instant


@dataclass(frozen=True)
class ClosureCost:
    """Sum of squared gaps of contacts (thesis equation II.14).

    Attributes:
        weight: of squared distances and turns [1/(m² s), 1/(rad² s)].
        holds: names of the contacts that count; None for all.
    """

    weight: float = 7500.0
    holds: Sequence[str] | None = None

    def rate(self, instant: Instant) -> ca.SX:
        """Return the weighted sum."""
        total = ca.SX(0.0)
        for hold, gap in zip(instant.holds, instant.gaps, strict=True):
            if self.holds is None or hold in self.holds:
                total += ca.sumsqr(gap)
        return self.weight * total
