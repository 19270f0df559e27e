# SPDX-License-Identifier: Apache-2.0
"""The library by itself: no ROS, no window, nothing of the stack above it."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"rclpy", "humanoid_ros", "humanoid_sim", "humanoid_planner", "humanoid_studies",
                                  "humanoid_codegen", "matplotlib", "tkinter", "meshcat", "PIL"}:
            raise ImportError(f"{name} isn't here")

sys.meta_path.insert(0, Absent())
from humanoid_kinematics import MechanismSolver, ToolMotion, load_mechanism

delta = MechanismSolver(load_mechanism("cross"))
print(delta.command(ToolMotion("link_5", (0.001, 0.0, 0.0))).status)
"""


@pytest.mark.feature("002-F130", "002-F151", "002-F184", "002-F186")
def test_mechanisms_are_loaded_and_driven_where_ros_and_graphics_are_absent():
    root = Path(__file__).parents[2]
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=root, check=False)
    assert ran.stdout.strip() == "reached", ran.stderr
