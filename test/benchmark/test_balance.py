# SPDX-License-Identifier: Apache-2.0
"""What the benchmark of balance does to a robot and its ground happens to the simulated ones."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_scene


@pytest.fixture
def balance(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmark")
    from benchmark import balance

    return balance


def centre(run):
    """Mass and centre of mass of the simulated robot, by its own model."""
    model = run.simulation.world.part(run.name).model
    return sum(inertia.mass for inertia in model.inertias[1:]), pin.centerOfMass(model, model.createData(), run.own.q)


def test_a_heavier_robot_is_heavier_in_the_simulator_and_not_in_its_walkers_model(balance):
    robot = balance.noisy("bip", np.random.default_rng(1))
    usual = balance.Run("bip", 1, load_scene("walk"))
    other = balance.Run("bip", 1, load_scene("walk"), plant=balance.heavier(robot, 1.0, np.array([0.02, -0.01, 0.0])))
    np.testing.assert_allclose(centre(other)[1] - centre(usual)[1], [0.02, -0.01, 0.0], atol=1e-9)
    heavy = balance.Run("bip", 1, load_scene("walk"), plant=balance.heavier(robot, 1.1, np.zeros(3)))
    assert centre(heavy)[0] == pytest.approx(1.1 * centre(usual)[0])
    assert heavy.walker.robot.total_mass == pytest.approx(centre(usual)[0])


def test_pushes_change_the_velocity_as_they_say(balance):
    run = balance.Run("bip", 1, load_scene("walk"))
    run.go(0.3)
    model = run.simulation.world.part("bip").model
    run.push(np.array([0.0, 0.3, 0.0]))
    forces = 0.0
    for _ in range(100):
        run.simulation.step()
        forces += 1e-3 * run.simulation.contacts.force[:, 1].sum()
    data = model.createData()
    speed = pin.computeCentroidalMomentum(model, data, run.own.q, run.own.v).linear[1] / run.mass
    assert speed - forces / run.mass == pytest.approx(0.3, abs=0.02)


def test_ground_is_as_high_and_as_steep_as_it_says(balance):
    from benchmark.rough_ground import bump, field, ramp

    bar = balance.scene_of(bump(0.04, 0.5)).bodies
    assert {body.name for body in bar} == {"floor", "bar"}
    steep = next(body for body in balance.scene_of(ramp(math.radians(8.0), 1.0)).bodies if body.name == "ramp")
    x_axis = steep.placement_world_body.rotation[:, 0]
    assert math.degrees(math.asin(x_axis[2])) == pytest.approx(8.0)
    tiles = [body.placement_world_body for body in balance.scene_of(field(3, 3.0)).bodies]
    tops = np.array([tile.act(np.array([0.0, 0.0, 0.2])) for tile in tiles])
    tilts = np.degrees([math.acos(min(tile.rotation[2, 2], 1.0)) for tile in tiles])
    assert np.ptp(tops[:, 2]) > 0.02
    assert np.abs(tops[:, 2]).max() < 0.02 + 1e-6
    assert 4.0 < tilts.max() < 5.0 * math.sqrt(2.0) + 0.1
    assert not tops[tops[:, 0] < 0.5, 2].any()
