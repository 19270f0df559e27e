# SPDX-License-Identifier: Apache-2.0
"""The same walker in this simulator and in MuJoCo: does it walk, and how hard a push does it take in each?

``scripts/run python benchmark/balance_mujoco.py --peers .venv-peers/bin/python``. The walker gets joint positions and
velocities, inertial and force readings without noise, and knows no simulator. Pushes of 0.1 s at the centre of mass
come in eight directions at phases of a step by chance, the same for both; the hardest that it takes is found by
halving between 0 and ``--most``.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from estimation import LEANING, POSTURES
from peer_engine import PeerEngine
from standing_task import RADIUS, standing_task
from tqdm import tqdm

from humanoid_control.stepping import Walker
from humanoid_control.whole_body_control import WholeBodyControl
from humanoid_model import Robot, load_robot, load_scene
from humanoid_model.controller import Measurement
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.control import ControllerInLoop

DT, STEPS = 1e-3, 2
"""Of both simulators, and of a tick of the walker."""


def robot_of(name: str) -> Robot:
    """Return a robot with level soles in its posture."""
    robot = load_robot(name)
    for joint in LEANING.get(name, ()):
        robot.postures[POSTURES[name]][robot.index_q(joint)] = 0.0
    return robot


class OurPlant:
    """The robot in this stack's simulator."""

    def __init__(self, robot: Robot, name: str) -> None:
        self.robot, self.name = robot, name

    def restart(self, walker: Walker) -> None:
        """Begin anew with a walker."""
        posture = POSTURES[self.name]
        entry = SceneRobot(self.name, self.robot, posture, pin.SE3.Identity(), self.robot.postures[posture])
        self.simulation = Simulation(dataclasses.replace(load_scene("walk"), robots=(entry,)), dt=DT)
        self.simulation.add_module(ControllerInLoop(self.name, walker, period=STEPS * DT))
        self.own = self.simulation.robots[self.name]

    def go(self, seconds: float, push: np.ndarray) -> bool:
        """Go on under a force (3,) [N]; False when it falls."""
        if push.any():
            link = f"{self.name}/{self.robot.description.root}"
            self.simulation.apply_wrench(link, push, point=self.own.centre_of_mass, duration=seconds)
        for _ in range(round(seconds / DT)):
            self.simulation.step()
            if self.own.placement_world_base.rotation[2, 2] < 0.5:
                return False
        return True

    @property
    def way(self) -> float:
        """How far ahead the base is [m]."""
        return float(self.own.placement_world_base.translation[0])


class MuJoCoPlant:
    """The robot in MuJoCo, in a process of its own."""

    def __init__(self, robot: Robot, name: str, python: Path) -> None:
        self.robot, self.name = robot, name
        task = standing_task(robot, POSTURES[name], DT, 0)
        # The spheres end where the soles do.
        inward = {c.link: c.placement_link_patch.rotation[:, 2] for c in robot.contacts.values() if c.support}
        for corner in task["corners"]:
            corner["position"] = (corner["position"] + RADIUS * inward[corner["link"]]).tolist()
        task["sensors"] = [
            {
                "name": key,
                "type": sensor.type,
                "link": sensor.link,
                "position": sensor.placement_link_sensor.translation.tolist(),
                "quat": np.roll(pin.Quaternion(sensor.placement_link_sensor.rotation).coeffs(), 1).tolist(),
            }
            for key, sensor in robot.sensors.items()
            if sensor.type != "camera"
        ]
        task |= {"joints": [*robot.joint_names], "motors": [*WholeBodyControl(robot).joint_names]}
        task |= {"root": robot.description.root, "steps": STEPS}
        self.engine = PeerEngine(python, "mujoco_plant.py", task)

    def restart(self, walker: Walker) -> None:
        """Begin anew with a walker."""
        self.engine.ask('"restart"')
        self.walker, self.time, self.efforts = walker, 0.0, None
        self.answer: dict[str, Any] = {}

    def go(self, seconds: float, push: np.ndarray) -> bool:
        """Go on under a force (3,) [N]; False when it falls."""
        for _ in range(round(seconds / (STEPS * DT))):
            answer = self.engine.ask(json.dumps({"efforts": self.efforts, "push": push.tolist()}))
            self.answer = answer
            self.time += STEPS * DT
            readings = Measurement(
                self.time,
                np.array(answer["positions"]),
                np.array(answer["velocities"]),
                np.array(answer["rate"]),
                np.array(answer["force"]),
                {name: np.array(wrench) for name, wrench in answer["wrenches"].items()},
            )
            command = self.walker.update(self.time, readings)
            if command is not None:
                self.efforts = command.efforts.tolist()
            if answer["upright"] < 0.5:
                return False
        return True

    @property
    def way(self) -> float:
        """How far ahead the base is [m]."""
        return float(self.answer["base"][0])


def survives(plant: OurPlant | MuJoCoPlant, speed: float, phase: float, change: np.ndarray) -> bool:
    """Walk, be pushed by a change of velocity (3,) [m/s], walk on for three seconds."""
    robot, rest = plant.robot, np.zeros(3)
    walker = Walker(robot, POSTURES[plant.name])
    plant.restart(walker)
    if not plant.go(0.4, rest):
        return False
    walker.walk(speed)
    return plant.go(2.0 + phase, rest) and plant.go(0.1, robot.total_mass * change / 0.1) and plant.go(3.0, rest)


def hardest(plant: OurPlant | MuJoCoPlant, speed: float, phase: float, angle: float, most: float) -> float:
    """Return the hardest push that it takes in a direction [m/s], to a 32nd of the most."""
    low, high = 0.0, most
    for _ in range(5):
        middle = 0.5 * (low + high)
        if survives(plant, speed, phase, middle * np.array([math.cos(angle), math.sin(angle), 0.0])):
            low = middle
        else:
            high = middle
    return low


def main() -> None:
    """Walk in both, push in both, print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--robots", nargs="*", default=["hrp2", "g1"], choices=list(POSTURES))
    parser.add_argument("--seed", type=int, help="of the phases; by the clock if not given")
    parser.add_argument("--speed", type=float, default=0.2, help="[m/s]")
    parser.add_argument("--most", type=float, default=2.4, help="hardest push tried [m/s]")
    parser.add_argument("--directions", type=int, default=8)
    arguments = parser.parse_args()
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    for name in arguments.robots:
        robot = robot_of(name)
        plants = {"ours": OurPlant(robot, name), "MuJoCo": MuJoCoPlant(robot, name, arguments.peers)}
        print(f"{name}, seed {seed}, at {arguments.speed} m/s; MuJoCo {plants['MuJoCo'].engine.version}")
        for label, plant in plants.items():
            walked = survives(plant, arguments.speed, 8.0, np.zeros(3))
            print(f"{label}: {'walks' if walked else 'FALLS'}, {plant.way:.2f} m in 13.5 s")
        print("\n| direction [deg] | phase [s] | ours [m/s] | MuJoCo [m/s] |\n|---|---|---|---|")
        phases = np.random.default_rng(seed).uniform(0.0, 1.0, arguments.directions)
        found = []
        for number, phase in enumerate(tqdm(phases, desc=name, leave=False)):
            angle = 2.0 * math.pi * number / arguments.directions
            limits = [hardest(plant, arguments.speed, float(phase), angle, arguments.most) for plant in plants.values()]
            found.append(limits)
            print(f"| {math.degrees(angle):.0f} | {phase:.2f} | {limits[0]:.2f} | {limits[1]:.2f} |", flush=True)
        means = np.mean(found, axis=0)
        print(f"| mean | | {means[0]:.2f} | {means[1]:.2f} |\n\nMuJoCo / ours: {means[1] / means[0]:.2f}\n")
        plants["MuJoCo"].engine.close()


if __name__ == "__main__":
    main()
