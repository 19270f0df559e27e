# SPDX-License-Identifier: Apache-2.0
"""Pushes that HRP-2 takes while it walks an optimal gait (docs/gait.md).

A force of 0.1 s on the trunk, raised until the robot is down three seconds later (its trunk below 70 % of its height at
the push), then halved in between to 16 N: the greatest that it took is told. Each push starts from the same saved
state, in the middle of a steady single support, in the middle of the double support after it, and standing after the
walk. Larger pushes than the one told may be survived by chance; the search doesn't look for them.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from examples.optimal_walk import own_scene, plan
from humanoid_control.tracking import MotionTracker
from humanoid_gait import WalkRequest
from humanoid_model import load_robot
from humanoid_sim import Simulation
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.control import ControllerInLoop

PUSH, WATCHED = 0.1, 3.0
"""How long a push and the watch after it last [s]."""
FIRST, MOST, FINE = 160.0, 1280.0, 16.0
"""First force, greatest one, and what the result is known to [N]."""
DIRECTIONS = {"left": (0.0, 1.0, 0.0), "right": (0.0, -1.0, 0.0), "ahead": (1.0, 0.0, 0.0), "back": (-1.0, 0.0, 0.0)}


def survives(simulation: Simulation, link: str, force: np.ndarray) -> bool:
    """Return whether the robot is up at the end, pushed from the simulation's state on [N]."""
    low = 0.7 * simulation.placement(link).translation[2]
    simulation.apply_wrench(link, force, duration=PUSH)
    end = simulation.time + WATCHED
    while simulation.time < end:
        simulation.step()
        if simulation.placement(link).translation[2] < low:
            return False
    return True


def greatest_push(simulation: Simulation, link: str, direction: Sequence[float]) -> float:
    """Greatest force that is survived from the simulation's state on, which is left as it was [N]."""
    state = simulation.save_state()

    def held(force: float) -> bool:
        up = survives(simulation, link, force * np.array(direction))
        simulation.restore_state(state)
        return up

    taken, lost = 0.0, FIRST
    while lost <= MOST and held(lost):
        taken, lost = lost, 2.0 * lost
    while lost - taken > FINE:
        middle = 0.5 * (taken + lost)
        taken, lost = (middle, lost) if held(middle) else (taken, middle)
    return taken


def table(simulation: Simulation, link: str, times: dict[str, float], directions: dict[str, Sequence[str]]) -> None:
    """Print a row for each time, in order; directions by the row's name."""
    for name, time in times.items():
        simulation.run(time - simulation.time)
        pushes = [
            f"{way} {greatest_push(simulation, link, DIRECTIONS[way]):.0f}" for way in tqdm(directions[name], desc=name)
        ]
        print(f"| {name} | {', '.join(pushes)} N |", flush=True)


def pushed(feedback: bool) -> None:
    """Push HRP-2's walk of six steps in the middle of one, and after it."""
    robot = load_robot("hrp2")
    walk = plan(robot, WalkRequest(0.25), 6)
    motion, simulation = walk.motion, Simulation(own_scene(robot))
    simulation.robots["hrp2"].set_state(motion.q[0], motion.v[0])
    player = TrajectoryPlayer("hrp2", motion.joint_trajectory())
    simulation.add_module(ControllerInLoop("hrp2", MotionTracker(motion)) if feedback else player)
    changes = sorted({time for span in motion.contacts for time in (span.start, span.end)})
    spans = [(begin, end) for begin, end in itertools.pairwise(changes) if begin > 0.5 * motion.duration]
    single = next(span for span in spans if len(motion.held(0.5 * sum(span))) == 1)
    double = next(span for span in spans if span[0] >= single[1])
    (stance,) = motion.held(0.5 * sum(single))
    times = {
        f"single support on the {stance.location}": 0.5 * sum(single),
        "double support after it": 0.5 * sum(double),
        "standing": motion.duration + 1.0,
    }
    ways = dict.fromkeys(times, tuple(DIRECTIONS)) | {"standing": ("ahead", "back")}
    print(f"\nHRP-2, {'MotionTracker' if feedback else 'servos and planned efforts'}")
    print("\n| push of 0.1 s | N |\n|---|---|")
    table(simulation, f"hrp2/{robot.description.root}", times, ways)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feedback", action="store_true", help="the walk carried out by a controller")
    pushed(parser.parse_args().feedback)


if __name__ == "__main__":
    main()
