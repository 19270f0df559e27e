# SPDX-License-Identifier: Apache-2.0
"""Smallest ball that holds a set of points."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

_ROUND_OFF = 1e-12
"""Relative excess of a distance that counts as none."""


def enclosing_ball(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Centre and radius of the smallest ball that holds all points.

    The farthest point enters the set of points on the boundary until none is outside: the radius grows each time,
    therefore it ends (B. Gärtner, "Fast and robust smallest enclosing balls", ESA 1999, in three dimensions).

    Args:
        points: shape (n, 3), n at least 1 [m].
    """
    support = points[:1]
    while True:
        centre, radius = _ball_of_few(support)
        distances = np.linalg.norm(points - centre, axis=1)
        farthest = int(np.argmax(distances))
        if distances[farthest] <= radius * (1.0 + _ROUND_OFF):
            return centre, float(distances[farthest])
        entering = points[farthest]
        following, grown = support, radius
        best = np.inf
        for size in range(min(len(support), 3) + 1):
            for chosen in itertools.combinations(range(len(support)), size):
                candidate = np.vstack([support[list(chosen)], entering])
                ball = _circumscribed(candidate)
                if ball is None or ball[1] >= best:
                    continue
                if np.linalg.norm(support - ball[0], axis=1).max() <= ball[1] * (1.0 + _ROUND_OFF):
                    following, best = candidate, ball[1]
        grown = best
        if not grown > radius:  # the rest is round-off
            return centre, float(distances[farthest])
        support = following


def _ball_of_few(support: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    ball = _circumscribed(support)
    assert ball is not None  # a support set has been one before
    return ball


def _circumscribed(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float] | None:
    """Smallest ball with all of up to four points on its boundary; None when they are affinely dependent."""
    edges = points[1:] - points[0]
    gram = edges @ edges.T
    if len(edges):
        scale = np.sqrt(np.diag(gram))
        if scale.min() == 0.0 or np.linalg.cond(gram / np.outer(scale, scale)) > 1e14:
            return None
        centre = points[0] + np.linalg.solve(gram, 0.5 * np.diag(gram)) @ edges
    else:
        centre = points[0]
    return centre, float(np.linalg.norm(points[0] - centre))
