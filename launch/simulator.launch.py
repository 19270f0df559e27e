# SPDX-License-Identifier: Apache-2.0
"""The simulator alone: ros2 launch humanoid_stack simulator.launch.py scene:=stand."""

from launch import LaunchDescription

from humanoid_ros.bringup.launch_description import launch_description
from humanoid_ros.bringup.node_list import SIMULATOR_ARGUMENTS, simulator_nodes


def generate_launch_description() -> LaunchDescription:
    return launch_description(SIMULATOR_ARGUMENTS, simulator_nodes)
