# SPDX-License-Identifier: Apache-2.0
"""How much disturbance a walking robot takes, on noisy sensors alone: random cases, afresh each time.

Each row draws robots' walks by chance (--seed repeats them): velocity, phase and direction of pushes, ground, delays,
masses. The walker knows the robot of its file and what the sensors read, nothing else. A case is survived if the robot
is upright at its end; --show tells those that fell with the seed to repeat them.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pinocchio as pin
from estimation import POSTURES, noisy
from rough_ground import bump, field, ramp
from tqdm import tqdm

from humanoid_control.stepping.walker import Walker
from humanoid_model import InputError, Robot, load_robot, load_scene
from humanoid_model.controller import Command, Measurement
from humanoid_model.scene import Scene, SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.sensing import NoisySensors, with_usual_noise

WEAKER = {"mass": 1.1, "offset": 0.02, "friction": 0.3, "delay": 0.01}
"""A robot that is heavier by a tenth, its centre of mass aside [m], slippery ground, late efforts [s]."""

FEET = {"on ankle bushings": "hrp2_bushing", "on rubber soles": "hrp2_soles"}
"""HRP-2 with compliance at its feet that its model, its encoders and its walker don't know."""


def heavier(robot: Robot, factor: float, offset: np.ndarray) -> Robot:
    """Return a robot with more mass in its base link, which also moves the robot's centre of mass by (3,) [m].

    Raises:
        InputError: its base link has no inertia.
    """
    description, root = robot.description, robot.description.root
    link = description.links[root]
    if link.inertial is None:
        raise InputError("has no inertia", element=f"link '{root}'", remedy="Choose another robot")
    extra = (factor - 1.0) * robot.total_mass
    mass = link.inertial.mass + extra
    aside = offset * (robot.total_mass + extra) / mass
    moved = pin.SE3(np.eye(3), aside) * link.inertial.placement_link_com
    inertial = dataclasses.replace(link.inertial, mass=mass, placement_link_com=moved)
    links = {**description.links, root: dataclasses.replace(link, inertial=inertial)}
    return dataclasses.replace(robot, description=dataclasses.replace(description, links=links))


def scene_of(text: str) -> Scene:
    """Return the scene of a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.yaml"
        path.write_text(text)
        return load_scene(path)


class Unseen:
    """A walker of a robot that has more joints than encoders."""

    def __init__(self, walker: Walker, joints: tuple[str, ...]) -> None:
        self._walker, self._seen = walker, [joints.index(name) for name in walker.joint_names]

    def update(self, t: float, read: Measurement) -> Command | None:
        """Command of the walker, which is told of its own joints alone."""
        positions, rates = read.joint_positions[self._seen], read.joint_velocities
        rates = None if rates is None else rates[self._seen]
        return self._walker.update(t, dataclasses.replace(read, joint_positions=positions, joint_velocities=rates))


class Run:
    """A robot on a walker, on a ground."""

    def __init__(
        self, name: str, seed: int, ground: Scene, *, plant: Robot | None = None, delay: float = 0.0
    ) -> None:
        self.name, rng = name, np.random.default_rng(seed)
        robot = noisy(name, rng)
        placed = plant or robot
        posture = POSTURES[name]
        entry = SceneRobot(name, placed, posture, pin.SE3.Identity(), placed.postures[posture])
        self.simulation = Simulation(dataclasses.replace(ground, robots=(entry,)))
        sensors, self.walker = NoisySensors(seed), Walker(robot, posture)
        self.simulation.add_module(sensors)
        self.own, self.mass = self.simulation.robots[name], robot.total_mass
        unseen = self.own.joint_names != self.walker.joint_names
        controller = Unseen(self.walker, self.own.joint_names) if unseen else self.walker
        self.loop = ControllerInLoop(name, controller, sensors=sensors, delay=delay)
        self.simulation.add_module(self.loop)
        self.height = float(self.own.placement_world_base.translation[2])
        self.base = robot.description.root

    def go(self, seconds: float, until: float = math.inf) -> bool:
        """Run on; False when it falls. Ends earlier when the base is ``until`` metres ahead."""
        for _ in range(round(seconds / self.simulation.dt)):
            self.simulation.step()
            base = self.own.placement_world_base
            if base.rotation[2, 2] < 0.5 or base.translation[2] < 0.5 * self.height - 0.3:
                return False
            if base.translation[0] > until:
                break
        return True

    def push(self, change: np.ndarray) -> None:
        """Change its velocity (3,) [m/s] by a push of 0.1 s at the centre of mass."""
        force = self.mass * change / 0.1
        self.simulation.apply_wrench(f"{self.name}/{self.base}", force, point=self.own.centre_of_mass, duration=0.1)


def pushed(name: str, seed: int, speed: float, change: float, feet: str = "") -> bool:
    """Walk, be pushed anywhere in a step from anywhere, walk on; with other feet than the walker knows if given."""
    rng = np.random.default_rng(seed)
    plant = None
    if feet:
        plant = dataclasses.replace(with_usual_noise(load_robot(feet), np.random.default_rng(seed)), name=name)
    run = Run(name, seed, load_scene("walk"), plant=plant)
    run.go(0.4)
    if speed:
        run.walker.walk(speed)
    if not run.go(float(rng.uniform(2.4, 3.4))):
        return False
    angle = rng.uniform(0.0, 2.0 * math.pi)
    run.push(change * np.array([math.cos(angle), math.sin(angle), 0.0]))
    return run.go(4.0)


def disturbed(name: str, seed: int, what: str) -> bool:
    """Walk 4 m with one thing that the walker doesn't know of, or all of them."""
    rng = np.random.default_rng(seed)
    ways = {"mass +10 %": {"mass"}, "centre of mass 2 cm off": {"offset"}, "friction 0.3": {"friction"},
            "10 ms late": {"delay"}, "all four": set(WEAKER)}.get(what, set())  # fmt: skip
    ground, start = load_scene("walk"), float(rng.uniform(0.5, 0.8))
    if what.startswith("bar"):
        ground = scene_of(bump(0.04, start, side=float(rng.integers(-1, 2))))
    elif what.startswith("hole"):
        ground = scene_of(bump(-0.04, start, side=float(rng.choice([-1, 1]))))
    elif what.startswith("ramp"):
        ground = scene_of(ramp(float(math.radians(8.0) * rng.choice([-1, 1])), start))
    elif what.startswith("gravity"):
        angle, tilt = rng.uniform(0.0, 2.0 * math.pi), math.radians(6.0)
        g = 9.81 * np.array([math.sin(tilt) * math.cos(angle), math.sin(tilt) * math.sin(angle), -math.cos(tilt)])
        ground = dataclasses.replace(ground, gravity=g)
    if "friction" in ways:
        ground = scene_of(bump(0.0005, 50.0, friction=WEAKER["friction"]))
    plant = None
    if ways & {"mass", "offset"}:
        angle = rng.uniform(0.0, 2.0 * math.pi)
        aside = WEAKER["offset"] * ("offset" in ways) * np.array([math.cos(angle), math.sin(angle), 0.0])
        plant = heavier(noisy(name, np.random.default_rng(seed)), WEAKER["mass"] if "mass" in ways else 1.0, aside)
    run = Run(name, seed, ground, plant=plant, delay=WEAKER["delay"] if "delay" in ways else 0.0)
    run.go(0.4)
    run.walker.walk(float(rng.uniform(0.15, 0.3)))
    return run.go(14.0, until=2.5)


def across_field(name: str, seed: int, length: float) -> bool:
    """Walk over a field of tiles by chance."""
    run = Run(name, seed, scene_of(field(seed, length + 1.0)))
    run.go(0.4)
    run.walker.walk(0.25)
    return run.go(2.0 + length / 0.2, until=length)


def commanded(name: str, seed: int, seconds: float) -> bool:
    """Follow velocities by chance, a new one every two seconds."""
    rng = np.random.default_rng(seed)
    run = Run(name, seed, load_scene("walk"))
    for _ in range(round(seconds / 2.0)):
        run.walker.walk(float(rng.uniform(-0.2, 0.4)), float(rng.uniform(-0.15, 0.15)), float(rng.uniform(-0.5, 0.5)))
        if rng.random() < 0.15:
            run.walker.walk(0.0)
        if not run.go(2.0):
            return False
    return True


def attempt(case: tuple) -> bool:
    """One case, in a process of its own."""
    kind, *rest = case
    return bool({"push": pushed, "disturbed": disturbed, "field": across_field, "commands": commanded}[kind](*rest))


def main() -> None:
    """Draw the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", default=list(POSTURES), choices=list(POSTURES))
    parser.add_argument("--cases", type=int, default=8, help="of each row")
    parser.add_argument("--seed", type=int, help="of the first case; by the clock if not given")
    parser.add_argument("--rows", nargs="*", default=[""], help="words of which a row has one")
    parser.add_argument("--field", type=float, default=5.0, help="length of a field [m]")
    parser.add_argument("--seconds", type=float, default=30.0, help="of velocities by chance")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="tell the cases that fell")
    arguments = parser.parse_args()
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    rows: dict[str, tuple] = {
        f"pushed by {change} m/s at {speed} m/s": ("push", speed, change)
        for speed in (0.0, 0.2, 0.4)
        for change in (0.3, 0.5, 0.7)
    }
    for what in (
        "bar of 40 mm", "hole of 40 mm", "ramp of 8°", "gravity tilted by 6°", "mass +10 %",
        "centre of mass 2 cm off", "friction 0.3", "10 ms late", "all four",
    ):  # fmt: skip
        rows[what] = ("disturbed", what)
    rows[f"field of ±2 cm, ±5°, {arguments.field:g} m"] = ("field", arguments.field)
    rows[f"velocities by chance, {arguments.seconds:g} s"] = ("commands", arguments.seconds)
    for what, feet in FEET.items():
        for change in (0.3, 0.5):
            rows[f"HRP-2 {what}, pushed by {change} m/s at 0.2 m/s"] = ("push", 0.2, change, feet)
    rows = {label: row for label, row in rows.items() if any(word in label for word in arguments.rows)}
    print(f"seeds {seed} to {seed + arguments.cases - 1}, survived of {arguments.cases}\n")
    print(f"| | {' | '.join(arguments.robots)} |\n|---|{'---|' * len(arguments.robots)}")
    with ProcessPoolExecutor(arguments.workers) as pool:
        for label, (kind, *rest) in rows.items():
            robots = [n for n in arguments.robots if n == "hrp2" or rest[-1] not in FEET.values()]
            cases = [(kind, n, seed + k, *rest) for n in robots for k in range(arguments.cases)]
            survived = [*tqdm(pool.map(attempt, cases), total=len(cases), desc=label, leave=False)]
            counts = {n: sum(survived[k * arguments.cases :][: arguments.cases]) for k, n in enumerate(robots)}
            print(f"| {label} | {' | '.join(str(counts.get(n, '')) for n in arguments.robots)} |", flush=True)
            if arguments.show:
                for case, good in zip(cases, survived, strict=True):
                    if not good:
                        print(f"fell: {case}")


if __name__ == "__main__":
    main()
