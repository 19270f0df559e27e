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


def check_vector(values: ArrayLike, element: str, shape: tuple[int, ...] = (3,)) -> NDArray[np.float64]:
    """An array of finite numbers of a shape.

    Raises:
        InputError: it isn't one.
    """
    array = np.asarray(values, dtype=float)
    if array.shape != shape or not np.isfinite(array).all():
        count = " x ".join(map(str, shape)) or "one"
        raise InputError(f"is {array.tolist()}", element=element, remedy=f"Give {count} finite numbers")
    return array


def check_direction(values: ArrayLike, element: str) -> NDArray[np.float64]:
    """A unit vector along (3,) numbers.

    Raises:
        InputError: they aren't finite, or have no direction.
    """
    array = check_vector(values, element)
    norm = float(np.linalg.norm(array))
    if norm < 1e-9:
        raise InputError(
            f"is {array.tolist()}, which has no direction", element=element, remedy="Give a vector that isn't zero"
        )
    return array / norm


def check_number(value: float, element: str, *, lower: float = 0.0, upper: float = np.inf) -> float:
    """A finite number within bounds.

    Raises:
        InputError: it isn't one.
    """
    if not (np.isfinite(value) and lower <= value <= upper):
        limits = f"from {lower:g} to {upper:g}" if np.isfinite(upper) else f"of at least {lower:g}"
        raise InputError(f"is {value}", element=element, remedy=f"Give a finite number {limits}")
    return float(value)
