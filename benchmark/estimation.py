# SPDX-License-Identifier: Apache-2.0
"""How well walking robots know where they are: random walks in the simulator on noisy sensors.

Each walk draws speed, turn, length, biases and noise afresh (--seed repeats them); a tracker walks on the
true state, the estimator listens. Per robot: the worst tilt, drift of the way and velocity error of its walks (root
mean square of the last two thirds of a walk; the drift at its end, in the place and heading that the walk began with),
the normalised squared error of tilt and velocity (5 numbers: mean near 5 if the covariance is right), a tick's time,
and faults told, most of them soles that aren't where they were.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pinocchio as pin
from tqdm import tqdm

from humanoid_control.estimation import Estimate, Estimator, EstimatorSettings
from humanoid_control.tracking import MotionTracker
from humanoid_control.walking import WalkingPattern, generate_walk, plan_footsteps
from humanoid_model import Robot, load_robot
from humanoid_model.controller import Measurement
from humanoid_model.errors import HumanoidError
from humanoid_model.scene import SceneBody, SceneRobot
from humanoid_model.scene_file import load_scene
from humanoid_sim import Simulation
from humanoid_sim.control.controller_in_loop import measure
from humanoid_sim.module import Module
from humanoid_sim.sensing import NoisySensors, with_usual_noise

LEANING = {"talos": ("leg_right_6_joint", "leg_left_6_joint")}
"""Joints that are put straight: with them the soles of a posture tilt by 0.1 degrees, too much for patterns."""
POSTURES = {"hrp2": "half_sitting", "bip": "standing", "g1": "standing", "talos": "half_sitting"}
DT = 1e-3


def noisy(name: str, rng: np.random.Generator) -> Robot:
    """Return a robot of the stack with the noise that docs/estimation.md names, its biases drawn."""
    robot = load_robot(name)
    postures = {key: q.copy() for key, q in robot.postures.items()}
    for joint in LEANING.get(name, ()):
        postures[POSTURES[name]][robot.index_q(joint)] = 0.0
    return dataclasses.replace(with_usual_noise(robot, rng), name=name, postures=postures)


def draw_walk(robot: Robot, rng: np.random.Generator) -> WalkingPattern:
    """Return a walk with a speed, a turn and a length by chance that the robot can do."""
    posture, reach = POSTURES[robot.name], 0.25 * robot.total_mass**0.2 / 58.0**0.2
    for _ in range(20):
        try:
            plan = plan_footsteps(
                robot, posture, steps=int(rng.integers(8, 17)), length=float(rng.uniform(-0.4, 1.0) * reach),
                turn=float(rng.uniform(-0.2, 0.2)), step_time=float(rng.uniform(0.7, 1.1)),
            )  # fmt: skip
            return generate_walk(robot, plan, posture, swing_height=float(rng.uniform(0.03, 0.06)))
        except HumanoidError:
            continue
    raise SystemExit(f"{robot.name}: no walk that it can do was drawn")


class OnTruth(Module):
    """Lets a tracker move its robot by the state as it is, so that no estimate moves the robot that is measured."""

    def __init__(self, tracker: MotionTracker, robot: str) -> None:
        self.name, self.tracker, self._robot = f"on_truth/{robot}", tracker, robot

    def before_step(self, simulation: Simulation) -> None:
        """Apply the tracker's efforts."""
        own, contacts = simulation.robots[self._robot], simulation.contacts
        loads = dict.fromkeys(self.tracker.body.soles, 0.0)
        for force, bodies in zip(contacts.normal_force, contacts.bodies, strict=True):
            for name in loads:
                loads[name] += float(force) * (f"{self._robot}/{own.robot.contacts[name].link}" in bodies)
        command = self.tracker.respond(simulation.time, own.q, own.v, loads)
        own.set_effort(command.efforts, command.joints)


def record(
    robot: Robot, walk: WalkingPattern, seed: int, bodies: Sequence[SceneBody] = ()
) -> Iterator[tuple[Measurement, pin.SE3, np.ndarray]]:
    """Walk, with bodies in the way, and yield what is measured, where the base is and its twist in its frame."""
    posture = POSTURES[robot.name]
    placed = SceneRobot(robot.name, robot, posture, pin.SE3.Identity(), robot.postures[posture])
    scene = load_scene("walk")
    simulation = Simulation(dataclasses.replace(scene, robots=(placed,), bodies=(*scene.bodies, *bodies)), DT)
    simulation.add_module(OnTruth(MotionTracker(walk.motion(robot)), robot.name))
    sensors = NoisySensors(seed)
    simulation.add_module(sensors)
    own = simulation.robots[robot.name]
    for _ in range(round(walk.duration / DT)):
        simulation.step()
        yield measure(simulation, robot.name, sensors), own.placement_world_base, own.twist_base


@dataclasses.dataclass
class Errors:
    """Errors of a walk: tilts [rad], of the way [m], velocities [m/s], normalised squares; times of ticks [s]."""

    tilt: list[float] = dataclasses.field(default_factory=list)
    velocity: list[float] = dataclasses.field(default_factory=list)
    squares: list[float] = dataclasses.field(default_factory=list)
    seconds: list[float] = dataclasses.field(default_factory=list)
    way: float = 0.0
    lost: float = 0.0
    turned: float = 0.0
    faults: int = 0

    def add(self, estimate: Estimate, truth: pin.SE3, twist: np.ndarray) -> None:
        """Add those of a tick."""
        R = np.array(estimate.placement_world_base.rotation)
        up = R.T[:, 2], truth.rotation.T[:, 2]
        self.tilt.append(float(np.arccos(np.clip(up[0] @ up[1], -1.0, 1.0))))
        slip = estimate.v[:3] - twist[:3]
        self.velocity.append(float(np.linalg.norm(slip)))
        lean = R @ np.cross(up[0], up[1])  # about the world's axes, from the estimate to the truth
        # The truth turned to the estimate's heading: tilt, and velocity in the body.
        e = np.concatenate([-lean[:2], -slip])
        A = np.zeros((5, len(estimate.covariance)))
        A[0, 0] = A[1, 1] = 1.0
        P = A @ estimate.covariance @ A.T
        P[2:, 2:] = estimate.twist_covariance[:3, :3]
        self.squares.append(float(e @ np.linalg.solve(P, e)))


def run(robot: Robot, walk: WalkingPattern, seed: int, settings: EstimatorSettings) -> Errors:
    """Walk once with an estimator beside."""
    errors, estimator = Errors(), Estimator(robot, settings)
    begin: tuple[pin.SE3, pin.SE3] | None = None
    before: np.ndarray | None = None
    for tick, (measurement, truth, twist) in enumerate(record(robot, walk, seed)):
        start = time.process_time()
        estimate = estimator.update(measurement.time, measurement)
        errors.seconds.append(time.process_time() - start)
        assert estimate is not None
        errors.faults += len(estimate.faults)
        if tick >= walk.duration / DT / 3.0:
            errors.add(estimate, truth, twist)
        if begin is None and tick * DT > 1.0:
            begin = estimate.placement_world_base, truth
        if before is not None:
            errors.way += float(np.linalg.norm(truth.translation[:2] - before[:2]))
        before = np.array(truth.translation)
    assert begin is not None
    seen = begin[0].inverse() * estimate.placement_world_base
    real = begin[1].inverse() * truth
    errors.lost = float(np.linalg.norm(seen.translation - real.translation))
    errors.turned = float(np.linalg.norm(pin.log3(seen.rotation.T @ real.rotation)))
    return errors


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--walks", type=int, default=5, help="per robot")
    parser.add_argument("--seed", type=int, help="of the first walk; by the clock if not given")
    parser.add_argument("--robots", nargs="*", default=list(POSTURES), choices=list(POSTURES))
    arguments = parser.parse_args()
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    print(f"seeds from {seed}\n")
    print("| robot | way m | tilt rms, worst ° | drift worst % | heading ° | velocity rms, worst m/s | "
          "squares, of 5 | tick median, p99 µs | faults |")  # fmt: skip
    for name in arguments.robots:
        walks = []
        for k in tqdm(range(arguments.walks), desc=name, leave=False):
            rng = np.random.default_rng(seed + k)
            robot = noisy(name, rng)
            walks.append(run(robot, draw_walk(robot, rng), seed + k, EstimatorSettings()))
        rms = [[math.sqrt(np.mean(np.square(e.tilt))), math.sqrt(np.mean(np.square(e.velocity)))] for e in walks]
        tilt, velocity = np.max(rms, axis=0)
        seconds = np.concatenate([e.seconds[100:] for e in walks]) * 1e6
        print(
            f"| {name} | {sum(e.way for e in walks):.1f} | {math.degrees(tilt):.3f}, "
            f"{math.degrees(max(max(e.tilt) for e in walks)):.3f} | "
            f"{100.0 * max(e.lost / e.way for e in walks):.2f} | {math.degrees(max(e.turned for e in walks)):.2f} | "
            f"{velocity:.4f}, {max(max(e.velocity) for e in walks):.3f} | "
            f"{np.mean(np.concatenate([e.squares for e in walks])):.2f} | {np.median(seconds):.0f}, "
            f"{np.percentile(seconds, 99):.0f} | {sum(e.faults for e in walks)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
