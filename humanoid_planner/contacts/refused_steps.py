# SPDX-License-Identifier: Apache-2.0
"""Steps of a search that turned out to have no way, and how much those like them are put off."""

from __future__ import annotations

import math
from typing import Any

from humanoid_planner.contacts.best_first import Node
from humanoid_planner.contacts.search_volume import StancePosture
from humanoid_planner.contacts.stance import PlannedStance, Role, StanceMetric

#: Contacts of a couple so near to each other are at about the same place [m].
_NEAR = 0.1
#: Share of the potential that was gained so far by which a step like one that has no way is put off.
_DEARER = 0.1


class RefusedSteps:
    """What is known of steps without a way.

    A step is a node's stance, reached from its parent, or the goal's posture in the parent's stance.
    """

    def __init__(self, metric: StanceMetric) -> None:
        """Know of none.

        Args:
            metric: which stances are the same.
        """
        self._metric = metric
        #: Stances by the index of the node that has no way to them; the goal's posture is None.
        self._stances: dict[int, list[PlannedStance | None]] = {}
        #: Where contacts changed, by couples, and what the next one like these is put off by.
        self._places: dict[tuple[tuple[int, ...], int, Role], list[tuple[float, float]]] = {}
        self._dearer = 0.0

    def add(self, node: Node[StancePosture], nodes: list[Node[StancePosture]]) -> None:
        """Take the way to a node for none."""
        assert node.parent is not None
        self._stances.setdefault(node.parent, []).append(_target(node))
        if not node.state.at_goal:
            changed = node.state.stance.changed
            kind = node.state.stance.couples, changed.couple, changed.role
            self._places.setdefault(kind, []).append((changed.x, changed.y))
            self._dearer = _DEARER * (nodes[0].potential - min(one.potential for one in nodes))

    def remove(self, node: Node[StancePosture]) -> None:
        """Take it for one after all."""
        assert node.parent is not None
        self._stances[node.parent].remove(_target(node))

    def goal(self, index: int) -> bool:
        """Return whether the node of an index has no way to the goal's posture in its own stance."""
        return None in self._stances.get(index, ())

    def step(self, index: int, stance: PlannedStance) -> bool:
        """Return whether the node of an index has no way to a stance."""
        known = self._stances.get(index, ())
        return any(one is not None and self._metric.equal(one, stance) for one in known)

    def delay(self, node: Node[StancePosture], nodes: list[Node[StancePosture]]) -> float:
        """Return what steps like these, here or on the way here, add to a node's potential."""
        if not self._places:
            return 0.0
        alike, one = 0, node
        while one.parent is not None:
            changed = one.state.stance.changed
            places = self._places.get((one.state.stance.couples, changed.couple, changed.role), ())
            alike += sum(math.hypot(changed.x - x, changed.y - y) < _NEAR for x, y in places)
            one = nodes[one.parent]
        return self._dearer * alike

    def memory(self) -> Any:
        """All of it, as plain data."""
        return {
            "stances": [[index, [one and one.plain() for one in all_]] for index, all_ in self._stances.items()],
            "places": [[list(couples), one, int(role), at] for (couples, one, role), at in self._places.items()],
            "dearer": self._dearer,
        }

    def recall(self, data: Any) -> None:
        """Take what :meth:`memory` gave."""
        self._stances = {
            int(index): [one and PlannedStance.of_plain(one) for one in stances] for index, stances in data["stances"]
        }
        self._places = {
            (tuple(couples), int(one), Role(role)): [(float(x), float(y)) for x, y in at]
            for couples, one, role, at in data["places"]
        }
        self._dearer = float(data["dearer"])


def _target(node: Node[StancePosture]) -> PlannedStance | None:
    return None if node.state.at_goal else node.state.stance
