# SPDX-License-Identifier: Apache-2.0
"""Contact points and the properties of pairs of bodies as flat arrays.

Points are filled anew at each step; properties are kept by classes of bodies instead of pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.scene import CONTACT_METHODS, PairRule, Scene


class ContactPoints:
    """Points where two bodies touch or are about to.

    The arrays have room for ``capacity`` points; the first ``size`` are valid. Body a is the one
    that the normal points into.

    Attributes:
        size: number of points.
        positions: in the world [m], shape (capacity, 3).
        normals: unit, from body b into body a, in the world, shape (capacity, 3).
        gaps: signed distance along the normal [m], shape (capacity,).
        friction: friction coefficient, shape (capacity,).
        restitution: restitution coefficient, shape (capacity,).
        joint_a: joint that moves body a, 0 for a fixed body, shape (capacity,).
        joint_b: joint that moves body b, shape (capacity,).
        body_a: index of body a in the world, shape (capacity,).
        body_b: index of body b in the world, shape (capacity,).
        corner: whether the point stays the same point of body a as long as the contact lasts, shape (capacity,).
        slots: number that stays the same as long as the same features touch, for warm starts, shape (capacity,).
    """

    def __init__(self, capacity: int) -> None:
        """Allocate room for ``capacity`` points."""
        self.size = 0
        self.positions: NDArray[np.float64] = np.zeros((capacity, 3))
        self.normals: NDArray[np.float64] = np.zeros((capacity, 3))
        self.gaps: NDArray[np.float64] = np.zeros(capacity)
        self.friction: NDArray[np.float64] = np.zeros(capacity)
        self.restitution: NDArray[np.float64] = np.zeros(capacity)
        self.joint_a: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self.joint_b: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self.body_a: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self.body_b: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self.corner: NDArray[np.bool_] = np.zeros(capacity, dtype=np.bool_)
        self.slots: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)

    def enlarged(self) -> ContactPoints:
        """Return a copy with room for twice as many points."""
        copy = ContactPoints(2 * len(self.gaps))
        copy.size = self.size
        for name, array in vars(self).items():
            if name != "size":
                getattr(copy, name)[: len(array)] = array
        return copy


class PointTable(NamedTuple):
    """Arrays of :class:`ContactPoints`, by the same names."""

    positions: NDArray[np.float64]
    normals: NDArray[np.float64]
    gaps: NDArray[np.float64]
    friction: NDArray[np.float64]
    restitution: NDArray[np.float64]
    joint_a: NDArray[np.int64]
    joint_b: NDArray[np.int64]
    body_a: NDArray[np.int64]
    body_b: NDArray[np.int64]
    slots: NDArray[np.int64]
    corner: NDArray[np.bool_]

    @classmethod
    def of_points(cls, points: ContactPoints) -> PointTable:
        """Return the arrays of contact points, shared."""
        return cls(
            points.positions, points.normals, points.gaps, points.friction, points.restitution, points.joint_a,
            points.joint_b, points.body_a, points.body_b, points.slots, points.corner,
        )  # fmt: skip


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
