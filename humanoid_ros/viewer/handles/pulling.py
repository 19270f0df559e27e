# SPDX-License-Identifier: Apache-2.0
"""A person pulls a link of the simulated robot: the handle's force becomes wrenches on the link."""

from __future__ import annotations

import numpy as np
from rclpy.node import Node
from rclpy.task import Future

from humanoid_ros.node.parameter_declaration import number
from humanoid_ros.viewer.handles.pull_handle import PullHandle, Spring
from humanoid_ros.viewer.shown_robots import ShownRobots
from humanoid_ros.viewer.simulator_calls import SimulatorCalls

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
