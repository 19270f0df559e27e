# SPDX-License-Identifier: Apache-2.0
"""What a robot carries and what pulls at it, against robots in the simulator whose masses are known."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.stepping.walker import Walker
from humanoid_model import load_robot, load_scene
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.sensing import NoisySensors, with_usual_noise


def heavier(robot, factor, offset):
    """A robot whose base link has more mass, which is elsewhere: the whole robot's centre by (3,) in its frame [m]."""
    description, root = robot.description, robot.description.root
    link, extra = description.links[root], (factor - 1.0) * robot.total_mass
    own = link.inertial
    moved = pin.SE3(np.eye(3), offset * (robot.total_mass + extra) / (own.mass + extra)) * own.placement_link_com
    links = {**description.links, root: dataclasses.replace(
        link, inertial=dataclasses.replace(own, mass=own.mass + extra, placement_link_com=moved)
    )}  # fmt: skip
    return dataclasses.replace(robot, description=dataclasses.replace(description, links=links))


def carrying(seed, mass, offset):
    """HRP-2 with more mass whose walker knows the usual one; the walker; the offset of its centre of mass (3,)."""
    robot = with_usual_noise(load_robot("hrp2"), np.random.default_rng(seed))
    plant, q = heavier(robot, mass, np.array(offset)), robot.postures["half_sitting"]
    placed = SceneRobot("hrp2", plant, "half_sitting", pin.SE3.Identity(), q)
    simulation = Simulation(dataclasses.replace(load_scene("walk"), robots=(placed,)))
    sensors, walker = NoisySensors(seed), Walker(robot, "half_sitting")
    simulation.add_module(sensors)
    simulation.add_module(ControllerInLoop("hrp2", walker, sensors=sensors))
    own = simulation.robots["hrp2"]
    base = own.placement_world_base
    usual = pin.centerOfMass(robot.model, robot.model.createData(), own.q)
    return simulation, walker, base.rotation.T @ (own.centre_of_mass - usual)


@pytest.mark.parametrize(("seed", "mass", "offset"), [(1, 1.1, (0.02, 0.0, 0.0)), (2, 0.95, (-0.01, 0.01, 0.0))])
def test_mass_and_centre_of_mass_are_known_within_their_deviations(seed, mass, offset):
    simulation, walker, aside = carrying(seed, mass, offset)
    for speed, seconds, near in ((0.0, 1.5, 0.012), (0.2, 2.5, 0.006)):
        walker.walk(speed)  # in the air sensors' offsets are found, which look like a load
        simulation.run(seconds)
        load, extra = walker.estimate.load, (mass - 1.0) * walker.robot.total_mass
        assert abs(load.mass - extra) < 3.0 * np.sqrt(load.covariance[0, 0])
        assert (np.abs(load.offset - aside)[:2] < 3.0 * load.offset_deviation[:2]).all()
        assert np.abs(load.offset - aside)[:2].max() < near
    assert load.mass == pytest.approx(extra, abs=1.2)
    assert np.linalg.norm(aside[:2]) > 0.009
    np.testing.assert_array_equal(copy.deepcopy(walker).estimate.load.covariance, load.covariance)


def test_a_pull_is_an_external_force_and_no_load():
    simulation, walker, _ = carrying(3, 1.0, (0.0, 0.0, 0.0))
    simulation.run(2.0)

    def wrench(seconds):
        told = []
        for _ in range(round(seconds / 0.05)):
            simulation.run(0.05)
            told.append(walker.estimate.load.wrench)
        return np.mean(told, axis=0)

    before, mass, own = wrench(0.3), walker.estimate.load.mass, simulation.robots["hrp2"]
    simulation.apply_wrench("hrp2/CHEST_LINK0", [40.0, 0.0, -60.0], point=own.centre_of_mass, duration=0.5)
    simulation.run(0.15)
    np.testing.assert_allclose((wrench(0.35) - before)[:3], [40.0, 0.0, -60.0], atol=15.0)
    simulation.run(2.0)
    np.testing.assert_allclose((wrench(0.3) - before)[:3], 0.0, atol=8.0)
    assert abs(walker.estimate.load.mass - mass) < 0.8
