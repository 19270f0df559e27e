# SPDX-License-Identifier: Apache-2.0
"""Walks asked for at random, from rest to rest, played: which of those that are solved stay on their feet.

Each is played twice: by servos with the planned efforts added, and carried out by ``MotionTracker``. Robots, kinds,
lengths, durations are those of ``gait_space.py --random``, by the clock's seed and the request's number.
"""

from __future__ import annotations

import argparse
import dataclasses
import time

import numpy as np
import pinocchio as pin
from balance import scene_of
from gait_space import KINDS, random_request
from rough_ground import profile

from humanoid_control.tracking import MotionTracker
from humanoid_gait import Walk, generate_gait
from humanoid_gait.generation import further
from humanoid_model import InputError, load_robot
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.playback import PlayedMotion, play_motion

ROBOTS = ("bip", "hrp2", "talos", "g1")
STEPS = 2
WAYS = ("servos", "tracker")


def played(walk: Walk, way: str) -> PlayedMotion:
    """Return what the simulator made of a walk."""
    robot = walk.motion.robot
    scene = scene_of(profile(further(walk.parts["cycle"].problem.ground, STEPS)))
    entry = SceneRobot(robot.name, robot, "", pin.SE3.Identity(), walk.motion.q[0])
    simulation = Simulation(dataclasses.replace(scene, robots=(entry,)))
    controller = MotionTracker(walk.motion) if way == "tracker" else None
    return play_motion(simulation, robot.name, walk.motion, controller=controller)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--robots", nargs="+", default=list(ROBOTS))
    parser.add_argument("--kinds", nargs="+", default=[kind for kind in KINDS if kind not in ("start", "stop")])
    parser.add_argument("--requests", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the clock's")
    given = parser.parse_args()
    solved, stood = 0, dict.fromkeys(WAYS, 0)
    for index in range(given.requests):
        generator = np.random.default_rng([given.seed, index])
        robot = load_robot(str(generator.choice(given.robots)))
        kind, request = random_request(robot, generator, given.kinds)
        how = f"{index} {robot.name} {kind}: length {request.length:.2f} rise {request.rise:.2f}"
        try:
            walk = generate_gait(robot, request, STEPS, start=True, stop=True)
        except InputError as problem:
            print(f"{how}: {problem}", flush=True)
            continue
        if not walk.success:
            print(f"{how}: {walk.message}", flush=True)
            continue
        solved += 1
        ends = []
        for way in WAYS:
            seen = played(walk, way)
            stood[way] += seen.fallen is None
            end = f"{1e3 * seen.goal_base:.1f} mm off" if seen.fallen is None else f"fell at {seen.fallen:.2f} s"
            ends.append(f"{way} {end} of {walk.motion.duration:.2f} s")
        print(f"{how}: {'; '.join(ends)}", flush=True)
    told = ", ".join(f"{count} by {way}" for way, count in stood.items())
    print(f"{solved} of {given.requests} solved; of these stayed on their feet: {told}; seed {given.seed}")


if __name__ == "__main__":
    main()
