# SPDX-License-Identifier: Apache-2.0
"""Leaving out contacts that a plan can do without (specification 001 F209, section 7.5.1)."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_planner.contacts.contact_space import ContactSpace
from humanoid_planner.contacts.stances.planned_stance import PlannedStance
from humanoid_planner.contacts.stances.stance_posture import StancePosture


def shorten(states: Sequence[StancePosture], space: ContactSpace) -> list[StancePosture]:
    """Return a plan without the stances between any two that can follow each other.

    From each stance the farthest later one is sought that is the same, or that one contact removed, one added, or both
    lead to, each shown by a posture as in the search. Later stances keep their postures: they are witnesses of the way
    from the stance before, which stays the same.

    Args:
        states: of a plan, each with its posture.
        space: that the plan was found in.
    """
    kept, here = [states[0]], 0
    while here < len(states) - 1:
        way, following = [states[here + 1]], here + 1
        for there in range(len(states) - 1, here + 1, -1):
            # The goal's posture holds the stance of the one before it: it isn't a stance of its own.
            shorter = None if states[there].at_goal else _way(kept[-1], states[there], space)
            if shorter is not None and len(shorter) < there - here:
                way, following = shorter, there
                break
        kept += way
        here = following
    return kept


def _way(start: StancePosture, end: StancePosture, space: ContactSpace) -> list[StancePosture] | None:
    """Stances that lead from one to another, one for each contact that changes; None where there is no such way."""
    base, target = start.stance.settled(), end.stance.settled()
    goes = [hold for hold in base.holds if hold not in target.holds]
    comes = [hold for hold in target.holds if hold not in base.holds]
    if len(goes) > 1 or len(comes) > 1:
        return None
    way: list[StancePosture] = []
    steps: list[PlannedStance] = []
    if goes:
        if len(base.holds) == 1:
            return None
        steps.append(base.releasing(goes[0].couple))
        base = steps[-1].settled()
    if comes:
        steps.append(base.adding(comes[0]))
    before = start
    for step in steps:
        child = space.posture_of(step, before.q)
        exists = space.problem.way_exists
        if child is None or (exists is not None and not exists(before, child)):
            return None
        way.append(child)
        before = child
    return way
