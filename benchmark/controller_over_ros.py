# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks on its controller over DDS, in real time or in lockstep: which ticks are late, and what a tick costs.

Simulator and controller are processes of their own; velocities are drawn by chance and change every five seconds. A
tick is late when its command leaves later than a tick after its measurement came. Run with ``scripts/run python
benchmark/controller_over_ros.py``; ``--real-time`` lets the simulator go on without the command, ``--page`` has a page
beside.
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import rclpy
from geometry_msgs.msg import TwistStamped
from humanoid_stack.msg import ControllerStatus
from node_cost import Observer, processor_time, running
from tqdm import tqdm

from humanoid_ros.bringup.node_list import list_nodes
from humanoid_ros.bringup.own_domain import own_domain
from humanoid_ros.bringup.start_stack import processes

AHEAD, ASIDE, TURN = 0.3, 0.1, 0.2
"""Fastest of the drawn velocities [m/s], [m/s], [rad/s]."""
PATIENCE = 180.0
"""The robot stands on its controller after so long at most [s of wall-clock time]."""


def main() -> None:
    """Walk, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of simulated time")
    parser.add_argument("--seed", type=int, default=None, help="of the velocities; by default drawn")
    parser.add_argument("--real-time", action="store_true", help="the simulator doesn't wait for commands")
    parser.add_argument("--page", action="store_true", help="a page beside")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with own_domain():
        walk(options, np.random.default_rng(seed), seed)


def walk(options: argparse.Namespace, rng: np.random.Generator, seed: int) -> None:
    """Walk in the ROS domain of the environment."""
    rclpy.init()
    observer = Observer()
    arguments = {"scene": "walk", "controller": "true"} | ({} if options.page else {"headless": "true"})
    listed = list_nodes("sim", arguments)
    heard: list[ControllerStatus] = []
    observer.node.create_subscription(ControllerStatus, "/controller/status", heard.append, 10)
    commands = observer.node.create_publisher(TwistStamped, "/cmd_vel", 10)
    with ExitStack() as stack:
        if options.real_time:
            listed = tuple(
                replace(node, parameters={**node.parameters, "lockstep": 0.0}) if node.name == "simulator" else node
                for node in listed
            )
        pids = [stack.enter_context(running(process)) for process in processes(listed)]
        observer.spin(lambda: bool(heard) and heard[-1].mode == ControllerStatus.STANDING, PATIENCE)
        observer.spin(seconds=2.0)
        first, wall, used = heard[-1], time.monotonic(), [processor_time([pid]) for pid in pids]
        begin, changes = stamp(first), 0.0
        bar = tqdm(total=options.seconds, unit="s", mininterval=1.0, bar_format="{l_bar}{bar}| {n:.0f}/{total:.0f} s")
        command = TwistStamped()
        while stamp(heard[-1]) < begin + options.seconds and heard[-1].mode != ControllerStatus.FALLEN:
            now = stamp(heard[-1]) - begin
            bar.update(now - bar.n)
            if now >= changes:
                changes += 5.0
                drawn = rng.uniform(-1.0, 1.0, 3) * (AHEAD, ASIDE, TURN)
                command.twist.linear.x, command.twist.linear.y, command.twist.angular.z = drawn.tolist()
            commands.publish(command)
            observer.spin(seconds=0.1)
        bar.close()
        last, wall = heard[-1], time.monotonic() - wall
        used = [processor_time([pid]) - before for pid, before in zip(pids, used, strict=True)]
    rclpy.shutdown()
    simulated, ticks = stamp(last) - begin, last.ticks - first.ticks
    late, own = last.late_ticks - first.late_ticks, [status for status in heard if stamp(status) > begin]
    print(f"seed {seed}: {'FELL after ' if last.mode == ControllerStatus.FALLEN else ''}{simulated:.1f} s simulated")
    print("\n| | |\n|---|---:|")
    print(f"| share of real time | {simulated / wall:.2f} |")
    print(f"| ticks; each [ms] | {ticks}; {1e3 * simulated / max(ticks, 1):.2f} |")
    print(f"| late | {late} ({100.0 * late / max(ticks, 1):.3f} %) |")
    print(f"| measurement to command, mean [ms] | {1e3 * np.mean([one.tick_seconds for one in own]):.2f} |")
    print(f"| longest [ms] | {1e3 * max(one.max_tick_seconds for one in own):.1f} |")
    for process, value in zip(listed, used, strict=True):
        print(f"| processor time of {process.name}, per simulated second [s] | {value / simulated:.3f} |")


def stamp(status: ControllerStatus) -> float:
    """Return the simulated time of a status [s]."""
    return float(status.header.stamp.sec) + 1e-9 * float(status.header.stamp.nanosec)


if __name__ == "__main__":
    main()
