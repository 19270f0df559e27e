# SPDX-License-Identifier: Apache-2.0
"""HRP-2 on its ankle bushings (specification 000 §16)."""

import numpy as np
import pytest
from fixtures.scenes import floor, scene, standing

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation


def test_bushings_sag_by_the_weight_over_their_stiffness() -> None:
    """Each foot's vertical spring is pressed by half of what stands on it, and the robot stands."""
    robot = load_robot("hrp2_bushing")
    placed = standing(robot, name="hrp2")
    simulation = Simulation(
        scene(floor(), robots=(placed,), friction=0.8, gravity=(0.0, 0.0, -9.81))
    )
    # The published damping is light: let the sway die out faster to measure the sag.
    hrp2 = simulation.robots["hrp2"]
    tilts = [name for name in robot.springs if not name.endswith("_Z")]
    stiffness = [robot.springs[name].stiffness for name in tilts]
    hrp2.set_gains(stiffness, np.full(len(tilts), 100.0), joints=tilts)
    simulation.run(4.0)
    positions = dict(zip(hrp2.joint_names, hrp2.joint_positions, strict=True))
    feet = [robot.description.links[f"{side}LEG_FOOT"].inertial for side in "RL"]
    carried = robot.total_mass - sum(foot.mass for foot in feet if foot)
    for side in "RL":
        spring = robot.springs[f"{side}LEG_BUSHING_Z"]
        sag = positions[f"{side}LEG_BUSHING_Z"]
        assert sag == pytest.approx(carried / 2 * 9.81 / spring.stiffness, rel=1e-3)
    assert simulation.contacts.normal_force.sum() == pytest.approx(58.0 * 9.81, rel=1e-5)


def test_springs_take_no_commands_and_keep_their_rest() -> None:
    """Holding the robot leaves its springs alone; a target for a spring is refused by name."""
    simulation = Simulation(scene(floor(), robots=(standing(load_robot("hrp2_bushing"), name="hrp2"),)))
    simulation.run(0.2)
    hrp2 = simulation.robots["hrp2"]
    assert len(hrp2.joint_names) == 36
    assert len(hrp2.driven_joint_names) == 30
    before = simulation.servos.q_target.copy()
    hrp2.hold()
    springs = [i for i, name in enumerate(hrp2.joint_names) if name not in hrp2.driven_joint_names]
    moved = simulation.servos.q_target != before
    assert not moved[7:][springs].any()
    assert moved.any()
    with pytest.raises(InputError, match="no actuator moves the joint 'RLEG_BUSHING_Z'"):
        hrp2.set_position_target([0.0], joints=["RLEG_BUSHING_Z"])
    with pytest.raises(InputError, match="no actuator moves the joint 'LLEG_BUSHING_X'"):
        hrp2.set_effort([0.0], joints=["LLEG_BUSHING_X"])
