# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from fixtures.scenes import place

import humanoid_planner.distance.convex_parts as convex_parts_module
from humanoid_model.description import Box, Capsule, Cylinder, Geometry, HalfSpace, Mesh, Sphere
from humanoid_planner.distance.convex_parts import convex_parts, decompose
from humanoid_planner.distance.rounded_hull import RoundedHull


def geometry(shape, placement=None, name=""):
    return Geometry(name, shape, placement or pin.SE3.Identity(), np.ones(4))


def test_cylinder_between_balls_is_a_capsule():
    tilted = place(0.1, 0.2, 0.3, roll=0.4, pitch=-0.5)
    shapes = [
        geometry(Sphere(0.05), tilted * place(0, 0, 0.1)),
        geometry(Cylinder(0.05, 0.2), tilted, "bone"),
        geometry(Sphere(0.05), tilted * place(0, 0, -0.1)),
    ]
    (part,) = convex_parts(shapes)
    (capsule,) = convex_parts([geometry(Capsule(0.05, 0.2), tilted)])
    assert part.points == pytest.approx(capsule.points)
    assert (part.radius, part.name) == (0.05, "bone")
    assert len(convex_parts(shapes[:2])[0].points) > 2  # one end is open
    thinner = [geometry(Sphere(0.04), tilted * place(0, 0, z)) for z in (0.1, -0.1)]
    assert len(convex_parts([*thinner, shapes[1]])[0].points) > 2


def test_shapes_that_nearly_fill_their_hull_are_put_together():
    flush = [geometry(Box(np.array([0.1, 0.2, 0.3]))), geometry(Box(np.array([0.1, 0.2, 0.3])), place(0.1, 0, 0))]
    (part,) = convex_parts(flush)
    assert np.ptp(part.points, axis=0) == pytest.approx([0.2, 0.2, 0.3])
    apart = [flush[0], geometry(Box(np.array([0.1, 0.2, 0.3])), place(0.15, 0, 0))]  # fill 80 % of their hull
    assert len(convex_parts(apart)) == 2
    assert len(convex_parts(apart, filled=0.7)) == 1
    inside = [flush[0], geometry(Sphere(0.03)), geometry(Box(np.array([0.05, 0.05, 0.05])))]
    assert len(convex_parts(inside)) == 1


@pytest.mark.feature("001-F134")
def test_chair_becomes_parts_that_leave_its_gaps_free():
    legs = [geometry(Box(np.array([0.04, 0.04, 0.45])), place(x, y, 0.225)) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    chair = [
        *legs,
        geometry(Box(np.array([0.44, 0.44, 0.04])), place(0, 0, 0.47), "seat"),
        geometry(Box(np.array([0.04, 0.44, 0.5])), place(-0.2, 0, 0.74), "back"),
    ]
    parts = convex_parts(chair)
    assert sorted(part.name for part in parts) == ["", "", "", "", "back", "seat"]
    under, over = np.array([[0.0, 0.0, 0.2]]), np.array([[0.1, 0.0, 0.7]])
    assert not any(part.contains_points(np.vstack([under, over])).any() for part in parts)


def test_half_spaces_are_left_out():
    assert convex_parts([geometry(HalfSpace())]) == []
    assert len(convex_parts([geometry(HalfSpace()), geometry(Sphere(0.1))])) == 1


def write(mesh, path):
    mesh.export(path)
    return geometry(Mesh(path, np.array([1.0, 1.0, 2.0])))


def test_convex_mesh_is_one_part(tmp_path):
    mesh = trimesh.creation.icosphere(subdivisions=1, radius=0.1)
    (part,) = convex_parts([write(mesh, tmp_path / "ball.stl")])
    assert len(part.points) == 42
    assert np.ptp(part.points, axis=0)[2] == pytest.approx(2 * np.ptp(mesh.vertices, axis=0)[2], rel=1e-6)


def angle_profile():
    """An L of two bars 1 x 0.2 x 0.2, as one closed mesh."""
    outline = np.array([[0, 0], [1, 0], [1, 0.2], [0.2, 0.2], [0.2, 1], [0, 1.0]])
    lower = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    faces = [(c, b, a) for a, b, c in lower] + [(a + 6, b + 6, c + 6) for a, b, c in lower]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    points = np.vstack([np.column_stack([outline, np.full(6, z)]) for z in (0.0, 0.2)])
    return trimesh.Trimesh(points, faces)


def test_angle_becomes_parts_that_cover_it_and_little_more(tmp_path):
    mesh = angle_profile()
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(0.072)
    parts = decompose(np.array(mesh.vertices), np.array(mesh.faces, dtype=np.int64))
    assert len(parts) >= 2
    surface = np.array(mesh.sample(300, seed=1))
    assert max(min(part.distance(point) for part in parts) for point in surface) < 1e-6
    assert not any(part.contains_points(np.array([[0.6, 0.6, 0.1]])).any() for part in parts)
    volume = sum(trimesh.convex.convex_hull(part.outline).volume for part in parts)
    assert volume < 1.3 * 0.072
    whole = convex_parts([write(mesh, tmp_path / "angle.stl")])
    assert len(whole) >= 2  # taken apart, and not put together again


def test_mesh_with_a_hole_is_covered_too(tmp_path):
    mesh = angle_profile()
    punctured = trimesh.Trimesh(mesh.vertices, mesh.faces[1:], process=False)
    assert not punctured.is_watertight
    parts = convex_parts([write(punctured, tmp_path / "hole.stl")])
    assert len(parts) >= 2
    surface = np.array(punctured.sample(300, seed=1)) * [1.0, 1.0, 2.0]
    assert max(min(part.distance(point) for part in parts) for point in surface) < 1e-6


@pytest.mark.feature("001-F134")
def test_a_mesh_of_many_triangles_is_few_parts_of_few_corners_that_cover_it():
    mesh = trimesh.creation.torus(0.3, 0.08, major_sections=32, minor_sections=20)
    assert len(mesh.faces) > 1000
    parts = decompose(np.array(mesh.vertices), np.array(mesh.faces, dtype=np.int64))
    assert 2 <= len(parts) <= 6
    assert max(len(part.points) for part in parts) <= 48
    surface = np.array(mesh.sample(300, seed=1))
    assert max(min(part.distance(point) for part in parts) for point in surface) < 1e-3
    assert not any(part.contains_points(np.zeros((1, 3))).any() for part in parts)


@pytest.mark.feature("001-F134")
def test_what_sticks_out_is_the_farthest_point_from_its_nearest_part():
    rng = np.random.default_rng(0)
    parts = [RoundedHull(0.1 * rng.normal(size=(30, 3)) + [0.3 * i, 0.0, 0.0], 0.0) for i in range(3)]
    points = 0.3 * rng.normal(size=(150, 3))
    farthest = max(min(part.distance(point) for part in parts) for point in points)
    assert convex_parts_module._sticks_out(points, parts) == pytest.approx(farthest, abs=1e-6)
    assert convex_parts_module._sticks_out(parts[1].points, parts) == 0.0


@pytest.mark.slow
def test_open_mesh_is_covered_too():
    mesh = angle_profile()
    opened = trimesh.Trimesh(mesh.vertices, mesh.faces[4:], process=False)  # one end is missing
    parts = decompose(np.array(opened.vertices), np.array(opened.faces, dtype=np.int64))
    surface = np.array(opened.sample(300, seed=1))
    assert max(min(part.distance(point) for part in parts) for point in surface) < 1e-3
    assert not any(part.contains_points(np.array([[0.6, 0.6, 0.1]])).any() for part in parts)


def test_flat_mesh_stays_flat(tmp_path):
    sheet = trimesh.Trimesh(np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), [[0, 1, 2], [0, 2, 3]])
    (part,) = convex_parts([write(sheet, tmp_path / "sheet.stl")])
    assert len(part.points) == 4


def test_parts_of_a_body_with_meshes_are_kept_until_something_changes(tmp_path, monkeypatch):
    """The second time nothing is put together; another file, scale, place, name or shape beside it is another body."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    mesh = write(angle_profile(), tmp_path / "angle.stl")
    ball = geometry(Sphere(0.3), pin.SE3(np.eye(3), np.array([0.5, 0.5, 0.5])))
    made = []
    inner = convex_parts_module._convex_parts
    monkeypatch.setattr(
        convex_parts_module, "_convex_parts", lambda *given: made.append(1) or inner(*given)
    )
    first = convex_parts([mesh, ball])
    assert convex_parts([mesh, ball]) == first
    assert len(made) == 1
    moved = dataclasses.replace(ball, placement=pin.SE3.Identity())
    scaled = dataclasses.replace(mesh, shape=dataclasses.replace(mesh.shape, scale=np.full(3, 2.0)))
    larger = dataclasses.replace(ball, shape=Sphere(0.31))
    for count, body in enumerate(([mesh, moved], [scaled, ball], [mesh, larger], [mesh]), start=2):
        assert convex_parts(body) != first
        assert len(made) == count
    trimesh.creation.box((0.1, 0.2, 0.3)).export(mesh.shape.path)
    assert convex_parts([mesh, ball]) != first
