# SPDX-License-Identifier: Apache-2.0
"""HRP-2 on its ankle bushings (specification 000 §16)."""

import numpy as np
import pytest
from fixtures.scenes import floor, scene, standing

from humanoid_model import load_robot
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
