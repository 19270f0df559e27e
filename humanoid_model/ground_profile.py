# SPDX-License-Identifier: Apache-2.0
"""The ground that a motion walks on: level, a slope, or stairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Reals


@dataclass(frozen=True, eq=False)
class GroundProfile:
    """Heights that change at edges, and steadily along x.

    Attributes:
        edges: (E,) where the height changes, ascending [m].
        heights: (E + 1,) before, between and after the edges [m], where x is 0.
        slope: by which it rises per metre.
    """

    edges: Reals
    heights: Reals
    slope: float = 0.0

    def height(self, x: ArrayLike) -> Reals:
        """(...) height at x [m]."""
        x = np.asarray(x, dtype=float)
        return np.asarray(self.heights[np.searchsorted(self.edges, x, side="right")] + self.slope * x)

    def outline(self, left: float, right: float) -> Reals:
        """(P, 2) corners from ``left`` to ``right`` [m]."""
        inner = [edge for edge in self.edges if left < edge < right]
        x = np.concatenate([[left], np.repeat(inner, 2), [right]])
        levels = self.heights[np.searchsorted(self.edges, np.concatenate([[left], inner]), side="right")]
        return np.stack([x, np.repeat(levels, 2) + self.slope * x], axis=1)


LEVEL = GroundProfile(np.zeros(0), np.zeros(1))
"""A floor at height 0."""
