# SPDX-License-Identifier: Apache-2.0
"""Time of a step against the number of free boxes on the ground: this simulator and MuJoCo 4, in one run.

Four layouts: boxes 1 m apart that rest; the same on a slope of 30 degrees that they slide down, all contacts at the
edge of their cones (MuJoCo's boxes hop a tenth of a millimetre there, so that it often has fewer contacts to solve);
stacks of five, 1 m apart; boxes in one row whose faces touch, one group of contacts. Each block of steps begins with
the same settled state. Times are processor times; the engines take turns, and low percentiles (25 %) of the blocks
are printed, and the slope of the cost in doubly logarithmic axes: 1 is linear.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from peer_engine import PeerEngine
from tqdm import tqdm

from humanoid_model import Scene
from humanoid_model.description import Box, Geometry, HalfSpace
from humanoid_model.scene import PairRule, SceneBody
from humanoid_sim import Simulation

COUNTS = (1, 2, 5, 10, 20, 50, 100)
DT, SETTLE, STEPS = 1e-3, 100, 100
"""Time step [s]; steps before the first block, and of each."""
EDGE, MASS, FRICTION = 0.2, 1.0, 0.4
SLOPE = math.radians(30.0)
STACK = 5
PERCENTILE = 25


def places(layout: str, count: int) -> list[list[float]]:
    """Return centres of the boxes [m]."""
    if layout == "row":
        return [[EDGE * i, 0.0, 0.5 * EDGE] for i in range(count)]
    height = STACK if layout == "stacks" else 1
    side = math.ceil(math.sqrt(math.ceil(count / height)))
    towers = [(i // height, i % height) for i in range(count)]
    return [[float(tower % side), float(tower // side), (0.5 + level) * EDGE] for tower, level in towers]


def gravity(layout: str) -> list[float]:
    """In the frame of the ground [m/s^2]."""
    angle = SLOPE if layout == "sliding" else 0.0
    return [9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle)]


def scene_of(layout: str, count: int) -> Scene:
    """Return the boxes and the ground."""

    def geometry(shape: Box | HalfSpace) -> tuple[Geometry]:
        return (Geometry("", shape, pin.SE3.Identity(), np.ones(4)),)

    inertia = MASS * EDGE**2 / 6.0 * np.eye(3)
    boxes = [
        SceneBody(
            f"box_{i}", f"box_{i}", MASS, np.zeros(3), inertia, pin.SE3(np.eye(3), np.array(place)), np.zeros(6),
            geometry(Box(np.full(3, EDGE))),
        )
        for i, place in enumerate(places(layout, count))
    ]  # fmt: skip
    ground = SceneBody(
        "ground", "ground", 0.0, np.zeros(3), np.zeros((3, 3)), pin.SE3.Identity(), np.zeros(6), geometry(HalfSpace())
    )
    rule = PairRule("*", "*", friction=FRICTION)
    return Scene("boxes", bodies=(ground, *boxes), rules=(rule,), gravity=np.array(gravity(layout)))


class OwnEngine:
    """This simulator."""

    def __init__(self, layout: str, count: int) -> None:
        """Set up and settle."""
        self.simulation = Simulation(scene_of(layout, count), DT)
        self.simulation.run(SETTLE * DT)
        self.start = self.simulation.save_state()

    def run(self, steps: int) -> dict[str, Any]:
        """Time a block of steps."""
        simulation = self.simulation
        simulation.restore_state(self.start)
        simulation.profile.reset()
        begin = time.process_time()
        simulation.run(steps * simulation.dt)
        seconds = (time.process_time() - begin) / steps
        contacts = int((simulation.contacts.normal_force > 0.0).sum())
        return {"seconds": seconds, "contacts": contacts, "stages": simulation.profile.stages}


def slope(counts: np.ndarray, seconds: np.ndarray) -> float:
    """Of the cost in doubly logarithmic axes."""
    return float(np.polyfit(np.log(counts), np.log(seconds), 1)[0])


def measure(layout: str, counts: tuple[int, ...], python: Path, rounds: int) -> None:
    """Measure and print the table of a layout."""
    print(f"\n{layout}\n")
    print("| boxes | contacts | ours µs | MuJoCo µs | ratio | ours µs per box | detection | contacts, all |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    table = []
    for count in counts:
        task = {
            "dt": DT, "gravity": gravity(layout), "friction": FRICTION, "mass": MASS, "size": [EDGE] * 3,
            "places": places(layout, count), "settle": SETTLE,
        }  # fmt: skip
        ours, peer = OwnEngine(layout, count), PeerEngine(python, "mujoco_boxes.py", task)
        answers = [(ours.run(STEPS), peer.run(STEPS)) for _ in tqdm(range(rounds), leave=False)]
        peer.close()
        low = [float(np.percentile([pair[i]["seconds"] for pair in answers], PERCENTILE)) for i in range(2)]
        stages = {
            stage: np.percentile([pair[0]["stages"][stage] for pair in answers], PERCENTILE)
            for stage in answers[0][0]["stages"]
        }
        table.append([count, *low])
        solved = stages["assembly"] + stages["contacts"] + stages["integration"]
        print(
            f"| {count} | {answers[-1][0]['contacts']}, {answers[-1][1]['contacts']} | {low[0] * 1e6:.1f} "
            f"| {low[1] * 1e6:.1f} | {low[0] / low[1]:.2f} | {low[0] / count * 1e6:.1f} "
            f"| {stages['detection'] * 1e6:.1f} | {solved * 1e6:.1f} |",
            flush=True,
        )
    counts_run, ours_seconds, peer_seconds = np.array(table).T
    large = counts_run >= 10
    print(
        f"\nslope over all: ours {slope(counts_run, ours_seconds):.2f}, MuJoCo {slope(counts_run, peer_seconds):.2f}; "
        f"from 10 boxes on: ours {slope(counts_run[large], ours_seconds[large]):.2f}, "
        f"MuJoCo {slope(counts_run[large], peer_seconds[large]):.2f}"
    )


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--layouts", nargs="+", default=["resting", "sliding", "stacks", "row"])
    parser.add_argument("--rounds", type=int, default=30, help="blocks per engine")
    parser.add_argument("--largest", type=int, default=COUNTS[-1], help="number of boxes")
    arguments = parser.parse_args()
    for layout in arguments.layouts:
        counts = tuple(count for count in COUNTS if count <= arguments.largest)
        measure(layout, counts, arguments.peers, arguments.rounds)


if __name__ == "__main__":
    main()
