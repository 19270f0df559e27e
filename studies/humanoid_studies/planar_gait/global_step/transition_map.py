# SPDX-License-Identifier: Apache-2.0
"""Transitions between phases as affine maps of the angles, for use in expressions (specification 003 section 2.15)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState


@dataclass(frozen=True, eq=False)
class TransitionMap:
    """q' = A q + b and v' = A v: where coordinates go that only change their part or are counted from elsewhere.

    Attributes:
        matrix: (n', n) A.
        shift: (n',) b [rad].
    """

    matrix: Reals
    shift: Reals

    @classmethod
    def of(cls, function: Callable[[BoundaryState], BoundaryState], n: int) -> TransitionMap:
        """Return the map that a walker's transition is.

        Args:
            function: :meth:`.Walker.single_from_double` or :meth:`.Walker.single_from_touch_down`.
            n: coordinates before it.

        Raises:
            ValueError: the function isn't affine, or treats rates otherwise than angles.
        """
        zero = np.zeros(n)
        shift = function(BoundaryState(zero, zero)).q
        columns = [function(BoundaryState(unit, zero)).q - shift for unit in np.identity(n)]
        # Shifts are of pi and of the foot's angles: rounding leaves less than that of zeros and ones.
        found = cls(np.stack(columns, axis=1).round(12), shift)
        probe = BoundaryState(np.array([0.3 * k - 1.0 for k in range(n)]), np.array([3.0 - 0.7 * k for k in range(n)]))
        there = function(probe)
        if not (np.allclose(there.q, found.angles(probe.q)) and np.allclose(there.v, found.matrix @ probe.v)):
            raise ValueError("the transition isn't an affine map of angles and rates alike")
        return found

    def angles(self, q: Reals) -> Reals:
        """(n',) angles after the transition."""
        return np.asarray(self.matrix @ q + self.shift)

    @property
    def dropped(self) -> NDArray[np.int64]:
        """Coordinates that nothing after the transition tells of: those of a foot that lies flat there."""
        return np.flatnonzero(~self.matrix.any(axis=0))
