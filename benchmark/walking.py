# SPDX-License-Identifier: Apache-2.0
"""One step of HRP-2 walking: this simulator beside MuJoCo 4, in one run, with the same joint trajectory.

Both get the same URDF, the same corners of the soles, the same servos, targets each millisecond and friction. The
engines take turns, walk by walk. Setting the targets is not part of a step in either: here it is the stage ``modules``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from peer_engine import PeerEngine
from standing_task import standing_task
from tqdm import tqdm

from humanoid_model import load_robot
from humanoid_sim import Simulation
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.walking import WalkingPattern, generate_walk, plan_footsteps

DT = 1e-3
AFTER = 0.5
"""Both engines simulate so long after the end of the pattern [s]."""
_LOOK_EVERY = 10
"""Steps from one count of contacts to the next."""
PEER = "MuJoCo 4, Newton elliptic"


class OwnWalk:
    """This simulator."""

    def __init__(self, pattern: WalkingPattern) -> None:
        """Set up."""
        self.simulation = Simulation("walk", DT)
        self.simulation.add_module(TrajectoryPlayer("hrp2", pattern.trajectory))
        self.steps = round((pattern.duration + AFTER) / DT)

    def walk(self) -> dict[str, Any]:
        """The whole walk from the start."""
        simulation = self.simulation
        simulation.reset()
        contacts = 0
        for step in range(self.steps):
            simulation.step()
            if step % _LOOK_EVERY == 0:
                contacts += _LOOK_EVERY * len(simulation.contacts)
        profile = simulation.profile
        return {
            "seconds": profile.mean - profile.stages.get("modules", 0.0),
            "contacts": contacts / self.steps,
            "place": [float(x) for x in simulation.robots["hrp2"].placement("WAIST").translation],
        }


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--rounds", type=int, default=10, help="walks per engine")
    arguments = parser.parse_args()
    robot = load_robot("hrp2")
    pattern = generate_walk(robot, plan_footsteps(robot, "half_sitting"), "half_sitting")
    own = OwnWalk(pattern)
    trajectory = pattern.trajectory
    samples = [trajectory.sample(DT * (step + 1)) for step in range(own.steps)]
    task = standing_task(robot, "half_sitting", DT, 0)
    task |= {
        "joints": list(pattern.joint_names),
        "positions": [sample.positions.tolist() for sample in samples],
        "velocities": [sample.velocities.tolist() for sample in samples],
    }
    peer = PeerEngine(arguments.peers, "mujoco_walking.py", task)
    answers: dict[str, list[dict[str, Any]]] = {"humanoid_sim": [], PEER: []}
    for _ in tqdm(range(arguments.rounds), unit="round"):
        answers["humanoid_sim"].append(own.walk())
        answers[PEER].append(peer.run(0))
    goal = pattern.base[-1, :3]
    print(f"\nHRP-2 walking six steps, {1e3 * DT:g} ms, {arguments.rounds} walks of {own.steps} steps")
    print(f"MuJoCo {peer.version}; off: distance from the pattern's end\n")
    print("| engine | median µs/step | least | ratio to MuJoCo | mean contacts | walked m | off mm | stands |")
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    medians = {name: float(np.median([each["seconds"] for each in rows])) for name, rows in answers.items()}
    for name, rows in answers.items():
        last, least = rows[-1], min(each["seconds"] for each in rows)
        off = 1e3 * float(np.linalg.norm(np.array(last["place"])[:2] - goal[:2]))
        stands = "yes" if last["place"][2] > 0.9 * goal[2] else "no"
        print(
            f"| {name} | {1e6 * medians[name]:.1f} | {1e6 * least:.1f} | {medians[name] / medians[PEER]:.2f} "
            f"| {last['contacts']:.1f} | {last['place'][0]:.3f} | {off:.0f} | {stands} |"
        )


if __name__ == "__main__":
    main()
