# SPDX-License-Identifier: Apache-2.0
"""Ankles that right a robot (000-F141)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.errors import InputError
from humanoid_sim.simulation import Simulation
from humanoid_studies.soles.sole_stabiliser import AnkleGains, SoleStabiliser

ANKLES = ["RLEG_JOINT4", "RLEG_JOINT5", "LLEG_JOINT4", "LLEG_JOINT5"]
GAINS = AnkleGains(lean=2.0, rate=0.0, integral=0.0)


def leaning(roll: float, pitch: float, gains: AnkleGains = GAINS) -> tuple[Simulation, SoleStabiliser]:
    """HRP-2 that stood and has been turned as a whole, two steps later."""
    simulation = Simulation("stand")
    stabiliser = SoleStabiliser("hrp2", gains)
    simulation.add_module(stabiliser)
    simulation.run(0.02)
    robot = simulation.robots["hrp2"]
    turned = pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, 0.4), np.zeros(3)) * robot.placement_world_base
    robot.set_state(robot.robot.place_base(robot.q, turned))
    simulation.step(2)  # a step reads sensors of the one before
    return simulation, stabiliser


def targets(simulation: Simulation) -> np.ndarray:
    robot = simulation.robots["hrp2"]
    places = [simulation.world.model.joints[simulation.world.robots["hrp2"].joints[name]].idx_q for name in ANKLES]
    own = robot.robot.posture("half_sitting")
    return simulation.servos.q_target[places] - [own[robot.robot.index_q(name)] for name in ANKLES]


@pytest.mark.feature("000-F141")
def test_ankles_turn_against_a_lean_whatever_the_heading() -> None:
    """Leaning forward and to the right lowers toes and right edges: pitch and roll of the feet, 2 rad per rad."""
    simulation, stabiliser = leaning(0.01, 0.02)
    assert stabiliser.lean == pytest.approx([0.01, 0.02], abs=2e-3)
    lean = stabiliser.lean
    np.testing.assert_allclose(targets(simulation), 2.0 * lean[[1, 0, 1, 0]], atol=1e-12)
    back, other = leaning(-0.01, -0.02)
    assert other.lean == pytest.approx([-0.01, -0.02], abs=2e-3)
    assert (targets(back)[[0, 2]] < -0.03).all()


@pytest.mark.feature("000-F141")
def test_a_planned_lean_is_none() -> None:
    """The trunk bends forward as its servo is told to; the ankles stay, and get their targets back at the end."""
    simulation = Simulation("stand")
    stabiliser = SoleStabiliser("hrp2", AnkleGains())
    simulation.add_module(stabiliser)
    robot = simulation.robots["hrp2"]
    for step in range(100):
        share = (step + 1) / 100.0
        robot.set_position_target(
            [0.1 * share**2 * (3.0 - 2.0 * share)], [6.0 * share * (1.0 - share)], joints=["CHEST_JOINT1"]
        )
        simulation.step()
    assert robot.joint_positions[robot.joint_names.index("CHEST_JOINT1")] > 0.08
    assert np.abs(stabiliser.lean).max() < 5e-3
    assert np.abs(targets(simulation)).max() < 0.06
    simulation.remove_module(stabiliser.name)
    np.testing.assert_allclose(targets(simulation), 0.0, atol=1e-15)


def test_what_is_summed_up_is_saved() -> None:
    simulation, _ = leaning(0.0, 0.02, AnkleGains(lean=0.5, rate=0.0, integral=20.0))
    state = simulation.save_state()
    simulation.run(0.02)
    after = targets(simulation)
    simulation.restore_state(state)
    simulation.run(0.02)
    np.testing.assert_allclose(targets(simulation), after, atol=1e-6)


def test_robots_without_legs_are_refused() -> None:
    with pytest.raises(InputError, match="there is no robot 'hrp3'"):
        Simulation("stand").add_module(SoleStabiliser("hrp3"))
    with pytest.raises(InputError, match="sensor 'nothing'"):
        Simulation("stand").add_module(SoleStabiliser("hrp2", imu="nothing"))
    with pytest.raises(InputError, match=r"gains\.rate: is -1"):
        AnkleGains(rate=-1.0)
