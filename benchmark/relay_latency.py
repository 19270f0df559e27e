# SPDX-License-Identifier: Apache-2.0
"""How long the kinematics node takes from driven joints to complete ones, message in to message out.

Motors' joint states with velocities go to the node, and complete ones with the same stamp come back over DDS; the
four-bar and the cross-Delta. Beside it: the same node with a Gauss-Newton in numpy in the relay's place, and a bare
echo in a process that sends the same message back and does nothing else. These are wall-clock times. "In the node" is
the processor time of its callback, publishing included. Run with ``scripts/run python benchmark/relay_latency.py``.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from bridge_latency import spinning
from kinematics import SLIDERS, NumpyNewton
from sensor_msgs.msg import JointState

from humanoid_kinematics import Relay, load_mechanism
from humanoid_kinematics.analysis.dexterity import following
from humanoid_kinematics.relay import CompleteState
from humanoid_ros.kinematics.kinematics_node import KinematicsNode
from humanoid_ros.kinematics.mechanism_topics import RelayTopics
from humanoid_ros.node.qos import NEWEST, STATE
from humanoid_ros.node.run import run

DOMAIN = 97
WARM = 200
PATIENCE = 2.0
RATE = 200.0
"""Messages per second [Hz]."""
DRIVES = {"fourbar": ("joint_1",), "cross": SLIDERS}
OURS, NUMPY, ECHO = "kinematics node", "Gauss-Newton in numpy in it", "bare echo"
ECHO_PROGRAM = """
import rclpy
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("echo")
back = node.create_publisher(JointState, "mechanism/joint_states", 10)
node.create_subscription(JointState, "motors", back.publish, 10)
rclpy.spin(node)
"""


def use_numpy(relay: Relay) -> None:
    """Let a Gauss-Newton in numpy complete a relay's states; velocities by its Jacobian, as the relay's."""
    newton = NumpyNewton(relay.solver.mechanism, None, relay.driven)
    columns = [relay.solver.mechanism.robot.index_v(joint) for joint in relay.driven]
    rest = newton.free

    def update(positions: Any, velocities: Any = None, efforts: Any = None) -> CompleteState:
        newton.thesis.q[columns] = positions
        newton.solve(None)
        J, unit = newton.thesis.jacobian(), newton.thesis._unit
        v = np.zeros(len(unit))
        v[columns] = velocities
        v[rest] = -np.linalg.pinv(J[:, rest], 1e-9) @ (J[:, columns] @ (v[columns] / unit[columns])) * unit[rest]
        return CompleteState(newton.thesis.q.copy(), v, None, None)

    expected = following(relay.solver, relay.driven) @ np.ones(len(columns))
    found = update(relay.solver.q[columns], np.ones(len(columns))).v
    assert found is not None
    assert np.abs(found - expected).max() < 1e-6
    relay.update = update  # type: ignore[method-assign]


def serve(kind: str) -> None:
    """Run the node, and print the median processor time of its callback at the end [ms]."""
    taken: list[float] = []
    on_joints = RelayTopics._on_joints

    def measured(self: RelayTopics, message: JointState) -> None:
        if kind == NUMPY and not taken:
            use_numpy(self.relay)
        begin = time.thread_time()
        on_joints(self, message)
        taken.append(time.thread_time() - begin)

    RelayTopics._on_joints = measured  # type: ignore[method-assign]
    run("kinematics", KinematicsNode)
    print(1e3 * np.median(taken[WARM:]), flush=True)


@contextmanager
def running(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Return a process while it is measured."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30.0)


def measure(mechanism: str, kind: str, count: int) -> tuple[np.ndarray, float]:
    """Return times from message to message (count,) [ms], and the median processor time in the node [ms]."""
    drives = DRIVES[mechanism]
    loaded = load_mechanism(mechanism)
    start = Relay(loaded, drives).solver.q[[loaded.robot.index_q(joint) for joint in drives]]
    arguments = ("--ros-args", "-p", f"mechanism:={mechanism}", "-p", "name:=mechanism", "-p", "relay:=motors", "-p")
    command: Sequence[str] = (
        *(sys.executable, __file__, "--serve", kind), *arguments, f"driven:=[{','.join(drives)}]"
    )  # fmt: skip
    if kind == ECHO:
        command = (sys.executable, "-c", ECHO_PROGRAM)
    taken = np.full(WARM + count, PATIENCE)
    with running(command) as process, spinning() as node:
        began: dict[int, float] = {}

        def back(message: JointState) -> None:
            number = message.header.stamp.nanosec
            if number in began:
                taken[number] = time.perf_counter() - began.pop(number)

        node.create_subscription(JointState, "mechanism/joint_states", back, NEWEST)
        motors = node.create_publisher(JointState, "motors", STATE)
        while motors.get_subscription_count() == 0 or node.count_publishers("mechanism/joint_states") == 0:
            time.sleep(0.01)
        message = JointState(name=drives, velocity=[0.1] * len(drives))
        for i in range(WARM + count):
            message.position = (start + 0.05 * np.sin(i / 50)).tolist()
            message.header.stamp.nanosec = i
            began[i] = time.perf_counter()
            motors.publish(message)
            time.sleep(1.0 / RATE)
        time.sleep(0.1)
    printed = process.stdout.read().split() if process.stdout is not None else []
    return 1e3 * taken[WARM:], float(printed[-1]) if kind != ECHO else 0.0


def main() -> None:
    """Measure and print, or be measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="messages of each")
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    arguments, _ = parser.parse_known_args()
    os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    if arguments.serve:
        serve(arguments.serve)
        return
    print(f"{'message in to message out [ms]':<44} {'median':>8} {'99 %':>8} {'in the node':>12}")
    for mechanism in DRIVES:
        for kind in (OURS, NUMPY, ECHO):
            taken, inside = measure(mechanism, kind, arguments.count)
            median, high = np.quantile(taken, [0.5, 0.99])
            print(f"{mechanism + ', ' + kind:<44} {median:8.2f} {high:8.2f} {inside:12.3f}", flush=True)


if __name__ == "__main__":
    main()
