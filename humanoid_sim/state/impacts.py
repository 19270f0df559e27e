# SPDX-License-Identifier: Apache-2.0
"""Impacts of the last step as a person reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Impacts:
    """Impacts at the start of the last step, k points that pushed; one that was hit again in the step is there again.

    Attributes:
        position: in the world [m], shape (k, 3).
        normal: unit, from body b into body a, in the world, shape (k, 3).
        impulse: along the normal on body a [N s], shape (k,).
        approach: normal velocity of a relative to b before, negative where they approach [m/s], shape (k,).
        rebound: the same after the impact [m/s], shape (k,).
        restitution: coefficient that acted; 0 where the point was closed and not struck itself, shape (k,).
        bodies: names of bodies a and b of each point, ``"robot/link"`` or a body's name.
        rounds: how many times impacts were resolved, one after the other.
        residual: what is left of the complementarity, the largest of all rounds and groups, relative to the approach.
    """

    position: NDArray[np.float64]
    normal: NDArray[np.float64]
    impulse: NDArray[np.float64]
    approach: NDArray[np.float64]
    rebound: NDArray[np.float64]
    restitution: NDArray[np.float64]
    bodies: list[tuple[str, str]]
    rounds: int
    residual: float

    def __len__(self) -> int:
        """Return the number of points that pushed."""
        return len(self.impulse)

    @classmethod
    def none(cls) -> Impacts:
        """No impact."""
        return cls(
            np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), [], 0, 0.0
        )
