# SPDX-License-Identifier: Apache-2.0
"""The ball between pointer and bodies: outside of everything, as near to the pointer as it can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from fixtures.scenes import ball, body, box, floor, place, scene
from numpy.testing import assert_allclose
from scipy.optimize import LinearConstraint, minimize

from humanoid_model.description import Mesh
from humanoid_sim.interaction.nearby import MAX_TRIANGLES, NearbyShapes, triangle_planes
from humanoid_sim.interaction.proxy import Proxy, project
from humanoid_sim.world.world import World

RADIUS = 0.01
SLACK = 1.01e-3 * RADIUS


def shapes_of(*bodies: object) -> NearbyShapes:
    world = World(scene(*bodies))  # type: ignore[arg-type]
    data = world.model.createData()
    pin.forwardKinematics(world.model, data, world.q)
    shapes = NearbyShapes(world)
    shapes.update(np.array([M.rotation for M in data.oMi]), np.array([M.translation for M in data.oMi]))
    return shapes


def anchor() -> object:
    """Something mobile far away, for a scene needs it."""
    return ball("anchor", 0.01, place(50, 0, 0))


def distance_to_box(point: np.ndarray, half: float = 0.5) -> float:
    """From outside a cube at the origin."""
    return float(np.linalg.norm(np.maximum(np.abs(point) - half, 0.0)))


@pytest.mark.parametrize("seed", range(20))
def test_projection_on_a_polyhedron_is_the_nearest_point(seed: int) -> None:
    """Against scipy's general solver; the multipliers fulfil the conditions of Karush, Kuhn and Tucker."""
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(rng.integers(1, 12), 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    inside = rng.normal(size=3)
    offsets = normals @ inside - rng.uniform(0.0, 0.5, len(normals))
    goal = inside + 3.0 * rng.normal(size=3)
    found = project(goal, normals, offsets)
    assert found is not None
    point, multipliers = found
    oracle = minimize(
        lambda y: float((y - goal) @ (y - goal)),
        inside,
        jac=lambda y: 2.0 * (y - goal),
        constraints=LinearConstraint(normals, offsets, np.inf),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert_allclose(point, oracle.x, atol=1e-6)
    assert_allclose(point - goal, normals.T @ multipliers, atol=1e-10)
    assert multipliers.min() >= 0.0
    assert_allclose(multipliers * (normals @ point - offsets), 0.0, atol=1e-9)


def test_an_empty_polyhedron_has_no_point() -> None:
    normals = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    assert project(np.zeros(3), normals, np.array([1.0, 1.0])) is None


def test_ball_stays_on_the_half_space_under_the_pointer() -> None:
    shapes, proxy = shapes_of(floor(), anchor()), Proxy(RADIUS, np.array([0.0, 0.0, 0.1]))
    contacts = proxy.follow(np.array([0.3, -0.2, -0.05]), shapes)
    assert_allclose(proxy.position, [0.3, -0.2, RADIUS], atol=SLACK)
    assert_allclose(contacts.normals, [[0.0, 0.0, 1.0]])
    assert contacts.depths[0] == pytest.approx(0.05 + RADIUS, abs=SLACK)


@pytest.mark.feature("000-F113")
def test_ball_never_enters_a_box_on_any_path() -> None:
    """A pointer that wanders through a cube for 300 moves; the ball is outside and locally nearest."""
    shapes = shapes_of(box("box", (1, 1, 1), place(0, 0, 0)), anchor())
    rng = np.random.default_rng(3)
    proxy = Proxy(RADIUS, np.array([0.0, 0.0, 0.7]))
    goal, touched = np.array([0.0, 0.0, 0.7]), 0
    for _ in range(300):
        goal = goal + rng.normal(scale=0.08, size=3)
        goal = np.clip(goal, -0.8, 0.8)
        contacts = proxy.follow(goal, shapes)
        assert distance_to_box(proxy.position) >= RADIUS - SLACK
        assert_allclose(proxy.position - goal, contacts.normals.T @ contacts.depths, atol=1e-8)
        touched += len(contacts.depths) > 0
        if distance_to_box(goal) > RADIUS + SLACK and not len(contacts.depths):
            assert_allclose(proxy.position, goal, atol=1e-8)
    assert touched > 50


@pytest.mark.feature("000-F121")
def test_ball_does_not_tunnel_through_a_thin_wall() -> None:
    """What a penalty on depth would do: the pointer is beyond the wall in one move, the ball stays before it."""
    shapes, proxy = (
        shapes_of(box("wall", (0.002, 1, 1), place(0, 0, 0)), anchor()),
        Proxy(RADIUS, np.array([0.1, 0, 0])),
    )
    proxy.follow(np.array([-0.4, 0.1, 0.05]), shapes)
    assert_allclose(proxy.position, [0.001 + RADIUS, 0.1, 0.05], atol=SLACK)


def test_ball_settles_in_a_corner_of_three_walls() -> None:
    walls = [
        box("x", (0.2, 2, 2), place(-0.1, 0, 0)),
        box("y", (2, 0.2, 2), place(0, -0.1, 0)),
        floor(),
    ]
    shapes, proxy = shapes_of(*walls, anchor()), Proxy(RADIUS, np.array([0.3, 0.2, 0.1]))
    contacts = proxy.follow(np.array([-0.05, -0.03, -0.02]), shapes)
    assert_allclose(proxy.position, [RADIUS] * 3, atol=SLACK)
    assert_allclose(contacts.depths.sum(), 0.05 + 0.03 + 0.02 + 3 * RADIUS, atol=4 * SLACK)


def mesh_scene(tmp_path: Path, mesh: trimesh.Trimesh) -> NearbyShapes:
    mesh.export(tmp_path / "mesh.stl")
    shape = Mesh(tmp_path / "mesh.stl", np.ones(3))
    return shapes_of(body("mesh", shape, 0.0, np.zeros((3, 3))), anchor())


def test_ball_follows_a_mesh_over_edges_and_into_hollows(tmp_path: Path) -> None:
    """A bowl, which a convex hull would fill: the ball gets to its bottom, and never nearer than its radius."""
    outer = trimesh.creation.icosphere(subdivisions=3, radius=0.3)
    bowl = trimesh.Trimesh(outer.vertices, outer.faces[(outer.triangles_center[:, 2] < 0.0)], process=True)
    shapes = mesh_scene(tmp_path, bowl)
    proxy = Proxy(RADIUS, np.array([0.0, 0.0, 0.2]))

    def distance(point: np.ndarray) -> float:
        nearest = trimesh.triangles.closest_point(bowl.triangles, np.tile(point, (len(bowl.triangles), 1)))
        return float(np.linalg.norm(nearest - point, axis=1).min())

    seen = 0
    for goal in ([0, 0, -0.5], [0.25, 0.1, -0.3], [-0.3, 0, -0.2], [0.5, 0, 0.1], [0.6, 0, -0.4], [0, 0, -0.2]):
        for share in np.linspace(0.2, 1.0, 5):
            proxy.follow(proxy.position + share * (np.array(goal) - proxy.position), shapes)
            assert distance(proxy.position) >= RADIUS - SLACK
            assert proxy.triangles <= MAX_TRIANGLES
            seen = max(seen, proxy.triangles)
        if goal == [0, 0, -0.5]:
            bottom = bowl.vertices[:, 2].min()
            assert proxy.position[2] == pytest.approx(bottom + RADIUS, abs=1e-3)
    assert 0 < seen <= MAX_TRIANGLES


def test_ball_slides_across_the_sides_of_coplanar_triangles(tmp_path: Path) -> None:
    """A flat grid of small triangles is no obstacle along itself."""
    grid = trimesh.creation.box((1.0, 1.0, 0.1)).subdivide().subdivide().subdivide()
    shapes, proxy = mesh_scene(tmp_path, grid), Proxy(RADIUS, np.array([-0.4, -0.3, 0.1]))
    for x in np.linspace(-0.4, 0.45, 12):
        proxy.follow(np.array([x, 0.3 * x, 0.03]), shapes)
    assert_allclose(proxy.position, [0.45, 0.135, 0.05 + RADIUS], atol=2 * SLACK)
    proxy.follow(np.array([0.7, 0.135, 0.0]), shapes)  # and off its border, which is a real edge
    assert_allclose(proxy.position, [0.7, 0.135, 0.0], atol=1e-6)


@pytest.mark.feature("000-F114", "000-F121")
def test_triangles_are_bounded_in_number(tmp_path: Path) -> None:
    fine = trimesh.creation.icosphere(subdivisions=3, radius=0.02)  # 1280 triangles on a ball of 2 cm
    shapes, proxy = mesh_scene(tmp_path, fine), Proxy(RADIUS, np.array([0.0, 0.0, 0.05]))
    proxy.follow(np.array([0.001, 0.0, 0.0]), shapes)
    assert 0 < proxy.triangles <= MAX_TRIANGLES
    assert np.linalg.norm(proxy.position) >= 0.02 + RADIUS - 2e-4 - SLACK


@pytest.mark.parametrize("seed", range(5))
def test_planes_have_triangle_and_ball_on_different_sides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    triangles, centre = rng.normal(size=(40, 3, 3)), rng.normal(size=3)
    normals, points = np.empty((40, 3)), np.empty((40, 3))
    triangle_planes(triangles, centre, 0.01, normals, points)
    oracle = trimesh.triangles.closest_point(triangles, np.tile(centre, (40, 1)))
    assert_allclose(points, oracle, atol=1e-9)
    assert_allclose(np.linalg.norm(normals, axis=1), 1.0)
    for triangle, normal, point in zip(triangles, normals, points, strict=True):
        assert ((triangle - point) @ normal).max() < 1e-9
        assert normal @ (centre - point) > 0.0
