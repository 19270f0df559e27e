# SPDX-License-Identifier: Apache-2.0
"""Squares of efforts: the thesis' criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from humanoid_gait.costs.instant import Instant


@dataclass(frozen=True)
class TorqueCost:
    """Sum of squared efforts (thesis equation II.5, section 2.16).

    Attributes:
        weight: of all of it [1/s].
        weights: (m,) of the driven joints' squares [1/(N m)²]; None for the inverse squares of their limits.
    """

    weight: float = 1.0
    weights: Sequence[float] | None = None

    def rate(self, instant: Instant) -> ca.SX:
        """Return the weighted sum."""
        weights = 1.0 / instant.limit**2 if self.weights is None else np.asarray(self.weights, dtype=float)
        return self.weight * ca.dot(ca.DM(weights), instant.effort**2)
