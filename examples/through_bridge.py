# SPDX-License-Identifier: Apache-2.0
"""What examples share that play a motion through the controller bridge to the simulator, and watch it by its topics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from humanoid_stack.msg import ContactForces
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from humanoid_model import HumanoidError
from humanoid_model.progress import Progress, progress_bar
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_ros.bringup.node_list import list_nodes
from humanoid_ros.bringup.own_domain import check_alone, own_domain
from humanoid_ros.bringup.start_stack import processes
from humanoid_ros.bringup.supervisor import Supervisor
from humanoid_ros.client import HumanoidStack
from humanoid_ros.client.answers import robot_state
from humanoid_ros.messages.conversions import array, seconds
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_sim.playback import ContactLoad, MotionWatch, PlayedMotion

SLICE, STILL, SLICES = 0.25, 1e-3, 40
"""The robot stands when no joint moves faster than this [rad/s] for two slices of time [s]; how many are waited for."""
PATIENCE = 4.0
"""How long simulated time waits for the bridge, which itself waits 5 s for a clock that stands still [s]."""
STOOD = 1.0
"""How long it is watched at its end [s]."""


@contextmanager
def running_stack(scene: str, pace: float) -> Iterator[HumanoidStack]:
    """Start simulator and bridge of HRP-2 as processes of their own, and a client, in a domain of their own.

    The simulator waits for the bridge's windows: a busy machine costs time, and no step of the robot.

    Args:
        scene: name of it.
        pace: simulated seconds per second.
    """
    simulator = [
        replace(node, parameters={**node.parameters, "real_time_factor": pace, "lockstep": PATIENCE})
        for node in list_nodes("sim", {"scene": scene, "headless": "true"})
    ]
    bridge = list_nodes("bridge", {"config": "hrp2", "use_sim_time": "true"})
    with (
        own_domain(),
        Supervisor(processes([*simulator, *bridge])) as supervisor,
        HumanoidStack("hrp2", patience=300.0, check=supervisor.check) as stack,
    ):
        yield stack


def stand_still(stack: HumanoidStack) -> None:
    """Wait until the robot stands still.

    Raises:
        HumanoidError: it doesn't come to rest.
    """
    quiet, fastest = 0, ("", 0.0)
    for _ in range(SLICES):
        stack.run(SLICE)
        fastest = max(stack.state.velocities.items(), key=lambda item: abs(item[1]))
        quiet = quiet + 1 if abs(fastest[1]) < STILL else 0
        if quiet == 2:
            return
    raise HumanoidError(f"The robot doesn't come to rest: {fastest[0]} moves at {fastest[1]:.3g} rad/s")


def play_through_bridge(stack: HumanoidStack, motion: WholeBodyTrajectory) -> PlayedMotion:
    """Let the bridge drive the simulator's controllers along a motion, and look at what the topics tell.

    Args:
        stack: that runs.
        motion: to play.
    """
    message, robot = whole_body_message(motion, "world"), stack.robot
    check_alone(stack.node)
    stack.stand(message)
    stand_still(stack)
    heard: dict[str, dict[float, Any]] = {}
    for kind, topic in ((JointState, "joint_states"), (Odometry, "odometry"), (ContactForces, "contacts")):
        stack.node.create_subscription(kind, topic, _keeper(heard.setdefault(topic, {})), 50)
    places: list[tuple[float, float]] = []

    with progress_bar(sys.stderr) as bar:

        def news(progress: Progress) -> None:
            told = progress.result
            places.append((seconds(told.stamp), told.path_time))
            share = told.path_time / motion.duration
            bar(Progress(f"{told.path_time:.1f} of {motion.duration:.1f} s of the motion", share))

        result = stack.execute(message, progress=news)
    print(f"bridge: {result.message}; joints within {1e3 * result.max_joint_error:.2f} mrad of their commands")
    if "too late" in result.message:
        print("the machine is too busy for this pace: --pace 0.5 gives bridge and simulator twice the time")
    if not places:
        raise HumanoidError(f"The bridge didn't move: {result.message}")
    stack.run(STOOD)
    # It began and ended at full speed; what came before the first news and after the last is told by that.
    (first, at_first), (last, at_last) = places[0], places[-1]
    end = last + result.path_time - at_last
    clock, path = np.array([(first - at_first, 0.0), *places, (end, result.path_time)]).T
    watch = MotionWatch(motion)
    for stamp in sorted(set.intersection(*(set(by_stamp) for by_stamp in list(heard.values())))):
        if stamp < clock[0]:
            continue
        state = robot_state(heard["joint_states"][stamp], heard["odometry"][stamp])
        assert state.base is not None
        loads = [
            ContactLoad(one.body_a.rsplit("/", 1)[-1], array(one.position), array(one.force), array(one.normal))
            for one in heard["contacts"][stamp].contacts
        ]
        q = motion.q[0].copy()
        for joint in robot.joint_names:
            q[robot.index_q(joint)] = state.positions[joint]
        q = robot.place_base(q, state.base)
        at = float(np.interp(stamp, clock, path)) + max(0.0, stamp - end)
        watch.look(at, q, np.array([state.efforts[name] for name in robot.joint_names]), loads)
    return watch.played()


def _keeper(kept: dict[float, Any]) -> Callable[[Any], None]:
    def keep(message: Any) -> None:
        kept[round(seconds(message.header.stamp), 6)] = message

    return keep
