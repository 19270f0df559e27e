# SPDX-License-Identifier: Apache-2.0
"""The simulator, and what a person looks at it with: ros2 launch humanoid_stack sim.launch.py robot:=talos."""

from functools import partial

from launch import LaunchDescription

from humanoid_ros.bringup.launch_description import launch_description
from humanoid_ros.bringup.node_list import ARGUMENTS, list_nodes


def generate_launch_description() -> LaunchDescription:
    return launch_description(ARGUMENTS["sim"], partial(list_nodes, "sim"))
