# SPDX-License-Identifier: Apache-2.0
"""A and B of a step of standing HRP-2: ``humanoid_sim.linearise``, differences of whole steps, MuJoCo's transitionFD.

    scripts/run python benchmark/linearisation.py --peers /path/to/peers/bin/python

By states and commands of all joints, 102 directions. Processor time of one linearisation; the ways take turns, medians
are printed. A call of ``linearise`` for many states copies the simulation once, which is in its time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
from peer_engine import PeerEngine
from standing_task import standing_task

from humanoid_model import load_robot
from humanoid_sim import Controls, Simulation, linearise, rollout
from humanoid_sim.simulation import SimulationState

CHANGE = 1e-6


def differences(simulation: Simulation, starts: list[SimulationState]) -> None:
    """Make a step in each direction from each state, in one rollout."""
    model, nv = simulation.world.model, simulation.v.size
    q_places, _ = simulation.robots["hrp2"].drive_places()
    changes = CHANGE * np.eye(2 * nv + len(q_places) + 1, 2 * nv + len(q_places))
    states = [
        replace(start, q=pin.integrate(model, start.q, d[:nv]), v=start.v + d[nv : 2 * nv])
        for start in starts for d in changes
    ]  # fmt: skip
    values = np.tile(starts[0].servos.q_target[q_places] + changes[:, 2 * nv :], (len(starts), 1))
    rollout(simulation, states, 1, Controls(values[:, None, :]))


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, help="Python of the peers' environment; leave MuJoCo out without")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--states", type=int, default=100, help="states of a round")
    arguments = parser.parse_args()
    simulation = Simulation("stand")
    simulation.run(0.5)
    starts = [simulation.save_state()] * arguments.states
    robot = load_robot("hrp2")
    task = standing_task(robot, "half_sitting", simulation.dt, 500) | {"motors": list(robot.actuators)}
    peer = None if arguments.peers is None else PeerEngine(arguments.peers, "mujoco_linearisation.py", task)
    seconds: dict[str, list[float]] = {}

    def measure(name: str, work: Callable[[Simulation, list[SimulationState]], object]) -> None:
        begin = time.process_time()
        work(simulation, starts)
        seconds.setdefault(name, []).append((time.process_time() - begin) / len(starts))

    linearise(simulation)
    for _ in range(arguments.rounds):
        measure("linearise", linearise)
        measure("differences of steps", differences)
        for centred in (False, True) if peer is not None else ():
            answer = peer.ask(json.dumps([len(starts), centred]))  # type: ignore[union-attr]
            name = f"MuJoCo {peer.version}, {'centred' if centred else 'one-sided'}"  # type: ignore[union-attr]
            seconds.setdefault(name, []).append(answer["seconds"])
    if peer is not None:
        peer.close()
    print(f"\n{len(starts)} states, medians of {arguments.rounds}\n\n| | processor ms/state |\n|---|---:|")
    for name, own in seconds.items():
        print(f"| {name} | {1e3 * float(np.median(own)):.2f} |")


if __name__ == "__main__":
    main()
