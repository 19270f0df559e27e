# SPDX-License-Identifier: Apache-2.0
"""Smooth features associated with features of the polyhedra (specification 001 section 5.6).

The distance of the polyhedra is taken between two points. The smooth feature of each volume is the one nearest to
the other polyhedron's point: the one in whose Voronoi region that point lies. It is the feature over the polyhedron's
own, or a neighbour, such as the torus over the longest edge of an obtuse face; a walk across the borders of the
regions finds it in a step or two, and makes decision trees for each vertex and rules for each kind of face one thing.
"""

from __future__ import annotations

import numpy as np

from humanoid_planner.distance.frame_change import Frames, to_body, to_world, vector
from humanoid_planner.distance.kernel import kernel
from humanoid_planner.distance.normal_regions import neighbour
from humanoid_planner.distance.primitive_distance import sphere_sphere, sphere_torus
from humanoid_planner.distance.volume_table import EDGE, Pair, VolumeTable

_STEPS = 8
"""Regions that a walk may visit: it starts from a vertex of the polyhedron's feature."""


@kernel
def nearest_feature(table: VolumeTable, row: int, point: np.ndarray) -> int:
    """Return the feature of a volume nearest to a point outside.

    Args:
        table: of the volumes.
        row: feature to start from.
        point: in the volume's frame, shape (3,).

    Returns:
        Row of the feature; of one near it if the walk didn't end.
    """
    features = table.features
    for _ in range(_STEPS):
        d = point[0] - features[row, 0], point[1] - features[row, 1], point[2] - features[row, 2]
        if table.links[row, 0] == EDGE:
            _, u, found = sphere_torus(d, vector(features, row, 3), features[row, 7])
        else:
            _, u, found = sphere_sphere(d)
        if not found:
            return row
        following = neighbour(table, u, row, False)
        if following == row:
            return row
        row = following
    return row


@kernel
def associate(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, witnesses: np.ndarray
) -> tuple[int, int]:
    """Smooth features of two volumes from the points that the distance of their polyhedra is taken between.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: vertex of the first volume.
        row_b: vertex of the second volume.
        witnesses: the points, each in the frame of its own body; overwritten, shape (2, 3).

    Returns:
        Feature of the first volume and of the second.
    """
    origins, a, b = frames.origins, pair.body_a, pair.body_b
    p0, p1, p2 = to_world(frames, a, vector(witnesses, 0, 0))
    q0, q1, q2 = to_world(frames, b, vector(witnesses, 1, 0))
    x0, x1, x2 = origins[a, 0] - origins[b, 0], origins[a, 1] - origins[b, 1], origins[a, 2] - origins[b, 2]
    witnesses[0, 0], witnesses[0, 1], witnesses[0, 2] = to_body(frames, a, (q0 - x0, q1 - x1, q2 - x2))
    witnesses[1, 0], witnesses[1, 1], witnesses[1, 2] = to_body(frames, b, (p0 + x0, p1 + x1, p2 + x2))
    return nearest_feature(table, row_a, witnesses[0]), nearest_feature(table, row_b, witnesses[1])
