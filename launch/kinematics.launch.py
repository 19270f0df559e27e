# SPDX-License-Identifier: Apache-2.0
"""A mechanism, driven live or completed: ros2 launch humanoid_stack kinematics.launch.py mechanism:=gough."""

from functools import partial

from launch import LaunchDescription

from humanoid_ros.bringup.launch_description import launch_description
from humanoid_ros.bringup.node_list import ARGUMENTS, list_nodes


def generate_launch_description() -> LaunchDescription:
    return launch_description(ARGUMENTS["kinematics"], partial(list_nodes, "kinematics"))
