# SPDX-License-Identifier: Apache-2.0
"""Which bodies of a scene are found to touch, and which pairs are looked at."""

from pathlib import Path

import numpy as np
import pytest
from fixtures.scenes import ball, body, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.description import Capsule, Cylinder, Mesh
from humanoid_sim import Simulation
from humanoid_sim.detection.shape_pair import ConvexShape


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
    shape = ConvexShape(Mesh(path, np.ones(3)))
    assert_allclose(shape.centre, [0.5, 1.0, 1.5])
    assert_allclose(shape.half_sizes, [0.5, 1.0, 1.5])
