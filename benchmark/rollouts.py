# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks many times at once: ``humanoid_sim.rollout`` and MuJoCo's rollout, by the number of threads.

    scripts/run python benchmark/rollouts.py --peers /path/to/peers/bin/python

The walk is that of the scene ``walk``, from one state, the same targets in each run. Processor time is that of all
threads and counts other work on the machine little; elapsed time tells the gain by threads only on a machine at rest.
The engines take turns; medians are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from peer_engine import PeerEngine
from standing_task import standing_task

from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_model import load_robot
from humanoid_sim import Controls, Simulation, rollout

DT = 1e-3


def own(simulation: Simulation, controls: Controls, runs: int, steps: int, threads: int) -> dict[str, Any]:
    """Walk as often as asked for; elapsed and processor seconds, and where the base is at the end."""
    start = simulation.save_state()
    wall, begin = time.perf_counter(), time.process_time()
    found = rollout(simulation, [start] * runs, steps, controls, workers=threads)
    assert not found.failures
    return {
        "wall": time.perf_counter() - wall, "seconds": time.process_time() - begin,
        "base": found.q[0, -1, :3].tolist(),
    }  # fmt: skip


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, help="Python of the peers' environment; leave MuJoCo out without")
    parser.add_argument("--runs", type=int, default=8, help="walks of a rollout")
    parser.add_argument("--rounds", type=int, default=5, help="rollouts of each kind")
    arguments = parser.parse_args()
    robot = load_robot("hrp2")
    walk = generate_walk(robot, plan_footsteps(robot, "half_sitting"), "half_sitting")
    steps = round(walk.duration / DT)
    trajectory = walk.trajectory
    samples = [trajectory.at(DT * (step + 1)) for step in range(steps)]
    positions = np.array([sample.positions for sample in samples])
    velocities = np.array([sample.velocities for sample in samples])
    simulation = Simulation("walk", DT)
    controls = Controls(positions, velocities, tuple(walk.joint_names))
    task = standing_task(robot, "half_sitting", DT, 0) | {
        "joints": list(walk.joint_names), "positions": positions.tolist(), "velocities": velocities.tolist(),
    }  # fmt: skip
    peer = None if arguments.peers is None else PeerEngine(arguments.peers, "mujoco_rollout.py", task)
    own(simulation, controls, 1, steps, 1)
    counts = sorted({1, 2, os.cpu_count() or 1})
    answers: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for _ in range(arguments.rounds):
        for threads in counts:
            answers.setdefault(("humanoid_sim", threads), []).append(
                own(simulation, controls, arguments.runs, steps, threads)
            )
            if peer is not None:
                answer = peer.ask(json.dumps([arguments.runs, threads]))
                answers.setdefault((f"MuJoCo {peer.version}", threads), []).append(answer)
    if peer is not None:
        peer.close()
    print(f"\n{arguments.runs} walks of {steps} steps, medians of {arguments.rounds}\n")
    print("| engine | threads | elapsed µs/step | gain | processor µs/step | base at the end m |")
    print("|---|---:|---:|---:|---:|---|")
    alone: dict[str, float] = {}
    for (engine, threads), found in answers.items():
        wall, seconds = (
            1e6 * float(np.median([one[kind] for one in found])) / (arguments.runs * steps)
            for kind in ("wall", "seconds")
        )
        gain = alone.setdefault(engine, wall) / wall
        place = ", ".join(f"{x:.4f}" for x in found[0]["base"])
        print(f"| {engine} | {threads} | {wall:.1f} | {gain:.2f} | {seconds:.1f} | {place} |")


if __name__ == "__main__":
    main()
