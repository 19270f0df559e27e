# SPDX-License-Identifier: Apache-2.0
"""What the page asks of the kinematics node: services, parameters and commands of one mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pinocchio as pin
from humanoid_stack.msg import MechanismCommand, MechanismLink, MechanismTarget
from humanoid_stack.srv import LoadMechanism, SetMechanismParameters
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.task import Future

from humanoid_kinematics import LinkChange
from humanoid_model.loop_closure import ROWS
from humanoid_ros.messages.conversions import fill_pose
from humanoid_ros.node.qos import COMMAND

KINEMATICS = "kinematics"
"""Name of the node."""


class MechanismCalls:
    """Asks the kinematics node; what it refuses, or that it isn't there, is said on the page.

    Args:
        node: that asks.
        say: shows a message, and whether it is a good one.
    """

    def __init__(self, node: Node, say: Callable[[str, bool], None]) -> None:
        self._node, self._say = node, say
        self._load = node.create_client(LoadMechanism, "load_mechanism")
        self._change = node.create_client(SetMechanismParameters, "set_mechanism_parameters")
        self._parameters = node.create_client(SetParameters, f"{KINEMATICS}/set_parameters")
        self._publishers: dict[str, Publisher] = {}

    def load(self, path: str, then: Callable[[LoadMechanism.Response], None]) -> None:
        """Load the mechanisms of a file, given by name or path."""
        self._call(self._load, LoadMechanism.Request(path=path), then)

    def change(
        self, mechanism: str, changes: Sequence[LinkChange], then: Callable[[SetMechanismParameters.Response], None]
    ) -> None:
        """Change links of a mechanism."""
        links = [link_message(change) for change in changes]
        self._call(self._change, SetMechanismParameters.Request(mechanism=mechanism, links=links), then)

    def switch(self, parameter: str, value: str | Sequence[str], then: Callable[[bool], None]) -> None:
        """Set a parameter of the node: solver, open loops, file to record to; `then` is told whether it took it."""
        if isinstance(value, str):
            set_to = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)
        else:
            set_to = ParameterValue(type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=[*value] or [""])

        def told(answer: SetParameters.Response) -> None:
            (result,) = answer.results
            if not result.successful:
                self._say(result.reason, False)
            then(result.successful)

        request = SetParameters.Request(parameters=[Parameter(name=parameter, value=set_to)])
        self._call(self._parameters, request, told)

    def command(
        self, mechanism: str, targets: Sequence[MechanismTarget] = (), joint: str = "", position: float = 0.0
    ) -> None:
        """Command tools of a mechanism to places, and a joint to a position [rad or m]."""
        if mechanism not in self._publishers:
            self._publishers[mechanism] = self._node.create_publisher(MechanismCommand, f"{mechanism}/command", COMMAND)
        message = MechanismCommand(targets=targets)
        if joint:
            message.joint_names, message.joint_positions = [joint], [position]
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publishers[mechanism].publish(message)

    def forget(self) -> None:
        """Command the mechanisms there were no more."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)
        self._publishers.clear()

    def _call(self, client: Client, request: object, then: Callable[[Any], None]) -> None:
        if not client.service_is_ready():
            self._say(f"No node offers {client.srv_name}. Start {KINEMATICS}.", False)
            return

        def on_answer(future: Future) -> None:
            answer = future.result()
            if answer is not None:
                then(answer)

        client.call_async(request).add_done_callback(on_answer)


def target(node: str, goal: pin.SE3 | None, rows: Sequence[str] = ROWS) -> MechanismTarget:
    """Return the command that brings a tool or link to a place of the world in some rows; None lets it follow again."""
    message = MechanismTarget(node=node, kind=MechanismTarget.POSE, frame_id="world")
    message.mask = [goal is not None and row in rows for row in ROWS]
    fill_pose(message.pose, pin.SE3.Identity() if goal is None else goal)
    return message


def link_message(change: LinkChange) -> MechanismLink:
    """Return the message of a change."""
    kk = change.parameters
    message = MechanismLink(
        name=change.link, type=change.type or 0, theta=kk.theta, r=kk.r, alpha=kk.alpha, d=kk.d, gamma=kk.gamma,
        epsilon=kk.epsilon, locked=change.locked,
    )  # fmt: skip
    if change.limits is not None:
        message.limited, (message.lower, message.upper) = True, change.limits
    return message
