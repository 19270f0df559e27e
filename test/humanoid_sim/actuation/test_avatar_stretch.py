# SPDX-License-Identifier: Apache-2.0
"""The avatar stretches its arms (specification 000, F043, thesis Fig. 3.18)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fixtures.scenes import floor, scene, standing

from humanoid_model import load_robot
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_sim import Simulation
from humanoid_sim.actuation import FeedForward, TrajectoryPlayer
from humanoid_sim.monitoring.balance import robot_balance

PERIOD = 4.0
"""s: to the sides and back."""


@pytest.mark.feature("000-F043")
@pytest.mark.parametrize("duration", [1.0, pytest.param(10.0, marks=pytest.mark.slow)])
def test_arms_are_stretched_on_ball_joints(duration: float) -> None:
    """To the sides and back, again and again: it follows, stays on its feet and keeps its balance."""
    avatar = load_robot("avatar")
    simulation = Simulation(scene(floor(), robots=(standing(avatar, "standing", "avatar"),), friction=0.8))
    robot = simulation.robots["avatar"]
    start = robot.joint_positions
    robot.set_state(avatar.postures["arms_stretched"])
    end = robot.joint_positions
    simulation.reset()
    times = np.arange(0.0, duration + 0.1, 0.005)
    share = 0.5 * (1.0 - np.cos(2.0 * math.pi * times / PERIOD))[:, None]
    rate = math.pi / PERIOD * np.sin(2.0 * math.pi * times / PERIOD)[:, None]
    player = TrajectoryPlayer(
        "avatar", JointTrajectory(robot.joint_names, times, start + share * (end - start), rate * (end - start))
    )
    simulation.add_module(player)
    simulation.add_module(FeedForward("avatar", "inverse_dynamics"))
    margins = []

    def watch(running: Simulation) -> None:
        if running.step_count % 20 == 0:
            margins.append(robot_balance(running, "avatar").margin)

    simulation.run(duration, watch)
    assert np.ptp(end - start) > 1.0
    assert player.tracking_error.largest.max() < 0.03
    assert min(margins[2:]) > 0.01
    assert simulation.contacts.normal_force.sum() == pytest.approx(75.0 * 9.8, rel=0.05)
