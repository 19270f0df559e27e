# SPDX-License-Identifier: Apache-2.0
"""A whole walk: steps that repeat, from rest and to rest if that is wanted, as one motion that is judged as one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humanoid_gait.gait import GaitResult, GaitSolver
from humanoid_gait.nearest import in_words, nearest_request
from humanoid_gait.problem import Cycle, GaitProblem
from humanoid_gait.repeat import joined, moved, repeated
from humanoid_gait.walk import Duration, WalkRequest
from humanoid_model import InputError, Robot
from humanoid_model.checks import check_finite, check_not_negative, check_number, check_positive
from humanoid_model.ground_profile import GroundProfile
from humanoid_model.motion_verdict import judge_motion
from humanoid_model.progress import ProgressCallback, as_part
from humanoid_model.violation import Violation, told
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory

CYCLE, START, STOP = "cycle", "start", "stop"
MAX_STEPS = 1000
"""As many as one motion holds."""
_LEAST_WAY = 1e-3
"""Below this way there is no cost of transport [m]."""


@dataclass(frozen=True, eq=False)
class Walk:
    """What became of a request.

    Attributes:
        robot: that walks.
        request: for one cycle.
        parts: solved parts by name: the cycle, the start from rest and the stop, each by itself.
        cycles: how many times the cycle is repeated.
        motion: of all of them; of the cycle's last iterate where that isn't solved.
        violations: what the motion doesn't keep by Pinocchio alone, the worst first.
        message: why it isn't what was asked for; empty where it is.
        nearest: what walks nearest to a request whose cycle has no solution; None where that was not found.
    """

    robot: Robot
    request: WalkRequest
    parts: dict[str, GaitResult]
    cycles: int
    motion: WholeBodyTrajectory
    violations: tuple[Violation, ...]
    message: str
    nearest: WalkRequest | None = None

    @property
    def success(self) -> bool:
        """Whether all parts are solved and the motion keeps everything."""
        return not self.message

    @property
    def cost(self) -> float:
        """Of all parts, the cycle as often as it is repeated."""
        return sum(part.cost * (self.cycles if name == CYCLE else 1) for name, part in self.parts.items())

    @property
    def distance(self) -> float:
        """From where the base is at first to where it is in the end [m]."""
        base = self.motion.robot.model.joints[self.robot.base_joint].idx_q
        return float(np.linalg.norm(self.motion.q[-1, base : base + 3] - self.motion.q[0, base : base + 3]))

    @property
    def speed(self) -> float:
        """Mean one of the cycle [m/s]."""
        cycle = self.parts[CYCLE]
        assert isinstance(cycle.problem.end, Cycle)
        return float(np.linalg.norm(cycle.problem.end.step.translation)) / sum(cycle.durations)

    @property
    def energy(self) -> float:
        """Integral of the sum of the joints' |power| (thesis §III.4) [J]."""
        power = np.abs(self.motion.torques * self.motion.velocities).sum(axis=1)
        return float(np.trapezoid(power, self.motion.times))

    @property
    def cost_of_transport(self) -> float:
        """Energy by weight and way; NaN where the robot stays."""
        if self.distance < _LEAST_WAY:
            return math.nan
        return self.energy / (9.81 * self.robot.total_mass * self.distance)

    def report(self) -> str:
        """Return in words what was found."""
        how = "walks" if self.success else self.message
        return "\n".join(
            [
                f"{how}: {self.distance:.3f} m in {self.motion.duration:.2f} s, {self.speed:.3f} m/s in the cycle",
                f"cost {self.cost:.6g}, energy {self.energy:.1f} J, cost of transport {self.cost_of_transport:.3f}",
                *(f"{name}: {part.report()}" for name, part in self.parts.items()),
            ]
        )


def generate_gait(
    robot: Robot,
    request: WalkRequest,
    steps: int = 2,
    *,
    start: bool = False,
    stop: bool = False,
    progress: ProgressCallback | None = None,
    time_limit: float = math.inf,
) -> Walk:
    """Return a walk of least cost.

    Args:
        robot: that walks.
        request: for one cycle.
        steps: of the cycles, in all; one more where cycles are strides of two and the number is odd.
        start: whether it begins at rest, feet side by side, with a step into the cycle.
        stop: whether it ends so, likewise.
        progress: is told of the parts' iterations, the part by its name in the stage; may cancel.
        time_limit: of solving, after which there is what is solved until then [s].

    Raises:
        InputError: a field can't be used, or the robot can't walk so.
    """
    check_request(request)
    if not 1 <= steps <= MAX_STEPS:
        raise InputError(f"is {steps}", element="steps", remedy=f"Give a number from 1 to {MAX_STEPS}")
    end = time.perf_counter() + check_positive(min(time_limit, 1e9), "time_limit", "time in seconds")
    problem = request.problem(robot)
    cycle = problem.end
    assert isinstance(cycle, Cycle)
    cycles = cycles_of(cycle, steps)
    parts: dict[str, GaitResult] = {}

    def solve(name: str, problem: GaitProblem) -> bool:
        """Solve a part; return whether that went well."""
        left = max(end - time.perf_counter(), 1e-3)
        parts[name] = GaitSolver(problem).solve(
            progress=as_part(progress, len(parts), f"{name}: "), time_limit=left
        )
        return parts[name].success

    solved, nearest = solve(CYCLE, problem), None
    if not solved and not parts[CYCLE].solution.ended:
        nearest = nearest_request(robot, request, progress, max(end - time.perf_counter(), 0.0))
    first = parts[CYCLE].motion
    ways: dict[str, Callable[..., GaitProblem]] = {}
    if solved:
        ways = {**({START: request.starting} if start else {}), **({STOP: request.stopping} if stop else {})}
    for name, way in ways.items():
        solved = solved and solve(name, way(robot, first.q[0], first.v[0]))
    motions = [repeated(first, cycle, cycles)]
    if START in parts and parts[START].success:
        motions.insert(0, parts[START].motion)
    if STOP in parts and parts[STOP].success:
        motions.append(moved(parts[STOP].motion, cycle, cycles))
    motion = joined(motions)
    violations = judge_motion(motion, further(problem.ground, steps), request.friction, request.obstacles)
    wrong = [f"{name}: {part.reason}" for name, part in parts.items() if not part.success]
    message = "; ".join(wrong) or told(violations)
    if nearest is not None:
        message += f"; the nearest that walks has {in_words(nearest[0])}"
    return Walk(
        robot, request, parts, cycles, motion, violations, message, None if nearest is None else nearest[0]
    )  # fmt: skip


def cycles_of(cycle: Cycle, steps: int) -> int:
    """Return how many cycles have so many steps, or one more: one that isn't mirrored is a stride of two."""
    return steps if cycle.mirrored else (steps + 1) // 2


def check_request(request: WalkRequest) -> None:
    """Refuse a request whose numbers can't be of a walk.

    Raises:
        InputError: it names the field, its value and what would be right.
    """
    for name in ("length", "side", "turn", "rise"):
        check_finite(getattr(request, name), name)
    check_number(request.slope, "slope", lower=-0.5, upper=0.5)
    if request.width is not None:
        check_positive(request.width, "width", "distance in metres")
    if request.apart is not None:
        check_not_negative(request.apart, "apart", "m")
    for name, unit in (("clearance", "m"), ("friction", "-")):
        check_not_negative(getattr(request, name), name, unit)
    for name in ("single", "double", "heel", "toe", "settle"):
        if name not in ("heel", "toe") or getattr(request, name) != 0.0:
            _check_duration(getattr(request, name), name)
    if len(request.intervals) != 2 or min(request.intervals) < 1:
        raise InputError(f"are {request.intervals}", element="intervals", remedy="Give two numbers of one or more")


def _check_duration(value: Duration, name: str) -> None:
    bounds = value if isinstance(value, tuple) else (value, value)
    if len(bounds) != 2 or not 0.0 < bounds[0] <= bounds[1] < math.inf:
        raise InputError(f"is {value}", element=name, remedy="Give seconds above 0, or the least and the greatest")


def further(ground: GroundProfile, steps: int) -> GroundProfile:
    """Return stairs with so many stairs more before and behind; other ground as it is."""
    if len(ground.edges) == 0:
        return ground
    run, rise = ground.edges[1] - ground.edges[0], ground.heights[1] - ground.heights[0]
    k = np.arange(-steps, len(ground.edges) + steps + 1)
    return GroundProfile(ground.edges[0] + run * k[:-1], ground.heights[0] + rise * k, ground.slope)
