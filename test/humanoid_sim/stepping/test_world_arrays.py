# SPDX-License-Identifier: Apache-2.0
"""Joints that mimic others, and gains of joints for which none are given."""

from pathlib import Path

import numpy as np
import pytest
from fixtures.scenes import scene, standing

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation

GRIPPER = """<robot name="gripper">
<link name="world"/>
<link name="palm"><inertial><mass value="1"/>
  <inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial></link>
<link name="left"><inertial><origin xyz=".05 0 0"/><mass value=".1"/>
  <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
<link name="right"><inertial><origin xyz=".05 0 0"/><mass value=".1"/>
  <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
<joint name="wrist" type="continuous"><parent link="world"/><child link="palm"/><axis xyz="0 0 1"/></joint>
<joint name="open" type="revolute"><parent link="palm"/><child link="left"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="50" velocity="5"/></joint>
<joint name="follow" type="revolute"><parent link="palm"/><child link="right"/><axis xyz="0 0 1"/>
  <limit lower="-2" upper="2" effort="50" velocity="5"/><mimic joint="open" multiplier="-2" offset="0.1"/></joint>
</robot>"""


def test_a_mimicking_joint_follows_its_leader(tmp_path: Path) -> None:
    """q = -2 q_leader + 0.1 at rest; it takes no commands of its own."""
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER)
    placed = standing(load_robot(path), "zero", "gripper")
    simulation = Simulation(scene(robots=(placed,), gravity=(0.0, 0.0, 0.0)))
    gripper = simulation.robots["gripper"]
    assert gripper.driven_joint_names == ("wrist", "open")
    for target in (0.4, -0.3):
        gripper.set_position_target([0.2, target])
        simulation.run(1.5)
        expected = {"wrist": 0.2, "open": target, "follow": -2.0 * target + 0.1}
        positions = [expected[name] for name in gripper.joint_names]
        assert gripper.joint_positions == pytest.approx(positions, abs=1e-3)
        assert np.abs(gripper.joint_velocities).max() < 1e-2
    with pytest.raises(InputError, match="no actuator moves the joint 'follow'"):
        gripper.set_position_target([0.0], joints=["follow"])
