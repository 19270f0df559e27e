# SPDX-License-Identifier: Apache-2.0
"""The whole stack: ros2 launch humanoid_stack stack.launch.py scene:=stand rviz:=true."""

from launch import LaunchDescription

from humanoid_ros.bringup.launch_description import launch_description
from humanoid_ros.bringup.node_list import STACK_ARGUMENTS, stack_nodes


def generate_launch_description() -> LaunchDescription:
    return launch_description(STACK_ARGUMENTS, stack_nodes)
