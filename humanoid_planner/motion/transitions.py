# SPDX-License-Identifier: Apache-2.0
"""What a plan's contacts do between one posture and the next (specification 001 section 8.3)."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from humanoid_model.contact import Contact, ContactKind, Stance
from humanoid_model.errors import InputError


class Case(enum.Enum):
    """How a stance comes out of the one before, and goes over into the next: the thesis' five cases."""

    ADDED_ADDED = "1"
    """One body comes into contact."""
    REMOVED_REMOVED = "2"
    """One body leaves."""
    ADDED_REMOVED = "3"
    """The weight is transferred; no body moves."""
    MOVED = "4a"
    """One body goes from one contact to the next."""
    LEFT_AND_CAME = "4b"
    """One body leaves, another one comes."""


@dataclass(frozen=True)
class Transition:
    """From one posture of a plan to the next.

    Attributes:
        index: of the posture that it begins with.
        case: of the thesis.
        held: contacts that hold all the while; they may all bear.
        leaving: contact that bears no more at the beginning, and is left.
        arriving: contact that is made, and doesn't bear yet at the end.
        fresh: locations of held contacts that don't bear at the beginning.
        ending: locations of held contacts that don't bear at the end.
    """

    index: int
    case: Case
    held: Stance
    leaving: Contact | None
    arriving: Contact | None
    fresh: tuple[str, ...]
    ending: tuple[str, ...]

    @property
    def label(self) -> str:
        """How messages call it."""
        parts = []
        if self.leaving is not None and self.arriving is not None and self.case is Case.MOVED:
            parts.append(
                f"{self.arriving.location.name} from {self.leaving.surface.name} to {self.arriving.surface.name}"
            )
        else:
            if self.leaving is not None:
                parts.append(f"{self.leaving.location.name} leaves {self.leaving.surface.name}")
            if self.arriving is not None:
                parts.append(f"{self.arriving.location.name} comes onto {self.arriving.surface.name}")
        return f"step {self.index} ({', '.join(parts) or 'weight transfer'})"


def find_transitions(stances: Sequence[Stance]) -> list[Transition]:
    """Return transitions between the stances of a plan.

    A contact of the kind RELEASED is one that is new, if the stance before doesn't have it, or about to go. Before the
    first posture and after the last one nothing changes.

    Raises:
        InputError: fewer than two stances, or two that differ by more than a contact that goes and one that comes.
    """
    if len(stances) < 2:
        raise InputError(f"has {len(stances)} stances", element="plan", remedy="Give a plan of two or more")
    found = []
    for index, (stance, following) in enumerate(itertools.pairwise(stances)):
        goes, comes = stance.lacking_in(following), following.lacking_in(stance)
        if len(goes) > 1 or len(comes) > 1:
            names = ", ".join(sorted({contact.location.name for contact in (*goes, *comes)}))
            raise InputError(
                f"the contacts of {names} change at once",
                element=f"plan: stance {index + 1}",
                remedy="Let consecutive stances differ by one contact that goes and one that comes",
            )
        for contact in (*goes, *comes):
            if contact.kind.bears:
                raise InputError(
                    f"{contact.location.name} bears on {contact.surface.name} where it is made or broken",
                    element=f"plan: stance {index + (contact in comes)}",
                    remedy=f"Give it the kind {ContactKind.RELEASED.name} there",
                )
        held = [contact for contact in stance.contacts if contact not in goes]
        last = {contact.location.name: contact for contact in following.contacts}
        found.append(
            Transition(
                index,
                _case(goes, comes),
                Stance(tuple(replace(contact, kind=ContactKind.FIXED) for contact in held)),
                goes[0] if goes else None,
                comes[0] if comes else None,
                tuple(contact.location.name for contact in held if not contact.kind.bears),
                tuple(c.location.name for c in held if not last[c.location.name].kind.bears),
            )
        )
    return found


def _case(goes: Sequence[Contact], comes: Sequence[Contact]) -> Case:
    if goes and comes:
        return Case.MOVED if goes[0].location.link == comes[0].location.link else Case.LEFT_AND_CAME
    if goes:
        return Case.REMOVED_REMOVED
    if comes:
        return Case.ADDED_ADDED
    return Case.ADDED_REMOVED
