# SPDX-License-Identifier: Apache-2.0
"""Closed loops of the mechanisms of a world, as the step takes them."""

from __future__ import annotations

import numpy as np

from humanoid_sim.stepping.step_data import ClosureArrays
from humanoid_sim.world import World


def closures_of(world: World) -> ClosureArrays:
    """Closures of all robots of a world."""
    count = 0
    return ClosureArrays(
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros((count, 3, 3)),
        np.zeros((count, 3)),
        np.zeros((count, 3, 3)),
        np.zeros((count, 3)),
        np.zeros((count, 6), dtype=np.bool_),
        np.zeros((count, 6)),
    )
