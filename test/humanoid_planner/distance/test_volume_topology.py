# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from humanoid_planner.distance.volume_topology import VolumeTopology

TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def across(faces):
    """Half-edges by their end points, where no two edges join the same vertices."""
    place = {(f[k], f[(k + 1) % 3]): 3 * i + k for i, f in enumerate(faces.tolist()) for k in range(3)}
    return np.array([[place.get((f[(k + 1) % 3], f[k]), -1) for k in range(3)] for f in faces.tolist()])


def test_tetrahedron():
    topology = VolumeTopology.of_faces(TETRAHEDRON, across(TETRAHEDRON), 4)
    assert {frozenset(edge) for edge in topology.edges.tolist()} == {
        frozenset(pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    }
    assert topology.vertex_offsets.tolist() == [0, 3, 6, 9, 12]
    # Seen from outside, around the apex: 0, 1, 2.
    ends = [int(topology.edges[edge].sum()) - 3 for edge in topology.vertex_edges[9:]]
    assert ends in ([0, 1, 2], [1, 2, 0], [2, 0, 1])


def test_two_edges_between_the_same_vertices_stay_apart():
    # Two triangles, each on both sides of a common edge, which is therefore there twice.
    faces = np.array([[0, 1, 2], [1, 0, 2], [1, 0, 3], [0, 1, 3]])
    neighbours = np.array([[6, 5, 4], [9, 2, 1], [0, 11, 10], [3, 8, 7]])
    topology = VolumeTopology.of_faces(faces, neighbours, 4)
    assert sorted(map(sorted, topology.edges.tolist())) == [[0, 1], [0, 1], [0, 2], [0, 3], [1, 2], [1, 3]]
    assert np.diff(topology.vertex_offsets).tolist() == [4, 4, 2, 2]


def test_open_surfaces_and_wrong_neighbours_are_refused():
    neighbours = across(TETRAHEDRON)
    neighbours[[0, 1]] = neighbours[[1, 0]]
    with pytest.raises(ValueError, match="closed surface"):
        VolumeTopology.of_faces(TETRAHEDRON, neighbours, 4)
    with pytest.raises(ValueError, match="closed surface"):
        VolumeTopology.of_faces(TETRAHEDRON[:3], np.where(across(TETRAHEDRON[:3]) < 0, 0, across(TETRAHEDRON[:3])), 4)


def test_two_fans_at_a_vertex_are_refused():
    other = np.where(TETRAHEDRON > 0, TETRAHEDRON + 3, 0)  # a second tetrahedron at vertex 0
    faces = np.vstack([TETRAHEDRON, other])
    with pytest.raises(ValueError, match="vertex 0 aren't a single fan"):
        VolumeTopology.of_faces(faces, across(faces), 7)


def test_without_faces():
    ball, spindle = VolumeTopology.of_points(1), VolumeTopology.of_points(2)
    assert (len(ball.edges), ball.vertex_offsets.tolist()) == (0, [0, 0])
    assert spindle.edges.tolist() == [[0, 1]]
    assert spindle.edge_faces.tolist() == [[-1, -1]]
    assert spindle.vertex_offsets.tolist() == [0, 1, 2]
    assert spindle.vertex_edges.tolist() == [0, 0]
