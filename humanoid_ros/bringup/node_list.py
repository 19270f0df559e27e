# SPDX-License-Identifier: Apache-2.0
"""The nodes of the stack: one list that feeds both the launch files and the bring-up command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_ros.viewer.entrance import page_token

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
        parameter_file: YAML file of further ones, which these count more than; "" for none.
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
    parameter_file: str = ""
    remappings: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    required: bool = False
    respawn: bool = False
    respawn_delay: float = 1.0

    @property
    def enclave(self) -> str:
        """Its part of `config/security/policy.xml`; without security ROS doesn't look at it."""
        return f"/humanoid_stack/{self.name}"


@dataclass(frozen=True)
class LaunchArgument:
    """An argument of the launch files and of the bring-up command; values are texts, as launch has them."""

    name: str
    default: str
    description: str
    choices: tuple[str, ...] = ()


_FLAGS = ("true", "false")
_SCENE = LaunchArgument("scene", "", "scene: a name, or the path of an XML or YAML file; empty: the nodes' own, stand")
_RVIZ = LaunchArgument("rviz", "false", "start RViz with the stack's displays", _FLAGS)
_COMMON = (
    LaunchArgument("namespace", "", "namespace of all nodes; theirs are then also the clock and the transforms"),
    LaunchArgument("params_file", "", "YAML file of parameters; an argument that is given counts more"),
)
_SIMULATED_TIME = LaunchArgument("use_sim_time", "false", "let all but the simulator go by its clock", _FLAGS)
_PAGE = (
    LaunchArgument("viewer", "true", "show it on a local web page", _FLAGS),
    LaunchArgument("host", "127.0.0.1", "address that the page listens on"),
    LaunchArgument("port", "8080", "TCP port of the page; 0 takes any free one"),
)
_LOOK = (LaunchArgument("headless", "false", "start neither page nor RViz", _FLAGS), *_PAGE, _RVIZ)
_SIMULATION = (
    _SCENE,
    LaunchArgument("robot", "", "robot in the place of the scene's only one: a name, or the path of a URDF"),
    LaunchArgument("controller", "false", "balance the robot by its sensors; it walks as cmd_vel says", _FLAGS),
    *_LOOK,
    *_COMMON,
    _SIMULATED_TIME,
)
ARGUMENTS: Mapping[str, tuple[LaunchArgument, ...]] = {
    "sim": _SIMULATION,
    "planning": (_SCENE, _RVIZ, *_COMMON, _SIMULATED_TIME),
    "gait": (
        LaunchArgument("robot", "", "robot of requests that name none; empty: the node's own, hrp2"),
        _RVIZ,
        *_COMMON,
        _SIMULATED_TIME,
    ),
    "stack": (
        *_SIMULATION,
        LaunchArgument("model_generator", "true", "offer equations, code and inverse dynamics", _FLAGS),
        LaunchArgument("contact_planner", "true", "offer postures and equilibrium checks", _FLAGS),
        LaunchArgument("gait_generator", "true", "offer optimal gaits", _FLAGS),
        LaunchArgument("kinematics", "", "run a mechanism beside: a name, or the path of its file; empty: no"),
        LaunchArgument("bridge", "", "execute trajectories: name of a file in config/bridge, or its path; empty: no"),
    ),
    "kinematics": (
        LaunchArgument("mechanism", "cross", "a name, or the path of a MAD, URDF or MJCF file, loops included"),
        LaunchArgument("name", "", "its name, and that of its topics; empty: that of its file"),
        LaunchArgument("relay", "", "complete the driven joints' states that come on this topic; empty: drive it live"),
        LaunchArgument("driven", "", "joints with motors, by commas; empty: as the file says"),
        LaunchArgument("efforts", "false", "complete efforts too", _FLAGS),
        *_PAGE,
        _RVIZ,
        *_COMMON,
        _SIMULATED_TIME,
    ),
    "bridge": (
        LaunchArgument("config", "hrp2", "the robot's controllers: name of a file in config/bridge, or its path"),
        LaunchArgument("autostart", "true", "become active without being told", _FLAGS),
        LaunchArgument("log", "", "MCAP file of what is sent and comes back; empty: none"),
        *_COMMON,
        _SIMULATED_TIME,
    ),
}
"""Arguments by launch file."""
_OWN_PER_NAMESPACE = (("/clock", "clock"), ("/tf", "tf"), ("/tf_static", "tf_static"))
"""Without it two simulators in two namespaces would set one clock, and move one robot."""


def list_nodes(name: str, arguments: Mapping[str, str]) -> tuple[NodeEntry, ...]:
    """Return the nodes of a launch file.

    Args:
        name: of the launch file, one of ``ARGUMENTS``.
        arguments: values of its arguments by name; those left out have their default.

    Raises:
        InputError: An argument is unknown, or its value can't be used.
    """
    values = argument_values(ARGUMENTS[name], arguments)
    scene = {"scene": values["scene"]} if values.get("scene") else {}
    robot = values.get("robot")
    nodes = []
    if name in ("sim", "stack"):
        own: dict[str, ParameterValue] = {"robot": robot} if robot else {}
        balanced = values["controller"] == "true"
        sensed = _SENSED if balanced else {}
        nodes.append(NodeEntry("simulator", "simulator", parameters={**scene, **own, **sensed}, required=True))
        if balanced:
            nodes.append(NodeEntry("controller", "controller", parameters={**own, "use_sim_time": True}))
    if name == "kinematics":
        nodes.append(_kinematics(values))
    elif values.get("kinematics"):
        beside = {"mechanism": values["kinematics"]}
        nodes.append(NodeEntry("kinematics", "kinematics", parameters=beside, respawn=True))
    if values.get("viewer") == "true" and values.get("headless") != "true":
        page: dict[str, ParameterValue] = {"host": values["host"], "port": _port(values["port"])}
        page_token()  # by the environment, so that a viewer that is started again lets the same browsers in
        nodes.append(NodeEntry("viewer", "viewer", parameters=page, respawn=True))
    services: dict[str, Mapping[str, ParameterValue]] = {
        "model_generator": {},
        "contact_planner": scene,
        "gait_generator": {"robot": robot} if name == "gait" and robot else {},
    }
    for service, parameters in services.items():
        if values.get(service) == "true" or _SERVICES.get(name) == service:
            nodes.append(NodeEntry(service, service, parameters=parameters, respawn=True))
    if name == "bridge":
        autostart = values["autostart"] == "true"
        nodes.append(_bridge({"config": values["config"], "log": values["log"], "autostart": autostart}))
    elif values.get("bridge"):
        nodes.append(_bridge({"config": values["bridge"], "use_sim_time": True}))
    if values.get("rviz") == "true" and values.get("headless") != "true":
        displays = str(find_resource("config/humanoid_stack.rviz"))
        nodes.append(NodeEntry("rviz", "rviz2", "rviz2", arguments=("-d", displays)))
    return tuple(_placed(node, values) for node in nodes)


_SENSED: Mapping[str, ParameterValue] = {
    "joint_state_rate": 250.0, "imu_rate": 250.0, "wrench_rate": 250.0, "sensor_noise": "usual", "lockstep": 1.0,
}  # fmt: skip
"""What a robot with a controller measures, and that a busy machine costs it time and no step."""
_SERVICES = {"planning": "contact_planner", "gait": "gait_generator"}


def _kinematics(values: Mapping[str, str]) -> NodeEntry:
    """Return the kinematics node of its own launch file."""
    parameters: dict[str, ParameterValue] = {name: values[name] for name in ("mechanism", "name", "relay")}
    parameters["driven"] = [joint.strip() for joint in values["driven"].split(",")]
    parameters["relay_efforts"] = values["efforts"] == "true"
    return NodeEntry("kinematics", "kinematics", parameters=parameters, required=True)


def _bridge(parameters: Mapping[str, ParameterValue]) -> NodeEntry:
    """Return the bridge; it isn't started again by itself: whether a robot may go on is a person's to say."""
    return NodeEntry("controller_bridge", "controller_bridge", parameters=parameters)


def _placed(node: NodeEntry, values: Mapping[str, str]) -> NodeEntry:
    """Return a node with what the arguments say to all nodes."""
    parameters = dict(node.parameters)
    if values["use_sim_time"] == "true" and node.name != "simulator":
        parameters["use_sim_time"] = True
    return replace(
        node,
        namespace=values["namespace"],
        parameters=parameters,
        parameter_file=values["params_file"],
        remappings=_OWN_PER_NAMESPACE if values["namespace"] else (),
    )


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


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) <= 65535):
        raise InputError(
            f"'{text}' is no TCP port",
            element="argument port",
            remedy="Give a whole number from 0 to 65535",
        )
    return int(text)
