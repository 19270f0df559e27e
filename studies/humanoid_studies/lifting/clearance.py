# SPDX-License-Identifier: Apache-2.0
"""Circles that stand for robot and object where a planar lift must not let them meet."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array
from humanoid_studies.lifting.planar_lifter import PlanarLifter
from humanoid_studies.planar_gait.mechanism.planar_point import PlanarPoint

APART = 0.01
"""Between robot and object, in postures and on the way [m]."""
BODY_CIRCLES = (
    ("shank", 0.15j, 0.06),
    ("thigh", 0.0, 0.06),
    ("thigh", 0.15j, 0.07),
    ("waist", 0.0, 0.09),
    ("waist", -0.01 + 0.115j, 0.10),
    ("trunk", -0.01 + 0.05j, 0.11),
    ("trunk", -0.01 + 0.19j, 0.11),
    ("trunk", 0.005 + 0.40j, 0.10),
)
"""Shank, knee, thigh, hip, waist, trunk and head: body, place from its axis and radius [m], about HRP-2's shapes."""


def clearances(lifter: PlanarLifter) -> tuple[tuple[PlanarPoint, float], ...]:
    """Return vectors between the middles of circles, and how long they have to be at least [m].

    The object's circles, one behind the other along its height, hold its corners.
    """
    half = 0.5 * lifter.held.depth
    radius, ends = float(np.sqrt(2.0)) * half, max(0.5 * lifter.held.height - half, 0.0)
    found = []
    for along in (-ends, 0.0, ends) if ends else (0.0,):
        middle = lifter.tree.point("hand", lifter.reach + 1j * along)
        for body, offset, own in BODY_CIRCLES:
            found.append((middle.minus(lifter.tree.point(body, offset)), radius + own))
    return tuple(found)


def smallest_gap(lifter: PlanarLifter, q: Array) -> Array:
    """(...) smallest distance between circles at joint angles (..., 7); negative where they meet [m]."""
    theta = np.asarray(q) @ lifter.absolute.T
    gaps = [np.linalg.norm(way.position(theta), axis=-1) - least for way, least in clearances(lifter)]
    return np.asarray(np.min(gaps, axis=0))
