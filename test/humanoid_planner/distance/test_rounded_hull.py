# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import coal
import numpy as np
import pinocchio as pin
import pytest
from fixtures.point_clouds import box_corners, unit_vectors
from scipy.spatial import ConvexHull

from humanoid_model.errors import InputError
from humanoid_planner.distance.rounded_hull import RoundedHull, geodesic_directions, mesh_triangles, rounded_hull
from humanoid_planner.distance.volume_mesh import convex_geometry


def reach(hull, directions):
    return (directions @ hull.points.T).max(axis=1) + hull.radius


def expected_reach(geometry, directions):
    """Support functions of the shapes, in closed form."""
    across, up = np.hypot(directions[:, 0], directions[:, 1]), np.abs(directions[:, 2])
    if isinstance(geometry, coal.Box):
        return np.abs(directions) @ geometry.halfSide
    if isinstance(geometry, coal.Sphere):
        return np.full(len(directions), geometry.radius)
    if isinstance(geometry, coal.Capsule):
        return geometry.radius + geometry.halfLength * up
    if isinstance(geometry, coal.Cylinder):
        return geometry.radius * across + geometry.halfLength * up
    if isinstance(geometry, coal.Cone):
        base = geometry.radius * across - geometry.halfLength * directions[:, 2]
        return np.maximum(base, geometry.halfLength * directions[:, 2])
    return np.linalg.norm(directions * geometry.radii, axis=1)


@pytest.mark.parametrize(
    ("geometry", "excess"),
    [
        (coal.Box(0.1, 0.2, 0.3), 0.0),
        (coal.Sphere(0.2), 0.0),
        (coal.Capsule(0.1, 0.4), 0.0),
        (coal.Cylinder(0.06, 0.4), 0.002),
        (coal.Cylinder(0.5, 0.1), 0.002),
        (coal.Cylinder(0.003, 0.1), 0.002),
        (coal.Cone(0.1, 0.3), 0.002),
        (coal.Ellipsoid(0.1, 0.2, 0.05), 0.004),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, coal.CollisionGeometry) else "",
)
def test_shapes_are_enclosed_and_exceeded_by_no_more_than_said(geometry, excess):
    directions = np.vstack([unit_vectors(2000, 0), np.eye(3), -np.eye(3)])
    more = reach(rounded_hull(geometry), directions) - expected_reach(geometry, directions)
    assert more.min() >= -1e-12
    assert more.max() <= excess + 1e-12
    if excess:
        assert more.max() > 0.0


def test_meshes_become_their_vertices():
    corners = box_corners(0.1, 0.2, 0.3)
    for geometry in (mesh(corners), convex_geometry(corners)):
        vertices, triangles = mesh_triangles(geometry)
        assert sorted(map(tuple, vertices)) == sorted(map(tuple, corners))
        assert triangles.shape == (12, 3)
        assert sorted(map(tuple, rounded_hull(geometry).points)) == sorted(map(tuple, corners))


def mesh(points):
    from scipy.spatial import ConvexHull

    model = coal.BVHModelOBBRSS()
    model.beginModel(12, 8)
    model.addVertices(points)
    model.addTriangles(ConvexHull(points).simplices.astype(np.int64))
    model.endModel()
    return model


def test_other_geometries_are_refused():
    with pytest.raises(InputError, match="a Halfspace can't be covered"):
        rounded_hull(coal.Halfspace(np.array([0.0, 0, 1]), 0.0))
    with pytest.raises(InputError, match="no vertices"):
        rounded_hull(coal.BVHModelOBBRSS())


def test_containment():
    capsule = RoundedHull(np.array([[0.0, 0, -0.2], [0.0, 0, 0.2]]), 0.1)
    assert capsule.contains(RoundedHull(np.array([[0.0, 0.0, 0.2]]), 0.1))
    assert capsule.contains(RoundedHull(np.array([[0.05, 0.0, 0.1]]), 0.049))
    assert not capsule.contains(RoundedHull(np.array([[0.05, 0.0, 0.1]]), 0.051))
    assert not capsule.contains(RoundedHull(np.zeros((1, 3)), 0.11))
    assert capsule.contains(RoundedHull(box_corners(0.1, 0.1, 0.4), 0.0))
    assert not capsule.contains(RoundedHull(box_corners(0.15, 0.15, 0.4), 0.0))


def test_distance_to_a_point():
    box = RoundedHull(box_corners(2.0, 2.0, 2.0), 0.5)
    for point, distance in (([3.0, 0, 0], 1.5), ([0.0, 0, 0], 0.0), ([1.0, 1.0, 4.0], 2.5), ([4.0, 5.0, 0.0], 4.5)):
        assert box.distance(np.array(point)) == pytest.approx(distance, abs=1e-6)


def distance_by_faces(points: np.ndarray) -> float:
    """Distance of the origin to the hull of points: the nearest of all its corners, edges and triangles."""
    hull = ConvexHull(points)
    if (hull.equations[:, 3] <= 0.0).all():
        return 0.0
    nearest = float(np.linalg.norm(points, axis=1).min())
    for triangle in hull.simplices:
        for members in ([0, 1], [1, 2], [0, 2], [0, 1, 2]):
            corner, *others = points[triangle[members]]
            sides = np.array(others).T - corner[:, None]
            weights = np.linalg.lstsq(sides, -corner, rcond=None)[0]
            if (weights >= 0.0).all() and weights.sum() <= 1.0:
                nearest = min(nearest, float(np.linalg.norm(corner + sides @ weights)))
    return nearest


def test_distances_to_random_hulls():
    """Non-negative least squares of scipy 1.15 fails at five of these by more than a hundredth of the size."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        points = rng.normal(size=(rng.integers(4, 120), 3)) * 10.0 ** rng.uniform(-2, 1)
        point = rng.normal(size=3) * 10.0 ** rng.uniform(-2, 1)
        expected = distance_by_faces(points - point)
        size = np.linalg.norm(points - point, axis=1).max()
        assert RoundedHull(points, 0.0).distance(point) == pytest.approx(expected, abs=1e-9 * size)


@pytest.mark.parametrize("points", [[[1, 2, 2]], [[1, 2, 2], [1, 2, 5]], [[3, 0, 0], [3, 4, 0], [3, 0, 4], [3, 4, 4]]])
def test_distance_to_flat_hulls(points):
    assert RoundedHull(np.array(points, dtype=float), 0.0).distance(np.zeros(3)) == pytest.approx(3.0, abs=1e-9)
    assert RoundedHull(np.array(points, dtype=float), 0.0).distance(np.array(points[0], dtype=float)) == 0.0


def test_hull_around_several_encloses_them_all():
    parts = [
        RoundedHull(np.array([[0.3, 0.0, 0.0]]), 0.1),
        RoundedHull(np.array([[0.0, 0, -0.2], [0.0, 0, 0.2]]), 0.02),
    ]
    together = RoundedHull.around(parts)
    assert together.radius == 0.02
    directions = unit_vectors(2000, 1)
    exact = np.maximum(reach(parts[0], directions), reach(parts[1], directions))
    more = reach(together, directions) - exact
    assert more.min() >= -1e-12
    assert more.max() <= 0.08 * 0.08


def test_names_and_places_go_along():
    hull = RoundedHull(np.array([[1.0, 0.0, 0.0]]), 0.1).called("knob")
    there = hull.moved(pin.SE3(pin.rpy.rpyToMatrix(0, 0, math.pi / 2), np.array([0.0, 0, 5])))
    assert there.points == pytest.approx(np.array([[0.0, 1.0, 5.0]]))
    assert (there.name, there.radius) == ("knob", 0.1)
    assert RoundedHull.around([there, RoundedHull(np.zeros((1, 3)), 0.1), hull]).name == "knob+knob"


def test_points_inside():
    hull = RoundedHull(np.array([[0.0, 0, -0.2], [0.0, 0, 0.2]]), 0.1)
    points = np.array([[0.0, 0, 0], [0.09, 0, 0], [0.0, 0, 0.29], [0.11, 0, 0], [0.08, 0, 0.28]])
    assert hull.contains_points(points).tolist() == [True, True, True, False, False]
    assert not RoundedHull(np.eye(3), 0.0).contains_points(np.full((1, 3), 1 / 3)).any()  # flat


def test_geodesic_directions_are_unit_and_evenly_spread():
    for subdivisions, count in ((0, 12), (1, 42), (2, 162)):
        directions = geodesic_directions(subdivisions)
        assert directions.shape == (count, 3)
        assert np.linalg.norm(directions, axis=1) == pytest.approx(1.0, abs=1e-14)
        assert np.abs(directions.sum(axis=0)).max() < 1e-12
