# SPDX-License-Identifier: Apache-2.0
"""Angles and rates at one end of a phase."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel


@dataclass(frozen=True, eq=False)
class BoundaryState:
    """A fully specified end (II.2).

    Attributes:
        q: (n,) absolute angles [rad].
        v: (n,) their rates [rad/s].
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]

    def phase_variables(self, model: PhaseModel) -> NDArray[np.float64]:
        """(2n,) x = (q, M(q) v) of a model (section 2.14.5).

        Momenta depend on the tree's root: they are not continuous from one phase to the next one though q and v are.
        """
        return model.state(self.q, self.v)
