# SPDX-License-Identifier: Apache-2.0
"""Services, actions and topics of all nodes are sent what they can't use: they answer, and nothing hangs or raises.

As all nodes run here, so is held that the policy of their security is about what they do.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.bad_messages import bad_messages  # noqa: E402
from fixtures.ros_domain import claim_domain  # noqa: E402
from fixtures.ros_processes import start_program  # noqa: E402
from humanoid_stack.msg import WholeBodyTrajectory  # noqa: E402
from rclpy._rclpy_pybind11 import NodeNameNonExistentError  # noqa: E402
from rclpy.action import (  # noqa: E402
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from sensor_msgs.msg import JointState  # noqa: E402

from humanoid_ros.node.qos import LATCHED  # noqa: E402
from test.humanoid_ros.conftest import Client, wait_until  # noqa: E402

NODES = {
    "simulator": ("/restore_state", ()),
    "contact_planner": ("/verify_plan", ()),
    "gait_generator": ("/replay_gait", ()),
    "model_generator": ("/inverse_dynamics", ()),
    "controller": ("/joint_states", ("-p", "publish_tf:=true")),
    "controller_bridge": ("/emergency_stop", ("-p", "config:=hrp2")),
    "kinematics": ("/replay_motion", ()),
    "viewer": ("/plan", ("-p", "port:=0")),
    "recorder": ("/trajectory", ("-p", "path:={folder}/log.mcap")),
}
"""What each node offers or hears last when it starts, and its arguments."""
RECORDED = {"/trajectory": WholeBodyTrajectory, "/joint_states": JointState}
"""Topics that are there for the recorder; the replay node is given what it can't use in its file (test_replay_node)."""
POLICY = Path(__file__).parents[3] / "config/security/policy.xml"
OPTIONAL = Path(__file__).parents[3] / "humanoid_ros/simulator/standard_services.py"
"""What the simulator offers where simulation_interfaces is installed."""
OWN = (
    *("humanoid_stack/", "std_srvs/", "control_msgs/", "trajectory_msgs/", "sensor_msgs/", "std_msgs/", "tf2_msgs/"),
    "simulation_interfaces/",
)
REFUSED = ("not a number", "infinite", "unknown names")
"""What is never right; numbers and sizes may be, by chance."""
ANSWER = 60.0
"""Longest time to an answer [s]."""


def kind_of(name: str) -> Any:
    package, folder, kind = name.split("/")
    return getattr(import_module(f"{package}.{folder}"), kind)


@contextmanager
def started(name: str, folder: Path) -> Iterator[Client]:
    """A node that must be alive at the end, and have raised nothing."""
    domain = claim_domain()
    with (folder / "log").open("wb") as log:
        arguments = [word.format(folder=folder) for word in NODES[name][1]]
        process = start_program(name, domain, *arguments, log=log)
        client = Client(process, domain)
        try:
            yield client
        finally:
            client.close()
            process.send_signal(signal.SIGINT)
            code = process.wait(60.0)
    text = (folder / "log").read_text(errors="replace")
    assert code == 0, text[-3000:]
    assert "Traceback" not in text, text[text.index("Traceback") - 500 :][:3000]


def verdict(answer: Any) -> tuple[bool, str]:
    """Whether a request was served, and why not; simulation_interfaces has words of its own for it."""
    if hasattr(answer, "result"):
        return answer.result.result == answer.result.RESULT_OK, answer.result.error_message
    return answer.success, answer.message


def ended(client: Client, action: Any, goal: Any) -> bool:
    """Whether a goal is refused, or ends by itself or by a cancel."""
    handle = client.result(action.send_goal_async(goal), ANSWER)
    if not handle.accepted:
        return True
    result = handle.get_result_async()
    done = threading.Event()
    result.add_done_callback(lambda _: done.set())
    if not done.wait(3.0):
        client.result(handle.cancel_goal_async(), ANSWER)
    return bool(client.result(result, ANSWER).status >= 4)


@pytest.fixture(scope="module", params=NODES)
def node(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Client]]:
    """Each node, with all that it offers and hears."""
    name = request.param
    with started(name, tmp_path_factory.mktemp(name)) as client:
        if name == "recorder":
            for topic, kind in RECORDED.items():
                client.publisher(kind, topic)
        last = NODES[name][0]
        wait_until(lambda: any(own == last for part in graph(client, name) for own, _ in part), f"no {last}", 120.0)
        time.sleep(2.0)  # the order in which names are found isn't that in which they were made
        yield name, client


def graph(client: Client, name: str) -> list[Any]:
    """What a node offers, executes, hears, says, asks and calls: lists of names and types."""
    found = client.node
    try:
        return [
            found.get_service_names_and_types_by_node(name, "/"),
            get_action_server_names_and_types_by_node(found, name, "/"),
            found.get_subscriber_names_and_types_by_node(name, "/"),
            found.get_publisher_names_and_types_by_node(name, "/"),
            found.get_client_names_and_types_by_node(name, "/"),
            get_action_client_names_and_types_by_node(found, name, "/"),
        ]
    except NodeNameNonExistentError:
        return []


def test_the_policy_allows_what_a_node_does_and_nothing_else(node: tuple[str, Client]) -> None:
    """Names with a star aside, which are there for other robots, mechanisms and controllers."""
    name, client = node
    enclave = ElementTree.parse(POLICY).find(f".//enclave[@path='/humanoid_stack/{name}']")
    assert enclave is not None
    told, optional = graph(client, name), OPTIONAL.read_text()
    rights = ("reply", "execute", "subscribe", "publish", "request", "call")
    for right, items in zip(rights, told, strict=True):
        own = {item for item, _ in items if "/_action/" not in item}
        found = (item.text or "" for group in enclave.iter() if right in group.attrib for item in group)
        allowed = {item.replace("~", f"/{name}") if item[0] in "~/" else f"/{item}" for item in found}
        assert not [item for item in own if not any(fnmatchcase(item, pattern) for pattern in allowed)], right
        rest = {item for item in allowed if "*" not in item and f'"{item[1:]}"' not in optional}
        assert rest <= own | {"/clock"}, right


def test_what_cant_be_used_is_answered(node: tuple[str, Client]) -> None:
    name, client = node
    services, actions, topics, *_ = graph(client, name)
    count = 0
    for service, kinds in services:
        if not kinds[0].startswith(OWN) or "/_action/" in service:
            continue
        kind = kind_of(kinds[0])
        for fault, request in bad_messages(kind.Request):
            success, words = verdict(client.call(kind, service, request, ANSWER))
            assert not (success and not words and fault in REFUSED), (service, fault)
            assert success or words, (service, fault)
            count += 1
    for action, kinds in actions:
        kind = kind_of(kinds[0])
        for fault, goal in bad_messages(kind.Goal):
            assert ended(client, client.action(kind, action), goal), (action, fault)
            count += 1
    for topic, kinds in topics:
        if not kinds[0].startswith(OWN) or "/_action/" in topic:
            continue
        kind = kind_of(kinds[0])
        publisher = client.node.create_publisher(kind, topic, LATCHED)  # which every listener can hear
        wait_until(lambda heard=publisher: heard.get_subscription_count() > 0, topic)
        for _, message in bad_messages(kind):
            publisher.publish(message)
            count += 1
    assert client.process.poll() is None
    assert count > 0
