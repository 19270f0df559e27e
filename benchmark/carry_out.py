# SPDX-License-Identifier: Apache-2.0
"""How plans of contacts are carried out where surfaces aren't where the plan has them, on noisy sensors, pushed.

The motions are those of ``examples/play_plan.py``, planned for the scenes as they are and kept in out/. Each case draws
(--seed repeats them) how far each body with a surface is off and turned about it, pushes at the centre of mass, biases
and noise. What the robot touches at first stays in place. Per row: cases in which the goal was reached, by the tracker
and by servos with the planned torques alone; --show tells how each case ended.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import pickle
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from estimation import noisy
from tqdm import tqdm

from examples.play_plan import SCENARIOS, TIDIED, displaced, make_motion
from humanoid_control.tracking import MotionTracker, TrackMode
from humanoid_model import load_robot
from humanoid_model.scene import Scene
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_sim import Simulation
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.sensing import NoisySensors

KEPT = Path(__file__).resolve().parent.parent / "out"
ROBOT = "hrp2"
PLANS = ("chair", "glass", "stairs", "rail", "gap", "ladder")
REACHED = (0.06, 0.3)
"""Distance of the base [m] and of a joint [rad] from the goal at which it is reached."""
FALLEN = 0.35
"""Distance of the base from its plan that is a fall [m]."""


class Disturbance(NamedTuple):
    """What a row draws: bodies off by up to [m] and turned by up to [rad], pushes, each by so much [m/s]."""

    off: float = 0.0
    turned: float = 0.0
    pushes: int = 0
    speed: float = 0.1


ROWS = {
    "as planned": Disturbance(),
    "1 cm, 2°": Disturbance(0.01, math.radians(2.0)),
    "pushes of 0.1 m/s": Disturbance(pushes=3),
    "1 cm, 2°, pushes": Disturbance(0.01, math.radians(2.0), 3),
    "2 cm, 2°": Disturbance(0.02, math.radians(2.0)),
}


def planned(name: str) -> tuple[Scene, WholeBodyTrajectory]:
    """Return a scene and a motion in it, by a name of ``examples/play_plan.py``; the first time it is planned."""
    path, scenario = KEPT / f"motion_{name}.pickle", SCENARIOS[name]()
    if not path.exists():
        motion = make_motion(scenario.problem, None, name in TIDIED, None)
        if motion is None or motion.trajectory is None or not motion.success:
            sys.exit(f"there is no motion of '{name}'")
        made = motion.trajectory
        path.parent.mkdir(exist_ok=True)
        arrays = made.times, made.q, made.v, made.a, made.contacts
        more = {"tau": made.tau, "forces": made.forces, "zero_moment_point": made.zero_moment_point}
        path.write_bytes(pickle.dumps((arrays, more)))
    arrays, more = pickle.loads(path.read_bytes())
    return scenario.scene, WholeBodyTrajectory(load_robot(ROBOT), *arrays, **more)


def carried_out(name: str, label: str, seed: int, feedback: bool) -> str:
    """Run a case; return how it ended, empty where the goal was reached."""
    row, rng = ROWS[label], np.random.default_rng(seed)
    scene, motion = planned(name)
    scene = displaced(scene, motion, row.off, row.turned, rng)
    robot = noisy(ROBOT, rng)
    scene = dataclasses.replace(scene, robots=(dataclasses.replace(scene.robots[0], robot=robot),))
    simulation = Simulation(scene)
    own = simulation.robots[scene.robots[0].name]
    own.set_state(motion.q[0], motion.v[0])
    tracker = MotionTracker(motion)
    if feedback:
        sensors = NoisySensors(seed)
        simulation.add_module(sensors)
        simulation.add_module(ControllerInLoop(own.name, tracker, sensors=sensors))
    else:
        simulation.add_module(TrajectoryPlayer(own.name, motion.joint_trajectory()))
    times = sorted(rng.uniform(0.5, motion.duration, row.pushes))
    phase, longest = 0.0, 1.5 * motion.duration + 5.0
    while simulation.time < longest and not (feedback and tracker.mode is TrackMode.DONE):
        if times and simulation.time > times[0]:
            times.pop(0)
            angle = rng.uniform(0.0, 2.0 * math.pi)
            force = robot.total_mass * row.speed / 0.1 * np.array([math.cos(angle), math.sin(angle), 0.0])
            link = f"{own.name}/{robot.description.root}"
            simulation.apply_wrench(link, force, point=own.centre_of_mass, duration=0.1)
        simulation.step()
        phase = tracker.phase if feedback else simulation.time
        if not feedback and phase > motion.duration + 1.0:
            break
        if simulation.step_count % 20 == 0:
            plan = motion.at(phase).q
            if np.linalg.norm(own.q[:3] - plan[:3]) > FALLEN or (feedback and tracker.mode is TrackMode.FALLEN):
                return f"fell at {phase:.1f} s of {motion.duration:.1f}"
            if feedback and tracker.mode is TrackMode.STOPPED and simulation.time > longest - 4.0:
                return f"stands: {tracker.reason}"
    off = pin.difference(robot.model, motion.q[-1], own.q)
    if np.linalg.norm(off[:3]) > REACHED[0] or np.abs(off[6:]).max() > REACHED[1]:
        return f"{1e3 * np.linalg.norm(off[:3]):.0f} mm, {np.abs(off[6:]).max():.2f} rad from the goal at {phase:.1f} s"
    return ""


def attempt(case: tuple[str, str, int, bool]) -> str:
    """One case, in a process of its own."""
    return carried_out(*case)


def main() -> None:
    """Draw the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", nargs="*", default=list(PLANS), choices=list(SCENARIOS))
    parser.add_argument("--cases", type=int, default=10, help="of each row")
    parser.add_argument("--seed", type=int, help="of the first case; by the clock if not given")
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-servos", action="store_true", help="leave the runs without feedback out")
    parser.add_argument("--show", action="store_true", help="tell how cases ended that missed their goal")
    arguments = parser.parse_args()
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    for name in arguments.plans:
        planned(name)
    print(f"goals reached of {arguments.cases}; behind, without feedback. Seeds from {seed}\n")
    print(f"| | {' | '.join(arguments.plans)} |\n|---|{'---|' * len(arguments.plans)}")
    ways = (True,) if arguments.no_servos else (True, False)
    with ProcessPoolExecutor(arguments.workers) as pool:
        for label in arguments.rows:
            cases = [
                (name, label, seed + k, way) for name in arguments.plans for way in ways for k in range(arguments.cases)
            ]
            ends = [*tqdm(pool.map(attempt, cases), total=len(cases), desc=label, leave=False)]
            reached = np.array([not end for end in ends]).reshape(len(arguments.plans), len(ways), -1).sum(axis=2)
            cells = ["; ".join(map(str, counts)) for counts in reached.tolist()]
            print(f"| {label} | {' | '.join(cells)} |", flush=True)
            if arguments.show:
                for case, end in zip(cases, ends, strict=True):
                    if end:
                        print(f"{case}: {end}", flush=True)


if __name__ == "__main__":
    main()
