# SPDX-License-Identifier: Apache-2.0
"""Prints a page of every node's topics, services, actions and parameters, as the running nodes tell them.

``scripts/run python scripts/node_pages.py``; ``make docs`` puts it on the site.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from humanoid_ros.bringup.node_list import NodeEntry, ParameterValue
from humanoid_ros.bringup.start_stack import processes
from humanoid_ros.bringup.supervisor import Supervisor
from humanoid_ros.client.connection import Connection
from humanoid_ros.messages.message_log import MessageLog
from humanoid_ros.node.run import stay_on_this_machine
from humanoid_ros.viewer.page import PORT

HEAD = """# Nodes

Topics, services, actions and parameters of each node, written by `scripts/node_pages.py` from running nodes. What they
mean: [interfaces.md](interfaces.md). Names are relative to the node's namespace; those in `<>` depend on robot, scene,
mechanism or configuration, here HRP-2 in the scene `stand`, the mechanism `cross`, the bridge `hrp2`.
*Kept*: transient local, a late subscriber gets the last message.
"""
NODES = {
    "simulator": "simulates a scene: [the simulator node](simulator.md).",
    "controller": "keeps a robot on its feet and lets it walk: [balance](control.md).",
    "contact_planner": "finds postures, contact plans and motions: [contact plans](contacts.md).",
    "gait_generator": "finds optimal gaits: [gaits](gait.md).",
    "kinematics": "runs mechanisms with loops: [driving a mechanism](kinematics_live.md).",
    "model_generator": "writes equations and code: [dynamic models](codegen.md).",
    "controller_bridge": "executes motions on a robot's controllers: [the controller bridge](bridge.md).",
    "recorder": "writes what is published to a file: [recordings](recording.md).",
    "replay": "plays a recording once more: [recordings](recording.md).",
    "viewer": "draws what is published on a page: [the embedded view](viewer.md).",
}
DEFAULTS = {"port": str(PORT), "path": ""}
"""Of parameters that are given to nodes for this page: another page may be open; a path has none."""
PLACEHOLDERS = (
    (r"^(whole_body|right_leg|left_leg|torso|head|right_arm|left_arm)_controller/", "<limb>_controller/"),
    (r"^wrenches/\w+", "wrenches/<sensor>"),
    (r"^crossdelta/link_5/", "<mechanism>/<tool>/"),
    (r"^crossdelta/", "<mechanism>/"),
    (r"^devices/\w+", "devices/<device>"),
)
ABSOLUTE = ("/clock", "/tf", "/tf_static", "/diagnostics")
OF_EVERY_NODE = re.compile(
    r"^/(rosout|parameter_events)$|/_action/|_parameters(_atomically)?$|/(get_parameter_types|get_type_description)$"
)
OWN = "humanoid_stack/"
KIND = re.compile("/(msg|srv|action)/")
NOT_OWN = ("qos_overrides.", "start_type_description_service", "use_sim_time")


def shown(name: str) -> str:
    """Return a name as the page has it."""
    if name not in ABSOLUTE:
        name = name.removeprefix("/")
    for pattern, placeholder in PLACEHOLDERS:
        name = re.sub(pattern, placeholder, name)
    return f"`{name}`"


def short(kind: str) -> str:
    """Return a type as the other pages write it: without its package for the stack's own, else without its kind."""
    return f"`{KIND.sub('/', kind)}`" if not kind.startswith(OWN) else f"`{kind.removeprefix(OWN)}`"


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table, each row once; none without rows."""
    found = sorted(set(rows))
    if not found:
        return []
    return ["", *(f"| {' | '.join(row)} |" for row in (heads, ("---",) * len(heads), *found))]


def interfaces(connection: Connection, name: str) -> list[str]:
    """Return the tables of a node's topics, services and actions."""
    node, lines = connection.node, []
    for heads, listed, endpoints in (
        (
            ("publishes", "type", "quality"),
            node.get_publisher_names_and_types_by_node,
            node.get_publishers_info_by_topic,
        ),
        (
            ("hears", "type", "quality"),
            node.get_subscriber_names_and_types_by_node,
            node.get_subscriptions_info_by_topic,
        ),
    ):
        rows = []
        for topic, kinds in listed(name, "/"):
            if OF_EVERY_NODE.search(topic):
                continue
            profile = next(end.qos_profile for end in endpoints(topic) if end.node_name == name)
            words = "reliable" if profile.reliability == ReliabilityPolicy.RELIABLE else "best effort"
            kept = ", kept" if profile.durability == DurabilityPolicy.TRANSIENT_LOCAL else ""
            rows += [(shown(topic), short(kind), words + kept) for kind in kinds]
        lines += table(heads, rows)
    offered = [
        (shown(service), short(kind))
        for service, kinds in node.get_service_names_and_types_by_node(name, "/")
        for kind in kinds
        if not OF_EVERY_NODE.search(service)
    ]
    actions = get_action_server_names_and_types_by_node(node, name, "/")
    lines += table(("service", "type"), offered)
    return lines + table(
        ("action", "type"), ((shown(action), short(kind)) for action, kinds in actions for kind in kinds)
    )


def parameters(connection: Connection, name: str, given: Mapping[str, str]) -> list[str]:
    """Return the table of a node's parameters; of those that were given for this page the default is told with them."""
    listed = connection.call(ListParameters, f"{name}/list_parameters", ListParameters.Request()).result.names
    names = [one for one in listed if not one.startswith(NOT_OWN)]
    values = connection.call(GetParameters, f"{name}/get_parameters", GetParameters.Request(names=names)).values
    asked = DescribeParameters.Request(names=names)
    told = connection.call(DescribeParameters, f"{name}/describe_parameters", asked).descriptors
    rows = []
    for parameter, value, about in zip(names, values, told, strict=True):
        default = given.get(parameter, default_text(parameter_value_to_python(value)))
        ranges = [*about.floating_point_range, *about.integer_range]
        bounds = f"{ranges[0].from_value:g} to {ranges[0].to_value:g}" if ranges else kind_text(about.type)
        meaning = about.description + ("; read once" if about.read_only else "")
        rows.append((f"`{parameter}`", default, bounds, meaning.replace("|", "\\|")))
    return table(("parameter", "default", "values", "meaning"), rows)


def default_text(value: Any) -> str:
    """Return a default as a command line takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(filter(None, value)) or "none"
    return str(value) or "empty"


def kind_text(kind: int) -> str:
    """Return what values a parameter without a range takes."""
    texts = {ParameterType.PARAMETER_BOOL: "true, false", ParameterType.PARAMETER_STRING: "text"}
    return texts.get(kind, "texts" if kind == ParameterType.PARAMETER_STRING_ARRAY else "number")


def describe(name: str, summary: str, folder: str) -> list[str]:
    """Return the lines about a node, which is started for it."""
    run = str(Path(folder) / "run.mcap")
    given: dict[str, dict[str, ParameterValue]] = {
        "viewer": {"port": 0},
        "recorder": {"path": str(Path(folder) / "own.mcap")},
        "replay": {"path": run},
    }
    if name == "replay":
        log = MessageLog(run)
        for second in range(100):  # long enough to be looked at while it plays
            log.write(
                "/joint_states", "sensor_msgs/msg/JointState", bytes(serialize_message(JointState())), second * 10**9
            )
        log.close()
    entry = NodeEntry(name, name, parameters=given.get(name, {}), required=True)
    with Supervisor(processes([entry]), output=sys.stderr) as supervisor:
        connection = Connection("", 120.0, supervisor.check)
        try:
            own = parameters(connection, name, {key: DEFAULTS[key] for key in given.get(name, {})})
            return ["", f"## {name}", "", f"It {summary}", *interfaces(connection, name), *own]
        finally:
            connection.close()


def page() -> str:
    """Return the page."""
    stay_on_this_machine()
    lines = []
    for name, summary in NODES.items():
        with tempfile.TemporaryDirectory() as folder:
            lines += describe(name, summary, folder)
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
