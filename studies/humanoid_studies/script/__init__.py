# SPDX-License-Identifier: Apache-2.0
"""The thesis' readable script: a stand-alone Python file with the robot's numbers written into short equations."""

from humanoid_studies.script.generator import create_script, script_from_urdf

__all__ = ["create_script", "script_from_urdf"]
