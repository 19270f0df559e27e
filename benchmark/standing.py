# SPDX-License-Identifier: Apache-2.0
"""One step of HRP-2 standing on 8 contacts: this simulator, MuJoCo 4 and a Pinocchio 4 loop, in one run.

All three get the same URDF, the same corners of the soles, the same servos and time step. Times are processor times
of whole blocks of steps, each made by the engine's own loop (`run`, `mj_step` with a count). The engines take turns,
block by block, so that what else the machine does hits all of them alike; medians of the blocks are printed.
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

from humanoid_model import load_robot
from humanoid_sim import Simulation

PEERS = {
    "MuJoCo 4, Newton elliptic": "mujoco_standing.py",
    "Pinocchio 4 PGS, from Python": "pinocchio_standing.py",
}
SETTLE = 2000
"""Steps before the measurement [ms]."""


class OwnEngine:
    """This simulator."""

    def __init__(self, dt: float) -> None:
        """Set up and settle."""
        self.simulation = Simulation("stand", dt)
        self.simulation.run(SETTLE * dt)
        self.start = self.simulation.q[:2].copy()
        self.steps = 0

    def run(self, steps: int) -> dict[str, Any]:
        """Time a block of steps."""
        simulation = self.simulation
        simulation.profile.reset()
        begin = time.process_time()
        simulation.run(steps * simulation.dt)
        seconds = (time.process_time() - begin) / steps
        self.steps += steps
        contacts = simulation.contacts
        robot = next(iter(simulation.robots.values())).robot
        drift = float(np.linalg.norm(simulation.q[:2] - self.start)) / (self.steps * simulation.dt)
        return {
            "seconds": seconds,
            "stages": simulation.profile.stages,
            "contacts": int((contacts.normal_force > 0.0).sum()),
            "weight_ratio": float(contacts.normal_force.sum()) / (robot.total_mass * 9.81),
            "base_drift": drift,
        }


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--rounds", type=int, default=40, help="blocks per engine")
    parser.add_argument("--steps", type=int, default=500, help="steps per block")
    arguments = parser.parse_args()
    dt = 1e-3
    task = standing_task(load_robot("hrp2"), "half_sitting", dt, SETTLE)
    engines: dict[str, OwnEngine | PeerEngine] = {"humanoid_sim": OwnEngine(dt)}
    for name, script in PEERS.items():
        engines[name] = PeerEngine(arguments.peers, script, task)
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in engines}
    for _ in tqdm(range(arguments.rounds), unit="round"):
        for name, engine in engines.items():
            answers[name].append(engine.run(arguments.steps))
    medians = {
        name: float(np.median([answer["seconds"] for answer in answers[name]])) for name in engines
    }
    peer = medians["MuJoCo 4, Newton elliptic"]
    print(f"\nHRP-2 standing, {dt * 1e3:g} ms, medians of {arguments.rounds} x {arguments.steps} steps\n")
    print("| engine | µs/step | ratio to MuJoCo | contacts | Σfn/mg | base drift µm/s |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in engines:
        last = answers[name][-1]
        print(
            f"| {name} | {medians[name] * 1e6:.1f} | {medians[name] / peer:.2f} | {last['contacts']} "
            f"| {last['weight_ratio']:.7f} | {last['base_drift'] * 1e6:.4f} |"
        )
    print("\n| stage of humanoid_sim | µs/step |\n|---|---:|")
    for stage in answers["humanoid_sim"][0]["stages"]:
        seconds = np.median([answer["stages"][stage] for answer in answers["humanoid_sim"]])
        print(f"| {stage} | {seconds * 1e6:.1f} |")


if __name__ == "__main__":
    main()
