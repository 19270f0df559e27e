# SPDX-License-Identifier: Apache-2.0
"""Capsules around the moving bodies of a robot: volumes whose distances have continuous normals almost everywhere."""

from __future__ import annotations

import itertools
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_model.robot import Robot
from humanoid_model.shape_triangles import triangles

_NEIGHBOURS = 3
"""Bodies with so few joints in between are kept apart by the ranges of these, if at all."""
_ROUNDS = 300
"""Of the search for a circle around points; its centre is then known to a 300th of its radius."""


class Capsules(NamedTuple):
    """Capsules on joints, and which of them may not touch.

    Attributes:
        joints: of Pinocchio's model that carry them, (k,).
        ends: of their axes in the joints' frames, (k, 2, 3) [m].
        radii: (k,) [m].
        pairs: of them, (m, 2).
    """

    joints: NDArray[np.int64]
    ends: Array
    radii: Array
    pairs: NDArray[np.int64]


def capsule_around(points: Array) -> tuple[Array, float]:
    """Return a capsule around points (n, 3): ends of its axis (2, 3) and its radius [m].

    Of those along the points' principal axes it is the one of the least volume.
    """
    middle = points.mean(axis=0)
    axes = np.linalg.svd(points - middle, full_matrices=False)[2]
    found: list[tuple[float, Array, float]] = []
    for axis in axes:
        others = axes[[not np.array_equal(axis, other) for other in axes]]
        across, along = (points - middle) @ others.T, (points - middle) @ axis
        centre = across[0].copy()
        for k in range(_ROUNDS):  # Bădoiu and Clarkson, smaller core-sets for balls, 2003
            centre += (across[np.argmax(np.linalg.norm(across - centre, axis=1))] - centre) / (k + 2.0)
        away = np.linalg.norm(across - centre, axis=1)
        radius = float(away.max())
        cap = np.sqrt(np.maximum(radius**2 - away**2, 0.0))
        low, high = float((along + cap).min()), float((along - cap).max())
        if low > high:  # a ball around its middle has them all
            low = high = 0.5 * (low + high)
        ends = middle + centre @ others + np.outer([low, high], axis)
        found.append((np.pi * radius**2 * (high - low + 4.0 / 3.0 * radius), ends, radius))
    _, ends, radius = min(found, key=lambda one: one[0])
    return ends, radius


_KNOWN: WeakKeyDictionary[Robot, Capsules] = WeakKeyDictionary()


def capsules_of(robot: Robot) -> Capsules:
    """Return capsules of a robot, found once, and all pairs of those that aren't neighbours."""
    if robot not in _KNOWN:
        points: dict[int, list[Array]] = {}
        for link in robot.description.links.values():
            part = robot.parts.links[link.name]
            for geometry in link.collisions:
                placed = part.placement_joint_link * geometry.placement
                corners = np.asarray(triangles(geometry.shape).vertices) @ placed.rotation.T + placed.translation
                points.setdefault(part.joint_id, []).append(corners)
        found = [(joint, *capsule_around(np.vstack(own))) for joint, own in sorted(points.items()) if joint]
        joints = np.array([joint for joint, _, _ in found], dtype=np.int64)
        chains = [set(robot.model.supports[joint]) for joint in joints.tolist()]
        disabled = {frozenset(robot.parts.links[link].joint_id for link in pair) for pair in robot.disabled_collisions}
        pairs = [
            (i, j)
            for i, j in itertools.combinations(range(len(joints)), 2)
            if len(chains[i] ^ chains[j]) > _NEIGHBOURS and frozenset(joints[[i, j]].tolist()) not in disabled
        ]
        _KNOWN[robot] = Capsules(
            joints, np.array([ends for _, ends, _ in found]).reshape(-1, 2, 3),
            np.array([radius for _, _, radius in found]), np.array(pairs, dtype=np.int64).reshape(-1, 2),
        )  # fmt: skip
    return _KNOWN[robot]
