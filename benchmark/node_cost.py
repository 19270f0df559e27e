# SPDX-License-Identifier: Apache-2.0
"""What a step of 1 ms of standing HRP-2 costs in the library and in the simulator node, by who listens.

Processor time of the simulator's process per simulated time, threads of the middleware included: other work on the
machine counts little. Then the processor time of the whole stack at rest, and what a user waits for the first joint
state.

    scripts/run python benchmark/node_cost.py
"""

from __future__ import annotations

import argparse
import math
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import rclpy
from builtin_interfaces.msg import Duration
from humanoid_stack.srv import SaveState
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_ros.bringup.node_list import NodeEntry, list_nodes
from humanoid_ros.bringup.start_stack import processes
from humanoid_ros.bringup.supervisor import Process
from humanoid_ros.demo.headless_browser import HeadlessBrowser, find_browser
from humanoid_ros.simulator.robot_interface import WHOLE_BODY, controlled_joints
from humanoid_ros.viewer.entrance import page_address, page_token
from humanoid_sim import Simulation

RVIZ = (
    "/tf", "/tf_static", "/robot_description", "/scene_markers", "/markers", "/sole_markers", "/traces", "/odometry",
)  # fmt: skip
"""Topics of the simulator that the displays of config/humanoid_stack.rviz hear as they are delivered."""
SETTLE = 3.0
"""Wall-clock time before a measurement [s]."""
PORT = 18080
"""Of the page."""


def processor_time(pids: Sequence[int]) -> float:
    """Processor time of processes and all of their threads since they began [s]."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> list[int]:
    """Return a process and all that it started."""
    found = [pid]
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += descendants(int(child))
    return found


@contextmanager
def running(own: Process) -> Iterator[int]:
    """Run a program; gives its process number."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(own.command, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def message_type(name: str) -> type:
    """Return the class of a message type such as ``std_msgs/msg/String``."""
    package, _, kind = name.split("/")
    return getattr(import_module(f"{package}.msg"), kind)


class Observer:
    """A node of this process, which asks and listens."""

    def __init__(self) -> None:
        """Begin to spin."""
        self.node: Node = rclpy.create_node("node_cost")
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self._save = self.node.create_client(SaveState, "/save_state")

    def spin(self, until: Callable[[], bool] = lambda: False, seconds: float = math.inf) -> None:
        """Let callbacks run until something holds, for so many seconds at most."""
        end = time.monotonic() + seconds
        while not until() and time.monotonic() < end:
            self.executor.spin_once(0.1)

    def simulated_time(self) -> float:
        """Return simulated time now [s]."""
        self._save.wait_for_service(60.0)
        answer = self._save.call_async(SaveState.Request())
        self.spin(answer.done, 60.0)
        return float(answer.result().time)

    @contextmanager
    def listening(self, wanted: Callable[[str], bool]) -> Iterator[None]:
        """Hear the simulator's topics as they are delivered, without reading them."""
        names = self.node.get_publisher_names_and_types_by_node("simulator", "/")
        heard = [
            self.node.create_subscription(message_type(types[0]), name, lambda _: None, self._quality(name), raw=True)
            for name, types in names if wanted(name)
        ]  # fmt: skip
        yield
        for subscription in heard:
            self.node.destroy_subscription(subscription)

    def _quality(self, name: str) -> QoSProfile:
        offered = self.node.get_publishers_info_by_topic(name)[0].qos_profile
        return QoSProfile(depth=10, reliability=offered.reliability, durability=offered.durability)

    @contextmanager
    def moving(self, seconds: float) -> Iterator[None]:
        """Let the six limbs of HRP-2 swing a little for so long."""
        robot = Simulation("stand").robots["hrp2"]
        angles = dict(zip(robot.joint_names, robot.joint_positions.tolist(), strict=True))
        publishers = []
        for limb, joints in controlled_joints(robot).items():
            if limb == WHOLE_BODY:
                continue
            trajectory = JointTrajectory(joint_names=list(joints))
            for k in range(1, int(seconds / 0.5)):
                point = JointTrajectoryPoint(time_from_start=Duration(sec=k // 2, nanosec=k % 2 * 500_000_000))
                point.positions = [angles[joint] + 0.005 * math.sin(0.5 * k) for joint in joints]
                trajectory.points.append(point)
            publishers.append(
                (self.node.create_publisher(JointTrajectory, f"/{limb}_controller/joint_trajectory", 10), trajectory)
            )
        self.spin(lambda: all(publisher.get_subscription_count() for publisher, _ in publishers), 20.0)
        for publisher, trajectory in publishers:
            publisher.publish(trajectory)
        yield
        for publisher, _ in publishers:
            publisher.publish(JointTrajectory())  # ends the motion
            self.spin(seconds=0.2)
            self.node.destroy_publisher(publisher)


def entry(nodes: Sequence[NodeEntry], name: str) -> Process:
    """Return the process of one node of a list."""
    return next(process for process in processes(nodes) if process.name == name)


def page_is_up() -> bool:
    """Whether the page listens."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", PORT)) == 0


def library(steps: int, at_once: bool) -> float:
    """Processor time of a step in this process [s]."""
    simulation = Simulation("stand")
    simulation.run(1.0)
    begin = time.process_time()
    if at_once:
        simulation.run(steps * simulation.dt)
    else:
        for _ in range(steps):
            simulation.step()
    return (time.process_time() - begin) / steps


def cost(observer: Observer, pid: int, seconds: float) -> float:
    """Processor time of the simulator's process per simulated second [s]."""
    observer.spin(seconds=SETTLE)
    begin, used = observer.simulated_time(), processor_time([pid])
    observer.spin(seconds=seconds)
    return (processor_time([pid]) - used) / (observer.simulated_time() - begin)


def first_joint_state(observer: Observer, listed: Sequence[Process]) -> tuple[float, float]:
    """Wall-clock time from the start of programs to the first joint state, and the simulator's processor time [s]."""
    heard: list[Any] = []
    subscription = observer.node.create_subscription(JointState, "/joint_states", heard.append, 10)
    with ExitStack() as stack:
        begin = time.monotonic()
        pids = [stack.enter_context(running(process)) for process in listed]
        observer.spin(lambda: bool(heard), 120.0)
        taken = time.monotonic() - begin, processor_time(pids[:1])
    observer.node.destroy_subscription(subscription)
    return taken


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    seconds = parser.parse_args().seconds
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rclpy.init()
    observer = Observer()
    alone = list_nodes("sim", {"headless": "true"})
    stack_list = list_nodes("stack", {"port": str(PORT)})
    print("| HRP-2 standing, 1 ms | µs of processor time per step |\n|---|---:|", flush=True)

    def row(name: str, value: float) -> None:
        print(f"| {name} | {1e3 * value:.0f} |", flush=True)

    for name, at_once in (("library, many steps a call", True), ("library, step by step", False)):
        row(name, 1e3 * library(5000, at_once))
    with running(entry(alone, "simulator")) as pid:
        row("node, nobody listens", cost(observer, pid, seconds))
        with observer.listening(RVIZ.__contains__):
            row("node, RViz's topics heard", cost(observer, pid, seconds))
        with observer.moving(SETTLE + seconds + 10.0):
            row("node, six controllers move, nobody listens", cost(observer, pid, seconds))
        with running(entry(stack_list, "viewer")):
            observer.spin(lambda: observer.node.count_subscribers("/joint_states") > 0, 60.0)
            row("node, page", cost(observer, pid, seconds))
            with observer.listening(lambda name: "/_action/" not in name):
                row("node, page and all topics heard", cost(observer, pid, seconds))
    with ExitStack() as stack:
        pids = [stack.enter_context(running(process)) for process in processes(stack_list)]
        observer.spin(page_is_up, 180.0)
        if find_browser() is not None:
            stack.enter_context(HeadlessBrowser()).open(page_address("127.0.0.1", PORT, page_token()))
        observer.spin(seconds=60.0)  # what the nodes prepare before their first request is done then
        every = [descendants(pid) for pid in pids]
        before = [processor_time(own) for own in every]
        observer.spin(seconds=seconds)
        used = [(processor_time(own) - old) / seconds for own, old in zip(every, before, strict=True)]
    print("\n| stack at rest, page open | s of processor time per second |\n|---|---:|")
    for own, value in zip(stack_list, used, strict=True):
        print(f"| {own.name} | {value:.3f} |")
    print(f"| all | {sum(used):.3f} |")
    print("\n| to the first joint state | s | s of the simulator's processor time |\n|---|---:|---:|")
    for name, nodes in (("simulator alone", alone), ("stack", stack_list)):
        wall, own_time = first_joint_state(observer, processes(nodes))
        print(f"| {name} | {wall:.1f} | {own_time:.1f} |")
    rclpy.shutdown()


if __name__ == "__main__":
    main()
