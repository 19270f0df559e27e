# SPDX-License-Identifier: Apache-2.0
"""Compiled distance and depth of convex shapes against coal and against support planes."""

import itertools

import coal
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Sphere
from humanoid_sim.detection.convex_pair import contact_patch, convex_distance
from humanoid_sim.detection.shape_table import Nearest, PatchPoints, Pose, shape_table
from humanoid_sim.detection.solids import Polytope, SolidShape

AT_ORIGIN = Pose(np.eye(3), np.zeros(3))


def ball_points(count: int) -> np.ndarray:
    points = np.random.default_rng(count).normal(size=(count, 3))
    return 0.15 * points / np.linalg.norm(points, axis=1)[:, None]


SOLIDS: dict[str, SolidShape] = {
    "box": Box(np.array([0.3, 0.2, 0.1])),
    "sphere": Sphere(0.1),
    "capsule": Capsule(0.05, 0.3),
    "cylinder": Cylinder(0.08, 0.2),
    "ellipsoid": Ellipsoid(np.array([0.15, 0.08, 0.05])),
    "hull": Polytope.of_points(0.15 * np.random.default_rng(0).normal(size=(15, 3))),
    "large hull": Polytope.of_points(ball_points(200)),
}


def coal_shape(solid: SolidShape) -> coal.CollisionGeometry:
    if not isinstance(solid, Polytope):
        assert isinstance(solid, (Box, Sphere, Capsule, Cylinder, Ellipsoid))
        return coal_geometry(solid)
    model = coal.BVHModelOBBRSS()
    triangles = np.array([[0, 1, 2]] * len(solid.vertices), dtype=np.int64)
    model.beginModel(len(triangles), len(solid.vertices))
    model.addVertices(np.ascontiguousarray(solid.vertices))
    model.addTriangles(triangles)
    model.endModel()
    model.buildConvexHull(True, "Qt")
    return model.convex


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    return np.ascontiguousarray(pin.Quaternion(rng.normal(size=4)).normalized().matrix())


def centre_in_cylinder(x: np.ndarray) -> float:
    """Depth of a point in the cylinder; coal is off by centimetres where a sphere's centre is inside."""
    return -float(min(0.08 - np.hypot(x[0], x[1]), 0.1 - abs(x[2])))


@pytest.mark.feature("000-F100")
@pytest.mark.parametrize(("a", "b"), list(itertools.combinations_with_replacement(SOLIDS, 2)))
def test_random_poses_as_coal_sees_them(a: str, b: str) -> None:
    """Apart and overlapping, in both orders; round surfaces are known to coal to 1e-6 only."""
    rng = np.random.default_rng(1)
    table = shape_table([SOLIDS[a], SOLIDS[b]])
    geometries = coal_shape(SOLIDS[a]), coal_shape(SOLIDS[b])
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    tolerance = 5e-6 if {"cylinder", "ellipsoid"} & {a, b} else 1e-7
    if a == b == "ellipsoid":  # 0.1 m deep in each other, where both polytopes have too few corners
        tolerance = 2e-5
    nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
    normal, on_a, on_b = nearest.normal, nearest.on_a, nearest.on_b
    signs = []
    for _ in range(150):
        R_a, R_b, p_b = random_rotation(rng), random_rotation(rng), rng.normal(size=3)
        way = rng.normal(size=3)
        p_a = p_b + rng.uniform(0.05, 0.45) * way / np.linalg.norm(way)
        found = convex_distance(table, 0, 1, Pose(R_a, p_a), Pose(R_b, p_b), 1.0, nearest)
        result.clear()
        expected = coal.distance(
            geometries[0], coal.Transform3s(R_a, p_a), geometries[1], coal.Transform3s(R_b, p_b), request, result
        )
        if {a, b} == {"sphere", "cylinder"} and expected < -0.1:
            expected = centre_in_cylinder(R_b.T @ (p_a - p_b) if b == "cylinder" else R_a.T @ (p_b - p_a)) - 0.1
        assert found == pytest.approx(expected, abs=tolerance)
        assert np.linalg.norm(normal) == pytest.approx(1.0)
        assert (on_a - on_b) @ normal == pytest.approx(found, abs=1e-9)
        signs.append(found > 0.0)
        swapped = convex_distance(table, 1, 0, Pose(R_b, p_b), Pose(R_a, p_a), 1.0, nearest)
        assert swapped == pytest.approx(found, abs=tolerance)
        if found > 1e-3:
            assert convex_distance(table, 0, 1, Pose(R_a, p_a), Pose(R_b, p_b), 0.99 * found, nearest) == np.inf
    assert 10 < sum(signs) < 140


@pytest.mark.feature("000-F100")
@pytest.mark.parametrize("gap", [0.05, 1e-4, 0.0, -1e-4, -1e-3])
@pytest.mark.parametrize("thin", [0.1, 0.03])
def test_ellipsoids_touch_where_their_normals_are_opposite(gap: float, thin: float) -> None:
    """The point with normal n is D D n / |D n|: two such points, moved apart along n, are the nearest ones."""
    rng = np.random.default_rng(2)
    for _ in range(100):
        radii = np.array([0.3, 0.1, thin]), rng.uniform(0.05, 0.2, 3)
        table = shape_table([Ellipsoid(own) for own in radii])
        R_a, R_b, n = random_rotation(rng), random_rotation(rng), rng.normal(size=3)
        n /= np.linalg.norm(n)
        out_a, out_b = (
            R @ (own**2 * (R.T @ side)) / np.linalg.norm(own * (R.T @ side))
            for R, own, side in ((R_a, radii[0], -n), (R_b, radii[1], n))
        )
        p_b = rng.normal(size=3)
        p_a = p_b + out_b + gap * n - out_a
        nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
        found = convex_distance(table, 0, 1, Pose(R_a, p_a), Pose(R_b, p_b), 1.0, nearest)
        assert found == pytest.approx(gap, abs=1e-9)
        assert_allclose(nearest.normal, n, atol=1e-5)
        assert_allclose(nearest.on_a, p_a + out_a, atol=5e-6)
        assert_allclose(nearest.on_b, p_b + out_b, atol=5e-6)


@pytest.mark.parametrize("seed", range(3))
def test_cylinders_near_the_axes_of_boxes_as_coal_sees_them(seed: int) -> None:
    """Turned from a box's axes by 1e-9 to 1e-3 rad: simplices and polytopes get slivers that rounding turns over."""
    rng = np.random.default_rng(seed)
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
    normal, on_a, on_b = nearest.normal, nearest.on_a, nearest.on_b
    for _ in range(10):
        solids = [Cylinder(*rng.uniform(0.03, 0.3, 2)), Box(rng.uniform(0.03, 1.0, 3))]
        table, geometries = shape_table(solids), [coal_shape(solid) for solid in solids]
        for _ in range(100):
            R = np.eye(3)[:, rng.permutation(3)]
            R = R * np.sign(np.linalg.det(R)) @ pin.exp3(rng.normal(size=3) * 10.0 ** rng.uniform(-9, -3))
            p = rng.normal(size=3) * rng.uniform(0.01, 0.3)
            found = convex_distance(table, 0, 1, Pose(R, p), AT_ORIGIN, 10.0, nearest)
            result.clear()
            expected = coal.distance(
                geometries[0], coal.Transform3s(R, p), geometries[1], coal.Transform3s.Identity(), request, result
            )
            assert found == pytest.approx(expected, abs=1e-4)
            assert (on_a - on_b) @ normal == pytest.approx(found, abs=1e-9)


def test_a_cylinder_deep_in_the_edge_of_a_slab() -> None:
    """A hair farther its polytope had a face turned over, and the shapes were 0.59 m apart."""
    table = shape_table([Cylinder(0.062, 0.16), Box(np.array([0.7, 1.0, 0.04]))])
    R = np.array(
        [
            [6.840167483191231e-08, 0.9999999999999876, 1.4202614877191228e-07],
            [1.3908884472719825e-06, 1.4202605363267592e-07, -0.9999999999990227],
            [-0.9999999999990303, 6.840187237437499e-08, -1.3908884375571452e-06],
        ]
    )
    p = np.array([-0.34840746113845594, -0.00862340961013918, -0.018513575246230114])
    way = p - np.array([-0.3476124831085355, -0.008065293792558437, -0.018275842904909072])
    nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
    for step in (-1e-6, 0.0, 1e-8, 1e-6, 1e-4):
        place = p + step * way / np.linalg.norm(way)
        found = convex_distance(table, 0, 1, Pose(R, place), AT_ORIGIN, 10.0, nearest)
        assert found == pytest.approx(-0.063487, abs=3e-5)


def test_nearest_points_of_parallel_faces_are_on_both() -> None:
    table = shape_table([Box(np.full(3, 0.2)), Box(np.array([1.0, 0.8, 0.1]))])
    nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
    on_a, on_b = nearest.on_a, nearest.on_b
    for order in ((0, 1), (1, 0)):
        for above in (0.0, -1e-4):
            places = [np.array([0.1, 0.05, 0.15 + above]), np.zeros(3)]
            first, second = places[order[0]], places[order[1]]
            convex_distance(table, *order, Pose(np.eye(3), first), Pose(np.eye(3), second), 1.0, nearest)
            for point in (on_a, on_b):
                assert np.all(np.abs(point[:2] - places[0][:2]) <= 0.1 + 1e-12)
                assert abs(point[2] - 0.05) <= 1.01e-4


@pytest.mark.parametrize(("a", "b"), [("box", "hull"), ("hull", "large hull")])
def test_depth_is_that_of_a_support_plane(a: str, b: str) -> None:
    """All of a's points are on one side of the plane that the normal and the depth give: no library needed."""
    rng = np.random.default_rng(2)
    table = shape_table([SOLIDS[a], SOLIDS[b]])
    nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
    normal = nearest.normal
    corners = [
        Polytope.of_box(solid).vertices if isinstance(solid, Box) else solid.vertices  # type: ignore[union-attr]
        for solid in (SOLIDS[a], SOLIDS[b])
    ]
    for _ in range(200):
        R_a, R_b, p_a = random_rotation(rng), random_rotation(rng), 0.1 * rng.normal(size=3)
        found = convex_distance(table, 0, 1, Pose(R_a, p_a), Pose(R_b, np.zeros(3)), 1.0, nearest)
        low = ((corners[0] @ R_a.T + p_a) @ normal).min()
        high = ((corners[1] @ R_b.T) @ normal).max()
        assert low - high == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("gap", [-1e-6, -1e-9, -1e-13, 0.0, 1e-13, 1e-9, 1e-6])
@pytest.mark.parametrize("edge", [0.05, 1.0, 30.0])
def test_box_at_rest_on_a_box_has_an_upright_normal(gap: float, edge: float) -> None:
    table = shape_table([Box(np.array([0.3, 0.2, 0.1])), Box(np.array([edge, edge, 1.0]))])
    R = pin.rpy.rpyToMatrix(0.0, 0.0, 0.3)
    nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
    normal = nearest.normal
    p_a = np.array([0.01, 0.013, 0.55 + gap])
    found = convex_distance(table, 0, 1, Pose(R, p_a), AT_ORIGIN, 2e-3, nearest)
    assert found == pytest.approx(gap, abs=1e-12)
    assert_allclose(normal, [0, 0, 1], atol=1e-6)


def test_flat_straight_and_single_point_polytopes() -> None:
    triangle = np.array([[0.0, 0, 0], [0.2, 0, 0], [0, 0.3, 0]])
    for points in (triangle, triangle[:2], triangle[:1], np.repeat(triangle[:1], 5, axis=0)):
        table = shape_table([Polytope.of_points(points), Box(np.ones(3))])
        nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
        normal = nearest.normal
        for height in (0.1, 1e-9, 0.0, -0.01):
            p = np.array([0.1, 0.1, 0.5 + height])
            found = convex_distance(table, 0, 1, Pose(np.eye(3), p), AT_ORIGIN, 1.0, nearest)
            assert found == pytest.approx(height, abs=1e-9)
            assert_allclose(normal, [0, 0, 1], atol=1e-6)


def test_concentric_shapes_are_told_apart_all_the_same() -> None:
    for solid in SOLIDS.values():
        table = shape_table([solid, solid])
        nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
        normal = nearest.normal
        z, R = np.zeros(3), np.eye(3)
        found = convex_distance(table, 0, 1, Pose(R, z), Pose(R, z), 1.0, nearest)
        assert -0.5 < found < -0.05
        assert np.linalg.norm(normal) == pytest.approx(1.0)


def patch(a: SolidShape, p_a: np.ndarray, b: SolidShape, R_a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, gaps and features of a on b, b at the origin."""
    table = shape_table([a, b])
    nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
    z, R = np.zeros(3), np.eye(3)
    distance = convex_distance(table, 0, 1, Pose(R_a, p_a), Pose(R, z), 2e-3, nearest)
    points = PatchPoints.of_size(8)
    count = contact_patch(table, 0, 1, Pose(R_a, p_a), Pose(R, z), distance, 2e-3, nearest, points)
    return points.positions[:count], points.gaps[:count], points.features[:count]


def test_capsules_side_by_side_touch_at_both_ends_of_their_common_line() -> None:
    lower, upper = Capsule(0.1, 1.0), Capsule(0.05, 0.4)
    positions, gaps, _ = patch(upper, np.array([0.1501, 0.0, 0.4]), lower, np.eye(3))
    assert_allclose(sorted(positions[:, 2]), [0.2, 0.5], atol=1e-9)
    assert_allclose(gaps, 1e-4, atol=1e-12)
    crossed, _, _ = patch(upper, np.array([0.1501, 0.0, 0.4]), lower, pin.rpy.rpyToMatrix(np.pi / 2, 0, 0))
    assert len(crossed) == 1


def test_features_stay_with_their_points_as_a_box_moves() -> None:
    """Small motions in place: each corner keeps its number, whatever the sign of the gaps."""
    rng = np.random.default_rng(3)
    box, table = Box(np.array([0.3, 0.2, 0.1])), Box(np.ones(3))
    known: dict[int, np.ndarray] = {}
    for _ in range(50):
        R = pin.exp3(1e-6 * rng.normal(size=3)) @ pin.rpy.rpyToMatrix(0, 0, 0.3)
        positions, _, features = patch(box, np.array([0.45, 0, 0.55]) + 1e-6 * rng.normal(size=3), table, R)
        now = dict(zip(features.tolist(), positions, strict=True))
        assert not known or known.keys() == now.keys()
        for key, position in now.items():
            assert np.linalg.norm(position - known.setdefault(key, position)) < 1e-4
    assert len(known) >= 4
