# SPDX-License-Identifier: Apache-2.0
"""The whole stack for an hour: a robot walks through the bridge again and again while a second client plans.

It plans gaits and contacts in turn. Ends with a table and what is wrong, and with code 1 if the robot fell, a request
failed, a process with those that it started grew by more than 5 %, or the simulation fell behind the wall clock.
``make soak``, or ``scripts/run python test/soak.py --minutes 5``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from fixtures.ros_domain import claim_domain
from fixtures.ros_processes import children
from humanoid_stack.msg import PostureTask

from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_gait import WalkRequest
from humanoid_model import Contact, Stance, load_scene
from humanoid_model.errors import HumanoidError
from humanoid_ros.bringup.node_list import list_nodes
from humanoid_ros.bringup.start_stack import processes
from humanoid_ros.bringup.supervisor import Process
from humanoid_ros.client import HumanoidStack
from humanoid_ros.client.answers import PlanAnswer
from humanoid_ros.messages.motion_messages import whole_body_message

GROWTH = 0.05
"""Of a process' memory over the second half of the run, at most."""
PACE = 0.95
"""Of the simulation, at least, as the median over the rounds."""
PATIENCE = 120.0
"""Of the clients with nodes that are being started on a busy machine [s]."""
SETTLED = 6
"""Rounds from which on memory and pace are judged: before, kernels are compiled and workers started."""


def thirds(values: Sequence[float]) -> tuple[float, float]:
    """Return the median of the middle third of some values, and that of the last."""
    third = len(values) // 3
    return float(np.median(values[third : 2 * third or None])), float(np.median(values[2 * third :]))


def judge(memory: Mapping[str, Sequence[float]], paces: Sequence[float]) -> list[str]:
    """Return what is wrong with a run.

    Args:
        memory: of each process after each round [bytes].
        paces: real-time factor of each round [-].
    """
    if len(paces) < SETTLED:
        return []
    wrong = []
    for name, values in memory.items():
        middle, end = thirds(values)
        if end > (1.0 + GROWTH) * middle:
            wrong.append(f"{name} grew from {middle / 2**20:.0f} to {end / 2**20:.0f} MiB")
    if np.median(paces) < PACE:
        wrong.append(f"the simulation ran at {np.median(paces):.2f} of real time")
    return wrong


def resident(pid: int) -> float:
    """Return the memory of a process and all that it started [bytes]."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:  # ended meanwhile
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(map(resident, children(pid)))


@contextmanager
def running(own: Process) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program; what it printed is told if it ends by itself."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(own.command, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            if process.poll() is not None:
                log.seek(0)
                print(f"{own.name} ended with {process.returncode}:", log.read().decode(errors="replace")[-3000:])
            process.terminate()
            process.wait(60.0)


class Planning:
    """Asks for gaits and contact plans in turn, from another client."""

    def __init__(self) -> None:
        """Begin."""
        self.gaits, self.plans, self.failure = 0, 0, ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._plan)
        self._thread.start()

    def end(self) -> None:
        """Ask no more."""
        self._stop.set()
        self._thread.join()

    def _plan(self) -> None:
        try:
            with HumanoidStack("hrp2", patience=PATIENCE) as stack:
                while not self._stop.is_set():
                    answer = stack.gait(WalkRequest(0.15 + 0.01 * (self.gaits % 10)), time_limit=600.0)
                    if not answer.success:
                        self.failure = f"a gait failed: {answer.message}"
                    self.gaits += 1
                    self._stop.wait(2.0)
                    plan = few_steps(stack, 0.3 + 0.02 * (self.plans % 10))
                    if not plan.success:
                        self.failure = f"a plan failed: {plan.explanation}"
                    self.plans += 1
                    self._stop.wait(2.0)
        except HumanoidError as error:
            self.failure = f"planning ended: {error}"


def few_steps(stack: HumanoidStack, ahead: float) -> PlanAnswer:
    """Return a plan of contacts that brings the centre of mass so far ahead [m]."""
    floor = next(surface for surface in load_scene("stand").surfaces if surface.name == "floor")
    soles = (stack.robot.contacts[name] for name in ("left_sole", "right_sole"))
    feet = Stance(tuple(Contact(sole, floor, 0.0, y, 0.0) for sole, y in zip(soles, (0.1, -0.1), strict=True)))
    target = (ahead, 0.0, 0.75)
    return stack.plan(
        feet,
        [{"kind": PostureTask.CENTRE_OF_MASS, "target": target, "tolerance": 0.15}],
        scene="stand",
        candidates={"headings": [0.0], "turn": 0.1},
        potentials=[{"target": target}],
        terms=[{"weight": 0.02}],
        time_limit=600.0,
        collisions=False,
    )


def soak(seconds: float) -> list[str]:
    """Walk for so long, print the table, and return what is wrong."""
    nodes = list_nodes("stack", {"scene": "walk", "bridge": "hrp2", "port": "0"})
    memory: dict[str, list[float]] = {node.name: [] for node in nodes}
    paces: list[float] = []
    wrong: list[str] = []
    with ExitStack() as exits:
        started = {own.name: exits.enter_context(running(own)) for own in processes(nodes)}
        stack = exits.enter_context(HumanoidStack("hrp2", patience=PATIENCE))
        robot, posture = stack.robot, "half_sitting"
        motion = generate_walk(robot, plan_footsteps(robot, posture, steps=4, length=0.2), posture)
        message = whole_body_message(motion.motion(robot), "world")
        planning = Planning()
        exits.callback(planning.end)
        end = time.monotonic() + seconds
        while not wrong and (time.monotonic() < end or not paces):
            try:
                stack.stand(message)
                stack.run(1.0)
                began, before = time.monotonic(), stack.status.time
                result = stack.execute(message)
                paces.append((stack.status.time - before) / (time.monotonic() - began))
                base = stack.state.base
                if not result.success or base is None or base.translation[2] < 0.5:
                    fallen = "the robot has fallen; " if result.success else ""
                    wrong.append(f"round {len(paces)}: {fallen}{result.message}")
            except HumanoidError as error:
                wrong.append(f"round {len(paces) + 1}: {error}")
            if wrong:  # whether the simulator stood, or wasn't heard
                then = stack.status.time
                time.sleep(2.0)
                wrong.append(
                    f"the simulator told that it was at {then:.3f} s, and 2 s later at {stack.status.time:.3f} s"
                )
            for name, process in started.items():
                if process.poll() is not None:
                    wrong.append(f"{name} has ended")
                memory[name].append(resident(process.pid))
        if planning.failure:
            wrong.append(planning.failure)
        pace = np.median(paces or [0.0])
        print(f"{len(paces)} walks at {pace:.2f} of real time, {planning.gaits} gaits, {planning.plans} contact plans")
    print("| process and its own | MiB after the first walk | middle third | last third |\n|---|---:|---:|---:|")
    for name, values in memory.items():
        middle, end = thirds(values)
        print(f"| {name} | {values[0] / 2**20:.0f} | {middle / 2**20:.0f} | {end / 2**20:.0f} |")
    if len(paces) < SETTLED:
        print(f"growth and pace are judged from {SETTLED} walks on")
    return wrong + judge(memory, paces)


def main() -> None:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    os.environ.setdefault("ROS_DOMAIN_ID", str(claim_domain()))  # tests beside it have others
    wrong = soak(60.0 * parser.parse_args().minutes)
    print("\n".join(wrong) or "nothing is wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
