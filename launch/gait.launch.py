# SPDX-License-Identifier: Apache-2.0
"""Optimal gaits: ros2 launch humanoid_stack gait.launch.py robot:=bip."""

from functools import partial

from launch import LaunchDescription

from humanoid_ros.bringup.launch_description import launch_description
from humanoid_ros.bringup.node_list import ARGUMENTS, list_nodes


def generate_launch_description() -> LaunchDescription:
    return launch_description(ARGUMENTS["gait"], partial(list_nodes, "gait"))
