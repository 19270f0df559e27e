# SPDX-License-Identifier: Apache-2.0
"""What the methods of every system share: the connection, and the robot that they are about."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from rclpy.node import Node

from humanoid_model import Robot, load_robot
from humanoid_ros.client.connection import Connection, checked

LONG = 600.0
"""Longest wait for an answer that is computed, or for a scene [s]."""


class Member:
    """A robot of a stack, and the way to its nodes."""

    def __init__(
        self,
        robot: str = "hrp2",
        *,
        name: str = "",
        namespace: str = "",
        patience: float = 20.0,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Join the graph; whether the stack is there is seen by the first request.

        Args:
            robot: that is simulated, planned for and commanded: a name, or the path of a URDF or of its YAML.
            name: of it in the scene; empty takes its own.
            namespace: of the stack's nodes.
            patience: how long a node may take to be there, and to answer what takes no time [s].
            check: called again and again while something is waited for; raises what should end the wait.
        """
        self._wanted = robot
        self._name = name or self.robot.name
        self._connection = Connection(namespace, patience, check)

    @property
    def node(self) -> Node:
        """The node behind it, for topics of one's own; callbacks run in the client's thread."""
        return self._connection.node

    @cached_property
    def robot(self) -> Robot:
        """The robot, without shapes."""
        return load_robot(self._wanted, geometry=False)

    @property
    def _source(self) -> str:
        """The robot as nodes, whose working folder is another one, read it."""
        path = Path(self._wanted)
        return str(path.resolve()) if path.suffix and "://" not in self._wanted else self._wanted

    def _call(self, kind: Any, name: str, message: Any, timeout: float | None = None) -> Any:
        return checked(self._connection.call(kind, name, message, timeout))

    def _heard(self, value: Callable[[], Any], what: str) -> Any:
        return self._connection.wait(value, what, self._connection.patience)
