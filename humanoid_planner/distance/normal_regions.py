# SPDX-License-Identifier: Apache-2.0
"""Which of a volume's features has a given direction among its outward normals.

These are the Voronoi regions of specification 001 section 5.4 seen from infinity: a small sphere and a torus are
bordered by a cone around the edge, a torus and a big sphere by a plane through the edge, a small and a big sphere meet
in one direction only. Neighbours evaluate one and the same expression for the border between them, so that no direction
falls between two features.

The torus between two faces on one big sphere has an empty arc, and no normals that aren't the faces' too. Its two
borders are one plane, which also holds the opposite directions: a walk passes it, and doesn't end there.
"""

from __future__ import annotations

import numpy as np

from humanoid_planner.distance.frame_change import Vector
from humanoid_planner.distance.kernel import kernel
from humanoid_planner.distance.volume_table import EDGE, VERTEX, VolumeTable

BORDER = 1e-11
"""Directions beyond a border by less [rad] count as on it: round-off must not send a walk to and fro."""


@kernel
def region_excess(table: VolumeTable, u: Vector, row: int) -> float:
    """Return how far a direction is beyond the borders of a feature's normals (about rad), at most 0 inside.

    Infinity at a torus without an arc.
    """
    u0, u1, u2 = u
    features, links, spokes = table.features, table.links, table.spokes
    kind = links[row, 0]
    excess = -1.0
    if kind == VERTEX:
        for k in range(links[row, 1], links[row, 1] + links[row, 2]):
            excess = max(excess, u0 * spokes[k, 0] + u1 * spokes[k, 1] + u2 * spokes[k, 2] + spokes[k, 3])
        return excess
    if kind == EDGE:
        s = u0 * features[row, 3] + u1 * features[row, 4] + u2 * features[row, 5]
        excess = abs(s) - features[row, 6]
        if links[row, 3] < 0:
            return excess
        if features[row, 14] < 0.0:
            return np.inf
        first = u0 * features[row, 8] + u1 * features[row, 9] + u2 * features[row, 10]
        last = u0 * features[row, 11] + u1 * features[row, 12] + u2 * features[row, 13]
        if features[row, 14] != 0.0:
            return max(excess, min(first, last))
        return max(excess, first, last)
    for k in range(3, 12, 3):
        excess = max(excess, -(u0 * features[row, k] + u1 * features[row, k + 1] + u2 * features[row, k + 2]))
    return excess


@kernel
def neighbour(table: VolumeTable, u: Vector, row: int, far: bool) -> int:
    """Feature across the border of a feature's normals that a direction is farthest beyond.

    Args:
        table: of the volumes.
        u: unit direction in the volume's frame.
        row: the feature.
        far: from a vertex, go on to the vertex at the other end of the edge if the direction is beyond the torus too.

    Returns:
        Row of that feature; ``row`` if the direction is among its normals.
    """
    u0, u1, u2 = u
    features, links, spokes = table.features, table.links, table.spokes
    kind = links[row, 0]
    if kind == VERTEX:
        worst, spoke = BORDER, -1
        for k in range(links[row, 1], links[row, 1] + links[row, 2]):
            excess = u0 * spokes[k, 0] + u1 * spokes[k, 1] + u2 * spokes[k, 2] + spokes[k, 3]
            if excess > worst:
                worst, spoke = excess, k
        if spoke < 0:
            return row
        return table.spoke_links[spoke, 1 if far and worst > 2.0 * spokes[spoke, 3] else 0]
    if kind == EDGE:
        s = u0 * features[row, 3] + u1 * features[row, 4] + u2 * features[row, 5]
        if s > features[row, 6] + BORDER:
            return links[row, 2]
        if s < -features[row, 6] - BORDER:
            return links[row, 1]
        if links[row, 3] < 0:
            return row
        over_first = u0 * features[row, 8] + u1 * features[row, 9] + u2 * features[row, 10]
        over_last = u0 * features[row, 11] + u1 * features[row, 12] + u2 * features[row, 13]
        outside = min(over_first, over_last) if features[row, 14] != 0.0 else max(over_first, over_last)
        if outside <= BORDER and features[row, 14] >= 0.0:
            return row
        return links[row, 3 if over_first > over_last else 4]
    worst, edge = -BORDER, -1
    for k in range(3):
        inside = u0 * features[row, 3 + 3 * k] + u1 * features[row, 4 + 3 * k] + u2 * features[row, 5 + 3 * k]
        if inside < worst:
            worst, edge = inside, k
    return row if edge < 0 else links[row, 1 + edge]


@kernel
def locate(table: VolumeTable, u: Vector, row: int, first: int, last: int) -> int:
    """Feature of a volume whose outward normals hold a direction, by walking from a feature across violated borders.

    Args:
        table: of the volumes.
        u: unit direction in the volume's frame.
        row: feature to start from.
        first: first feature of the volume.
        last: feature after the volume's last.

    Returns:
        Row of the feature.
    """
    for _ in range(last - first + 8):
        following = neighbour(table, u, row, True)
        if following == row:
            return row
        row = following
    # The walk ran in a circle, as it may where tori of very different widths meet: look at all of them.
    best, least = row, np.inf
    for candidate in range(first, last):
        excess = region_excess(table, u, candidate)
        if excess < least:
            best, least = candidate, excess
    return best
