# SPDX-License-Identifier: Apache-2.0
"""A step of walking HRP-2: this simulator and MuJoCo 4, in one run.

Six steps forward by a pattern with preview of the zero-moment point, played by stiff servos without any stabiliser, 1
ms. Both engines get the same URDF, corners of the soles and servo targets. What is timed, in processor time, is the
steps alone, without what writes the targets. The end of the walk is printed: a robot that fell or slipped is
elsewhere.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from peer_engine import PeerEngine
from standing_task import standing_task
from tqdm import tqdm

from humanoid_control.walking import WalkingPattern, generate_walk, plan_footsteps
from humanoid_model import load_robot
from humanoid_model.joint_trajectory import JointSample
from humanoid_sim import Simulation

DT = 1e-3


class OwnEngine:
    """This simulator."""

    def __init__(self, walk: WalkingPattern, samples: list[JointSample]) -> None:
        """Set up."""
        self.simulation = Simulation("walk", DT)
        self.start = self.simulation.save_state()
        self.joints, self.samples = list(walk.joint_names), samples

    def run(self) -> dict[str, Any]:
        """Time the whole walk."""
        simulation = self.simulation
        robot = simulation.robots["hrp2"]
        simulation.restore_state(self.start)
        simulation.profile.reset()
        contacts, seconds = 0, 0.0
        for sample in self.samples:
            robot.set_position_target(sample.positions, sample.velocities, self.joints)
            begin = time.process_time()
            simulation.step()
            seconds += time.process_time() - begin
            contacts += len(simulation.contacts)
        return {
            "seconds": seconds / len(self.samples),
            "contacts": contacts / len(self.samples),
            "base": simulation.q[:3].tolist(),
            "stages": simulation.profile.stages,
        }


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--rounds", type=int, default=5, help="walks per engine")
    arguments = parser.parse_args()
    robot = load_robot("hrp2")
    walk = generate_walk(robot, plan_footsteps(robot, "half_sitting"), "half_sitting")
    times = DT * np.arange(1, round(walk.duration / DT) + 1)
    trajectory = walk.trajectory
    samples = [trajectory.at(time) for time in times]
    task = standing_task(robot, "half_sitting", DT, 0) | {
        "joints": list(walk.joint_names), "positions": [sample.positions.tolist() for sample in samples],
        "velocities": [sample.velocities.tolist() for sample in samples],
    }  # fmt: skip
    ours, peer = OwnEngine(walk, samples), PeerEngine(arguments.peers, "mujoco_walking.py", task)
    pairs = [(ours.run(), peer.run(0)) for _ in tqdm(range(arguments.rounds), unit="round")]
    peer.close()
    seconds = np.array([[answer["seconds"] for answer in pair] for pair in pairs])
    median = np.median(seconds, axis=0)
    print(f"\nHRP-2 walking {walk.base[-1, 0]:.3f} m in {walk.duration:.2f} s, medians of {arguments.rounds} walks\n")
    print("| engine | µs/step | least | ratio to MuJoCo | contact points, mean | base at the end m |")
    print("|---|---:|---:|---:|---:|---|")
    for i, name in enumerate(("humanoid_sim", "MuJoCo 4, Newton elliptic")):
        last = pairs[-1][i]
        place = ", ".join(f"{x:.4f}" for x in last["base"])
        print(
            f"| {name} | {median[i] * 1e6:.1f} | {seconds[:, i].min() * 1e6:.1f} | {median[i] / median[1]:.2f} "
            f"| {last['contacts']:.1f} | {place} |"
        )
    print("\n| stage of humanoid_sim | µs/step |\n|---|---:|")
    for stage in pairs[0][0]["stages"]:
        print(f"| {stage} | {1e6 * float(np.median([pair[0]['stages'][stage] for pair in pairs])):.1f} |")


if __name__ == "__main__":
    main()
