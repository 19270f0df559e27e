# SPDX-License-Identifier: Apache-2.0
"""Bonus and penalty of stances: U_S, which only the search sees (specification 001 sections 6.8 and 7.5.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_planner.contacts.stances.couples import Couples
from humanoid_planner.contacts.stances.planned_stance import PlannedStance, Role


class StanceTerm(ABC):
    """A part of U_S. Subclass it for one of your own."""

    @abstractmethod
    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Return the added to the potential; below zero is a bonus."""


@dataclass(frozen=True)
class ContactCount(StanceTerm):
    """a |k - k0|, k the number of contacts.

    Attributes:
        weight: a.
        preferred: k0; below 2 the count is kept small.
        new: what a new contact counts.
        released: what a released contact counts.
    """

    weight: float
    preferred: float = 0.0
    new: float = 1.0
    released: float = 0.0

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Weighted difference of the counts."""
        worth = {Role.BEARING: 1.0, Role.NEW: self.new, Role.RELEASED: self.released}
        return self.weight * abs(sum(worth[hold.role] for hold in stance.holds) - self.preferred)


@dataclass(frozen=True)
class LocationPenalty(StanceTerm):
    """A constant for each contact of certain locations.

    Attributes:
        penalty: by name of location or link; below zero is a bonus.
    """

    penalty: Mapping[str, float]

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Sum over the contacts that last."""
        total = 0.0
        for couple in stance.couples:
            location = couples.location(couple)
            total += self.penalty.get(location.name, self.penalty.get(location.link, 0.0))
        return total


@dataclass(frozen=True)
class OnlyPenalty(StanceTerm):
    """A penalty of stances that consist of certain locations only, such as hands.

    Attributes:
        locations: names of locations or links.
        penalty: added.
    """

    locations: frozenset[str]
    penalty: float

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Return the penalty, or zero."""
        used = [couples.location(couple) for couple in stance.couples]
        only = all({location.name, location.link} & self.locations for location in used)
        return self.penalty if only and used else 0.0


@dataclass(frozen=True, eq=False)
class BarycentreNear(StanceTerm):
    """Distance of the barycentre of the contacts that last to a place.

    Attributes:
        target: (3,) world [m].
        placements: world placement of each surface, by name.
        weight: of the distance.
    """

    target: NDArray[np.float64]
    placements: Mapping[str, pin.SE3]
    weight: float = 1.0

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Weight times distance [m]."""
        places = [
            self.placements[surface.name].act(surface.place(hold.x, hold.y, hold.theta).translation)
            for hold in stance.key
            for surface in [couples.surface(hold.couple)]
        ]
        return self.weight * float(np.linalg.norm(np.mean(places, axis=0) - self.target))


@dataclass(frozen=True, eq=False)
class CrossedPenalty(StanceTerm):
    """A penalty of feet that cross each other or come too near: no leg gets past the other one.

    Attributes:
        placements: world placement of each surface, by name.
        weight: of what lacks to the width [1/m].
        width: that each foot keeps beside the other one, seen by either [m].
        left: name of the location that belongs to the left.
        right: of the one that belongs to the right.
    """

    placements: Mapping[str, pin.SE3]
    weight: float = 3.0
    width: float = 0.12
    left: str = "left_sole"
    right: str = "right_sole"

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Weight times what lacks to the width; zero where not both bear or come to."""
        places = {}
        for hold in stance.key:
            surface = couples.surface(hold.couple)
            placed = self.placements[surface.name] * surface.place(hold.x, hold.y, hold.theta)
            places[couples.location(hold.couple).name] = placed
        if not {self.left, self.right} <= places.keys():
            return 0.0
        left, right = places[self.left], places[self.right]
        beside = min(-left.actInv(right.translation)[1], right.actInv(left.translation)[1])
        return self.weight * max(self.width - float(beside), 0.0)
