# SPDX-License-Identifier: Apache-2.0
"""Launch descriptions from the node list; needs ROS 2's `launch` and `launch_ros`."""

from __future__ import annotations

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from humanoid_ros.bringup.node_list import LaunchArgument, NodeEntry, NodeLister


def launch_description(
    declared: tuple[LaunchArgument, ...], nodes: NodeLister
) -> LaunchDescription:
    """Launch description that declares the arguments and starts the nodes which follow from them.

    Args:
        declared: The arguments.
        nodes: Gives the nodes for values of the arguments.
    """

    def start(context: LaunchContext) -> list[Node]:
        values = {
            argument.name: LaunchConfiguration(argument.name).perform(context)
            for argument in declared
        }
        return [node_action(node) for node in nodes(values)]

    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(
                    argument.name,
                    default_value=argument.default,
                    description=argument.description,
                    choices=list(argument.choices) or None,
                )
                for argument in declared
            ),
            OpaqueFunction(function=start),
        ]
    )


def node_action(node: NodeEntry) -> Node:
    """Return the action that starts a node as the list says."""
    return Node(
        package=node.package,
        executable=node.executable,
        name=node.name,
        namespace=node.namespace,
        parameters=[*filter(None, (node.parameter_file, dict(node.parameters)))],
        remappings=list(node.remappings),
        arguments=list(node.arguments),
        ros_arguments=["--enclave", node.enclave],
        output="screen",
        emulate_tty=True,
        respawn=node.respawn,
        respawn_delay=node.respawn_delay,
        on_exit=Shutdown(reason=f"{node.name} ended") if node.required else None,
    )
