# SPDX-License-Identifier: Apache-2.0
"""Commands to joints of which each says when the next one follows, and what is done when none does."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from humanoid_stack.msg import JointCommand
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import seconds
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
