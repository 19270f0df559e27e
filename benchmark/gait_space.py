# SPDX-License-Identifier: Apache-2.0
"""Time of walks in space: processor seconds of one periodic step and of one single support, and how many requests walk.

periodic  a mirrored step with double support from nothing; "neighbour" from the solution of a step 2 cm shorter
single    its single support alone, between its own states, from postures

"make" is writing the program, which is done once for a robot and its contacts; every motion is checked by
``judge_motion``. ``--compile`` has the functions compiled by the C compiler and doesn't count that.

``--random N`` instead draws N requests of each robot: step length, width, durations, clearance, a stride's turn or side
step, and counts those whose motion keeps everything.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from humanoid_gait import GaitProblem, GaitResult, GaitSolver, State, WalkRequest
from humanoid_model import Robot, load_robot

STEPS = {"bip": 0.3, "hrp2": 0.25}
"""Step length of each robot [m]."""


def timed(solver: GaitSolver, start: GaitResult | None = None) -> tuple[GaitResult, float]:
    """Return the result and the processor seconds of solving and checking."""
    begin = time.process_time()
    result = solver.solve(start)
    return result, time.process_time() - begin


def made(problem: GaitProblem, compile: bool) -> tuple[GaitSolver, float]:
    """Return a solver and the processor seconds it took to make."""
    begin = time.process_time()
    return GaitSolver(problem, compile=compile), time.process_time() - begin


def show(what: str, result: GaitResult, make: float, solve: float) -> None:
    """Print one row."""
    told = "walks" if result.success else result.report().split(";")[0]
    print(f"{what:28}  make {make:6.2f}  solve {solve:6.2f}  {result.solution.iterations:4} times  {told}", flush=True)


def table(name: str, intervals: int, compile: bool) -> None:
    """Print the rows of a robot."""
    robot = load_robot(name, geometry=False)
    split = (max(intervals // 4, 2), intervals - max(intervals // 4, 2))
    request = WalkRequest(STEPS[name], intervals=split)
    solver, make = made(request.problem(robot), compile)
    cold, seconds = timed(solver)
    show(f"{name} periodic, cold", cold, make, seconds)
    near, make = made(replace(request, length=STEPS[name] + 0.02).problem(robot), compile)
    near.solve(cold)  # makes the solver of warm starts
    warm, seconds = timed(near, cold)
    show(f"{name} periodic, neighbour", warm, make, seconds)
    phase, at = request.problem(robot).phases[1], cold.durations[0]
    first, last = np.flatnonzero(cold.motion.times == at)[-1], -1
    ends = [State(cold.motion.q[k], cold.motion.v[k]) for k in (first, last)]
    for count, points in ((intervals, 1), (intervals // 2, 2)):
        problem = GaitProblem(robot, [replace(phase, intervals=count)], *ends)
        begin = time.process_time()
        single = GaitSolver(problem, points=points, compile=compile)
        make = time.process_time() - begin
        found, seconds = timed(single)
        show(f"{name} single, {count} of {points} points", found, make, seconds)


def random_request(robot: Robot, generator: np.random.Generator) -> WalkRequest:
    """Return a request that legs of the robot's length can walk."""
    q = robot.default_posture
    leg = float(robot.placement_base(q).translation[2])
    turning = generator.random() < 0.3
    return WalkRequest(
        length=float(leg * generator.uniform(0.1, 0.4)),
        side=float(leg * generator.uniform(-0.15, 0.15)) if turning else 0.0,
        turn=float(generator.uniform(-0.3, 0.3)) if turning else 0.0,
        single=float(generator.uniform(0.5, 0.8)),
        double=float(generator.uniform(0.12, 0.3)),
        clearance=float(generator.uniform(0.02, 0.05)),
        intervals=(5, 14),
    )


def count(name: str, requests: int, seed: int) -> None:
    """Print how many random requests walk."""
    robot, generator, walked = load_robot(name, geometry=False), np.random.default_rng(seed), 0
    for index in range(requests):
        request = random_request(robot, generator)
        result, seconds = timed(GaitSolver(request.problem(robot)))
        walked += result.success
        how = f"length {request.length:.2f} side {request.side:.2f} turn {request.turn:.2f}"
        show(f"{name} {index} {how}", result, 0.0, seconds)
    print(f"{name}: {walked} of {requests} walk")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--robots", nargs="+", default=list(STEPS), help="names (bip hrp2)")
    parser.add_argument("--intervals", type=int, default=20, help="of all phases (20)")
    parser.add_argument("--compile", action="store_true", help="functions by the C compiler")
    parser.add_argument("--random", type=int, default=0, help="number of random requests")
    parser.add_argument("--seed", type=int, default=0, help="of these")
    given = parser.parse_args()
    for name in given.robots:
        if given.random:
            count(name, given.random, given.seed)
        else:
            table(name, given.intervals, given.compile)


if __name__ == "__main__":
    main()
