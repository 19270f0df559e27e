# SPDX-License-Identifier: Apache-2.0
"""Contacts of meshes and height fields against planes, slopes and notches worked out by hand."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, body, box, place, scene, standing
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.description import Box, Capsule, HeightField, Mesh, Sphere
from humanoid_model.errors import InputError
from humanoid_model.height_field import generate_heights
from humanoid_sim import Simulation
from humanoid_sim.detection.mesh_contact import MESH_POINTS, mesh_contact
from humanoid_sim.detection.shape_table import MeshPoints, Pose, shape_table
from humanoid_sim.detection.solids import Polytope, SolidShape, TriangleMesh, solids_of
from humanoid_sim.detection.special_pair import ShapeMotion, SpecialPair, surface_mesh

SIZE = np.array([2.0, 1.0])
CRATE = Box(np.array([0.3, 0.2, 0.1]))
NOTCH = """
v -1 -1 0\nv 0 -1 0\nv 1 -1 0\nv -1 -1 1\nv 0 -1 0.2\nv 1 -1 1
v -1 1 0\nv 0 1 0\nv 1 1 0\nv -1 1 1\nv 0 1 0.2\nv 1 1 1
f 1 2 5 4\nf 2 3 6 5\nf 8 7 10 11\nf 9 8 11 12\nf 4 5 11 10\nf 5 6 12 11
f 1 7 8 2\nf 2 8 9 3\nf 3 9 12 6\nf 7 1 4 10
"""


def ground(rise: float, cells: tuple[int, int] = (20, 10)) -> HeightField:
    """A slope that rises by ``rise`` over 2 m along x, at height 0 in its middle."""
    return HeightField(SIZE, generate_heights("slope", SIZE, cells, rise, 1.0, 0) - 0.5 * rise)


def contacts(
    a: SolidShape, at_a: pin.SE3, b: SolidShape, margin: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, normals, gaps and features of a on b, b at the origin."""
    points = MeshPoints.of_size(MESH_POINTS)
    pose = Pose(np.ascontiguousarray(at_a.rotation), at_a.translation)
    count = mesh_contact(shape_table([a, b]), 0, 1, pose, Pose(np.eye(3), np.zeros(3)), margin, points)
    return points.positions[:count], points.normals[:count], points.gaps[:count], points.features[:count]


@pytest.mark.parametrize("rise", [0.0, 0.4, -0.7])
def test_round_shapes_on_a_slope_have_the_gap_of_the_plane(rise: float) -> None:
    field = solids_of(ground(rise))[0]
    up = np.array([-rise / 2.0, 0.0, 1.0]) / np.hypot(rise / 2.0, 1.0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        foot = np.array([rng.uniform(-0.5, 0.5), rng.uniform(-0.3, 0.3), 0.0])
        foot[2] = 0.5 * rise * foot[0]
        gap = rng.uniform(-3e-3, 2e-3)
        centre = foot + (0.05 + gap) * up
        for shape in (Sphere(0.05), Capsule(0.05, 0.2)):
            R = np.eye(3)
            if isinstance(shape, Capsule):  # lies across the slope
                R = pin.rpy.rpyToMatrix(np.pi / 2, 0, 0)
            positions, normals, gaps, _ = contacts(shape, pin.SE3(R, centre), field, 2.1e-3)
            assert len(gaps) == (1 if isinstance(shape, Sphere) else 2)
            assert_allclose(normals, np.tile(up, (len(gaps), 1)), atol=1e-6)
            assert_allclose(gaps, gap, atol=1e-8)
            assert_allclose((positions - foot) @ up, 0.5 * gap, atol=1e-8)


def test_box_anywhere_on_a_grid_touches_with_its_four_corners() -> None:
    """No side between two triangles of the plane is felt, and no point between the corners stays."""
    field = solids_of(ground(0.0))[0]
    rng = np.random.default_rng(1)
    for _ in range(60):
        gap = rng.uniform(-1e-4, 1e-3)
        at = place(*rng.uniform(-0.3, 0.3, 2), 0.05 + gap, yaw=rng.uniform(-3, 3))
        positions, normals, gaps, features = contacts(CRATE, at, field, 2e-3)
        assert_allclose(normals, np.tile([0.0, 0, 1], (len(gaps), 1)), atol=1e-9)
        assert_allclose(gaps, gap, atol=1e-9)
        local = (positions - at.translation) @ at.rotation
        assert len(gaps) == 4
        assert_allclose(np.abs(local[:, :2]), [[0.15, 0.1]] * 4, atol=1e-6)
        assert len(set(features.tolist())) == 4


def test_mesh_on_mesh_as_box_on_box() -> None:
    upper, lower = surface_mesh(CRATE), surface_mesh(Box(np.array([1.0, 1.0, 0.2])))
    for gap in (-1e-4, 0.0, 1e-3):
        for x in (0.1, 0.45):  # the second overhangs
            positions, normals, gaps, _ = contacts(upper, place(x, 0.02, 0.15 + gap), lower, 2e-3)
            flat = normals[:, 2] > 0.999
            assert_allclose(gaps[flat], gap, atol=1e-9)
            corners = {tuple(p) for p in positions[flat][:, :2].round(6)}
            expected = {(min(x + sx * 0.15, 0.5), 0.02 + sy * 0.1) for sx in (-1, 1) for sy in (-1, 1)}
            assert corners == {tuple(np.round(p, 6)) for p in expected}
            assert flat.all()


def grid(shape: Box, cells: int) -> TriangleMesh:
    """A box whose faces are grids of triangles."""
    ticks = np.linspace(-0.5, 0.5, cells + 1)
    points, corners = [], []
    for axis in range(3):
        for side in (-0.5, 0.5):
            first = len(points)
            points += [np.roll([side, u, w], axis) * shape.size for u in ticks for w in ticks]
            for i in range(cells):
                for j in range(cells):
                    k = first + i * (cells + 1) + j
                    ring = (k, k + cells + 1, k + cells + 2, k + 1)[:: 1 if side > 0.0 else -1]
                    corners += [ring[:3], (ring[0], *ring[2:])]
    return TriangleMesh.of_triangles(np.array(points), np.array(corners, dtype=np.int64))


SHEET = Polytope.of_points(np.array([[x, y, 0.0] for x in (-0.15, 0.15) for y in (-0.1, 0.1)]))


@pytest.mark.parametrize("mesh_below", [False, True])
@pytest.mark.parametrize(
    ("upper", "height", "cells"),
    [(surface_mesh(CRATE), 0.05, 1), (grid(CRATE, 2), 0.05, 3), (CRATE, 0.05, 3), (SHEET, 0.0, 2)],
    ids=["mesh", "grid", "box", "sheet"],
)
def test_faces_that_lie_on_each_other_touch_with_all_corners_wherever_they_are(
    upper: SolidShape, height: float, cells: int, mesh_below: bool
) -> None:
    """Neither rounding of the placements nor which shape comes first decides which side of a triangle is touched."""
    rng = np.random.default_rng(7)
    shape = grid(Box(np.array([1.0, 1.0, 0.2])), cells)
    table = shape_table([upper, shape] if mesh_below else [shape, upper])
    points = MeshPoints.of_size(MESH_POINTS)
    for gap in (0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, -2e-5):
        for k in range(20):
            ground = pin.SE3.Identity()
            if k >= 5:
                ground = pin.SE3(pin.Quaternion(rng.normal(size=4)).normalized(), rng.normal(size=3))
            at = ground * place(*rng.uniform(-0.3, 0.3, 2), 0.1 + height + gap, yaw=rng.uniform(-3, 3))
            poses = [Pose(np.ascontiguousarray(pose.rotation), pose.translation) for pose in (at, ground)]
            a, b = poses if mesh_below else poses[::-1]
            count = mesh_contact(table, 0, 1, a, b, 1e-3, points)
            up = (1.0 if mesh_below else -1.0) * points.normals[:count] @ ground.rotation
            assert_allclose(up, np.tile([0.0, 0, 1], (count, 1)), atol=1e-9)
            touching = points.gaps[:count] < gap + 1e-5  # what else may touch is higher up on a wall
            assert_allclose(points.gaps[:count][touching], gap, atol=1e-9)
            local = (points.positions[:count][touching] - at.translation) @ at.rotation
            corners = {tuple(np.sign(point[:2])) for point in local}
            assert_allclose(np.abs(local[:, :2]), [[0.15, 0.1]] * 4, atol=1e-6, err_msg=f"gap {gap}")
            assert len(corners) == 4


def test_peaks_of_rough_ground_carry_a_board() -> None:
    """The deepest peaks under a board, found by hand: each is a contact with the board's own normal."""
    heights = generate_heights("random", SIZE, (40, 20), 0.01, 1.0, 3)
    field = solids_of(HeightField(SIZE, heights))[0]
    board = Box(np.array([0.6, 0.4, 0.02]))
    x, y = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-0.5, 0.5, 21))
    under = (np.abs(x) < 0.3) & (np.abs(y) < 0.2)
    top = heights[under].max()
    positions, normals, gaps, _ = contacts(board, place(0, 0, top + 0.01), field, 1e-3)
    assert gaps.min() == pytest.approx(0.0, abs=1e-9)
    best = int(gaps.argmin())
    peak = np.flatnonzero(under.ravel() & (heights.ravel() == top))[0]
    assert_allclose(positions[best], [x.ravel()[peak], y.ravel()[peak], top], atol=1e-8)
    assert normals[best, 2] == pytest.approx(1.0)


@pytest.mark.parametrize(("collision", "deep"), [("hull", False), ("exact", True), ("convex_decomposition", True)])
def test_what_a_mesh_collides_as(collision: str, deep: bool, tmp_path: Path) -> None:
    """A ball in the notch of a block: free of its triangles and of its convex parts, inside its hull."""
    path = tmp_path / "notch.obj"
    path.write_text(NOTCH)
    solids = solids_of(Mesh(path, np.ones(3), collision))
    assert len(solids) == 1 or collision == "convex_decomposition"
    distances = []
    for solid in solids:
        pair = SpecialPair(Sphere(0.1), solid)
        motion = [_still(place(0, 0, 0.45)), _still(pin.SE3.Identity())]
        distances.append(pair.distance(motion[0], motion[1], 1.0)[0])
    expected = 0.25 / np.hypot(1.0, 0.8) - 0.1 if deep else -1.0  # the walls are z = 0.2 + 0.8 |x|
    if deep:
        assert min(distances) == pytest.approx(expected, abs=0.02)
    else:
        assert min(distances) < -0.1


def _still(placement: pin.SE3) -> ShapeMotion:
    p = placement.translation
    return ShapeMotion(placement.rotation, p, p, np.zeros(3), np.zeros(3))


def test_ball_rolls_into_an_exact_notch_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "notch.obj"
    path.write_text(NOTCH)
    block = body("block", Mesh(path, np.ones(3), "exact"), 0.0, np.zeros((3, 3)))
    simulation = Simulation(scene(block, ball("ball", 0.1, place(0.0, 0, 0.35)), friction=0.6))
    simulation.run(0.5)
    expected = 0.2 + 0.1 * np.hypot(1.0, 0.8)
    assert simulation.bodies["ball"].placement_world_body.translation[2] == pytest.approx(expected, abs=1e-5)
    assert set(np.sign(simulation.contacts.normal[:, 0])) == {-1.0, 1.0}


def test_box_slides_over_the_sides_of_triangles_as_over_a_plane() -> None:
    """1 m/s on a grid with friction 0.4: it stops after v^2 / (2 mu g), nothing trips it."""
    body_ground = body("ground", ground(0.0, (33, 17)), 0.0, np.zeros((3, 3)))
    crate = box("crate", (0.2, 0.2, 0.1), place(-0.5, 0.013, 0.05, yaw=0.2))
    crate.twist[:3] = pin.rpy.rpyToMatrix(0, 0, -0.2) @ np.array([1.0, 0, 0])
    simulation = Simulation(scene(body_ground, crate))
    simulation.run(0.4)
    end = simulation.bodies["crate"].placement_world_body
    assert end.translation[0] + 0.5 == pytest.approx(1.0 / (2 * 0.4 * 9.8), rel=0.01)
    assert_allclose(end.translation[1:], [0.013, 0.05], atol=1e-5)
    assert_allclose(end.rotation[2], [0, 0, 1], atol=1e-6)


def test_robot_stands_on_a_height_field() -> None:
    simulation = Simulation(
        scene(
            body("ground", ground(0.0), 0.0, np.zeros((3, 3))), robots=(standing(load_robot("hrp2")),), friction=0.8
        )
    )
    simulation.run(0.1)
    contacts = simulation.contacts
    assert {a.split("/")[1] for a, _ in contacts.bodies} <= {"RLEG_LINK5", "LLEG_LINK5", "r_sole", "l_sole"}
    weight = 9.8 * load_robot("hrp2").total_mass
    assert contacts.normal_force.sum() == pytest.approx(weight, rel=0.2)


def test_triangles_without_area_touch_nothing() -> None:
    points = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [0.5, 0.5, 0]])
    mesh = TriangleMesh.of_triangles(points, np.array([[0, 1, 2], [0, 2, 3], [0, 4, 2], [1, 1, 1]]))
    _, normals, gaps, _ = contacts(CRATE, place(0.2, 0.2, 0.05), mesh, 1e-3)
    assert len(gaps) == 4
    assert_allclose(normals, [[0, 0, 1]] * 4, atol=1e-9)


@pytest.mark.parametrize(
    ("points", "corners", "problem"),
    [
        (np.zeros((3, 3)), np.zeros((0, 3), dtype=np.int64), "no triangle"),
        (np.full((3, 3), np.nan), np.array([[0, 1, 2]]), "not finite"),
    ],
)
def test_refused_triangles(points: np.ndarray, corners: np.ndarray, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        TriangleMesh.of_triangles(points, corners)


def test_flat_mesh_collides_with_both_of_its_faces(tmp_path: Path) -> None:
    path = tmp_path / "sheet.obj"
    path.write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n")
    (hull,) = solids_of(Mesh(path, np.ones(3)))
    assert isinstance(hull, Polytope)
    assert_allclose(np.sort(hull.normals[:, 2]), [-1.0, 1.0])
    sheet = body("sheet", Mesh(path, np.ones(3)), 0.0, np.zeros((3, 3)))
    simulation = Simulation(scene(sheet, box("crate", (0.3, 0.2, 0.1), place(0, 0, 0.05))))
    simulation.run(0.2)
    assert simulation.contacts.normal_force.sum() == pytest.approx(9.8, rel=1e-6)
