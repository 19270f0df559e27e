# SPDX-License-Identifier: Apache-2.0
"""One step of several standing robots: this simulator and MuJoCo 4, in one run.

HRP-2, BIP2000, TALOS and G1 on the corners of their soles, and HRP-2 on 16 points, each sole cut into a heel and a
toe. Both engines get the same URDF (MuJoCo without its shapes), the same corners, the same servos, 1 ms; MuJoCo has
Newton's method, the elliptic cone and ``implicitfast``. Times are processor times of whole blocks of steps, the
engines taking turns. In the second table a tenth of the robot's weight pushes its base forward for 20 ms at the start
of every block: contacts must be solved anew then, while a robot at rest costs less. "sinks" is how far the base is
below the posture's height at the end (MuJoCo's stands on small spheres, higher by most of their radius): a robot that
falls would show.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from peer_engine import PeerEngine
from standing_task import FRICTION, standing_task
from tqdm import tqdm

from humanoid_model import Robot, Scene, load_robot
from humanoid_model.description import Geometry, HalfSpace
from humanoid_model.errors import RobotWarning
from humanoid_model.scene import PairRule, SceneBody, SceneRobot
from humanoid_sim import Simulation

DT, SETTLE = 1e-3, 2000
PUSH_SECONDS = 0.02
ROBOTS = {
    "HRP-2": ("hrp2", "half_sitting", False),
    "BIP2000": ("bip", "standing", False),
    "TALOS": ("talos", "half_sitting", False),
    "G1": ("g1", "standing", False),
    "HRP-2, 16 points": ("hrp2", "half_sitting", True),
}
"""By title: name, posture, whether the soles are cut in two."""


def cut_soles(robot: Robot) -> Robot:
    """Return the robot with a heel and a toe, 2 cm apart, in place of each sole."""
    contacts = {}
    for name, contact in robot.contacts.items():
        if not contact.support:
            contacts[name] = contact
            continue
        x, y = contact.patch.T
        middle = 0.5 * (x.min() + x.max())
        for half, low, high in (("heel", x.min(), middle - 0.01), ("toe", middle + 0.01, x.max())):
            patch = np.array([[low, y.min()], [high, y.min()], [high, y.max()], [low, y.max()]])
            contacts[f"{name}_{half}"] = dataclasses.replace(contact, name=f"{name}_{half}", patch=patch)
    return dataclasses.replace(robot, contacts=contacts)


def load(name: str, cut: bool) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # TALOS' gripper
        robot = load_robot(name)
    return cut_soles(robot) if cut else robot


class OwnEngine:
    """This simulator."""

    def __init__(self, robot: Robot, posture: str, push: float) -> None:
        """Set up and settle."""
        geometry = Geometry("", HalfSpace(), pin.SE3.Identity(), np.ones(4))
        floor = SceneBody(
            "floor", "floor", 0.0, np.zeros(3), np.zeros((3, 3)), pin.SE3.Identity(), np.zeros(6), (geometry,)
        )
        q = robot.postures[posture]
        placed = SceneRobot("robot", robot, posture, pin.SE3.Identity(), q)
        rule = PairRule("*", "*", friction=FRICTION)
        scene = Scene("stand", robots=(placed,), bodies=(floor,), rules=(rule,), gravity=np.array([0.0, 0.0, -9.81]))
        self.simulation = Simulation(scene, DT)
        self.root = f"robot/{robot.description.root}"
        self.push = push
        self.weight = robot.total_mass * 9.81
        self.height = float(q[2])
        self.simulation.run(SETTLE * DT)

    def run(self, steps: int) -> dict[str, Any]:
        """Time a block of steps."""
        simulation = self.simulation
        if self.push:
            simulation.apply_wrench(self.root, [self.push, 0.0, 0.0], duration=PUSH_SECONDS)
        simulation.profile.reset()
        begin = time.process_time()
        simulation.run(steps * simulation.dt)
        seconds = (time.process_time() - begin) / steps
        contacts = simulation.contacts
        return {
            "seconds": seconds,
            "contacts": int((contacts.normal_force > 0.0).sum()),
            "weight_ratio": float(contacts.normal_force.sum()) / self.weight,
            "height": float(simulation.q[2]),
            "stages": simulation.profile.stages,
        }


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--robots", nargs="+", default=list(ROBOTS), choices=list(ROBOTS))
    parser.add_argument("--rounds", type=int, default=40, help="blocks per engine")
    parser.add_argument("--steps", type=int, default=250, help="steps per block")
    arguments = parser.parse_args()
    # TALOS and G1 are in the peers' environment; ours may have them too
    packages = sorted(arguments.peers.absolute().parent.parent.glob("lib/python3*/site-packages/cmeel.prefix/share"))
    named = [str(place) for place in packages] + [os.environ.get("ROS_PACKAGE_PATH", "")]
    os.environ["ROS_PACKAGE_PATH"] = os.pathsep.join(named)
    for push, title in ((0.0, "standing"), (0.1, "standing, pushed")):
        print(f"\n{title}, {DT * 1e3:g} ms, {arguments.rounds} x {arguments.steps} steps\n")
        print("| robot | nv | ours µs | MuJoCo µs | ratio | of 25 % | points: ours, MuJoCo | Σfn/mg | sinks mm |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        for name in arguments.robots:
            row(name, push, arguments)


def row(title: str, push: float, arguments: argparse.Namespace) -> None:
    """Measure a robot and print its line; ``push`` is a part of its weight."""
    name, posture, cut = ROBOTS[title]
    robot = load(name, cut)
    force = push * robot.total_mass * 9.81
    task = standing_task(robot, posture, DT, SETTLE)
    task["push"] = {"link": robot.description.root, "force": force, "steps": round(PUSH_SECONDS / DT)}
    ours, peer = OwnEngine(robot, posture, force), PeerEngine(arguments.peers, "mujoco_standing.py", task)
    pairs = [(ours.run(arguments.steps), peer.run(arguments.steps)) for _ in tqdm(range(arguments.rounds), leave=False)]
    peer.close()
    seconds = np.array([[answer["seconds"] for answer in pair] for pair in pairs])
    median, low = np.median(seconds, axis=0), np.percentile(seconds, 25, axis=0)
    last = pairs[-1]
    points = ", ".join(str(answer["contacts"]) for answer in last)
    weights = ", ".join(f"{answer['weight_ratio']:.6f}" for answer in last)
    sinks = ", ".join(f"{1e3 * (ours.height - answer['height']):.2f}" for answer in last)
    print(
        f"| {title} | {robot.model.nv} | {median[0] * 1e6:.1f} | {median[1] * 1e6:.1f} | {median[0] / median[1]:.2f} "
        f"| {low[0] / low[1]:.2f} | {points} | {weights} | {sinks} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
