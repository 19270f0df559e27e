# SPDX-License-Identifier: Apache-2.0
"""The ground that a motion walks on: level, or stairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Reals


@dataclass(frozen=True, eq=False)
class GroundProfile:
    """Heights that change at edges.

    Attributes:
        edges: (E,) where the height changes, ascending [m].
        heights: (E + 1,) before, between and after the edges [m].
    """

    edges: Reals
    heights: Reals

    def height(self, x: ArrayLike) -> Reals:
        """(...) height at x [m]."""
        return np.asarray(self.heights[np.searchsorted(self.edges, np.asarray(x, dtype=float), side="right")])

    def outline(self, left: float, right: float) -> Reals:
        """(P, 2) corners from ``left`` to ``right`` [m]."""
        inner = [edge for edge in self.edges if left < edge < right]
        x = np.concatenate([[left], np.repeat(inner, 2), [right]])
        levels = self.height(np.concatenate([[left], inner]))
        return np.stack([x, np.repeat(levels, 2)], axis=1)


LEVEL = GroundProfile(np.zeros(0), np.zeros(1))
"""A floor at height 0."""
