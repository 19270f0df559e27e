# SPDX-License-Identifier: Apache-2.0
"""What the page asks of a simulator: its services, and wrenches on a link that a person pulls by a handle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3
from humanoid_stack.srv import ApplyWrench, LoadScene, StepSimulation
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger

from humanoid_model.errors import InputError
from humanoid_ros.node.clients import WatchedCalls
from humanoid_ros.node.parameter_declaration import number
from humanoid_ros.viewer.drawing.handles import PullHandle, Spring
from humanoid_ros.viewer.drawing.shapes import LARGEST, drawable
from humanoid_ros.viewer.shown_robots import ShownRobots


class SimulatorCalls:
    """Calls of the simulator's services; their complaints, or their absence, are said on the page."""

    def __init__(self, node: Node, say: Callable[[str], None]) -> None:
        """Make the clients.

        Args:
            node: whose clients they are.
            say: shows a line on the page.
        """
        self._say = say
        self._calls = WatchedCalls(node)
        self._pause = node.create_client(SetBool, "pause")
        self._step = node.create_client(StepSimulation, "step")
        self._reset = node.create_client(Trigger, "reset")
        self._load_scene = node.create_client(LoadScene, "load_scene")
        self._push = node.create_client(ApplyWrench, "apply_wrench")

    def pause(self, paused: bool) -> None:
        """Stop simulated time, or let it run."""
        self._send(self._pause, SetBool.Request(data=paused))

    def step(self, steps: int) -> None:
        """Advance a paused simulation by some steps."""
        self._send(self._step, StepSimulation.Request(steps=steps))

    def reset(self) -> None:
        """Start the scene anew."""
        self._send(self._reset, Trigger.Request())

    def load_scene(self, scene: str) -> None:
        """Replace the scene by another, given by name or path."""
        self._send(self._load_scene, LoadScene.Request(scene=scene))

    def push(self, body: str, force: tuple[float, float, float], duration: float) -> None:
        """Let a force [N], world frame, act on a body's centre of mass for some simulated time [s]."""
        self._send(self._push, wrench_request(body, force, None, duration))

    @property
    def takes_pushes(self) -> bool:
        """Whether there is a simulator that lets forces act."""
        return bool(self._push.service_is_ready())

    def pull(self, body: str, force: tuple[float, float, float], point: np.ndarray, duration: float) -> Future | None:
        """Let a force [N] act on a body at a point of the world (3,) [m] for some time [s]; None if nobody can."""
        return self._send(self._push, wrench_request(body, force, point, duration))

    def _send(self, client: Client, message: object) -> Future | None:
        def told(answer: Any) -> None:
            if not answer.success:
                self._say(f"{client.srv_name}: {answer.message}")

        return self._calls.call(client, message, told, self._say)


def wrench_request(
    body: str, force: tuple[float, float, float], point: np.ndarray | None, duration: float
) -> ApplyWrench.Request:
    """Request for a force on a body, at a point or at its centre of mass (None).

    Raises:
        InputError: a number is none, or more than anybody can mean.
    """
    x, y, z = force
    if not (drawable([*force, *(() if point is None else point)]) and 0.0 <= duration <= LARGEST):
        raise InputError(
            f"a force of ({x:.3g}, {y:.3g}, {z:.3g}) N for {duration:.3g} s can't act",
            element="push",
            remedy=f"Give numbers up to {LARGEST:.0e}, and no time before now",
        )
    request = ApplyWrench.Request(body=body, at_point=point is not None)
    request.wrench.force = Vector3(x=x, y=y, z=z)
    if point is not None:
        request.point = Point(x=float(point[0]), y=float(point[1]), z=float(point[2]))
    seconds, nanoseconds = divmod(round(1e9 * duration), 10**9)
    request.duration = Duration(sec=seconds, nanosec=nanoseconds)
    return request


LONGEST = 0.5
"""Simulated time between two looks beyond which the link's velocity isn't known [s]."""


class Pulling:
    """Lets the handle ride on the picked link, and pulls the link while it is dragged."""

    def __init__(self, node: Node, handle: PullHandle, robots: ShownRobots, simulator: SimulatorCalls) -> None:
        """Begin with no link.

        Args:
            node: its parameters ``pull_stiffness`` and ``pull_max_force`` make the spring.
            handle: on the page.
            robots: on the page.
            simulator: what moves them.
        """
        self._node = node
        self._handle = handle
        self._robots = robots
        self._simulator = simulator
        self._picked = ""
        self._answer: Future | None = None
        self._last: tuple[float, np.ndarray] | None = None

    def pick(self, link: str) -> None:
        """Put the handle on a link, named as the simulator's body; an unknown one hides it."""
        self._picked = link
        self._handle.release()

    def update(self, now: float) -> None:
        """Move the handle, and ask for the force since the last time.

        Args:
            now: simulated time of the robots' placements [s].
        """
        found = self._robots.find_link(self._picked)
        if found is None:
            self._handle.update(None)
            self._last = None
            return
        point, mass = found
        self._handle.update(point)
        last, self._last = self._last, (now, point)
        if not self._handle.dragging or last is None:
            return
        span = now - last[0]
        if not 0.0 < span < LONGEST:
            return  # paused, or reset
        if self._answer is not None and not self._answer.done():
            self._last = last  # the next call makes up for this one
            return
        spring = Spring(number(self._node, "pull_stiffness"), mass, number(self._node, "pull_max_force"))
        force = spring.force(self._handle.position, point, (point - last[1]) / span)
        x, y, z = force.tolist()
        self._answer = self._simulator.pull(self._picked, (x, y, z), point, span)
