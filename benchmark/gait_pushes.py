# SPDX-License-Identifier: Apache-2.0
"""Pushes that walking robots take: of BIP2000 in space and in the plane (docs/gait_proof.md).

A force of 0.1 s on the trunk, raised until the robot is down three seconds later (its trunk below 70 % of its height at
the push), then halved in between to 16 N: the greatest that it took is told. Each push starts from the same saved
state, in the middle of a steady single support, in the middle of the double support after it, and standing after the
walk. Larger pushes than the one told may be survived by chance; the search doesn't look for them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from examples.optimal_gait_planar import prepare, synthesize
from examples.optimal_walk import plan, playing
from humanoid_model import load_robot
from humanoid_planner.gait.trajectory import gait_trajectory
from humanoid_sim import Simulation

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


def in_space(stabilised: bool) -> None:
    """BIP2000's walk of six steady steps, pushed in the fourth single support and after it."""
    gait = plan(6)
    simulation = playing(gait, stabilised)
    single = [phase for phase in gait.phases if len(phase.bearings) == 1][3]
    double = next(phase for phase in gait.phases if phase.t[0] >= single.t[-1])
    times = {
        f"single support on the {single.bearings[0].sole}": 0.5 * float(single.t[0] + single.t[-1]),
        "double support after it": 0.5 * float(double.t[0] + double.t[-1]),
        "standing": gait.duration + 1.0,
    }
    ways = dict.fromkeys(times, tuple(DIRECTIONS)) | {"standing": ("ahead", "back")}
    print(f"\nBIP2000, {'stabiliser' if stabilised else 'servos and planned torques'}")
    print("\n| push of 0.1 s | N |\n|---|---|")
    table(simulation, "bip/trunk", times, ways)


def in_the_plane() -> None:
    """Push the planar walk of six cycles that lands level, in the middle of the second swing between steps."""
    solution, exchanged = synthesize(6, heel_strike=False)
    trajectory = gait_trajectory(solution, load_robot("bip_planar"), exchanged=exchanged)
    simulation = prepare(trajectory)
    swings = [i for i, kind in enumerate(trajectory.kinds) if kind == "single_support"]
    middle = 0.5 * float(trajectory.starts[swings[1]] + trajectory.starts[swings[1] + 1])
    print("\nplanar BIP, servos and planned torques\n\n| push of 0.1 s | N |\n|---|---|")
    table(simulation, "bip/trunk", {"single support": middle}, {"single support": ("ahead", "back")})


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planar", action="store_true", help="the planar BIP instead")
    parser.add_argument("--stabilise", action="store_true", help="by torques that bring BIP2000 back to its plan")
    arguments = parser.parse_args()
    if arguments.planar:
        in_the_plane()
    else:
        in_space(arguments.stabilise)


if __name__ == "__main__":
    main()
