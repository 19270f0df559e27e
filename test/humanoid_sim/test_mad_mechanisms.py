# SPDX-License-Identifier: Apache-2.0
"""Mechanisms described in MAD simulate like any robot: their loops stay closed."""

import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import scene

from humanoid_kinematics import load_mechanism
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation


def simulate(name):
    mechanism = load_mechanism(name)
    placed = SceneRobot("m", mechanism.robot, "initial", pin.SE3.Identity(), mechanism.initial)
    return mechanism, Simulation(scene(robots=(placed,), gravity=(0.0, -9.81, 0.0)))


def gap(mechanism, simulation):
    """Largest distance of the two frames of a loop [m], and largest angle held between them [rad]."""
    far = []
    for loop in mechanism.loops:
        a, b = (
            simulation.placement(f"m/{link}") * placement
            for link, placement in ((loop.link_a, loop.placement_a), (loop.link_b, loop.placement_b))
        )
        far.append(np.linalg.norm(a.translation - b.translation))
        far.append(np.abs(pin.log3(a.rotation.T @ b.rotation)).max() if "rx" in loop.rows else 0.0)
    return max(far)


def rocker(crank):
    """Angle of the rocker of fourbar.mad at an angle of its crank: two circles about the crank's end and the pivot."""
    x, y = 320 - 100 * math.cos(crank), -100 * math.sin(crank)
    length = math.hypot(x, y)
    along = (260**2 - 240**2 + length**2) / (2 * length)
    across = math.sqrt(260**2 - along**2)
    return math.atan2((along * y + across * x) / length - y, (along * x - across * y) / length - x)


def test_a_four_bar_follows_its_crank_through_a_turn():
    mechanism, simulation = simulate("fourbar")
    robot = simulation.robots["m"]
    assert robot.driven_joint_names == ("joint_1",)
    simulation.run(0.1)
    start, seen = robot.q[0], []
    for step in range(1, 61):
        robot.set_position_target([start + 2 * math.pi * step / 60])
        simulation.run(0.05)
        assert gap(mechanism, simulation) < 1e-6
        seen.append(robot.q[0])
        angle = robot.q[mechanism.robot.index_q("joint_3")]
        assert math.remainder(angle - rocker(robot.q[0]), 2 * math.pi) == pytest.approx(0, abs=1e-5)
    assert seen[-1] - start > 6.0


@pytest.mark.feature("002-F028", "002-F030")
@pytest.mark.parametrize("name", ["planar_hybrid", "cross", "rssr"])
@pytest.mark.filterwarnings("ignore:.*E10")
def test_rounded_numbers_close_and_stay_closed(name):
    mechanism, simulation = simulate(name)
    assert gap(mechanism, simulation) > 1e-5
    simulation.run(0.3)
    assert gap(mechanism, simulation) < 1e-6
