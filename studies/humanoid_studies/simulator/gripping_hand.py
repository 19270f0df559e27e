# SPDX-License-Identifier: Apache-2.0
"""HRP-2 with two jaws on its right hand, approximate: the stack's HRP-2 has a hand of one link, which can't close."""

from __future__ import annotations

import tempfile
from pathlib import Path

import yaml

from humanoid_model.files import find_resource
from humanoid_model.robot import Robot, load_robot

JAWS = ("RARM_JAW_JOINT0", "RARM_JAW_JOINT1")
"""Prismatic joints of the upper and of the lower jaw; positive closes (upper and lower with the forearm forward)."""
HALF_OPENING = 0.025
"""Of the open jaws, from the middle of the hand to a pad [m]."""
CLOSED = 0.024
"""Travel of a jaw until both nearly meet [m]."""
PAD_LENGTH = 0.06
"""Of the jaws along the forearm [m]."""
CENTRE = (-0.005, 0.0, -0.115)
"""Middle between the pads in the frame of RARM_LINK6 [m]; the palm ends 0.04 m before it."""
STIFFNESS, DAMPING = 12e3, 150.0
"""Of the servos of the jaws [N/m, N s/m]."""
_PALM_END, _THICKNESS, _WIDTH, _MASS, _EFFORT, _SPEED = -0.075, 0.012, 0.06, 0.06, 150.0, 0.2


def hrp2_with_jaws() -> Robot:
    """HRP-2, its postures, sensors and gains, and the jaws; they have no counterpart in the real robot's data."""
    description = find_resource("urdf/hrp2.urdf").read_text(encoding="utf-8")
    file = yaml.safe_load(find_resource("urdf/hrp2.yaml").read_text(encoding="utf-8"))
    jaws = _jaw(JAWS[0], "RARM_JAW_LINK0", 1.0) + _jaw(JAWS[1], "RARM_JAW_LINK1", -1.0)
    file["approximate"] += "; the jaws of the right hand are made up"
    file["actuators"]["RARM_JAW_JOINT[01]"] = {"stiffness": STIFFNESS, "damping": DAMPING, "armature": 0.1}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hrp2_with_jaws.urdf"
        path.write_text(description.replace("</robot>", jaws + "</robot>"), encoding="utf-8")
        path.with_suffix(".yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
        return load_robot(path)


def _jaw(joint: str, link: str, side: float) -> str:
    """Return URDF of a jaw that slides along the hand's x axis.

    Args:
        joint: its name.
        link: its name.
        side: 1 for the jaw on the side of positive x, -1 for the other.
    """
    x, y, z = _WIDTH, _THICKNESS, PAD_LENGTH
    xx, yy, zz = (_MASS / 12.0 * (a * a + b * b) for a, b in ((x, z), (y, z), (x, y)))
    shape = f"""<origin xyz="{side * 0.5 * _THICKNESS} 0 {-0.5 * PAD_LENGTH}"/>
      <geometry><box size="{_THICKNESS} {_WIDTH} {PAD_LENGTH}"/></geometry>"""
    return f"""  <joint name="{joint}" type="prismatic">
    <parent link="RARM_LINK6"/>
    <child link="{link}"/>
    <origin xyz="{CENTRE[0] + side * HALF_OPENING} 0 {_PALM_END}"/>
    <axis xyz="{-side} 0 0"/>
    <limit lower="0" upper="{CLOSED}" effort="{_EFFORT}" velocity="{_SPEED}"/>
  </joint>
  <link name="{link}">
    <inertial>
      <origin xyz="{side * 0.5 * _THICKNESS} 0 {-0.5 * PAD_LENGTH}"/>
      <mass value="{_MASS}"/>
      <inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>
    </inertial>
    <visual>
      {shape}
      <material name="grey"/>
    </visual>
    <collision>
      {shape}
    </collision>
  </link>
"""
