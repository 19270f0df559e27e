# SPDX-License-Identifier: Apache-2.0
"""What a posture has to fulfil: equalities and inequalities on configuration, forces and extra variables."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.posture.problem.state import PostureState


class Task(ABC):
    """A vector function of the posture between bounds (specification 001 (3.5), (3.6), (3.13), (3.14)).

    Subclass it in a file of your own, with :meth:`value` and :meth:`jacobian`; equal bounds make an equality.

    Attributes:
        name: how messages call it.
        lower: (m,) lowest values; minus infinity where there is none.
        upper: (m,) highest values.
        unit: of the values, for messages.
        scale: (m,) size of a deviation that counts as much as one metre or radian; solvers see values divided by it.
        linear: whether the values are linear in the variables.
    """

    linear = False

    def __init__(
        self, name: str, lower: ArrayLike, upper: ArrayLike, *, unit: str = "", scale: ArrayLike = 1.0
    ) -> None:
        self.name = name
        self.lower = np.atleast_1d(np.asarray(lower, dtype=float))
        self.upper = np.atleast_1d(np.asarray(upper, dtype=float))
        self.unit = unit
        self.scale = np.broadcast_to(np.asarray(scale, dtype=float), self.lower.shape)
        if self.lower.shape != self.upper.shape or self.lower.ndim != 1:
            raise InputError(
                f"lower bounds have shape {self.lower.shape}, upper ones {self.upper.shape}",
                element=f"task '{name}'",
                remedy="Give as many of both, in one dimension",
            )
        crossing = np.flatnonzero(~(self.lower <= self.upper))
        if len(crossing):
            row = int(crossing[0])
            raise InputError(
                f"lower bound {self.lower[row]} is not below upper bound {self.upper[row]} in row {row}",
                element=f"task '{name}'",
                remedy="Give bounds that don't cross, and no NaN",
            )

    @property
    def size(self) -> int:
        """Number of rows m."""
        return len(self.lower)

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        if self.size == 1:
            return (self.name,)
        return tuple(f"{self.name} [{row}]" for row in range(self.size))

    @abstractmethod
    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) values; the array may be used again by the next call."""

    @abstractmethod
    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivatives of :meth:`value` by all variables."""
