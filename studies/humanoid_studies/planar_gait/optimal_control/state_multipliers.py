# SPDX-License-Identifier: Apache-2.0
"""Multipliers of the state inequalities along a phase (specification 003 sections 2.18 and 2.20).

What pulls a motion along a limit h(q, v) <= 0 that it touches is mu(t) h_x with mu >= 0 and mu h = 0. Where a limit is
met and left at once mu is nearly an impulse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_model.arrays import Reals


@dataclass(frozen=True, eq=False)
class StateMultipliers:
    """Piecewise linear multipliers.

    Attributes:
        mesh: (L,) increasing from 0 to 1.
        values: (L, h) rates of cost per unit of each inequality, zero or more.
    """

    mesh: Reals
    values: Reals

    def at(self, s: Reals) -> Reals:
        """(K, h) values at s in [0, 1]."""
        interval = np.clip(np.searchsorted(self.mesh, s, side="right") - 1, 0, len(self.mesh) - 2)
        left = self.mesh[interval]
        share = np.clip((s - left) / (self.mesh[interval + 1] - left), 0.0, 1.0)[:, None]
        return np.asarray((1.0 - share) * self.values[interval] + share * self.values[interval + 1])
