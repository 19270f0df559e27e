# SPDX-License-Identifier: Apache-2.0
"""Faces of convex hulls."""

import itertools

import numpy as np
import pytest

from humanoid_model.description import Box
from humanoid_sim.detection.polytope import Polytope


def faces_of(polytope: Polytope) -> list[np.ndarray]:
    starts = polytope.starts
    return [polytope.corner_vertices[a:b] for a, b in itertools.pairwise(starts)]


def test_a_dense_cloud_on_a_prism_has_the_faces_of_the_prism() -> None:
    """Qhull cuts every face into triangles; they are put together again, each face once."""
    angles = np.arange(6) * np.pi / 3.0
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.array([[x, y, z] for x, y in ring for z in np.linspace(-0.5, 0.5, 5)])
    prism = Polytope.of_points(points)
    sizes = sorted(len(face) for face in faces_of(prism))
    assert sizes == [4, 4, 4, 4, 4, 4, 6, 6]
    assert len(prism.vertices) == 12


@pytest.mark.parametrize("seed", range(3))
def test_faces_close_a_round_hull(seed: int) -> None:
    """Euler's formula, outward normals, and every point inside all faces, for a hull of many vertices."""
    points = np.random.default_rng(seed).normal(size=(1500, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = Polytope.of_points(points)
    faces = faces_of(hull)
    edges = {frozenset((int(a), int(b))) for face in faces for a, b in zip(face, np.roll(face, -1), strict=True)}
    assert len(hull.vertices) - len(edges) + len(faces) == 2
    for normal, face in zip(hull.normals, faces, strict=True):
        height = hull.vertices[face] @ normal
        assert np.ptp(height) < 1e-5
        assert (points @ normal).max() <= height.max() + 1e-5


@pytest.mark.parametrize("size", [(1.0, 1.0, 1.0), (0.2, 3.0, 0.7), (5.0, 1e-3, 0.4)])
def test_a_box_has_the_faces_of_its_corners_hull(size: tuple[float, float, float]) -> None:
    box = Polytope.of_box(Box(np.array(size)))
    hull = Polytope.of_points(box.vertices)
    assert sorted(map(tuple, box.vertices)) == sorted(itertools.product(*((-0.5 * edge, 0.5 * edge) for edge in size)))

    def faces(polytope: Polytope) -> dict[tuple[float, ...], list[int]]:
        """Vertices around each face from the first one on, by normals."""
        rings = np.split(polytope.corner_vertices, polytope.starts[1:-1])
        rings = [np.roll(ring, -int(ring.argmin())).tolist() for ring in rings]
        return dict(zip(map(tuple, (polytope.normals + 0.0).tolist()), rings, strict=True))

    assert faces(box) == faces(hull)
    assert box.neighbours.tolist() == hull.neighbours.tolist()
