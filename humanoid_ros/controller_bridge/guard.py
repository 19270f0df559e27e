# SPDX-License-Identifier: Apache-2.0
"""A process beside the bridge that cancels its goals when the bridge dies or hangs: a goal would go on without it.

Windows and set points end by themselves within the horizon; goals don't, and ros2_control's controllers don't notice
that a client is gone.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

import rclpy
from action_msgs.srv import CancelGoal
from rclpy.client import Client
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from humanoid_ros.node.run import stay_on_this_machine

ARM, BEAT, DISARM = b"A", b".", b"D"
READY, FOUND = b"R", b"F"
ENCLAVE = "/humanoid_stack/controller_bridge_guard"
"""Its part of `config/security/policy.xml`."""
GLANCE = 0.05
"""Between two looks for actions [s]."""
ANSWER = 1.0
"""How long goals are cancelled, if there are still some [s]."""
ROUND, ROUNDS = 0.1, 2
"""Between two requests to cancel them [s], and how many must find none in turn."""
PATIENCE = 20.0
"""How long a guard may take to come up [s]."""


class Guard:
    """The bridge's end: says that it lives."""

    def __init__(self, actions: Sequence[str], watchdog: float) -> None:
        """Start the process, and wait until it listens.

        Args:
            actions: whole names of the actions whose goals it cancels.
            watchdog: how long no beat may come while it is armed [s].

        Raises:
            TimeoutError: it doesn't come up.
        """
        self._found = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "humanoid_ros.controller_bridge.guard", str(watchdog), *actions],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # it has to outlive the bridge, also after Ctrl-C
        )
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        if not ready or self._process.stdout.read(1) != READY:
            self.close()
            raise TimeoutError(f"the bridge's guard didn't come up within {PATIENCE:g} s")

    @property
    def problem(self) -> str:
        """Why it can't guard now; empty if it can."""
        if self._process.poll() is not None:
            return "the bridge's guard is gone: clean the bridge up and configure it"
        if not self._found:
            assert self._process.stdout is not None
            ready, _, _ = select.select([self._process.stdout], [], [], 0.0)
            self._found = bool(ready) and self._process.stdout.read(1) == FOUND
        return "" if self._found else "the bridge's guard hasn't found all actions yet"

    def arm(self) -> None:
        """Watch from now on."""
        self._tell(ARM)

    def beat(self) -> None:
        """Say that the bridge lives."""
        self._tell(BEAT)

    def disarm(self) -> None:
        """Watch no more."""
        self._tell(DISARM)

    def close(self) -> None:
        """End it; nothing is cancelled."""
        self._tell(DISARM)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _tell(self, what: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(what)


def watch(watchdog: float, actions: Sequence[str]) -> None:
    """Watch the standard input; ends with it.

    Args:
        watchdog: how long no beat may come while armed [s].
        actions: whole names of the actions whose goals are cancelled.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    stay_on_this_machine()
    rclpy.init(args=["--ros-args", "--enclave", ENCLAVE], signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(f"controller_bridge_guard_{os.getpid()}")
    clients = [node.create_client(CancelGoal, f"{action}/_action/cancel_goal") for action in actions]
    os.write(sys.stdout.fileno(), READY)
    armed, found, told, source = False, False, BEAT, sys.stdin.fileno()
    while told:
        if not found and all(client.service_is_ready() for client in clients):
            found = True
            os.write(sys.stdout.fileno(), FOUND)
        patience = watchdog if armed else None if found else GLANCE
        heard, _, _ = select.select([source], [], [], patience)
        told = os.read(source, 4096) if heard else BEAT
        if armed and (not heard or not told):
            node.get_logger().error("the bridge is gone or hangs: its goals are cancelled")
            _cancel_all(node, clients)
            armed = False
        for word in told:
            armed = bytes([word]) == ARM or (armed and bytes([word]) != DISARM)
    node.destroy_node()
    rclpy.shutdown()


def _cancel_all(node: Node, clients: Sequence[Client]) -> None:
    """Cancel all goals of all actions, until there are none: the bridge's last one may come after the first request."""
    end, empty = time.monotonic() + ANSWER, 0
    while empty < ROUNDS and time.monotonic() < end:
        # A request without goal and time means all goals; an action that isn't there has none.
        answers = [client.call_async(CancelGoal.Request()) for client in clients if client.service_is_ready()]
        until = time.monotonic() + ROUND
        while time.monotonic() < until:
            rclpy.spin_once(node, timeout_sec=max(until - time.monotonic(), 0.0))
        none = all(answer.done() and not answer.result().goals_canceling for answer in answers)
        empty = empty + 1 if none else 0


if __name__ == "__main__":
    watch(float(sys.argv[1]), sys.argv[2:])
