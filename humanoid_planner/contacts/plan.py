# SPDX-License-Identifier: Apache-2.0
"""Plans of contacts, and what it took to find them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.contact import Stance
from humanoid_planner.contacts.contact_space import ChildCounts
from humanoid_planner.contacts.posture_caller import PostureCall
from humanoid_planner.contacts.search.best_first import End
from humanoid_planner.contacts.stances.planned_stance import PlannedStance


@dataclass(frozen=True)
class PlanStatistics:
    """What a search took.

    Attributes:
        nodes: in the tree: stances with a posture.
        expanded: of them.
        children: what became of the stances that were looked at.
        calls: of the posture generator, in their order.
        time: wall-clock time of the search [s].
    """

    nodes: int
    expanded: int
    children: ChildCounts
    calls: tuple[PostureCall, ...]
    time: float

    @property
    def building(self) -> float:
        """Time to put posture problems together [s]."""
        return sum(call.building for call in self.calls)

    @property
    def solving(self) -> float:
        """Time to solve them [s]."""
        return sum(call.solving for call in self.calls)

    def table(self) -> dict[str, tuple[int, int, float]]:
        """Call, success and seconds by purpose."""
        found: dict[str, tuple[int, int, float]] = {}
        for call in self.calls:
            count, successes, seconds = found.get(call.purpose, (0, 0, 0.0))
            found[call.purpose] = count + 1, successes + call.success, seconds + call.building + call.solving
        return found


@dataclass(frozen=True, eq=False)
class ContactPlan:
    """Stances from the start to the goal, or to the nearest that was found, with a posture each.

    Consecutive stances differ by one contact. The posture of a stance holds it and is a witness of the way from the
    stance before: contacts that are new or about to go hold in it without force.

    Attributes:
        success: whether the last posture fulfils the goal.
        end: why the search ended.
        explanation: in words; after a failure, what keeps the nearest stance from the goal.
        planned: stances with the roles of their contacts. The last one of a success is twice there, the second time
            with the goal posture.
        stances: the same as contacts; those that don't bear are of the kind RELEASED.
        postures: (nq,) each.
        potentials: of the nodes.
        statistics: what the search took.
    """

    success: bool
    end: End
    explanation: str
    planned: tuple[PlannedStance, ...]
    stances: tuple[Stance, ...]
    postures: tuple[NDArray[np.float64], ...]
    potentials: tuple[float, ...]
    statistics: PlanStatistics

    def __len__(self) -> int:
        """Return the number of stances."""
        return len(self.stances)
