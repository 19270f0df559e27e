# SPDX-License-Identifier: Apache-2.0
"""Round shapes touch with all of what they share with a face: they stand, lie, carry and tip as they should."""

from __future__ import annotations

import coal
import numpy as np
import pytest
from fixtures.scenes import body, box, floor, place, scene

from humanoid_model.description import Capsule, Cylinder, Shape
from humanoid_model.scene import SceneBody
from humanoid_sim import Simulation


def can(name: str, radius: float, x: float, y: float, z: float) -> SceneBody:
    inertia = 4.0 * np.diag([*[radius**2 / 4.0 + 0.2**2 / 12.0] * 2, radius**2 / 2.0])
    return body(name, Cylinder(radius, 0.2), 4.0, inertia, place(x, y, z))


def shared(lower: SceneBody, upper: SceneBody) -> np.ndarray:
    """Places of the contacts between two bodies on each other."""
    simulation = Simulation(scene(floor(), lower, upper, friction=0.6))
    simulation.step()
    contacts = simulation.contacts
    between = [set(pair) == {lower.name, upper.name} for pair in contacts.bodies]
    return contacts.position[between][:, :2]


def has(points: np.ndarray, x: float, y: float) -> bool:
    return bool((np.hypot(*(points - [x, y]).T) < 1e-6).any())


def test_a_small_box_on_a_cylinder_touches_with_its_corners() -> None:
    points = shared(can("can", 0.08, 0, 0, 0.1), box("top", (0.1, 0.08, 0.1), place(0.01, 0, 0.25)))
    assert len(points) == 4
    assert all(has(points, 0.01 + 0.05 * i, 0.04 * j) for i in (-1, 1) for j in (-1, 1))


@pytest.mark.feature("000-F103")
def test_a_face_that_ends_on_a_cylinder_touches_where_its_sides_cross_the_rim() -> None:
    points = shared(can("can", 0.08, 0, 0, 0.1), box("top", (0.2, 0.4, 0.1), place(0.09, 0, 0.25)))
    across = np.sqrt(0.08**2 - 0.01**2)  # its side lies at x = -0.01
    assert has(points, -0.01, across)
    assert has(points, -0.01, -across)
    assert has(points, 0.08, 0.0)
    assert points[:, 0].min() > -0.01 - 1e-9


@pytest.mark.parametrize("upper", [0.05, 0.08, 0.12])
def test_cylinders_stand_on_each_other_on_the_smaller_end(upper: float) -> None:
    points = shared(can("can", 0.08, 0, 0, 0.1), can("top", upper, 0.005, 0, 0.3))
    middle = [0.005, 0.0] if upper < 0.08 else [0.0, 0.0]
    distance = np.hypot(*(points - middle).T)
    assert len(points) >= 4
    assert distance.max() < min(upper, 0.08) + 1e-6
    assert distance.min() > 0.9 * min(upper, 0.08)


@pytest.mark.feature("000-F103")
@pytest.mark.parametrize(
    "top",
    [
        box("top", (0.1, 0.1, 0.1), place(0.01, 0, 0.25, yaw=0.2)),
        box("top", (0.1, 0.1, 0.1), place(0.05, 0, 0.25, yaw=0.2)),
        can("top", 0.08, 0, 0, 0.3),
        can("top", 0.08, 0.05, 0.02, 0.3),
    ],
    ids=["box inside", "box beyond the rim", "can", "can aside"],
)
def test_what_stands_on_a_cylinder_comes_to_rest(top: SceneBody) -> None:
    simulation = Simulation(scene(floor(), can("can", 0.08, 0, 0, 0.1), top, friction=0.6))
    simulation.run(0.5)
    assert np.abs(simulation.bodies["top"].twist).max() < 1e-8
    moved = simulation.bodies["top"].placement_world_body.translation - top.placement_world_body.translation
    assert np.abs(moved).max() < 1e-6


@pytest.mark.feature("000-F103")
@pytest.mark.parametrize(("x", "falls"), [(0.147, False), (0.153, True)])
def test_a_cylinder_tips_over_an_edge_when_its_middle_is_beyond_it(x: float, falls: bool) -> None:
    simulation = Simulation(
        scene(floor(), box("table", (0.3, 0.3, 0.2), place(0, 0, 0.1), 40.0), can("top", 0.08, x, 0, 0.3), friction=0.6)
    )
    simulation.run(1.0)
    assert (simulation.bodies["top"].placement_world_body.translation[2] < 0.29) == falls


def rod(kind: type[Capsule | Cylinder], yaw: float, x: float, z: float = 0.23, pitch: float = 0.0) -> SceneBody:
    """One of 1 kg, 40 cm long and 6 cm thick, that lies along x, turned about z and raised at one end."""
    shape: Shape = kind(0.03, 0.4)
    inertia = np.diag([0.0136, 0.0136, 0.00045])
    return body("rod", shape, 1.0, inertia, place(x, 0, z, 0.0, 0.5 * np.pi - pitch, yaw))


@pytest.mark.feature("000-F103")
@pytest.mark.parametrize("kind", [Capsule, Cylinder])
def test_what_lies_over_an_edge_bears_on_it(kind: type[Capsule | Cylinder]) -> None:
    """Its middle is over the table: it lies still, neither sunk into the edge nor tipped."""
    table = box("table", (0.4, 0.4, 0.2), place(0, 0, 0.1), mass=0.0)
    simulation = Simulation(scene(floor(), table, rod(kind, 0.0, 0.15)))
    deepest = 0.0
    for _ in range(500):
        simulation.step()
        deepest = min(deepest, float(simulation.contacts.gap.min(initial=0.0)))
    contacts = simulation.contacts
    assert has(contacts.position[:, :2], 0.2, 0.0)
    assert has(contacts.position[:, :2], -0.05, 0.0)
    assert contacts.force.sum(axis=0)[2] == pytest.approx(9.8, rel=1e-6)
    assert deepest > -1e-6


@pytest.mark.feature("000-F103")
@pytest.mark.parametrize("kind", [Capsule, Cylinder])
def test_the_nearest_point_of_what_lies_over_edges_is_that_of_another_library(kind: type[Capsule | Cylinder]) -> None:
    """Rods at random over a table's edges, tilted by less than what makes a face a contact's."""
    random, between = np.random.default_rng(7), 0
    for _ in range(60):
        yaw, x = random.uniform(-np.pi, np.pi), random.uniform(-0.3, 0.3)
        above = rod(kind, yaw, x, 0.23 + random.uniform(2e-4, 4e-3), random.uniform(-0.01, 0.01))
        table = box("table", (0.4, 0.3, 0.2), place(0, 0, 0.1), mass=0.0)
        simulation = Simulation(scene(table, above, gravity=(0.0, 0.0, 0.0)))
        simulation.step()
        shape = coal.Capsule(0.03, 0.4) if kind is Capsule else coal.Cylinder(0.03, 0.4)
        where = above.placement_world_body
        expected = coal.distance(
            shape, coal.Transform3s(where.rotation, where.translation), coal.Box(0.4, 0.3, 0.2),
            coal.Transform3s(np.eye(3), np.array([0.0, 0.0, 0.1])), coal.DistanceRequest(), coal.DistanceResult(),
        )  # fmt: skip
        gaps = simulation.contacts.gap
        if len(gaps) and 0.0 < expected < 4e-3:
            between += 1
            # Along the face's normal, up to 0.01 rad off the shortest way: off by its square of radius and gap.
            assert gaps.min() == pytest.approx(expected, abs=0.01**2 * (0.03 + 4e-3))
    assert between > 20
