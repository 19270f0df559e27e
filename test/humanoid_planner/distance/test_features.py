# SPDX-License-Identifier: Apache-2.0
"""Smooth features associated with what the polyhedra say (specification 001 section 5.6, X13)."""

import coal
import numpy as np
import pytest
from fixtures.volume_oracle import zoo
from numba import njit
from scipy.spatial.transform import Rotation

from humanoid_planner.distance.features import (
    associate,
    locate,
    region_excess,
    sphere_sphere,
    sphere_torus,
    torus_torus,
    walk,
)
from humanoid_planner.distance.frames import Frames, vector_of
from humanoid_planner.distance.gjk import hull_gjk
from humanoid_planner.distance.narrow_phase import cold_start
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_table import (
    EDGE,
    FACE,
    STARTS,
    VERTEX,
    Pair,
    VolumeTable,
    Workspace,
    volume_table,
    workspace,
)


def unit(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return np.asarray(v / np.linalg.norm(v))


def circle(centre: np.ndarray, axis: np.ndarray, radius: float, count: int) -> np.ndarray:
    x, y = np.linalg.svd(axis[None])[2][1:]
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.asarray(centre + radius * (np.cos(angles)[:, None] * x + np.sin(angles)[:, None] * y))


def test_centres() -> None:
    length, n, found = sphere_sphere((1.0, -2.0, 2.0))
    assert (length, found) == (3.0, True)
    assert np.allclose(n, [1 / 3, -2 / 3, 2 / 3])
    assert not sphere_sphere((0.0, 0.0, 0.0))[2]


@pytest.mark.feature("001-F127")
def test_centre_and_circle_by_sampling() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        d, axis, radius = rng.normal(size=3), unit(rng), rng.uniform(0.1, 5.0)
        length, n, found = sphere_torus(tuple(d), tuple(axis), radius)
        sampled = np.linalg.norm(circle(d, axis, radius, 20000), axis=1).max()
        assert found
        assert sampled - 1e-12 <= length <= sampled + 1e-6
        # The formula of the specification, with C the circle's centre, Q the projection of P on its plane.
        along = d @ axis
        cq = np.linalg.norm(d - along * axis)
        assert length == pytest.approx(np.sqrt(radius * (radius + 2.0 * cq) + d @ d), rel=1e-14)
        across = np.array(n) - (np.array(n) @ axis) * axis
        farthest = d + radius * across / np.linalg.norm(across)
        assert np.allclose(farthest, length * np.array(n), atol=1e-12)


def test_centre_on_the_axis_has_no_farthest_point() -> None:
    assert not sphere_torus((0.0, 0.0, 0.3), (0.0, 0.0, 1.0), 2.0)[2]


def gap(d: np.ndarray, axes: np.ndarray, radii: np.ndarray, n: np.ndarray) -> float:
    return float(d @ n + radii @ np.sqrt(1.0 - (axes @ n) ** 2))


@pytest.mark.feature("001-F127")
@pytest.mark.parametrize("radii", [(1.0, 1.0), (20.0, 20.0), (20.0, 0.5)])
def test_two_circles_by_sampling(radii: tuple[float, float]) -> None:
    # Edges near each other, as between volumes; the normal to start from is off by what features are wide.
    rng = np.random.default_rng(1)
    for _ in range(30):
        normal = unit(rng)
        axes = np.cross(normal, rng.normal(size=(2, 3)))
        axes /= np.linalg.norm(axes, axis=1)[:, None]
        d = rng.uniform(0.02, 0.3) * normal + 0.05 * rng.normal(size=3)
        if d @ normal < 0.02:
            continue
        start = normal + 0.02 * rng.normal(size=3)
        near = tuple(start / np.linalg.norm(start))
        length, n, found = torus_torus(tuple(d), tuple(axes[0]), radii[0], tuple(axes[1]), radii[1], near)
        assert found
        assert length == pytest.approx(gap(d, axes, np.array(radii), np.array(n)), abs=1e-13)
        assert length >= gap(d, axes, np.array(radii), start / np.linalg.norm(start)) - 1e-13
        # From dense samples of both circles, near the side that is meant.
        first = circle(d, axes[0], radii[0], 300)
        second = circle(np.zeros(3), axes[1], radii[1], 300)
        sampled = np.linalg.norm(first[:, None] - second[None], axis=2).max()
        assert sampled <= length + 1e-12
        assert sampled >= length - 2e-4 * sum(radii)


@pytest.mark.feature("001-F128")
def test_alternating_projections_of_the_thesis_climb_to_the_same_points() -> None:
    # Farthest point of one circle from the last one of the other, again and again: never down, and slowly.
    d, axes, radii = np.array([0.1, 0.2, 1.0]), np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]]), np.array([1.5, 2.0])
    length, n, found = torus_torus(
        tuple(d), tuple(axes[0]), radii[0], tuple(axes[1]), radii[1], (0.0, 0.0, 1.0)
    )
    assert found
    point = np.array([0.0, 0.0, -2.0])
    lengths = []
    for _ in range(200):
        across = (d - point) - ((d - point) @ axes[0]) * axes[0]
        first = d + radii[0] * across / np.linalg.norm(across)
        across = -first + (first @ axes[1]) * axes[1]
        point = radii[1] * across / np.linalg.norm(across)
        lengths.append(np.linalg.norm(first - point))
    assert np.all(np.diff(lengths) > -1e-14)
    assert lengths[-1] == pytest.approx(length, abs=1e-12)
    assert np.allclose((first - point) / lengths[-1], n, atol=1e-6)


def test_stuck_on_an_axis_says_so() -> None:
    assert not torus_torus((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), 2.0, (1.0, 0.0, 0.0), 2.0, (0.0, 0.0, 1.0))[2]


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
