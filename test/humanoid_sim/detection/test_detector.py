# SPDX-License-Identifier: Apache-2.0
"""Which bodies of a scene are found to touch, and which pairs are looked at."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, body, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.description import Capsule, Cylinder, Mesh
from humanoid_model.scene import CONTACT_METHODS, PairRule, Scene
from humanoid_sim import Simulation
from humanoid_sim.detection.backends import BACKENDS
from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.detection.detector import ContactDetector
from humanoid_sim.detection.shape_table import shape_table
from humanoid_sim.detection.solids import solids_of
from humanoid_sim.world.world import World


def test_fast_bodies_are_seen_before_they_arrive() -> None:
    """Two balls 3 cm apart that close in at 20 m/s meet within two steps."""
    left = ball("left", 0.1, place(0, 0, 0), twist=np.array([20.0, 0, 0, 0, 0, 0]))
    right = ball("right", 0.1, place(0.23, 0, 0))
    simulation = Simulation(scene(left, right, gravity=(0, 0, 0)))
    simulation.step()
    assert simulation.contacts.bodies == [("left", "right")]
    simulation.run(0.01)
    assert_allclose(simulation.bodies["left"].twist[0], 10.0, atol=1e-6)
    assert_allclose(simulation.bodies["right"].twist[0], 10.0, atol=1e-6)


def test_links_of_one_robot_and_fixed_bodies_do_not_collide() -> None:
    simulation = Simulation("stairs")
    simulation.run(0.05)
    owners = [(a.split("/")[0], b.split("/")[0]) for a, b in simulation.contacts.bodies]
    assert owners
    assert all({a, b} == {"hrp2", b} and b != "hrp2" for a, b in owners)


@pytest.mark.parametrize("kind", ["capsule", "cylinder", "mesh"])
def test_shapes_rest_on_a_table(kind: str, tmp_path: Path) -> None:
    """Pair by pair, not the half-space path: a fixed table carries the weight with no drift."""
    path = tmp_path / "wedge.obj"
    path.write_text(
        "v -0.1 -0.1 0\nv 0.1 -0.1 0\nv 0.1 0.1 0\nv -0.1 0.1 0\nv 0 -0.1 0.1\nv 0 0.1 0.1\n"
        "f 1 4 3 2\nf 1 2 5\nf 3 4 6\nf 2 3 6 5\nf 4 1 5 6\n"
    )
    shapes = {
        "capsule": (Capsule(0.05, 0.3), place(0, 0, 0.55, roll=np.pi / 2)),
        "cylinder": (Cylinder(0.05, 0.3), place(0, 0, 0.65)),
        "mesh": (Mesh(path, np.ones(3)), place(0, 0, 0.5)),
    }
    shape, placement = shapes[kind]
    thing = body("thing", shape, 1.0, 0.01 * np.eye(3), placement)
    thing.com[2] = 0.03 if kind == "mesh" else 0.0
    table = box("table", (1.0, 1.0, 0.5), place(0, 0, 0.25), mass=0.0)
    simulation = Simulation(scene(floor(), table, thing))
    simulation.run(1.0)
    moved = placement.inverse() * simulation.bodies["thing"].placement_world_body
    assert np.abs(moved.homogeneous - np.eye(4)).max() < 1e-6
    assert simulation.contacts.normal_force.sum() == pytest.approx(9.8, rel=1e-6)


def test_mesh_bounding_box_is_not_centred_on_its_origin(tmp_path: Path) -> None:
    path = tmp_path / "tetrahedron.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    table = shape_table(solids_of(Mesh(path, np.ones(3))))
    assert_allclose(table.centre, [[0.5, 1.0, 1.5]])
    assert_allclose(table.half, [[0.5, 1.0, 1.5]])


# Without a simulation ----------------------------------------------------------------------------------------


def detected(
    world_scene: Scene, detector: ContactDetector | None = None, moved: dict[str, pin.SE3] | None = None
) -> tuple[ContactDetector, ContactPoints]:
    """Contact points at the start, or with some bodies elsewhere; everything as fast as it starts."""
    world = World(world_scene)
    R, p = np.tile(np.eye(3), (world.model.njoints, 1, 1)), np.zeros((world.model.njoints, 3))
    twists = np.zeros((world.model.njoints, 6))
    for thing in world_scene.bodies:
        if thing.name in world.free_bodies:
            joint, placement = world.model.getJointId(thing.name), thing.placement_world_body
            placement = (moved or {}).get(thing.name, placement)
            R[joint], p[joint] = placement.rotation, placement.translation
            twists[joint] = (placement * pin.Motion(thing.twist)).vector
    detector = detector or ContactDetector(world)
    return detector, detector.detect(R, p, twists, 1e-3)


def of_body(detector: ContactDetector, points: ContactPoints, name: str) -> np.ndarray:
    """Which points are of a body."""
    index = detector._world.index[name]
    return np.flatnonzero((points.body_a[: points.size] == index) | (points.body_b[: points.size] == index))


@pytest.mark.feature("000-F104")
@pytest.mark.parametrize("support", ["half-space", "box"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_four_methods_and_the_default_in_one_scene(support: str, backend: str) -> None:
    ground = floor() if support == "half-space" else box("floor", (9.0, 9.0, 1.0), place(0, 0, -0.5), mass=0.0)
    size, deep = (0.4, 0.3, 0.2), 0.1 - 1e-4
    crates = [box(f"by_{method}", size, place(i, 0, deep, roll=1e-3)) for i, method in enumerate(CONTACT_METHODS)]
    crates[4] = box("by_continuous", size, place(4, 0, 0.13), twist=np.array([0, 0, -25.0, 0, 0, 0]))
    rules = tuple(PairRule(f"by_{method}", "floor", method=method) for method in CONTACT_METHODS)
    world_scene = scene(ground, *crates, rules=rules)
    detector, points = detected(world_scene, ContactDetector(World(world_scene), backend))
    low = 1e-4 + 0.15 * np.sin(1e-3) - 0.1 * (1 - np.cos(1e-3))  # depth of the lower side
    found = {method: of_body(detector, points, f"by_{method}") for method in CONTACT_METHODS}
    assert {method: len(rows) for method, rows in found.items()} == {
        "patch": 4, "distance": 1, "boolean": 0, "penetration": 4, "continuous": 4,
    }  # fmt: skip
    assert_allclose(np.sort(points.gaps[found["patch"]]), [-low, -low, 3e-4 - low, 3e-4 - low], atol=1e-6)
    assert_allclose(points.gaps[found["distance"]], -low, atol=1e-9)
    assert_allclose(points.gaps[found["penetration"]], -low, atol=1e-9)
    assert_allclose(points.positions[found["penetration"]][:, 2], 0.0, atol=1e-9)  # on both surfaces
    assert detector.overlaps == [("by_boolean", "floor")]
    assert detector.contact_times == {("by_continuous", "floor"): pytest.approx(0.03 / 25.0, abs=1e-6)}
    assert_allclose(points.gaps[found["continuous"]], 0.03, atol=1e-6)
    assert len(set(points.slots[: points.size])) == points.size


def test_boolean_pair_gives_no_force() -> None:
    rule = PairRule("ball", "floor", method="boolean")
    simulation = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.1)), rules=(rule,)))
    simulation.run(0.1)
    assert simulation.bodies["ball"].placement_world_body.translation[2] == pytest.approx(
        0.1 - 0.5 * 9.8 * 0.01, abs=1e-3
    )


def test_distance_and_penetration_carry_weight() -> None:
    rules = tuple(PairRule(f"by_{method}", "table", method=method) for method in ("distance", "penetration"))
    table = box("table", (9.0, 9.0, 1.0), place(0, 0, -0.5), mass=0.0)
    by_penetration = box("by_penetration", (0.4, 0.3, 0.2), place(1, 0, 0.1))
    simulation = Simulation(scene(table, ball("by_distance", 0.1, place(0, 0, 0.1)), by_penetration, rules=rules))
    simulation.run(0.3)
    for name in ("by_distance", "by_penetration"):
        z = simulation.bodies[name].placement_world_body.translation[2]
        assert z == pytest.approx(0.1, abs=2e-5)


def test_bodies_far_apart_make_no_list_of_all_pairs() -> None:
    """What the detector holds grows with the number of bodies, not with its square."""
    largest = []
    for side in (8, 16):
        crates = [
            box(f"crate_{i}_{j}", (0.1, 0.1, 0.1), place(i, j, 0.05)) for i in range(side) for j in range(side)
        ]
        detector, points = detected(scene(floor(), *crates))
        assert points.size == 4 * side * side
        largest.append(max(value.size for value in vars(detector).values() if isinstance(value, np.ndarray)))
    assert largest[1] < 4.5 * largest[0]
    assert largest[1] < 256 * 255 // 2
    assert len(detector._classes.friction) <= 2


@pytest.mark.slow
def test_ten_thousand_contacts_at_once() -> None:
    """2500 boxes on one table, each with four corners; then all slots are still different."""
    table = box("table", (200.0, 200.0, 1.0), place(0, 0, -0.5), mass=0.0)
    crates = [box(f"c{i}", (0.1, 0.1, 0.1), place(i % 50, i // 50, 0.05)) for i in range(2500)]
    detector, points = detected(scene(table, *crates))
    assert points.size == 10_000
    assert len(set(points.slots[:10_000].tolist())) == 10_000
    assert points.slots[:10_000].max() < detector.slot_count


def test_interpenetrating_start_of_many_bodies() -> None:
    """Forty boxes in one place: all pairs overlap, room grows, slots once given are kept."""
    crates = [box(f"c{i}", (0.4, 0.3, 0.2), place(1e-4 * i, 0, 0, yaw=0.01 * i)) for i in range(40)]
    detector, points = detected(scene(*crates))
    pairs = {(int(a), int(b)) for a, b in zip(points.body_a[: points.size], points.body_b[: points.size], strict=True)}
    assert len(pairs) == 40 * 39 // 2
    assert np.isfinite(points.positions[: points.size]).all()
    assert_allclose(np.linalg.norm(points.normals[: points.size], axis=1), 1.0)
    first = points.slots[: points.size].copy()
    assert first.max() < detector.slot_count
    _, again = detected(scene(*crates), detector)
    assert (again.slots[: again.size] == first).all()


def test_place_that_is_not_finite_spoils_only_its_own_body() -> None:
    crates = [box(f"c{i}", (0.1, 0.1, 0.1), place(i, 0, 0.05)) for i in range(5)]
    upon = [box(f"u{i}", (0.1, 0.1, 0.1), place(i, 0, 0.15)) for i in range(5)]
    world_scene = scene(floor(), *crates, *upon)
    nowhere = pin.SE3(np.eye(3), np.array([np.nan, 0.0, 0.05]))
    detector, points = detected(world_scene, moved={"c2": nowhere})
    assert len(of_body(detector, points, "c2")) == 0
    for i in (0, 1, 3, 4):
        assert len(of_body(detector, points, f"c{i}")) == 8
    assert np.isfinite(points.positions[: points.size]).all()


def test_order_and_slots_do_not_depend_on_what_was_before() -> None:
    """Found fresh, or after steps elsewhere: the same points in the same order, as restoring a state needs."""
    rng = np.random.default_rng(0)
    crates = [box(f"c{i}", (0.3, 0.2, 0.1), place(0.1 * i, 0.0, 0.05)) for i in range(12)]
    world_scene = scene(floor(), *crates)
    used, _ = detected(world_scene)
    fresh_positions = used.points.positions[: used.points.size].copy()
    slots = used.points.slots[: used.points.size].copy()
    for _ in range(5):
        moved = {f"c{i}": place(*rng.uniform(-1, 1, 2), rng.uniform(0, 1), yaw=rng.uniform(-3, 3)) for i in range(12)}
        detected(world_scene, used, moved)
    _, points = detected(world_scene, used)
    assert_allclose(points.positions[: points.size], fresh_positions, atol=0.0)
    assert (points.slots[: points.size] == slots).all()


def test_another_detector_goes_on_with_the_same_slots() -> None:
    """Its first contacts come in another order, so that without the saved state its numbers differ."""
    crates = [box(f"c{i}", (0.3, 0.2, 0.1), place(i, 0.0, 0.05)) for i in range(4)]
    table = box("table", (20.0, 20.0, 1.0), place(0, 0, -0.5), mass=0.0)
    world_scene = scene(table, *crates)
    aloft = {f"c{i}": place(i, 0, 5.0) for i in range(3)}
    first, _ = detected(world_scene, moved=aloft)
    _, points = detected(world_scene, first)
    slots = points.slots[: points.size].copy()
    fresh, points = detected(world_scene)
    assert (points.slots[: points.size] != slots).any()
    fresh.restore(first.save())
    _, points = detected(world_scene, fresh)
    assert (points.slots[: points.size] == slots).all()
