# SPDX-License-Identifier: Apache-2.0
"""A search for a way between two postures that hold the same contacts (specification 001 section 8.1, option 3).

Two trees grow towards each other as in RRT-connect (Kuffner and LaValle 2000), each step pulled onto the contacts
(Berenson et al. 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array

#: Length of a step, in joints [rad] and the base's way [m] together.
STEP = 0.15
#: How far beyond both ends samples are: joints [rad], position of the base [m] and its turn [rad].
_BEYOND, _BASE, _TURN = 0.8, 0.15, 0.3
#: A step that comes less than this part of its length nearer to its aim is stuck.
_GAIN = 0.3
_SHORTCUTS = 80


@dataclass
class _Tree:
    nodes: list[Array]
    parents: list[int] = field(default_factory=lambda: [-1])

    def way(self, index: int) -> list[Array]:
        """Nodes from one to the root."""
        found = []
        while index >= 0:
            found.append(self.nodes[index])
            index = self.parents[index]
        return found


class ConstrainedSearch:
    """Ways between postures.

    Args:
        model: of the robot, its base first.
        pull: moves a configuration (nq,) onto the contacts; None where it can't.
        valid: whether a configuration on the contacts may be passed.
        seed: numbers; the same ones find the same way.
    """

    def __init__(
        self,
        model: pin.Model,
        pull: Callable[[Array], Array | None],
        valid: Callable[[Array], bool],
        seed: Sequence[int],
    ) -> None:
        self._model, self._pull, self._valid = model, pull, valid
        self._random = np.random.default_rng(seed)

    def find(self, first: Array, last: Array, samples: int) -> list[Array] | None:
        """Return postures from the first to the last, at most a step apart; None where none was found.

        Args:
            first: (nq,) on the contacts.
            last: (nq,) likewise.
            samples: most random postures that the trees grow towards.
        """
        near, far = _Tree([first]), _Tree([last])
        swapped = False
        for _ in range(samples):
            reached = self._grow(near, self._sample(first, last))
            if reached is not None:
                met = self._grow(far, near.nodes[reached])
                if met is not None and self._distance(far.nodes[met], near.nodes[reached]) < STEP:
                    way = [*reversed(near.way(reached)), *far.way(met)]
                    return self._shortened(way[::-1] if swapped else way)
            near, far, swapped = far, near, not swapped
        return None

    def _sample(self, first: Array, last: Array) -> Array:
        """Return a configuration around the straight line between both."""
        model, random = self._model, self._random
        away = pin.difference(model, first, last)
        reach = np.full(model.nv, _BEYOND)
        reach[:3], reach[3:6] = _BASE, _TURN
        change = random.uniform(np.minimum(away, 0.0) - reach, np.maximum(away, 0.0) + reach)
        q = pin.integrate(model, first, change)
        q[7:] = np.clip(q[7:], model.lowerPositionLimit[7:], model.upperPositionLimit[7:])
        return np.asarray(q)

    def _grow(self, tree: _Tree, aim: Array) -> int | None:
        """Add steps from the nearest node towards an aim; return the last one, None where not even one is possible."""
        distances = [self._distance(node, aim) for node in tree.nodes]
        here, last = int(np.argmin(distances)), None
        while True:
            q = self._step(tree.nodes[here], aim)
            if q is None:
                return last
            tree.nodes.append(q)
            tree.parents.append(here)
            here = last = len(tree.nodes) - 1
            if self._distance(q, aim) < 1e-6:
                return last

    def _step(self, q: Array, aim: Array) -> Array | None:
        """Return a step from a node towards an aim; None where it is stuck, or not allowed."""
        before = self._distance(q, aim)
        if before < 1e-9:
            return None
        share = min(1.0, STEP / before)
        moved = self._pull(pin.integrate(self._model, q, share * pin.difference(self._model, q, aim)))
        if moved is None or self._distance(moved, aim) > before - _GAIN * share * before:
            return None
        return moved if self._distance(q, moved) < 2.0 * STEP and self._valid(moved) else None

    def _shortened(self, way: list[Array]) -> list[Array]:
        """Return a way without the detours that straight pieces can take the place of."""
        for _ in range(_SHORTCUTS):
            if len(way) < 4:
                break
            one, other = sorted(int(i) for i in self._random.choice(len(way), 2, replace=False))
            if other - one < 2:
                continue
            piece = [way[one]]
            while self._distance(piece[-1], way[other]) > STEP and len(piece) < other - one:
                q = self._step(piece[-1], way[other])
                if q is None:
                    break
                piece.append(q)
            if self._distance(piece[-1], way[other]) <= STEP and len(piece) < other - one:
                way = [*way[:one], *piece, *way[other:]]
        return way

    def _distance(self, one: Array, other: Array) -> float:
        return float(np.linalg.norm(pin.difference(self._model, one, other)))
