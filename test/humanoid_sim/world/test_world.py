# SPDX-License-Identifier: Apache-2.0
"""One robot or body of a world as a model of its own; what would take too much memory is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, box, floor, place, scene

from humanoid_model import load_scene
from humanoid_model.errors import SimulationError
from humanoid_sim import Simulation


@pytest.fixture(scope="module")
def crowd() -> Simulation:
    """Two HRP-2 and a ball."""
    stand = load_scene("stand")
    other = ball("ball", 0.1, place(1.0, 1.0, 0.1))
    twin = dataclasses.replace(
        stand.robots[0], name="twin", q=np.concatenate([[1.5], np.asarray(stand.robots[0].q)[1:]])
    )
    return Simulation(dataclasses.replace(stand, robots=(*stand.robots, twin), bodies=(*stand.bodies, other)))


@pytest.mark.parametrize("owner", ["hrp2", "twin", "ball"])
def test_a_part_moves_as_in_the_world(crowd: Simulation, owner: str) -> None:
    world = crowd.world
    part = world.part(owner)
    rng = np.random.default_rng(2)
    q = pin.integrate(world.model, world.q, rng.normal(size=world.model.nv))
    v, a = rng.normal(size=world.model.nv), rng.normal(size=world.model.nv)
    whole, data = world.model.createData(), part.model.createData()
    efforts = pin.rnea(world.model, whole, q, v, a)[part.v]
    np.testing.assert_allclose(pin.rnea(part.model, data, q[part.q], v[part.v], a[part.v]), efforts, atol=1e-9)
    for j in range(1, part.model.njoints):
        name = part.model.names[j]
        of_world = world.model.getJointId(name)
        assert part.joint(of_world) == j
        np.testing.assert_allclose(data.oMi[j].homogeneous, whole.oMi[of_world].homogeneous, atol=1e-12)
    np.testing.assert_array_equal(part.model.armature, world.model.armature[part.v])


def test_sensors_of_the_second_robot_read_as_those_of_the_first(crowd: Simulation) -> None:
    crowd.reset()
    crowd.run(0.3)
    for sensor in ("right_ankle", "left_wrist"):
        np.testing.assert_allclose(
            crowd.robots["twin"].wrench(sensor), crowd.robots["hrp2"].wrench(sensor), rtol=1e-3, atol=1e-2
        )
    assert crowd.robots["twin"].wrench("right_ankle")[2] != 0.0
    readings = [
        crowd.robots[name].imu(next(s.name for s in crowd.robots[name].robot.sensors.values() if s.type == "imu"))
        for name in ("hrp2", "twin")
    ]
    np.testing.assert_allclose(readings[0].linear_acceleration, readings[1].linear_acceleration, atol=1e-2)


def test_pinocchios_data_of_a_large_world_are_refused() -> None:
    boxes = [box(f"box{i}", (0.1, 0.1, 0.1), place(0.2 * i, 0, 0.05)) for i in range(90)]
    with pytest.raises(SimulationError, match=r"of 540 velocity coordinates take 5 GB, more than 4 GB"):
        Simulation(scene(floor(), *boxes), dynamics="pinocchio")
