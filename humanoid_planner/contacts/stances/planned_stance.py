# SPDX-License-Identifier: Apache-2.0
"""A stance of a plan: which couples hold where, and which of them bear (specification 001 sections 2.5 and 6.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from humanoid_model.contact import Contact, ContactKind, Stance
from humanoid_planner.contacts.stances.couples import Couples


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

    def settled(self) -> PlannedStance:
        """Return what children start from: released contacts gone, all others bearing."""
        return PlannedStance(tuple(replace(hold, role=Role.BEARING) for hold in self.key))

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
