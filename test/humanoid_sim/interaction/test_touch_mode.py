# SPDX-License-Identifier: Apache-2.0
"""Touching: what the user feels and what bodies feel."""

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
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.interaction import ScriptedDevice, TouchMode
from humanoid_sim.interaction.device import emulated_omni
from humanoid_sim.interaction.nearby import MAX_TRIANGLES, NearbyShapes, triangle_planes
from humanoid_sim.interaction.touch_mode import Proxy, project
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


R = 0.005


def pressing(depth: float, **options: float) -> tuple[Simulation, ScriptedDevice, TouchMode]:
    """A heavy block on the floor, touched from above to a depth under its upper face."""
    simulation = Simulation(scene(floor(), box("block", (0.4, 0.4, 0.2), place(0, 0, 0.1), mass=10.0)))
    device = ScriptedDevice([0.0, 0.1, 0.3], [[0, 0, 0.3]] * 2 + [[0.05, 0, 0.2 - depth]])
    touch = TouchMode(device, radius=R, **options)
    simulation.add_module(touch)
    return simulation, device, touch


def weight_on_floor(simulation: Simulation) -> float:
    return float(simulation.contacts.force[:, 2].sum())


@pytest.mark.feature("000-F115")
@pytest.mark.parametrize("scale", [1.0, 0.5, 4.0])
def test_a_block_feels_the_scaled_force_of_the_device(scale: float) -> None:
    """F115; the ball stays on the block while the pointer is inside, and the floor carries block and push."""
    simulation, device, touch = pressing(0.02, stiffness=300.0, force_scale=scale)
    simulation.run(1.0)
    felt = 300.0 * (0.02 + R)
    assert_allclose(device.displayed, [0.0, 0.0, felt], rtol=1e-3, atol=1e-6)
    assert_allclose(touch.forces[0].force, [0.0, 0.0, -scale * felt], rtol=1e-3, atol=1e-6)
    assert weight_on_floor(simulation) == pytest.approx(10.0 * 9.8 + scale * felt, rel=1e-4)
    assert touch.proxy is not None
    assert_allclose(touch.proxy.position, [0.05, 0.0, 0.2 + R], atol=1e-4)


def test_free_space_feels_like_nothing() -> None:
    simulation, device, touch = pressing(-0.05)
    simulation.run(0.5)
    assert_allclose(device.displayed, 0.0)
    assert touch.forces == ()
    assert touch.contacts is None


@pytest.mark.feature("000-F113")
def test_the_ball_stays_outside_what_moves() -> None:
    """F113: a free block is pushed over the floor; the ball is never nearer than its radius, and never pulls."""
    simulation = Simulation(scene(floor(), box("block", (0.2, 0.2, 0.2), place(0, 0, 0.1))))
    device = ScriptedDevice([0.0, 0.1, 1.1, 1.6], [[-0.3, 0, 0.05]] * 2 + [[0.3, 0, 0.05], [-0.3, 0, 0.05]])
    touch = TouchMode(device, radius=R, stiffness=800.0)
    simulation.add_module(touch)
    gaps, pushes = [], []

    def watch(simulation: Simulation) -> None:
        assert touch.proxy is not None
        # the ball is placed at the step's start: seen from the block as it was then
        local = np.abs(before[0].actInv(touch.proxy.position))
        gaps.append(np.linalg.norm(np.maximum(local - 0.1, 0.0)) - R)
        pushes.append(touch.forces[0].force[0] if touch.forces else 0.0)
        before[0] = simulation.bodies["block"].placement_world_body

    before = [simulation.bodies["block"].placement_world_body]
    simulation.run(1.6, watch)
    assert min(gaps) > -2e-3 * R
    assert max(pushes) > 1.0
    assert min(pushes) >= 0.0
    moved = simulation.bodies["block"].placement_world_body.translation[0]
    assert 0.3 < moved < 0.5  # pushed along to where the pointer turned back, and not pulled back with it


def test_a_stiff_spring_cannot_shake_a_light_body() -> None:
    """The wall's limit for what moves: 1e9 N/m asked for on 20 g, pressed against the floor."""
    simulation = Simulation(scene(floor(), ball("ball", 0.05, place(0, 0, 0.05), mass=0.02)))
    device = ScriptedDevice([0.0, 0.1, 0.3], [[0, 0, 0.2]] * 2 + [[0.0, 0, 0.09]])
    touch = TouchMode(device, radius=R, stiffness=1e9)
    simulation.add_module(touch)
    energies: list[float] = []
    simulation.run(1.0, lambda s: energies.append(s.energy().kinetic))
    assert max(energies) < 0.02
    assert energies[-1] < 1e-9
    assert weight_on_floor(simulation) > 1.0


@pytest.mark.feature("000-F121")
def test_a_wall_is_no_stiffer_than_the_device_can_display() -> None:
    """F121: 1020 N/m for an Omni, whatever is asked for; the wall itself is not entered."""
    simulation = Simulation(scene(floor(), ball("ball", 0.05, place(1, 0, 0.05))))
    omni = emulated_omni([0.0, 0.1, 0.3], [[0, 0, 0.1]] * 2 + [[0.0, 0, R - 0.002]])
    touch = TouchMode(omni, radius=R, stiffness=1e5)
    simulation.add_module(touch)
    simulation.run(0.5)
    assert omni.displayed[2] == pytest.approx(1020.0 * 0.002, rel=5e-3)
    assert touch.proxy is not None
    assert touch.proxy.position[2] >= R * (1 - 2e-3)


def test_touch_goes_on_bit_for_bit_from_a_saved_state() -> None:
    simulation, _, touch = pressing(0.02, stiffness=300.0)
    simulation.run(0.25)
    state = simulation.save_state()
    simulation.run(0.2)
    q = simulation.q.copy()
    simulation.restore_state(state)
    simulation.run(0.2)
    np.testing.assert_array_equal(simulation.q, q)
    simulation.reset()
    assert touch.proxy is None


@pytest.mark.parametrize(
    "wrong", [{"radius": 0.0}, {"stiffness": np.inf}, {"stiffness": -1.0}, {"force_scale": np.nan}]
)
def test_bad_values_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(wrong))} is"):
        TouchMode(emulated_omni([0.0], np.zeros((1, 3))), **wrong)  # type: ignore[arg-type]
