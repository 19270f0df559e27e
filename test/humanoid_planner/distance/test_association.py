# SPDX-License-Identifier: Apache-2.0
"""Smooth features associated with what the polyhedra say (specification 001 section 5.6, X13)."""

import coal
import numpy as np
import pytest
from fixtures.volume_oracle import zoo
from numba import njit
from scipy.spatial.transform import Rotation

from humanoid_planner.distance.association import associate
from humanoid_planner.distance.feature_walk import walk
from humanoid_planner.distance.frame_change import Frames, vector_of
from humanoid_planner.distance.gjk import hull_gjk
from humanoid_planner.distance.narrow_phase import cold_start
from humanoid_planner.distance.normal_regions import locate, region_excess
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_table import EDGE, FACE, STARTS, VERTEX, Pair, VolumeTable, volume_table
from humanoid_planner.distance.workspace import Workspace, workspace


@njit
def hull_distances(
    table: VolumeTable, frames: Frames, normals: np.ndarray, out: np.ndarray, work: Workspace
) -> None:
    for k in range(len(out)):
        a, b = 2 * k, 2 * k + 1
        pair = Pair(a % 6, b % 6, a, b)
        row_a, row_b = cold_start(table, frames, pair, work)
        out[k] = hull_gjk(table, frames, pair, row_a, row_b, work)[0]
        normals[k] = work.n


@njit
def count_pairs_tried(table: VolumeTable, frames: Frames, work: Workspace, tried: np.ndarray) -> None:
    """Counts pairs with polyhedra apart by how many pairs of features a walk tries: 0 for none that it arrives with."""
    n = work.n
    for k in range(len(frames.origins) // 2):
        a, b = 2 * k, 2 * k + 1
        pair = Pair(a % 6, b % 6, a, b)
        row_a, row_b = cold_start(table, frames, pair, work)
        distance, row_a, row_b = hull_gjk(table, frames, pair, row_a, row_b, work)
        if distance == 0.0:
            continue
        row_a, row_b = associate(table, frames, pair, row_a, row_b, work.witnesses)
        count = 0
        for most in range(1, len(tried)):
            if walk(table, frames, pair, row_a, row_b, vector_of(n), most, -1.0)[4]:
                count = most
                break
        tried[count] += 1


def clouds(rng: np.random.Generator) -> list[np.ndarray]:
    box = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.07, 0.07) for z in (-0.05, 0.05)])
    return [box, *(rng.normal(size=(count, 3)) * 0.1 for count in (6, 10, 20, 40, 120))]


def placements(rng: np.random.Generator, count: int, farthest: float) -> tuple[np.ndarray, np.ndarray]:
    apart = rng.normal(size=(count, 3))
    apart *= (rng.uniform(0.3, farthest, count) / np.linalg.norm(apart, axis=1))[:, None]
    origins = np.repeat(rng.normal(size=(count, 3)), 2, axis=0)
    origins[1::2] += apart
    return Rotation.random(2 * count, random_state=rng).as_matrix(), origins


@pytest.mark.feature("001-F123")
def test_distance_and_normal_of_the_polyhedra() -> None:
    rng = np.random.default_rng(0)
    points = clouds(rng)
    table = volume_table([SphereTorusVolume.from_points(cloud, 0.01, 100.0) for cloud in points])
    hulls = []
    for cloud in points:
        vector = coal.StdVec_Vec3s()
        for point in cloud:
            vector.append(point)
        hulls.append(coal.ConvexBase.convexHull(vector, False, ""))
    rotations, origins = placements(rng, 600, 1.0)
    values, normals = np.empty(600), np.empty((600, 3))
    hull_distances(table, Frames(rotations, origins), normals, values, workspace())
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    apart = 0
    for k in range(600):
        result.clear()
        frames = [coal.Transform3s(rotations[i], origins[i]) for i in (2 * k, 2 * k + 1)]
        expected = coal.distance(hulls[2 * k % 6], frames[0], hulls[(2 * k + 1) % 6], frames[1], request, result)
        assert values[k] == pytest.approx(max(expected, 0.0), abs=2e-6)
        if expected > 0.01:
            apart += 1
            along = (result.getNearestPoint1() - result.getNearestPoint2()) / expected
            assert np.allclose(normals[k], along, atol=2e-3)
    assert apart > 300


def test_features_under_directions_by_looking_at_all() -> None:
    rng = np.random.default_rng(1)
    volumes = zoo(rng)
    table = volume_table(volumes)
    kinds = set()
    for volume in range(len(volumes)):
        first, last = (int(row) for row in table.first[volume])
        directions = rng.normal(size=(60, 3))
        # Between the corners of a face as seen from its big sphere, also where random directions hardly come.
        for face in range(first, last):
            if table.links[face, 0] == FACE:
                corners = volumes[volume].vertices[volumes[volume].faces[face - last + len(volumes[volume].faces)]]
                directions = np.vstack(
                    [directions, rng.dirichlet([1.0, 1.0, 1.0]) @ corners - table.features[face, :3]]
                )
        # Exactly across faces of a box, along the borders of its triangles, and the opposite.
        for direction in np.vstack([directions, STARTS]):
            u = direction / np.linalg.norm(direction)
            excess = [region_excess(table, tuple(u), row) for row in range(first, last)]
            starts = range(first, last) if np.abs(u).max() == 1.0 else rng.integers(first, last, 3)
            rows = {locate(table, tuple(u), int(start), first, last) for start in starts}
            assert all(excess[row - first] <= 1e-11 for row in rows)
            support = volumes[volume].support(u)
            for row in rows:
                kinds.add(int(table.links[row, 0]))
                radius = table.radii[volume, 0] if table.links[row, 0] == VERTEX else table.radii[volume, 1]
                centre = table.features[row, :3]
                if table.links[row, 0] == EDGE:
                    axis = table.features[row, 3:6]
                    across = u - (u @ axis) * axis
                    centre = centre - table.features[row, 7] * across / np.linalg.norm(across)
                assert np.allclose(centre + radius * u, support, atol=1e-9)
    assert kinds == {VERTEX, EDGE, FACE}


def association(count: int, R: float) -> np.ndarray:
    rng = np.random.default_rng(2)
    table = volume_table([SphereTorusVolume.from_points(cloud, 0.01, R) for cloud in clouds(rng)])
    rotations, origins = placements(rng, count, 1.0)
    tried = np.zeros(9, dtype=np.int64)
    count_pairs_tried(table, Frames(rotations, origins), workspace(), tried)
    return tried


@pytest.mark.feature("001-F124", "001-F125", "001-F126")
def test_association_is_right_at_once_or_after_one_correction() -> None:
    tried = association(3000, 20.0)
    assert tried.sum() > 2000
    assert tried[1] > 0.98 * tried.sum()
    assert tried[1] + tried[2] > 0.997 * tried.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("R", "at_once", "corrected"), [(1.0, 0.8, 0.96), (10.0, 0.975, 0.995), (20.0, 0.985, 0.997), (100.0, 0.996, 0.999)]
)
def test_association_statistics(R: float, at_once: float, corrected: float) -> None:
    tried = association(130_000, R)
    assert tried.sum() > 100_000
    assert tried[1] > at_once * tried.sum()
    assert tried[1] + tried[2] > corrected * tried.sum()
