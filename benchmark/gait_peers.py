# SPDX-License-Identifier: Apache-2.0
"""A swing of one foot beside Crocoddyl's and beside IPOPT's, the same problem in the same rounds.

Robot, both ends' states, duration and cost (squared efforts over their limits, squared accelerations of joints) are
the same; ends come from a periodic step of ours. Crocoddyl has no limits, no friction cones, no ground for the
swinging foot and the end as a penalty: its row compares with "freed", ours without these. IPOPT solves our
transcription with all of them with CasADi's derivatives. What Crocoddyl found is then a start for ours and the other
way round: whether either stops in a minimum of its own.

Times are processor seconds of solving, medians of rounds taken in turns; making and building stand beside.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
from peer_engine import PeerEngine
from tqdm import tqdm

from humanoid_gait import ForceCost, GaitProblem, GaitResult, GaitSolver, State, TorqueCost, WalkRequest
from humanoid_gait.costs.instant import Instant
from humanoid_gait.program_solution import SolverOptions
from humanoid_model import Robot, load_robot
from humanoid_model.arrays import Array

ROBOTS = {"hrp2": 0.25, "talos": 0.25, "bip": 0.3}
"""Step length of each [m]."""
INTERVALS, KNOT, END, SMOOTH = 20, 0.01, 1e5, 1e-4


@dataclass(frozen=True)
class JointAccelerationCost:
    """Squares of the joints' accelerations, without the base's: Crocoddyl has these."""

    weight: float

    def rate(self, instant: Instant) -> ca.SX:
        """Return the weighted sum."""
        return self.weight * ca.sumsqr(instant.change[6:])


COSTS = (TorqueCost(), JointAccelerationCost(SMOOTH), ForceCost(1e-6))  # the last one only tells corners apart


def swing(robot: Robot, length: float) -> GaitProblem:
    """Return single support between the states that a periodic step has at its ends."""
    cycle = GaitSolver(WalkRequest(length, intervals=(6, 14)).problem(robot)).solve()
    if not cycle.success:
        raise SystemExit(cycle.report())
    phase, at = cycle.problem.phases[1], cycle.durations[0]
    first = np.flatnonzero(np.isclose(cycle.motion.times, at))[-1]
    last = np.flatnonzero(np.isclose(cycle.motion.times, at + cycle.durations[1]))[0]
    ends = [State(cycle.motion.q[k], cycle.motion.v[k]) for k in (first, last)]
    return GaitProblem(robot, [replace(phase, intervals=INTERVALS)], *ends, COSTS)


def freed(problem: GaitProblem) -> GaitProblem:
    """Return a problem without limits of efforts, speeds, forces and of where the foot swings."""
    (phase,) = problem.phases
    holds = tuple(replace(hold, contact=replace(hold.contact, bilateral=True)) for hold in phase.holds)
    return replace(problem, phases=[replace(phase, holds=holds, swinging=())], efforts=1e3, speeds=1e3)


def task(problem: GaitProblem) -> dict[str, Any]:
    """Return the problem for Crocoddyl."""
    robot, (phase,) = problem.robot, problem.phases
    limits = {name: robot.limits.effort[robot.index_v(name)] for name in robot.joint_names}
    ends = (problem.start, problem.end)
    return {
        "urdf": robot.description.text, "foot": phase.holds[0].contact.location.link, "dt": KNOT, "end": END,
        "smooth": SMOOTH, "duration": phase.range[0],
        "weights": {name: 1.0 / float(limit) ** 2 for name, limit in limits.items()},
        "armature": {name: float(robot.model.armature[robot.index_v(name)]) for name in robot.joint_names},
        "names": list(robot.model.names[2:]),
        "states": [
            (np.asarray(end.q).tolist(), np.asarray(end.v).tolist()) for end in ends if isinstance(end, State)
        ],
    }  # fmt: skip


def postures_of(problem: GaitProblem, rows: Array) -> Array:
    """(N + 1, nq) of Crocoddyl's knots at our nodes."""
    shares = np.linspace(0.0, len(rows) - 1.0, INTERVALS + 1)
    found = []
    for share in shares:
        k = min(int(share), len(rows) - 2)
        found.append(pin.interpolate(problem.robot.model, rows[k], rows[k + 1], share - k))
    return np.array(found)


def timed(solver: GaitSolver) -> tuple[GaitResult, float]:
    """Return the result and processor seconds."""
    begin = time.process_time()
    result = solver.solve()
    return result, time.process_time() - begin


def compare(name: str, python: Path, rounds: int) -> None:
    """Print the rows of a robot."""
    problem = swing(load_robot(name, geometry=False), ROBOTS[name])
    ours, bare, ipopt = GaitSolver(problem), GaitSolver(freed(problem)), GaitSolver(problem, SolverOptions("ipopt"))
    peer = PeerEngine(python, "crocoddyl_swing.py", task(problem), {"OMP_NUM_THREADS": "1"})
    labels = ("humanoid_gait", "humanoid_gait, freed", f"Crocoddyl {peer.version}", "IPOPT")
    seconds: dict[str, list[float]] = {label: [] for label in labels}
    for _ in tqdm(range(rounds), desc=name, unit="round"):
        own, took = timed(ours)
        unlimited, quick = timed(bare)
        other = peer.ask("[]")
        plain, slow = timed(ipopt)
        for kept, value in zip(seconds.values(), (took, quick, other["seconds"], slow), strict=True):
            kept.append(value)
    times = np.arange(0.0, problem.phases[0].range[0] + 0.5 * KNOT, KNOT)
    samples = [unlimited.motion.at(min(time, unlimited.motion.duration)) for time in times]
    from_ours = peer.ask(json.dumps([(sample.q.tolist(), sample.v.tolist()) for sample in samples]))
    peer.close()
    near = GaitSolver(bare.problem, postures=postures_of(problem, np.array(other["q"])))
    after, _ = timed(near)
    rows = (
        (own.solution.iterations, own.cost, own.report().split(";")[0], own.seconds[0]),
        (unlimited.solution.iterations, unlimited.cost, unlimited.solution.status, unlimited.seconds[0]),
        (other["iterations"], other["cost"], f"end off by {other['off']:.1e}", other["build"]),
        (plain.solution.iterations, plain.cost, plain.report().split(";")[0], plain.seconds[0]),
    )
    least = np.median(next(iter(seconds.values())))
    for (label, took_all), (iterations, cost, word, made) in zip(seconds.items(), rows, strict=True):
        took = float(np.median(took_all))
        print(
            f"| {name} | {label} | {made:.2f} | {took:.2f} | {took / least:.2f} | {iterations} | {cost:.6f} | {word} |",
            flush=True,
        )
    print(f"{name}: from Crocoddyl's motion ours, freed, ends at {after.cost:.6f} ({after.solution.iterations} "
          f"iterations), from ours Crocoddyl at {from_ours['cost']:.6f} ({from_ours['iterations']})")  # fmt: skip


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peers", type=Path, required=True, help="Python of an environment with Crocoddyl")
    parser.add_argument("--robots", nargs="+", default=list(ROBOTS), choices=list(ROBOTS))
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print("| robot | solver | make s | solve s | to ours | iterations | cost | |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    for name in given.robots:
        compare(name, given.peers, given.rounds)


if __name__ == "__main__":
    main()
