# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks in the simulator, without any stabiliser (specification 000, E13, F157)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_control.walking import WalkingPattern, generate_walk, plan_footsteps
from humanoid_model import load_robot
from humanoid_sim import Simulation
from humanoid_sim.actuation import FeedForward, TrajectoryPlayer


@pytest.fixture(scope="module")
def walk() -> WalkingPattern:
    robot = load_robot("hrp2", geometry=False)
    return generate_walk(robot, plan_footsteps(robot, "half_sitting"), "half_sitting")


def walked(scene: str, walk: WalkingPattern) -> tuple[Simulation, np.ndarray, np.ndarray]:
    """The scene after the walk and a second, centres of mass and whether soles bore weight, every 5 ms."""
    simulation = Simulation(scene)
    player = TrajectoryPlayer("hrp2", walk.trajectory)
    simulation.add_module(player)
    robot = simulation.robots["hrp2"]
    centres, loads = [], []

    def record(simulation: Simulation) -> None:
        if simulation.step_count % 5 == 0:
            contacts = simulation.contacts
            centres.append(robot.centre_of_mass)
            loads.append(
                [
                    sum(
                        float(force)
                        for force, (a, _) in zip(contacts.normal_force, contacts.bodies, strict=True)
                        if a.startswith(f"hrp2/{side}LEG")
                    )
                    for side in "RL"
                ]
            )

    simulation.run(walk.duration + 1.0, record)
    return simulation, np.array(centres), np.array(loads)


@pytest.mark.feature("000-F157")
def test_hrp2_walks_six_steps_and_stands(walk: WalkingPattern) -> None:
    """On rigid feet, stiff servos alone: no fall, the way of the pattern to 2 cm, feet lifted when they should be."""
    simulation, centres, loads = walked("walk", walk)
    robot = simulation.robots["hrp2"]
    weight = robot.robot.total_mass * 9.81
    assert_allclose(robot.placement("WAIST").translation, walk.base[-1, :3], atol=0.02)
    assert robot.placement("WAIST").rotation[2, 2] > 0.9999
    k = len(walk.times) - 1
    assert np.abs(centres[:k] - walk.centre_of_mass[1 : k + 1]).max() < 0.02
    assert np.abs(simulation.v).max() < 1e-3
    assert_allclose(loads[-1].sum(), weight, rtol=1e-3)
    assert_allclose(loads[-1], 0.5 * weight, rtol=0.2)
    # a foot that swings is free in the middle of its swing, and bears all of the weight while the other one swings
    changes = np.flatnonzero(np.diff(walk.support.sum(axis=1)))
    assert len(changes) == 12
    for lift, land in changes.reshape(6, 2):
        middle = (lift + land) // 2
        swings = int(np.argmin(walk.support[middle]))
        names = ["RL".index(walk.soles[side][0].upper()) for side in (swings, 1 - swings)]
        assert loads[middle, names[0]] == 0.0
        assert loads[middle, names[1]] > 0.8 * weight


@pytest.mark.feature("000-F118")
def test_a_push_while_walking(walk: WalkingPattern) -> None:
    """F118: 0.1 s from the side in the fourth step; 40 N are survived, of 400 N it falls that way."""
    simulation = Simulation("walk")
    simulation.add_module(TrajectoryPlayer("hrp2", walk.trajectory))
    robot = simulation.robots["hrp2"]
    simulation.run(5.5)
    before = simulation.save_state()
    ends = []
    for push in (40.0, 400.0):
        simulation.restore_state(before)
        simulation.apply_wrench("hrp2/CHEST_LINK1", force=[0.0, push, 0.0], duration=0.1)
        simulation.run(walk.duration - 5.5)
        ends.append(robot.placement("WAIST").translation)
    assert_allclose(ends[0], walk.base[-1, :3], atol=0.03)
    assert ends[1][2] < 0.4
    assert ends[1][1] > 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "feedforward"), [("walk_soles", False), ("walk_bushing", True)])
def test_hrp2_walks_on_soft_feet(scene: str, feedforward: bool, walk: WalkingPattern) -> None:
    """On deformable soles by its servos alone; on ankle bushings with the efforts of inverse dynamics."""
    simulation = Simulation(scene)
    simulation.add_module(TrajectoryPlayer("hrp2", walk.trajectory))
    if feedforward:
        simulation.add_module(FeedForward("hrp2", "inverse_dynamics"))
    raised = simulation.robots["hrp2"].placement("WAIST").translation[2] - walk.base[0, 2]
    simulation.run(walk.duration + 0.5)
    place = simulation.robots["hrp2"].placement("WAIST")
    assert_allclose(place.translation - [0.0, 0.0, raised], walk.base[-1, :3], atol=0.03)
    assert place.rotation[2, 2] > 0.999
