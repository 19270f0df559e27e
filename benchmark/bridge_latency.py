# SPDX-License-Identifier: Apache-2.0
"""How long a command takes through the bridge's output, the simulator and back over DDS, beside a bare echo.

A command is what the bridge sends a joint_trajectory_controller by its topic; it is back when the controller's state
tells its set point. The simulator steps in pace with the wall clock, 1 ms each, and publishes that state after every
step. The echo is another process that sends the same message back and does nothing else. A sleeper, which wakes every
millisecond, tells how long the machine itself kept a ready thread waiting meanwhile. Run with ``scripts/run python
benchmark/bridge_latency.py``; ``--count`` says how many of each.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from ament_index_python.packages import get_package_prefix
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.executors import SingleThreadedExecutor
from trajectory_msgs.msg import JointTrajectory

from humanoid_ros.controller_bridge.bridge_settings import ControllerSettings, Kind
from humanoid_ros.controller_bridge.controller_outputs import TopicOutput
from humanoid_ros.node.qos import NEWEST

HEAD = ("HEAD_JOINT0", "HEAD_JOINT1")
DOMAIN = 98
PATIENCE = 10.0
"""Longest wait for an answer [s]; a command without one is lost."""
WARM = 200
"""Commands before those that count."""
STEP = 1e-5
"""From one command to the next [rad]."""
ECHO = """
import rclpy
from trajectory_msgs.msg import JointTrajectory
rclpy.init()
node = rclpy.create_node("echo")
back = node.create_publisher(JointTrajectory, "echo_controller/back", 10)
node.create_subscription(JointTrajectory, "echo_controller/joint_trajectory", back.publish, 10)
rclpy.spin(node)
"""


class Bench:
    """Commands to a controller, and the answer that each waits for."""

    def __init__(self, node: Any, name: str) -> None:
        self._output = TopicOutput(node, ControllerSettings(name, Kind.TRAJECTORY_TOPIC, name, HEAD, False), _nobody)
        self._answered = threading.Event()
        self._wanted = 0.0

    def told(self, position: float) -> None:
        """Take a position that came back."""
        if position == self._wanted:
            self._answered.set()

    def run(self, count: int) -> np.ndarray:
        """Return (count,) times from sending to the answer [s]; infinite without one."""
        gc.collect()
        gc.freeze()  # else the collector's full rounds would be measured too
        while self._output.absent():
            time.sleep(0.01)
        taken = np.empty(WARM + count)
        for i in range(WARM + count):
            self._wanted = STEP * (1 + i % 1000)
            self._answered.clear()
            began = time.perf_counter()
            self._output.hold(np.array([self._wanted, 0.0]))
            answered = self._answered.wait(PATIENCE)
            taken[i] = time.perf_counter() - began if answered else np.inf
        return taken[WARM:]


class Sleeper:
    """A thread that sleeps for a millisecond again and again.

    Attributes:
        worst: longest time that it was held up beyond that [s].
    """

    def __init__(self) -> None:
        self.worst = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sleep)

    def __enter__(self) -> Sleeper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sleep(self) -> None:
        while not self._stop.is_set():
            began = time.perf_counter()
            time.sleep(1e-3)
            self.worst = max(self.worst, time.perf_counter() - began - 1e-3)


def _nobody(topic: str, kind: str, data: bytes) -> None:
    """Nothing is recorded."""


@contextmanager
def running(command: Sequence[str]) -> Iterator[None]:
    """Return a process while it is measured."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30.0)


@contextmanager
def spinning() -> Iterator[Any]:
    """Return a node that another thread spins."""
    rclpy.init()
    node = rclpy.create_node("bridge_latency")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield node
    finally:
        stop.set()
        thread.join()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown()


def measure(count: int) -> dict[str, tuple[np.ndarray, float]]:
    """Return times by what was asked, each with the sleeper's worst [s]."""
    simulator = Path(get_package_prefix("humanoid_stack")) / "lib/humanoid_stack/simulator"
    programs: dict[str, tuple[Sequence[str], str, Callable[[Bench], tuple[Any, str, Any]]]] = {
        "bare echo": (
            (sys.executable, "-c", ECHO),
            "echo_controller",
            lambda bench: (JointTrajectory, "back", lambda m: bench.told(m.points[0].positions[0])),
        ),
        "simulator": (
            (str(simulator), "--ros-args", "-p", "scene:=stand", "-p", "controller_state_rate:=1000.0"),
            "head_controller",
            lambda bench: (
                JointTrajectoryControllerState,
                "controller_state",
                lambda m: bench.told(m.output.positions[0]),
            ),
        ),
    }
    times = {}
    for label, (command, name, listener) in programs.items():
        with running(command), spinning() as node:
            bench = Bench(node, name)
            kind, topic, callback = listener(bench)
            node.create_subscription(kind, f"{name}/{topic}", callback, NEWEST)
            with Sleeper() as sleeper:
                taken = bench.run(count)
            times[label] = taken, sleeper.worst
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="commands of each")
    os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    times = measure(parser.parse_args().count)
    print(f"{'ms':12} {'median':>8} {'99 %':>8} {'worst':>8} {'lost':>8} {'machine':>8}")
    for label, (taken, held_up) in times.items():
        answered = taken[np.isfinite(taken)]
        median, high, worst = 1e3 * np.quantile(answered, [0.5, 0.99, 1.0])
        print(f"{label:12} {median:8.2f} {high:8.2f} {worst:8.2f} {len(taken) - len(answered):8} {1e3 * held_up:8.2f}")


if __name__ == "__main__":
    main()
