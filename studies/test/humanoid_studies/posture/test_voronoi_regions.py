# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from fixtures.point_clouds import blob, box_corners, unit_vectors
from scipy.spatial import ConvexHull

from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_studies.posture.voronoi_regions import Patch, VoronoiRegions

pytestmark = pytest.mark.feature("001-F119")

CLOUDS = {
    "ball": np.zeros((1, 3)),
    "spindle": np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3]]),
    "triangle": np.array([[0.0, 0, 0], [0.3, 0, 0], [0.1, 0.2, 0]]),
    "cube": box_corners(0.1, 0.1, 0.1),
    "blob": blob(50, 0.1, 1),
}


@pytest.mark.parametrize("R", [0.6, 20.0])
@pytest.mark.parametrize("name", CLOUDS)
def test_points_over_a_patch_belong_to_it(name, R):
    """A point on the normal of a boundary point is nearest to it, since the volume is convex: no search needed."""
    rng = np.random.default_rng(2)
    volume = SphereTorusVolume.from_points(CLOUDS[name], 0.01, R)
    regions = VoronoiRegions.of_volume(volume)
    points, kinds, indices = [], [], []
    for face, (corners, centre) in enumerate(zip(volume.vertices[volume.faces], volume.centres, strict=True)):
        for weights in rng.dirichlet([1.0, 1.0, 1.0], size=5):
            normal = weights @ corners - centre
            points.append(centre + (R + rng.exponential(0.5)) * normal / np.linalg.norm(normal))
            kinds.append(Patch.BIG_SPHERE)
            indices.append(face)
    for edge, (a, b) in enumerate(volume.edges):
        if volume.tori.sweeps[edge] == 0.0:
            continue
        for share, turn in rng.uniform(0.01, 0.99, size=(5, 2)):
            centre = volume.tori.centres_at(edge, turn * volume.tori.sweeps[[edge]])[0]
            normal = share * volume.vertices[a] + (1 - share) * volume.vertices[b] - centre
            points.append(centre + (R + rng.exponential(0.5)) * normal / np.linalg.norm(normal))
            kinds.append(Patch.TORUS)
            indices.append(edge)
    for direction in unit_vectors(200, 4):
        vertex = int(np.argmax(volume.vertices @ direction))
        reach = np.linalg.norm(volume.vertices - volume.vertices[vertex] + (R - 0.01) * direction, axis=1)
        if np.delete(reach, vertex).max(initial=0.0) < R - 0.0101:  # the big sphere there touches no other point
            points.append(volume.vertices[vertex] + (0.01 + rng.exponential(0.5)) * direction)
            kinds.append(Patch.SMALL_SPHERE)
            indices.append(vertex)
    found_kinds, found_indices = regions.classify(np.array(points))
    assert found_kinds.tolist() == kinds
    assert found_indices.tolist() == indices


@pytest.mark.parametrize("R", [0.6, 20.0])
@pytest.mark.parametrize("name", CLOUDS)
def test_nearest_patch_gives_the_distance_by_duality(name, R):
    """max |p - c| over the places c of the big sphere, less R ((S.2)): the patch's own candidate is that maximum."""
    volume = SphereTorusVolume.from_points(CLOUDS[name], 0.01, R)
    points = volume.vertices.mean(axis=0) + blob(300, 0.5, 3)
    if len(volume.vertices) > 3:
        equations = ConvexHull(volume.vertices).equations
        points = points[(points @ equations[:, :3].T + equations[:, 3]).max(axis=1) > 0.0]
    kinds, indices = VoronoiRegions.of_volume(volume).classify(points)
    arcs = [
        volume.tori.centres_at(edge, np.linspace(0.0, sweep, 200)) for edge, sweep in enumerate(volume.tori.sweeps)
    ]
    centres = np.vstack([volume.centres, *arcs])
    outside = 0
    for point, kind, index in zip(points, kinds, indices, strict=True):
        if kind == Patch.BIG_SPHERE:
            farthest = volume.centres[index]
        elif kind == Patch.SMALL_SPHERE:
            away = volume.vertices[index] - point
            farthest = volume.vertices[index] + (R - 0.01) * away / np.linalg.norm(away)
        else:
            tori = volume.tori
            relative = point - tori.midpoints[index]
            across = relative - (relative @ tori.axes[index]) * tori.axes[index]
            farthest = tori.midpoints[index] - tori.radii[index] * across / np.linalg.norm(across)
        if np.linalg.norm(point - farthest) < R:
            continue  # inside the volume
        outside += 1
        assert np.linalg.norm(CLOUDS[name] - farthest, axis=1).max() <= R - 0.01 + 1e-9
        if len(centres):
            assert np.linalg.norm(point - farthest) >= np.linalg.norm(point - centres, axis=1).max() - 1e-9
        nearest = farthest + R * (point - farthest) / np.linalg.norm(point - farthest)
        assert volume.support(point - farthest) == pytest.approx(nearest, abs=1e-8)
    assert outside > 100
