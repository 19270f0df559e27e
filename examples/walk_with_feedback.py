# SPDX-License-Identifier: Apache-2.0
"""A robot walks on noisy sensors is pushed, and stops.

Run with ``python examples/walk_with_feedback.py``; ``--robot bip``, ``--velocity 0.3``, ``--push 0.6`` (m/s, any way
"""

from __future__ import annotations

import argparse
import dataclasses
import math

import numpy as np
import pinocchio as pin
from tqdm import tqdm

from humanoid_control.stepping import Walker
from humanoid_model import load_robot, load_scene
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.sensing import NoisySensors, with_usual_noise

POSTURES = {"hrp2": "half_sitting", "bip": "standing", "g1": "standing", "talos": "half_sitting"}


def main() -> None:
    """Walk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="hrp2", choices=list(POSTURES))
    parser.add_argument("--velocity", type=float, default=0.2, help="ahead [m/s]")
    parser.add_argument("--push", type=float, default=0.5, help="change of velocity at 4 s [m/s]")
    parser.add_argument("--from", dest="side", type=float, default=0.0, help="its way: 90 is to the left [°]")
    arguments = parser.parse_args()
    posture = POSTURES[arguments.robot]
    robot = with_usual_noise(load_robot(arguments.robot), np.random.default_rng(1))
    placed = SceneRobot(robot.name, robot, posture, pin.SE3.Identity(), robot.postures[posture])
    simulation = Simulation(dataclasses.replace(load_scene("walk"), robots=(placed,)))
    sensors, walker = NoisySensors(seed=1), Walker(robot, posture)
    simulation.add_module(sensors)
    simulation.add_module(ControllerInLoop(robot.name, walker, sensors=sensors))
    own = simulation.robots[robot.name]
    for step in tqdm(range(9000), desc="walking", unit="ms", disable=None):
        if step == 500:
            walker.walk(arguments.velocity)
        if step == 4000:
            angle = math.radians(arguments.side)
            force = robot.total_mass * arguments.push / 0.1 * np.array([math.cos(angle), math.sin(angle), 0.0])
            simulation.apply_wrench(
                f"{robot.name}/{robot.description.root}", force, point=own.centre_of_mass, duration=0.1
            )
        if step == 6500:
            walker.walk(0.0)
        simulation.step()
    x, y, _ = own.placement_world_base.translation
    assert walker.estimate is not None
    there = walker.estimate.placement_world_base.translation
    print(f"walked {x:.2f} m, {y:+.2f} m aside; it believes {there[0]:.2f}, {there[1]:+.2f}; {walker.mode.value}")


if __name__ == "__main__":
    main()
