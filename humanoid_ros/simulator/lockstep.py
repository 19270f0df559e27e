# SPDX-License-Identifier: Apache-2.0
"""Commanders that simulated time waits for: a late one costs time, and no set point.

A command may say when the next one follows; where none does, its robot is held.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from humanoid_stack.msg import JointCommand
from numpy.typing import NDArray
from sensor_msgs.msg import TimeReference

from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.simulator.joint_trajectory_server import JointTrajectoryServer
from humanoid_sim.control.joint_commands import JointCommands


class PromisedCommands:
    """Holds joints where they are when their next command was promised and doesn't come.

    Attributes:
        name: of the topics.
        due: simulated time at which the next command is to come [s]; infinite: none was promised.
        awaited: whether time may wait for it.
        silence: simulated time after that at which the joints are held [s].
    """

    def __init__(self, name: str, commands: JointCommands, warn: Callable[[str], None]) -> None:
        """Begin without a promise.

        Args:
            name: of the topics.
            commands: to the joints.
            warn: told that joints are held.
        """
        self.name, self.due, self.awaited, self.silence = name, math.inf, False, 0.1
        self._commands, self._warn = commands, warn
        self._joints: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def take(self, message: JointCommand, joints: NDArray[np.int64], now: float) -> None:
        """Take note of a command that was carried out.

        Args:
            message: the command.
            joints: places of its joints.
            now: simulated time [s].

        Raises:
            InputError: a negative period.
        """
        period = seconds(message.period)
        if period < 0.0:
            raise InputError(f"is {period:g} s", element="period", remedy="Give a time above 0, or 0 for none")
        # A stamp that lies ahead, of another clock or before a reset, would be waited for too long.
        made = min(seconds(message.header.stamp) or now, now)
        self.awaited, self._joints = period > 0.0, joints
        self.due = made + period if self.awaited else math.inf

    def forget(self) -> None:
        """Wait for none, and hold nothing."""
        self.due, self.awaited = math.inf, False

    def look(self, now: float) -> None:
        """Hold joints whose commander is silent at a simulated time [s]."""
        if now <= self.due + self.silence:
            return
        self.forget()
        idle = self._joints[[self._commands.free(joint) for joint in self._joints]]
        self._commands.set_positions(idle, self._commands.joint_state()[0][idle])
        self._warn(f"{self.name}: no command within {self.silence:g} s after it was due; {len(idle)} joints are held")


TOPIC = "lockstep"
"""On which commanders say how far their trajectories lead."""
_MANY = 1_000_000
"""Steps that may be made where nobody is waited for."""
_KEPT = 100
"""So many promises of a controller wait for their trajectories at most."""
_ROUNDING = 1e-6
"""Part of a step by which a time may miss it."""


class Lockstep:
    """Bounds simulated time by what commanders have promised.

    Who drives a controller by trajectories that replace each other says of each until when the next one is to come:
    ``header.stamp`` is that of the trajectory, ``source`` the controller, ``time_ref`` the time; 0 where none follows.
    Time goes so far, and waits there. A promise counts from the moment on at which its trajectory is there as well:
    messages of two topics may overtake each other. A controller that has come to rest, or was
    given a goal, is waited for no longer. Commands on topics carry such a time themselves.

    All but the constructor is called in the simulation's thread.
    """

    def __init__(
        self,
        servers: Sequence[JointTrajectoryServer],
        commands: Sequence[PromisedCommands],
        warn: Callable[[str], None],
    ) -> None:
        """Begin without promises.

        Args:
            servers: the controllers.
            commands: on topics.
            warn: told why time goes on though a command is missing.
        """
        self._servers = {server.name: server for server in servers}
        self._commands, self._warn = commands, warn
        self._coming: dict[str, deque[tuple[float, float]]] = {}
        self._until: dict[str, float] = {}
        self._waits_since: float | None = None

    @property
    def waits(self) -> bool:
        """Whether time waits now."""
        return self._waits_since is not None

    def promise(self, message: TimeReference) -> None:
        """Take what a commander says.

        Raises:
            InputError: there is no such controller.
        """
        check_known(message.source, self._servers, "source", "controller")
        told = seconds(message.header.stamp), seconds(message.time_ref)
        self._coming.setdefault(message.source, deque(maxlen=_KEPT)).append(told)

    def room(self, now: float, dt: float, patience: float) -> int:
        """Return how many steps may be made now.

        Args:
            now: simulated time [s].
            dt: time step [s].
            patience: how long a command is waited for [s of wall-clock time]; 0: not at all.
        """
        for name, coming in self._coming.items():
            newest = self._servers[name].newest
            while coming and coming[0][0] <= newest + _ROUNDING * dt:
                self._until[name] = coming.popleft()[1] or math.inf
        for name in list(self._until):
            server = self._servers[name]
            if not server.controller.moving or server.newest == -math.inf:
                del self._until[name]
        until = self._until | {own.name: own.due for own in self._commands if own.awaited}
        late = min(until, key=lambda name: until[name], default=None)
        if late is None or until[late] == math.inf or patience == 0.0:
            self._waits_since = None
            return _MANY
        steps = math.floor((until[late] - now) / dt + _ROUNDING)
        if steps > 0:
            self._waits_since = None
            return steps
        wall = time.monotonic()
        if self._waits_since is None:
            self._waits_since = wall
        if wall - self._waits_since < patience:
            return 0
        self._warn(
            f"'{late}' was promised another command for {until[late]:.3f} s, which hasn't come within "
            f"{patience:g} s; time goes on without it"
        )
        self._until.clear()
        self._coming.clear()
        for own in self._commands:
            own.awaited = False
        self._waits_since = None
        return _MANY
