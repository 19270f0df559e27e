# SPDX-License-Identifier: Apache-2.0
"""The end of a cylinder touches with all of what it shares with a face: it stands, carries and tips as it should."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.scenes import body, box, floor, place, scene

from humanoid_model.description import Cylinder
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


@pytest.mark.parametrize(("x", "falls"), [(0.147, False), (0.153, True)])
def test_a_cylinder_tips_over_an_edge_when_its_middle_is_beyond_it(x: float, falls: bool) -> None:
    simulation = Simulation(
        scene(floor(), box("table", (0.3, 0.3, 0.2), place(0, 0, 0.1), 40.0), can("top", 0.08, x, 0, 0.3), friction=0.6)
    )
    simulation.run(1.0)
    assert (simulation.bodies["top"].placement_world_body.translation[2] < 0.29) == falls
