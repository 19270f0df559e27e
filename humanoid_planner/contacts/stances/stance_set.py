# SPDX-License-Identifier: Apache-2.0
"""Order of stances, equality within a tolerance, and a set of stances by it (specification 001 section 6.6)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from humanoid_model.errors import InputError
from humanoid_planner.contacts.stances.planned_stance import PlannedStance

#: epsilon and the metres that a radian counts as, where nothing else is said (specification 001 Appendix B).
TOLERANCE, RADIAN = 0.03, 0.1


def wrapped(angle: float) -> float:
    """Return an angle in ]-pi, pi]."""
    return math.pi - (math.pi - angle) % (2 * math.pi)


@dataclass(frozen=True)
class StanceMetric:
    """When two stances count as the same: equal couples, and ||A (p - p')|| <= epsilon.

    The equality isn't transitive; differences of angles are wrapped.

    Attributes:
        tolerance: epsilon [m].
        radian: metres that one radian counts as, the entry of A.
    """

    tolerance: float = TOLERANCE
    radian: float = RADIAN

    def __post_init__(self) -> None:
        for name, value in (("tolerance", self.tolerance), ("radian", self.radian)):
            if not 0 < value < math.inf:
                raise InputError(f"is {value}", element=f"{name} of stances", remedy="Give a finite number above 0")

    def distance(self, one: PlannedStance, other: PlannedStance) -> float:
        """Return ||A (p - p')|| [m]; infinite for different couples."""
        if one.couples != other.couples:
            return math.inf
        total = 0.0
        for a, b in zip(one.key, other.key, strict=True):
            turn = self.radian * wrapped(a.theta - b.theta)
            total += (a.x - b.x) ** 2 + (a.y - b.y) ** 2 + turn**2
        return math.sqrt(total)

    def equal(self, one: PlannedStance, other: PlannedStance) -> bool:
        """Return whether two stances count as the same."""
        return self.distance(one, other) <= self.tolerance

    def precedes(self, one: PlannedStance, other: PlannedStance) -> bool:
        """Return whether one stance comes before another: fewer contacts, then couples, then places."""
        sizes = len(one.key), len(other.key)
        if sizes[0] != sizes[1]:
            return sizes[0] < sizes[1]
        if one.couples != other.couples:
            return one.couples < other.couples
        return not self.equal(one, other) and _places(one) < _places(other)


class StanceSet:
    """Stances of which no two are equal.

    The thesis asks a red-black tree, whose answer depends on the path through it because equality isn't transitive.
    Here all stances of the same couples are compared whose first contact is near: a bucket has the size of the
    tolerance.
    """

    def __init__(self, metric: StanceMetric | None = None) -> None:
        self.metric = metric or StanceMetric()
        self._buckets: dict[tuple[tuple[int, ...], int, int], list[PlannedStance]] = {}
        self._count = 0

    def __len__(self) -> int:
        """Return the number of stances."""
        return self._count

    def __contains__(self, stance: PlannedStance) -> bool:
        """Return whether one equal to it is there."""
        couples, i, j = self._bucket(stance)
        around = itertools.product((i - 1, i, i + 1), (j - 1, j, j + 1))
        return any(
            self.metric.equal(stance, other) for a, b in around for other in self._buckets.get((couples, a, b), ())
        )

    def add(self, stance: PlannedStance) -> bool:
        """Take a stance; returns False where one equal to it is there."""
        if stance in self:
            return False
        self._buckets.setdefault(self._bucket(stance), []).append(stance)
        self._count += 1
        return True

    def remove(self, stance: PlannedStance) -> None:
        """Forget a stance that was added."""
        bucket = self._buckets[self._bucket(stance)]
        del bucket[next(index for index, other in enumerate(bucket) if other is stance)]
        self._count -= 1

    def stances(self) -> list[PlannedStance]:
        """All of them."""
        return [stance for bucket in self._buckets.values() for stance in bucket]

    def _bucket(self, stance: PlannedStance) -> tuple[tuple[int, ...], int, int]:
        if not stance.key:
            return (), 0, 0
        first, size = stance.key[0], self.metric.tolerance
        return stance.couples, math.floor(first.x / size), math.floor(first.y / size)


def _places(stance: PlannedStance) -> tuple[float, ...]:
    return tuple(np.ravel([(hold.x, hold.y, wrapped(hold.theta)) for hold in stance.key]))
