# SPDX-License-Identifier: Apache-2.0
"""Stances as the planner sees them: couples of robot location and surface, their roles, order and equality.

Specification 001 sections 2.4, 2.5, 6.4 and 6.6.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

from humanoid_model.contact import Contact, ContactKind, ContactLocation, Stance, Surface
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene


class Couples:
    """Locations of a robot times surfaces of a scene; a couple's number is location * len(surfaces) + surface.

    Attributes:
        locations: of the robot that may hold.
        surfaces: of the scene that may be held on.
        allowed: numbers of couples that aren't forbidden, in their order.
    """

    def __init__(
        self,
        robot: Robot,
        scene: Scene,
        locations: Iterable[str],
        surfaces: Iterable[str] | None = None,
        forbidden: Collection[tuple[str, str]] = (),
    ) -> None:
        """Take what may hold on what.

        Args:
            robot: that has the locations.
            scene: that has the surfaces.
            locations: names.
            surfaces: names; None for all of the scene.
            forbidden: F, pairs of a location's or a link's name and a surface's.

        Raises:
            InputError: an unknown or repeated name, or none at all.
        """
        own = {surface.name: surface for surface in scene.surfaces}
        names = tuple(locations)
        surface_names = tuple(own) if surfaces is None else tuple(surfaces)
        for what, given, known in (
            ("locations", names, tuple(robot.contacts)),
            ("surfaces", surface_names, tuple(own)),
        ):
            if not given:
                raise InputError(
                    "is empty", element=what, remedy=f"Give some of {', '.join(known) or 'none there are'}"
                )
            for name in given:
                if name not in known:
                    raise InputError(f"unknown name '{name}'", element=what, remedy=f"Give some of {', '.join(known)}")
                if given.count(name) > 1:
                    raise InputError(f"'{name}' is given twice", element=what, remedy="Name each once")
        self.locations: tuple[ContactLocation, ...] = tuple(robot.contacts[name] for name in names)
        self.surfaces: tuple[Surface, ...] = tuple(own[name] for name in surface_names)
        robot_side = {name for location in self.locations for name in (location.name, location.link)}
        for location, surface in forbidden:
            if location not in robot_side or surface not in surface_names:
                raise InputError(
                    f"('{location}', '{surface}') names nothing of this problem",
                    element="forbidden",
                    remedy="Give pairs of a location or link and a surface",
                )
        self.allowed = tuple(
            self.number(i, j)
            for i, location in enumerate(self.locations)
            for j, surface in enumerate(self.surfaces)
            if not {(location.name, surface.name), (location.link, surface.name)} & set(forbidden)
        )

    def __len__(self) -> int:
        """Return the number of couples, forbidden ones included."""
        return len(self.locations) * len(self.surfaces)

    def number(self, location: int, surface: int) -> int:
        """Return the number of a couple of indices."""
        return location * len(self.surfaces) + surface

    def number_of(self, location: str, surface: str, element: str = "contact") -> int:
        """Return the number of a couple of names; errors call it ``element``.

        Raises:
            InputError: one of them isn't among those of this problem.
        """
        known, surfaces = [one.name for one in self.locations], [one.name for one in self.surfaces]
        if location not in known or surface not in surfaces:
            raise InputError(
                f"{location} on {surface} is no couple of this problem",
                element=element,
                remedy=f"Locations are {', '.join(known)}; surfaces are {', '.join(surfaces)}",
            )
        return self.number(known.index(location), surfaces.index(surface))

    def location(self, number: int) -> ContactLocation:
        """Return the location of a couple."""
        return self.locations[number // len(self.surfaces)]

    def surface(self, number: int) -> Surface:
        """Return the surface of a couple."""
        return self.surfaces[number % len(self.surfaces)]

    def names(self, number: int) -> tuple[str, str]:
        """Return the names of a couple's location and surface."""
        return self.location(number).name, self.surface(number).name

    def stances(self, most: int) -> int:
        """Return how many sets of 1 to ``most`` allowed couples there are, places aside: (2.10, E-31).

        Unlike there a link holds once at most: the sum of the coefficients of t to the powers 1 to ``most`` in the
        product over the links of 1 + (its couples) t.
        """
        counts = Counter(self.location(couple).link for couple in self.allowed)
        sizes = [1] + [0] * most
        for count in counts.values():
            sizes = [sizes[0], *(sizes[i] + count * sizes[i - 1] for i in range(1, most + 1))]
        return sum(sizes[1:])


class Role(IntEnum):
    """What a contact does in the posture of its stance."""

    BEARING = 0
    """It holds and bears force."""
    NEW = 1
    """It was made last: it holds, and bears from the next stance on."""
    RELEASED = 2
    """It holds for the last time, without bearing, and is gone from the next stance."""


@dataclass(frozen=True, order=True)
class Hold:
    """One contact.

    Attributes:
        couple: its number.
        x: of the patch frame in the surface frame [m].
        y: likewise.
        theta: angle of the patch's x axis from the surface's [rad].
        role: in this stance.
    """

    couple: int
    x: float
    y: float
    theta: float
    role: Role = Role.BEARING


@dataclass(frozen=True)
class PlannedStance:
    """Contacts of one node of a plan, sorted by couple.

    Consecutive stances differ by one contact. The posture of a stance has the geometry of the larger and the
    equilibrium of the smaller of it and its neighbour (5.22): NEW and RELEASED contacts hold without force.
    """

    holds: tuple[Hold, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", tuple(sorted(self.holds)))

    @property
    def key(self) -> tuple[Hold, ...]:
        """The contacts that last: what tells a stance from another."""
        return tuple(hold for hold in self.holds if hold.role is not Role.RELEASED)

    @property
    def couples(self) -> tuple[int, ...]:
        """ind(s): numbers of the contacts that last, increasing."""
        return tuple(hold.couple for hold in self.key)

    @property
    def changed(self) -> Hold:
        """The contact that comes or goes."""
        return next(hold for hold in self.holds if hold.role is not Role.BEARING)

    def plain(self) -> list[list[float]]:
        """Return numbers for a file, of which :meth:`of_plain` makes the stance again."""
        return [[hold.couple, hold.x, hold.y, hold.theta, int(hold.role)] for hold in self.holds]

    @classmethod
    def of_plain(cls, holds: Iterable[Any]) -> PlannedStance:
        """Return a stance of its numbers."""
        return cls(tuple(Hold(int(c), float(x), float(y), float(t), Role(int(role))) for c, x, y, t, role in holds))

    def settled(self) -> PlannedStance:
        """Return what children start from: released contacts gone, all others bearing."""
        return PlannedStance(tuple(replace(hold, role=Role.BEARING) for hold in self.key))

    def before(self) -> PlannedStance:
        """Return the settled stance that this one came of by a contact more or less."""
        return PlannedStance(
            tuple(replace(hold, role=Role.BEARING) for hold in self.holds if hold.role is not Role.NEW)
        )

    def releasing(self, couple: int) -> PlannedStance:
        """Return the settled stance about to lose a contact."""
        return PlannedStance(
            tuple(replace(hold, role=Role.RELEASED if hold.couple == couple else Role.BEARING) for hold in self.key)
        )

    def adding(self, hold: Hold) -> PlannedStance:
        """Return the settled stance that has just got a contact."""
        return PlannedStance((*self.settled().holds, replace(hold, role=Role.NEW)))

    def stance(self, couples: Couples) -> Stance:
        """Contacts for a posture: those that don't bear are of the kind RELEASED."""
        return Stance(
            tuple(
                Contact(
                    couples.location(hold.couple),
                    couples.surface(hold.couple),
                    hold.x,
                    hold.y,
                    hold.theta,
                    ContactKind.FIXED if hold.role is Role.BEARING else ContactKind.RELEASED,
                )
                for hold in self.holds
            )
        )


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

    def discard(self, stance: PlannedStance) -> None:
        """Forget a stance and those that are equal to it."""
        couples, i, j = self._bucket(stance)
        for a, b in itertools.product((i - 1, i, i + 1), (j - 1, j, j + 1)):
            bucket = self._buckets.get((couples, a, b), [])
            kept = [other for other in bucket if not self.metric.equal(stance, other)]
            self._count -= len(bucket) - len(kept)
            bucket[:] = kept

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
