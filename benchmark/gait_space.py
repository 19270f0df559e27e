# SPDX-License-Identifier: Apache-2.0
"""Time of walks in space: processor seconds of one periodic step and of one single support, and how many requests walk.

periodic  a mirrored step with double support from nothing; "neighbour" from the solution of a step 2 cm shorter
single    its single support alone, between its own states, from postures

"make" is writing the program, which is done once for a robot and its contacts; every motion is checked by
``judge_motion``.

``--random N`` instead draws N requests: robot, kind (level, backwards, turn, side step, slope, stairs, heel and toe,
start, stop), step length, durations, clearance, load, by the clock's seed and the request's number, and counts those
whose motion keeps everything.
``--ahead`` takes the time of one warm iteration of 1.1 s ahead, 31 intervals of 35 ms with one point each, the program
made before.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from humanoid_gait import (
    Cycle,
    GaitProblem,
    GaitResult,
    GaitSolver,
    Hold,
    Phase,
    State,
    WalkRequest,
)
from humanoid_gait.guess import posture_guess
from humanoid_gait.interior_point import InteriorPoint
from humanoid_gait.program_solution import SolverOptions
from humanoid_gait.stages import Stages
from humanoid_gait.transcription import Transcription
from humanoid_gait.walk import soles
from humanoid_model import InputError, Robot, load_robot
from humanoid_model.payload import with_payload

KINDS = ["level", "backwards", "turn", "side", "slope", "stairs", "heel and toe", "start", "stop"]
STEPS = {"bip": 0.3, "hrp2": 0.25}
"""Step length of each robot [m]."""


def timed(solver: GaitSolver, start: GaitResult | None = None) -> tuple[GaitResult, float]:
    """Return the result and the processor seconds of solving and checking."""
    begin = time.process_time()
    result = solver.solve(start)
    return result, time.process_time() - begin


def made(problem: GaitProblem) -> tuple[GaitSolver, float]:
    """Return a solver and the processor seconds it took to make."""
    begin = time.process_time()
    return GaitSolver(problem), time.process_time() - begin


def show(what: str, result: GaitResult, make: float, solve: float) -> None:
    """Print one row."""
    told = "walks" if result.success else "; ".join(result.report().split(";")[:2])
    print(f"{what:28}  make {make:6.2f}  solve {solve:6.2f}  {result.solution.iterations:4} times  {told}", flush=True)


def table(name: str, intervals: int) -> None:
    """Print the rows of a robot."""
    robot = load_robot(name, geometry=False)
    split = (max(intervals // 4, 2), intervals - max(intervals // 4, 2))
    request = WalkRequest(STEPS[name], intervals=split)
    solver, make = made(request.problem(robot))
    cold, seconds = timed(solver)
    show(f"{name} periodic, cold", cold, make, seconds)
    near, make = made(replace(request, length=STEPS[name] + 0.02).problem(robot))
    near.solve(cold)  # makes the solver of warm starts
    warm, seconds = timed(near, cold)
    show(f"{name} periodic, neighbour", warm, make, seconds)
    phase, at = request.problem(robot).phases[1], cold.durations[0]
    first = np.flatnonzero(cold.motion.times == at)[-1]
    last = np.flatnonzero(np.isclose(cold.motion.times, at + cold.durations[1]))[0]
    ends = [State(cold.motion.q[k], cold.motion.v[k]) for k in (first, last)]
    for count, points in ((intervals, 1), (intervals // 2, 2)):
        problem = GaitProblem(robot, [replace(phase, intervals=count)], *ends)
        begin = time.process_time()
        single = GaitSolver(problem, points=points)
        make = time.process_time() - begin
        found, seconds = timed(single)
        show(f"{name} single, {count} of {points} points", found, make, seconds)


def ahead(name: str) -> None:
    """Print the time of an iteration of a receding horizon: from a double support to the middle of the second step."""
    robot = load_robot(name, geometry=False)
    problem = WalkRequest(STEPS.get(name, 0.2), intervals=(5, 15)).problem(robot)
    cycle = GaitSolver(problem).solve()
    (double, single), end = problem.phases, problem.end
    assert isinstance(end, Cycle)

    def image(holds: tuple[Hold, ...]) -> tuple[Hold, ...]:
        return tuple(hold.mirrored(robot).moved(end.step) for hold in holds)

    counts = (4, 17, 4, 6)
    holds = (double.holds, single.holds, image(double.holds), image(single.holds))
    phases = [Phase(own, 0.035 * k, k) for own, k in zip(holds, counts, strict=True)]
    phases[1] = replace(phases[1], swinging=single.swinging, clearance=single.clearance)
    q, v = cycle.motion.q[0], cycle.motion.v[0]
    costs = problem.costs
    far = GaitSolver(GaitProblem(robot, phases, State(q, v), None, costs), points=1).solve()
    pushed = v + 0.02 * np.random.default_rng(0).standard_normal(len(v))
    near = GaitProblem(robot, phases, State(q, pushed), None, costs)
    stages = Stages(Transcription(near, posture_guess(near), points=1, carried=True))
    solver, own = InteriorPoint(stages, SolverOptions(iterations=1)), far.solution
    seconds = []
    for _ in range(12):
        begin = time.process_time()
        solver.solve(own.x, 1e-4, own.multipliers, own.bound_multipliers)
        seconds.append(time.process_time() - begin)
    print(f"{name} 1.1 s ahead: {1e3 * np.median(seconds[2:]):.0f} ms an iteration, at best {1e3 * min(seconds):.0f}")


def random_request(
    robot: Robot, generator: np.random.Generator, kinds: Sequence[str] = KINDS
) -> tuple[str, WalkRequest]:
    """Return a kind of walk and a request of it that legs of the robot's length can walk."""
    leg = float(robot.placement_base(robot.default_posture).translation[2])
    kind = str(generator.choice(kinds))
    draw = generator.uniform
    request = WalkRequest(
        length=float(leg * draw(0.1, 0.4)), single=float(draw(0.5, 0.8)), double=float(draw(0.12, 0.3)),
        clearance=float(draw(0.02, 0.05)), intervals=(5, 14),
    )  # fmt: skip
    if kind == "backwards":
        request = replace(request, length=-0.6 * request.length)
    elif kind == "turn":
        request = replace(request, turn=float(draw(-0.4, 0.4)))
    elif kind == "side":
        request = replace(request, length=float(leg * draw(0.0, 0.1)), side=float(leg * draw(-0.15, 0.15)))
    elif kind == "slope":
        request = replace(request, length=0.8 * request.length, slope=float(draw(-0.15, 0.15)))
    elif kind == "heel and toe":
        request = replace(request, double=0.1, heel=float(draw(0.05, 0.1)), toe=float(draw(0.08, 0.15)))
    elif kind == "stairs":
        along = robot.contacts[soles(robot)[0]].patch[:, 0]
        request = replace(
            request, length=float(np.ptp(along) + draw(0.08, 0.12)), rise=float(leg * draw(-0.2, 0.2)),
            single=float(draw(0.8, 1.1)), double=float(draw(0.25, 0.4)), intervals=(6, 20),
        )  # fmt: skip
    return kind, request


def asked(kind: str, request: WalkRequest, robot: Robot) -> GaitProblem:
    """Return the problem of a request; a start and a stop are those of its cycle, which is solved first.

    Raises:
        InputError: the cycle doesn't walk.
    """
    if kind not in ("start", "stop"):
        return request.problem(robot)
    cycle = GaitSolver(request.problem(robot)).solve()
    if not cycle.success:
        raise InputError(cycle.report(), element="its cycle")
    way = request.starting if kind == "start" else request.stopping
    return way(robot, cycle.motion.q[0], cycle.motion.v[0])


def count(robots: list[str], requests: int, seed: int) -> None:
    """Print how many random requests walk, and why the others don't."""
    walked = 0
    for index in range(requests):
        generator = np.random.default_rng([seed, index])
        name = str(generator.choice(robots))
        robot = load_robot(name, geometry=False)
        load = float(generator.choice([0.0, 0.1]) * generator.random() * robot.total_mass)
        kind, request = random_request(robot, generator)
        try:
            solver, make = made(asked(kind, request, with_payload(robot, load) if load else robot))
            result, seconds = timed(solver)
        except InputError as problem:
            print(f"{index} {name} {kind}: {problem}", flush=True)
            continue
        walked += result.success
        how = f"length {request.length:.2f} side {request.side:.2f} turn {request.turn:.2f}"
        how += f" slope {request.slope:.2f} rise {request.rise:.2f} load {load:.1f}"
        show(f"{index} {name} {kind}: {how}", result, make, seconds)
    print(f"{walked} of {requests} walk; seed {seed}")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--robots", nargs="+", help="names (bip hrp2; of random requests, g1 and talos too)")
    parser.add_argument("--intervals", type=int, default=20, help="of all phases (20)")
    parser.add_argument("--random", type=int, default=0, help="number of random requests")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of these (the clock's)")
    parser.add_argument("--ahead", action="store_true", help="a receding horizon's iteration")
    given = parser.parse_args()
    if given.random:
        count(given.robots or [*STEPS, "g1", "talos"], given.random, given.seed)
        return
    for name in given.robots or STEPS:
        ahead(name) if given.ahead else table(name, given.intervals)


if __name__ == "__main__":
    main()
