# SPDX-License-Identifier: Apache-2.0
"""The thesis' readable script: a stand-alone Python file with the robot's numbers written into short equations."""

from humanoid_studies.script.generator import create_script, script_from_urdf
from humanoid_studies.script.joint import Joint
from humanoid_studies.script.link import Link
from humanoid_studies.script.parser_urdf import parser_urdf
from humanoid_studies.script.robot import Robot

__all__ = ["Joint", "Link", "Robot", "create_script", "parser_urdf", "script_from_urdf"]
