# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from fixtures.point_clouds import blob, box_corners, geodesic_sphere, prism
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from humanoid_model.errors import InputError
from humanoid_planner.distance.gift_wrapping import big_sphere_centre, enclosing_ball, wrap

RIGHT = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
EQUILATERAL = np.array([[0, 0, 0], [0.1, 0, 0], [0.05, 0.1 * np.sqrt(0.75), 0]])


def big_sphere(triangle, r, R):
    """Centre of a face's big sphere, None when there is none."""
    centre = np.empty(3)
    corners = np.ascontiguousarray(triangle, dtype=np.float64)
    return centre if big_sphere_centre(*corners, R - r, centre) else None


@pytest.mark.feature("001-F110")
@pytest.mark.parametrize(
    ("R", "z"), [(1.0, -0.98747152), (10.0, -9.98974975), (20.0, -19.98987494), (100.0, -99.98997500)]
)
def test_centre_under_a_right_triangle(R, z):
    assert big_sphere(RIGHT, 0.01, R) == pytest.approx([0.05, 0.05, z], abs=5e-9)


@pytest.mark.feature("001-F110")
def test_centre_under_an_equilateral_triangle():
    assert big_sphere(EQUILATERAL, 0.01, 20.0) == pytest.approx([0.05, 0.02886751, -19.98991662], abs=5e-9)


@pytest.mark.feature("001-F110")
def test_orientation_says_which_side_is_below():
    assert big_sphere(RIGHT[::-1], 0.01, 20.0)[2] > 0


@pytest.mark.feature("001-F110")
def test_sphere_passes_through_the_vertices_whichever_comes_first():
    triangle = np.array([[0.3, -0.2, 0.1], [0.3 + 1e-7, -0.2, 0.1], [-0.4, 0.2, 0.7]])
    for turn in range(3):
        centre = big_sphere(np.roll(triangle, turn, axis=0), 0.02, 15.0)
        assert np.linalg.norm(triangle - centre, axis=1) == pytest.approx(14.98, abs=1e-13)


@pytest.mark.feature("001-F110")
def test_no_sphere_when_the_radius_is_below_the_circumradius():
    assert big_sphere(RIGHT, 0.01, 0.08) is None
    assert big_sphere(RIGHT, 0.01, 0.081) is not None


@pytest.mark.feature("001-F110")
def test_no_sphere_through_points_on_a_line():
    assert big_sphere(np.outer([0.0, 1.0, 3.0], [1.0, 2.0, 3.0]), 0.01, 20.0) is None


def test_known_balls():
    for points, centre, radius in (
        (np.array([[1.0, 2.0, 3.0]]), [1, 2, 3], 0.0),
        (np.array([[0.0, 0, 0], [2, 0, 0], [0.5, 0.1, 0]]), [1, 0, 0], 1.0),
        (box_corners(2.0, 4.0, 4.0), [0, 0, 0], 3.0),
        (np.zeros((5, 3)), [0, 0, 0], 0.0),
    ):
        found, size = enclosing_ball(points)
        assert found == pytest.approx(centre, abs=1e-12)
        assert size == pytest.approx(radius, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_no_centre_is_nearer_to_its_farthest_point(seed):
    points = blob(40, 1.0, seed) * [1.0, 1.0, [1.0, 1e-3][seed % 2]]
    centre, radius = enclosing_ball(points)
    assert np.linalg.norm(points - centre, axis=1).max() == pytest.approx(radius, rel=1e-12)
    # min t subject to |p - c|^2 <= t, by another method
    best = minimize(
        lambda x: x[3],
        np.append(points.mean(axis=0), 100.0),
        jac=lambda x: np.array([0.0, 0, 0, 1]),
        constraints={
            "type": "ineq",
            "fun": lambda x: x[3] - ((points - x[:3]) ** 2).sum(axis=1),
            "jac": lambda x: np.column_stack([2 * (points - x[:3]), np.ones(len(points))]),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 300},
    )
    assert radius**2 == pytest.approx(best.x[3], rel=1e-6)


TURN = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]

COSPHERICAL = {
    "cube": box_corners(0.1, 0.1, 0.1),
    "brick": box_corners(0.1, 0.25, 0.02),
    "turned cube": box_corners(0.1, 0.1, 0.1) @ TURN.T,
    "prism": prism(7, 0.1, 0.3),
    "turned prism": prism(64, 0.05, 0.2) @ TURN.T,
    "icosphere": geodesic_sphere(2, 0.2),
    "noisy cube": box_corners(0.1, 0.1, 0.1) + 1e-15 * blob(8, 1.0, 3),
}


def points_in_spheres(points, wrapped, radius):
    return np.linalg.norm(points[None] - wrapped.centres[:, None], axis=2) - radius


@pytest.mark.feature("001-F116")
@pytest.mark.parametrize("R", [1.0, 20.0, 1000.0])
@pytest.mark.parametrize("name", COSPHERICAL)
def test_cospherical_points_give_faces_without_overlap(name, R):
    points = COSPHERICAL[name]
    wrapped = wrap(points, R - 0.01)
    assert len(wrapped.vertices) == len(points)
    assert len(wrapped.faces) == 2 * (len(points) - 2)
    corners = points[wrapped.vertices][wrapped.faces]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    assert area == pytest.approx(ConvexHull(points).area, rel=1e-9)


def test_faces_of_one_polygon_share_their_sphere_exactly():
    wrapped = wrap(prism(32, 0.1, 0.3), 20.0)
    assert len(np.unique(wrapped.centres, axis=0)) == 2 + 32


@pytest.mark.feature("001-F114")
@pytest.mark.parametrize("R", [0.45, 1.0, 20.0, 1000.0])
@pytest.mark.parametrize("seed", range(6))
def test_spheres_hold_all_points_and_touch_their_faces(seed, R):
    points = blob(60, 0.1, seed) * [1.0, 1.0, [1.0, 0.01][seed % 2]]
    wrapped = wrap(points, R)
    outside = points_in_spheres(points, wrapped, R)
    assert outside.max() < 1e-12
    assert np.take_along_axis(outside, wrapped.vertices[wrapped.faces], axis=1) == pytest.approx(0.0, abs=1e-12)
    assert len(wrapped.faces) == 2 * (len(wrapped.vertices) - 2)


def test_half_edges_lie_across_from_each_other():
    wrapped = wrap(blob(60, 0.1, 0), 20.0)
    starts = wrapped.faces
    ends = np.roll(starts, -1, axis=1)
    assert (starts.reshape(-1)[wrapped.across] == ends).all()
    assert (ends.reshape(-1)[wrapped.across] == starts).all()


def test_outward_is_right_of_the_faces():
    points = blob(60, 0.1, 1)
    wrapped = wrap(points, 20.0)
    corners = points[wrapped.vertices][wrapped.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ij,ij->i", normals, corners[:, 0] - points.mean(axis=0)) > 0).all()


@pytest.mark.feature("001-F117")
def test_points_under_a_flat_cap_are_skipped():
    top = np.array([[0.0, 0.0, 0.05 + 1e-4], [0.01, 0.02, 0.05 + 9e-5]])
    points = np.vstack([box_corners(0.1, 0.1, 0.1), top])
    assert len(ConvexHull(points).vertices) == 10
    wrapped = wrap(points, 1.0)  # sagitta over half the diagonal: 2.5 mm
    assert sorted(wrapped.vertices) == list(range(8))
    assert points_in_spheres(top, wrapped, 1.0).max() < -1e-5
    assert len(wrap(points, 1000.0).vertices) == 10  # sagitta 2.5 um


def test_few_points_and_points_in_a_line_or_plane():
    assert wrap(np.array([[1.0, 2.0, 3.0]]), 1.0).vertices.tolist() == [0]
    line = wrap(np.outer([0.0, 0.3, 0.5, 1.0, 0.9], [0.1, 0.2, 0.2]), 20.0)
    assert sorted(line.vertices) == [0, 3]
    assert len(line.faces) == 0
    triangle = wrap(np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]]), 20.0)
    assert len(triangle.faces) == 2
    assert triangle.centres[:, 2].tolist() == [-triangle.centres[1, 2], -triangle.centres[0, 2]]
    square = wrap(np.column_stack([blob(40, 0.1, 2)[:, :2], np.zeros(40)]), 20.0)
    assert len(square.faces) == 2 * (len(square.vertices) - 2)


def test_bent_line_inside_the_spindle_of_its_ends_is_a_segment():
    points = np.array([[-0.5, 0.0, 0.0], [0.0, 0.003, 0.0], [0.5, 0.0, 0.0]])
    assert len(wrap(points, 20.0).vertices) == 2  # sagitta of 1 m at 20 m: 6.3 mm
    assert len(wrap(points, 100.0).vertices) == 3


@pytest.mark.feature("001-F115")
def test_too_small_radius_says_what_it_must_exceed():
    with pytest.raises(InputError, match=r"big spheres are too small: R - r is 0.08 m.*radius 0.0866025 m.*R must"):
        wrap(box_corners(0.1, 0.1, 0.1), 0.08)
    assert len(wrap(box_corners(0.1, 0.1, 0.1), 0.0867).faces) == 12


def test_nearly_coinciding_points():
    cube = box_corners(0.1, 0.1, 0.1)
    for gap in (1e-10, 1e-9, 1e-8, 1e-6):
        points = np.vstack([cube, cube + gap * blob(8, 1.0, 4)])
        for R in (0.2, 1.0, 20.0):
            assert points_in_spheres(points, wrap(points, R), R).max() < 1e-12
