# SPDX-License-Identifier: Apache-2.0
"""Contact points of pairs of solids by each backend, against geometry worked out by hand and against each other."""

import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, body, box, floor, scene
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.description import Box, Capsule, Cylinder, Mesh, Sphere
from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, Scene
from humanoid_sim import Simulation
from humanoid_sim.contact.solve import ContactStatus
from humanoid_sim.detection import backends
from humanoid_sim.detection.backends import BACKENDS
from humanoid_sim.detection.detector import ContactDetector
from humanoid_sim.detection.solids import SolidShape
from humanoid_sim.detection.special_pair import PairContact, ShapeMotion, SpecialPair

MARGIN = 2e-3
TABLE = Box(np.ones(3))  # its top is at z = 0.5
BACKEND = BACKENDS[0]


def place(x: float, y: float, z: float, roll: float = 0.0, yaw: float = 0.0) -> pin.SE3:
    return pin.SE3(pin.rpy.rpyToMatrix(roll, 0.0, yaw), np.array([x, y, z]))


@pytest.fixture(params=BACKENDS, autouse=True)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test runs with each backend."""
    monkeypatch.setattr(sys.modules[__name__], "BACKEND", request.param)
    return str(request.param)


def at(placement: pin.SE3) -> ShapeMotion:
    p = placement.translation
    return ShapeMotion(placement.rotation, p, p, np.zeros(3), np.zeros(3))


def pair(first: SolidShape, at_first: pin.SE3, second: SolidShape, at_second: pin.SE3) -> PairContact | None:
    return SpecialPair(first, second, BACKEND).patch(at(at_first), at(at_second), MARGIN)


def on_table(shape: SolidShape, placement: pin.SE3, *, swapped: bool = False) -> PairContact | None:
    if swapped:
        return pair(TABLE, pin.SE3.Identity(), shape, placement)
    return pair(shape, placement, TABLE, pin.SE3.Identity())


@pytest.mark.feature("000-F106")
@pytest.mark.parametrize("gap", [1e-3, 0.0, -1e-3])
@pytest.mark.parametrize("swapped", [False, True])
def test_box_on_box_touches_with_four_corners(gap: float, swapped: bool) -> None:
    contact = on_table(Box(np.array([0.4, 0.2, 0.1])), place(0.1, 0.0, 0.55 + gap), swapped=swapped)
    assert contact is not None
    assert_allclose(contact.normal, [0, 0, -1 if swapped else 1], atol=1e-9)
    assert_allclose(contact.gaps, gap, atol=1e-9)
    expected = {(-0.1, -0.1), (-0.1, 0.1), (0.3, -0.1), (0.3, 0.1)}
    assert {tuple(point) for point in contact.positions[:, :2].round(6)} == expected
    assert_allclose(contact.positions[:, 2], 0.5 + 0.5 * gap, atol=1e-9)


def test_overhanging_box_is_clipped_by_the_edge() -> None:
    contact = on_table(Box(np.array([0.4, 0.2, 0.1])), place(0.45, 0.0, 0.55))
    assert contact is not None
    assert {tuple(p) for p in contact.positions[:, :2].round(6)} == {
        (0.25, -0.1), (0.25, 0.1), (0.5, -0.1), (0.5, 0.1),
    }  # fmt: skip


def test_tilted_box_has_a_gap_at_each_corner() -> None:
    tilt = 2e-3
    contact = on_table(Box(np.array([0.4, 0.4, 0.1])), place(0, 0, 0.5504, roll=tilt))
    assert contact is not None
    expected = 0.5004 - 0.5 + 0.05 * (1 - np.cos(tilt)) + np.sign(contact.positions[:, 1]) * 0.2 * np.sin(tilt)
    assert_allclose(contact.gaps, expected, atol=1e-8)


def test_edge_crossing_an_edge_is_one_point() -> None:
    """Two cubes on edge, one edge along y, the other above it along x: they meet in one point."""
    lower, upper = TABLE, Box(np.full(3, 0.1))
    top, bottom = np.sqrt(0.5), 0.1 * np.sqrt(0.5)
    on_y = pin.SE3(pin.rpy.rpyToMatrix(0.0, np.pi / 4, 0.0), np.zeros(3))
    on_x = place(0.02, 0.03, top + bottom + 5e-4, roll=np.pi / 4)
    contact = pair(upper, on_x, lower, on_y)
    assert contact is not None
    assert_allclose(contact.normal, [0, 0, 1], atol=1e-6)
    assert_allclose(contact.positions, [[0.0, 0.03, top + 2.5e-4]], atol=1e-6)
    assert_allclose(contact.gaps, [5e-4], atol=1e-6)


def test_sphere_capsule_and_cylinder_on_a_table() -> None:
    sphere = on_table(Sphere(0.1), place(0.2, 0.1, 0.6005))
    assert sphere is not None
    assert_allclose(sphere.positions, [[0.2, 0.1, 0.50025]], atol=1e-6)
    assert_allclose(sphere.gaps, [5e-4], atol=1e-6)
    lying = place(0, 0, 0.5 + 0.05, roll=np.pi / 2)
    for shape in (Capsule(0.05, 0.3), Cylinder(0.05, 0.3)):
        contact = on_table(shape, lying)
        assert contact is not None
        assert_allclose(sorted(contact.positions[:, 1]), [-0.15, 0.15], atol=1e-6)
        assert_allclose(contact.gaps, 0.0, atol=1e-6)
    standing = on_table(Cylinder(0.05, 0.3), place(0, 0, 0.65))
    assert standing is not None
    assert len(standing.gaps) == 4
    assert_allclose(np.linalg.norm(standing.positions[:, :2], axis=1), 0.05, atol=1e-9)


def test_far_shapes_have_no_contact() -> None:
    assert on_table(Sphere(0.1), place(0, 0, 0.6 + 1.5 * MARGIN)) is None


def test_two_spheres() -> None:
    a, b = Sphere(0.1), Sphere(0.2)
    direction = np.array([1.0, 2.0, -2.0]) / 3.0
    contact = pair(a, pin.SE3(np.eye(3), 0.299 * direction), b, pin.SE3.Identity())
    assert contact is not None
    assert_allclose(contact.normal, direction, atol=1e-6)
    assert_allclose(contact.gaps, [-1e-3], atol=1e-6)
    assert_allclose(contact.positions[0], 0.1995 * direction, atol=1e-6)


# In a simulation ---------------------------------------------------------------------------------------------


def table() -> Scene:
    """All kinds of solids on a table and on each other."""
    slab = box("slab", (4.0, 4.0, 0.2), place(0, 0, -0.1), mass=0.0)
    crates = [box(f"crate{i}", (0.3, 0.2, 0.1), place(0.05 * i, 0, 0.05 + 0.1 * i, yaw=0.3 * i)) for i in range(3)]
    disc = body("disc", Cylinder(0.1, 0.06), 1.0, 0.01 * np.eye(3), place(1, 0, 0.03))
    log = body("log", Capsule(0.05, 0.3), 1.0, 0.01 * np.eye(3), place(-1, 0, 0.05, roll=np.pi / 2))
    cross = body("cross", Capsule(0.05, 0.3), 1.0, 0.01 * np.eye(3), place(-1, 0, 0.15, roll=np.pi / 2, yaw=np.pi / 2))
    bowls = [ball(f"ball{i}", 0.1, place(0, 1 + 0.15 * i, 0.1)) for i in range(2)]
    return scene(slab, *crates, disc, log, cross, *bowls, rules=(PairRule("ball0", "slab", method="distance"),))


def tumbling() -> Scene:
    """Boxes and balls that fall on each other, on corners and edges."""
    rng = np.random.default_rng(3)
    solids = [box("slab", (4.0, 4.0, 0.2), place(0, 0, -0.1), mass=0.0), floor()]
    for i in range(6):
        x, y = rng.uniform(-0.1, 0.1, 2)
        at_start = pin.SE3(pin.rpy.rpyToMatrix(*rng.uniform(-3, 3, 3)), np.array([x, y, 0.3 * i + 0.2]))
        solids.append(box(f"b{i}", (0.2, 0.15, 0.1), at_start) if i % 2 else ball(f"b{i}", 0.08, at_start))
    return scene(*solids)


@pytest.mark.feature("000-F106")
@pytest.mark.parametrize("world_scene", [table(), tumbling(), "boxes"], ids=["table", "tumbling", "boxes"])
def test_coal_finds_the_contacts_of_the_compiled_code(world_scene: Scene | str) -> None:
    """At many moments of a simulation, by a detector that has seen nothing before: the same points, in order."""
    simulation = Simulation(world_scene)
    other = ContactDetector(simulation.world, BACKEND)
    touched = 0
    for _ in range(15):
        simulation.run(0.03)
        own, motion = simulation.stepping.stepper.points, simulation.stepping.stepper.motion
        m = len(simulation.contacts)
        found = other.detect(motion.rotations, motion.origins, motion.twists, simulation.dt)
        assert found.size == m
        for name in ("body_a", "body_b", "joint_a", "joint_b", "corner"):
            assert_array_equal(getattr(found, name)[:m], getattr(own, name)[:m])
        assert_allclose(found.gaps[:m], own.gaps[:m], atol=1e-6)
        assert_allclose(found.normals[:m], own.normals[:m], atol=1e-4)
        assert_allclose(found.positions[:m], own.positions[:m], atol=1e-4)
        touched += m
    assert touched > 50


@pytest.mark.feature("000-F106")
def test_the_motion_is_that_of_the_compiled_code() -> None:
    """What the option is for, by the command line's and the node's word for it."""
    reference, simulation = Simulation(table()), Simulation(table(), detection=BACKEND)
    assert simulation.options.as_text()["detection"] == BACKEND
    for each in (reference, simulation):
        each.apply_wrench("crate2", [2.0, 1.0, 0.0], duration=0.1)
        each.run(0.3)
    assert len(simulation.contacts) == len(reference.contacts)
    assert_allclose(simulation.q, reference.q, atol=1e-4)


@pytest.mark.feature("000-F106")
def test_who_asks_for_coal_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pair whose boxes meet is asked of the library that was chosen, and of no other."""
    asked = []
    distance = backends.CoalDistance.__call__

    def count(self: backends.CoalDistance, *arguments: object) -> float:
        asked.append(1)
        return distance(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(backends.CoalDistance, "__call__", count)
    Simulation(table(), detection=BACKEND).step()
    assert bool(asked) == (BACKEND == "coal")


def test_a_time_budget_counts_with_either() -> None:
    simulation = Simulation(table(), detection=BACKEND, time_budget=1e-12)
    simulation.apply_wrench("crate2", [20.0, 10.0, 0.0], duration=0.1)
    simulation.run(0.003)
    assert simulation.solver is not None
    assert simulation.solver.status is ContactStatus.TIME_LIMIT
    assert simulation.solver.iterations == 1


def test_a_mesh_of_triangles_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "wedge.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    for collision in ("exact", "convex"):
        wedge = body("wedge", Mesh(path, np.full(3, 0.1), collision), 1.0, 0.01 * np.eye(3), place(0, 0, 0.5))
        world_scene = scene(box("slab", (4.0, 4.0, 0.2), place(0, 0, -0.1), mass=0.0), wedge)
        if BACKEND == "coal" and collision == "exact":
            with pytest.raises(InputError, match=r"detection: 'wedge' collides triangle by triangle.*'compiled'"):
                Simulation(world_scene, detection=BACKEND)
        else:
            simulation = Simulation(world_scene, detection=BACKEND)
            simulation.run(0.5)
            assert simulation.q[2] == pytest.approx(0.0, abs=1e-4)
