# SPDX-License-Identifier: Apache-2.0
"""Properties of pairs of bodies, kept by classes of bodies instead of pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.scene import CONTACT_METHODS, PairRule, Scene

APART = -1
"""In place of a method: the pair may not touch."""


@dataclass(frozen=True)
class PairClasses:
    """Bodies that all rules of a scene treat alike form a class; a thousand bodies make but a few.

    Attributes:
        body: class of each body, shape (nbodies,).
        method: place in ``CONTACT_METHODS`` of the method of two classes, or ``APART``, shape (k, k).
        friction: shape (k, k).
        restitution: shape (k, k).
    """

    body: NDArray[np.int64]
    method: NDArray[np.int64]
    friction: NDArray[np.float64]
    restitution: NDArray[np.float64]

    @classmethod
    def of_scene(cls, scene: Scene, names: Sequence[str]) -> PairClasses:
        """Sort the bodies of a scene into classes.

        Args:
            scene: whose rules count.
            names: of the bodies, ``robot/link`` for a robot's links.
        """
        kinds: dict[tuple[bool, ...], int] = {}
        members: list[str] = []
        body = np.zeros(len(names), dtype=np.int64)
        for i, name in enumerate(names):
            key = tuple(answer for rule in scene.rules for answer in _sides(rule, name))
            if key not in kinds:
                kinds[key] = len(kinds)
                members.append(name)
            body[i] = kinds[key]
        k = len(members)
        method = np.full((k, k), APART, dtype=np.int64)
        friction, restitution = np.zeros((k, k)), np.zeros((k, k))
        for i, a in enumerate(members):
            for j, b in enumerate(members):
                if scene.collides(a, b):
                    pair = scene.pairs(a, b)
                    method[i, j] = CONTACT_METHODS.index(pair.method)
                    friction[i, j], restitution[i, j] = pair.friction, pair.restitution
        return cls(body, method, friction, restitution)


def _sides(rule: PairRule, name: str) -> tuple[bool, bool]:
    """Return whether a body is one of the first, and one of the second of a rule's pairs."""
    return fnmatchcase(name, rule.first), fnmatchcase(name, rule.second)


class PairTable(NamedTuple):
    """What may touch and how: arrays of :class:`PairClasses`, and the owner of each body."""

    owner: NDArray[np.int64]
    body: NDArray[np.int64]
    method: NDArray[np.int64]
    friction: NDArray[np.float64]
    restitution: NDArray[np.float64]

    @classmethod
    def of_classes(cls, owner: NDArray[np.int64], classes: PairClasses) -> PairTable:
        """Return the arrays of ``classes`` beside the owners."""
        return cls(owner, classes.body, classes.method, classes.friction, classes.restitution)
