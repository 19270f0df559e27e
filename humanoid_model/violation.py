# SPDX-License-Identifier: Apache-2.0
"""Limits that a motion doesn't keep, and which of them is the worst."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Reals

TOLD = 3
"""Violations that a message names; of the others it gives the number."""


class ViolationKind(enum.Enum):
    """What sort of limit isn't kept; each calls for its own remedies (section 2.32.4)."""

    RELEASED_FOOT_PULLS = "released foot pulls"
    ROOT_FOOT_PULLS = "standing foot pulls"
    FRICTION = "friction"
    RANGE = "joint range"
    RATE = "joint rate"
    CLEARANCE = "clearance"
    BOUND = "bound of a control"
    CLOSURE = "closure"
    JUMP = "jump"
    DYNAMICS = "dynamics"


@dataclass(frozen=True)
class Violation:
    """Something that a motion doesn't keep.

    Attributes:
        kind: of the limit.
        what: the limit.
        time: when it is first exceeded [s].
        worst: when it is exceeded most [s].
        value: then, in the limit's own unit.
        limit: then, likewise.
        tolerance: by which it may be exceeded, likewise.
        unit: of all three.
    """

    kind: ViolationKind
    what: str
    time: float
    worst: float
    value: float
    limit: float
    tolerance: float
    unit: str

    @property
    def excess(self) -> float:
        """By how much it is exceeded at most, in the limit's own unit."""
        return abs(self.value - self.limit)

    @property
    def severity(self) -> float:
        """Excess in tolerances: what violations of different units are compared by."""
        return self.excess / self.tolerance

    def later(self, start: float) -> Violation:
        """Return the violation with times that count from elsewhere, where the motion begins at ``start`` [s]."""
        return dataclasses.replace(self, time=start + self.time, worst=start + self.worst)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"{self.what} exceeded by {self.excess:.3g}{unit}, first at {self.time:.3f} s: "
            f"{self.value:.4g} at {self.worst:.3f} s, {self.limit:.4g} allowed"
        )


@dataclass(frozen=True)
class Limit:
    """Something that a motion has to keep.

    Attributes:
        kind: of it.
        what: it is, in words.
        unit: of its values.
        tolerance: by which it may be exceeded; above 0.
        least: whether values have to be above it.
    """

    kind: ViolationKind
    what: str
    unit: str
    tolerance: float
    least: bool = False

    def check(self, t: Reals, values: ArrayLike, limits: ArrayLike) -> list[Violation]:
        """Return the violation, if there is one.

        Args:
            t: (K,) times [s].
            values: (K,) of the motion.
            limits: (K,), or one for all.
        """
        value, limit = np.broadcast_arrays(np.asarray(values, dtype=float), np.asarray(limits, dtype=float))
        excess = limit - value if self.least else value - limit
        beyond = excess > self.tolerance
        if not beyond.any():
            return []
        first, worst = int(np.argmax(beyond)), int(np.argmax(excess))
        found = float(t[first]), float(t[worst]), float(value[worst]), float(limit[worst])
        return [Violation(self.kind, self.what, *found, self.tolerance, self.unit)]


def worst_first(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """Return violations by their excess in tolerances, the greatest first."""
    return tuple(sorted(violations, key=lambda violation: -violation.severity))


def told(violations: Iterable[Violation]) -> str:
    """Return the worst violations in words, and the number of the others."""
    ranked = worst_first(violations)
    more = f" and {len(ranked) - TOLD} more" if len(ranked) > TOLD else ""
    return "; ".join(str(item) for item in ranked[:TOLD]) + more
