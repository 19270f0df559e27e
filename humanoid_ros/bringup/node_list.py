# SPDX-License-Identifier: Apache-2.0
"""The nodes of the stack: one list that feeds both the launch files and the bring-up command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from humanoid_model.errors import InputError
from humanoid_model.resources import find_resource

ParameterValue: TypeAlias = bool | int | float | str | list[str]

NodeLister: TypeAlias = Callable[[Mapping[str, str]], tuple["NodeEntry", ...]]


@dataclass(frozen=True)
class NodeEntry:
    """One node that is started as a process of its own.

    Attributes:
        name: Name of the node.
        executable: Program in ``lib/<package>`` of the package's install prefix.
        package: Package that installs the program.
        namespace: Namespace of the node, "" for the root.
        parameters: Parameter values by name; what isn't named keeps the node's default.
        remappings: Pairs of names, the node's own and the one used instead.
        arguments: Arguments of the program, before those of ROS.
        required: The whole stack stops when this node ends.
        respawn: The node is started again when it ends by itself.
        respawn_delay: Time before that [s].
    """

    name: str
    executable: str
    package: str = "humanoid_stack"
    namespace: str = ""
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    remappings: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    required: bool = False
    respawn: bool = False
    respawn_delay: float = 1.0


@dataclass(frozen=True)
class LaunchArgument:
    """An argument of the launch files and of the bring-up command; values are texts, as launch has them."""

    name: str
    default: str
    description: str
    choices: tuple[str, ...] = ()


SIMULATOR_ARGUMENTS = (
    LaunchArgument("scene", "stand", "scene to simulate: a name, or the path of an XML or YAML file"),
    LaunchArgument("namespace", "", "namespace of all nodes"),
)
STACK_ARGUMENTS = (
    *SIMULATOR_ARGUMENTS,
    LaunchArgument("viewer", "true", "show the scene on a local web page", ("true", "false")),
    LaunchArgument("host", "127.0.0.1", "address that the page listens on"),
    LaunchArgument("port", "8080", "TCP port of the page; 0 takes any free one"),
    LaunchArgument("model_generator", "true", "offer equations, code and inverse dynamics", ("true", "false")),
    LaunchArgument("contact_planner", "true", "offer postures and equilibrium checks", ("true", "false")),
    LaunchArgument("gait_generator", "true", "offer optimal gaits", ("true", "false")),
    LaunchArgument("bridge", "", "execute trajectories: name of a file in config/bridge, or its path; empty: no"),
    LaunchArgument("rviz", "false", "start RViz with the stack's displays", ("true", "false")),
)
BRIDGE_ARGUMENTS = (
    LaunchArgument("config", "hrp2", "the robot's controllers: name of a file in config/bridge, or its path"),
    LaunchArgument("namespace", "", "namespace of the bridge, and of what its file names"),
    LaunchArgument("use_sim_time", "false", "go by /clock, as before the simulator", ("true", "false")),
    LaunchArgument("autostart", "true", "become active without being told", ("true", "false")),
    LaunchArgument("log", "", "MCAP file of what is sent and comes back; empty: none"),
)


def simulator_nodes(arguments: Mapping[str, str]) -> tuple[NodeEntry, ...]:
    """Return the simulator alone.

    Args:
        arguments: Values of SIMULATOR_ARGUMENTS by name; those left out have their default.

    Raises:
        InputError: An argument is unknown, or its value is none of its choices.
    """
    values = argument_values(SIMULATOR_ARGUMENTS, arguments)
    return (_simulator(values),)


def bridge_nodes(arguments: Mapping[str, str]) -> tuple[NodeEntry, ...]:
    """Return the bridge alone, as before a robot.

    Args:
        arguments: Values of BRIDGE_ARGUMENTS by name; those left out have their default.

    Raises:
        InputError: An argument is unknown, or its value is none of its choices.
    """
    values = argument_values(BRIDGE_ARGUMENTS, arguments)
    flags = {name: values[name] == "true" for name in ("use_sim_time", "autostart")}
    return (_bridge(values["namespace"], {"config": values["config"], "log": values["log"], **flags}),)


def stack_nodes(arguments: Mapping[str, str]) -> tuple[NodeEntry, ...]:
    """Return the simulator, what a person looks at it with, and the services of the stack.

    Args:
        arguments: Values of STACK_ARGUMENTS by name; those left out have their default.

    Raises:
        InputError: An argument is unknown, or its value can't be used.
    """
    values = argument_values(STACK_ARGUMENTS, arguments)
    nodes = [_simulator(values)]
    if values["viewer"] == "true":
        nodes.append(
            NodeEntry(
                name="viewer",
                executable="viewer",
                namespace=values["namespace"],
                parameters={"host": values["host"], "port": _port(values["port"])},
                respawn=True,
            )
        )
    if values["model_generator"] == "true":
        nodes.append(
            NodeEntry(
                name="model_generator",
                executable="model_generator",
                namespace=values["namespace"],
                respawn=True,
            )
        )
    if values["contact_planner"] == "true":
        nodes.append(
            NodeEntry(
                name="contact_planner",
                executable="contact_planner",
                namespace=values["namespace"],
                parameters={"scene": values["scene"]},
                respawn=True,
            )
        )
    if values["gait_generator"] == "true":
        nodes.append(
            NodeEntry(
                name="gait_generator",
                executable="gait_generator",
                namespace=values["namespace"],
                respawn=True,
            )
        )
    if values["bridge"]:
        nodes.append(_bridge(values["namespace"], {"config": values["bridge"], "use_sim_time": True}))
    if values["rviz"] == "true":
        nodes.append(
            NodeEntry(
                name="rviz",
                executable="rviz2",
                package="rviz2",
                namespace=values["namespace"],
                arguments=("-d", str(find_resource("config/humanoid_stack.rviz"))),
            )
        )
    return tuple(nodes)


def argument_values(
    declared: tuple[LaunchArgument, ...], given: Mapping[str, str]
) -> dict[str, str]:
    """Return values of all declared arguments by name: the given ones, defaults for the rest.

    Raises:
        InputError: An argument isn't declared, or its value is none of its choices.
    """
    names = [argument.name for argument in declared]
    for name in given:
        if name not in names:
            raise InputError(
                f"there is no argument '{name}'", remedy=f"Arguments are {', '.join(names)}"
            )
    values = {argument.name: given.get(argument.name, argument.default) for argument in declared}
    for argument in declared:
        if argument.choices and values[argument.name] not in argument.choices:
            raise InputError(
                f"'{values[argument.name]}' can't be used",
                element=f"argument {argument.name}",
                remedy=f"Give {' or '.join(argument.choices)}",
            )
    return values


def _simulator(values: Mapping[str, str]) -> NodeEntry:
    return NodeEntry(
        name="simulator",
        executable="simulator",
        namespace=values["namespace"],
        parameters={"scene": values["scene"]},
        required=True,
    )


def _bridge(namespace: str, parameters: Mapping[str, ParameterValue]) -> NodeEntry:
    """Return the bridge; it isn't started again by itself: whether a robot may go on is a person's to say."""
    return NodeEntry(
        name="controller_bridge", executable="controller_bridge", namespace=namespace, parameters=parameters
    )


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) <= 65535):
        raise InputError(
            f"'{text}' is no TCP port",
            element="argument port",
            remedy="Give a whole number from 0 to 65535",
        )
    return int(text)
