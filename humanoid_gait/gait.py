# SPDX-License-Identifier: Apache-2.0
"""The front door: a problem becomes a motion that was checked, or the reasons why not."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

from threadpoolctl import threadpool_limits

from humanoid_gait.guess import posture_guess, unknowns_guess
from humanoid_gait.interior_point import InteriorPoint
from humanoid_gait.ipopt_program import IpoptProgram
from humanoid_gait.motion import whole_body_motion
from humanoid_gait.problem import GaitProblem
from humanoid_gait.program_solution import ProgramSolution, SolverOptions
from humanoid_gait.stages import Stages
from humanoid_gait.transcription import Transcription, fits
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.motion_verdict import judge_motion
from humanoid_model.progress import ProgressCallback, Watch
from humanoid_model.violation import Violation, told
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory

NEAR = 1e-6
"""First barrier parameter from a neighbour's solution."""


@dataclass(frozen=True, eq=False)
class GaitResult:
    """What became of a problem.

    Attributes:
        problem: that was asked.
        motion: of the last iterate.
        violations: what the motion doesn't keep by Pinocchio alone, the worst first.
        solution: of the program.
        transcription: that the unknowns are of.
        cost: what the motion costs.
        seconds: for making the program, for solving it.
    """

    problem: GaitProblem
    motion: WholeBodyTrajectory
    violations: tuple[Violation, ...]
    solution: ProgramSolution
    transcription: Transcription
    cost: float
    seconds: tuple[float, float]

    @property
    def success(self) -> bool:
        """Whether the solver converged and the motion keeps everything."""
        return self.solution.converged and not self.violations

    @property
    def durations(self) -> tuple[float, ...]:
        """Of the phases [s]."""
        layout = self.transcription.layout
        x = self.solution.x
        return tuple(
            float(x[layout.starts[0] + layout.durations[index]]) if phase.free else phase.range[0]
            for index, phase in enumerate(layout.phases)
        )

    def report(self) -> str:
        """Return in words how it went."""
        how = "walks" if self.success else self.reason
        return (
            f"{how}; cost {self.cost:.6g}, {self.solution.iterations} iterations, "
            f"{self.seconds[0]:.2f} s to make the program and {self.seconds[1]:.2f} s to solve it"
        )

    @property
    def reason(self) -> str:
        """What the solver says unless it has converged, and what isn't kept."""
        status = "" if self.solution.converged else f"the solver says: {self.solution.status}"
        return "; ".join(part for part in (status, told(self.violations)) if part)


@dataclass(eq=False)
class GaitSolver:
    """A problem with its program; neighbours of the same shape are solved from solutions that are there.

    Attributes:
        problem: the gait.
        options: of the solver.
        points: of collocation in an interval.
        posture: (nq,) that the guess stays near; the robot's default one if left out.
        postures: (N + 1, nq) of the guess at the nodes; found from the contacts if left out.
        guess: (V,) unknowns that a solution from nothing begins with.
    """

    problem: GaitProblem
    options: SolverOptions = field(default_factory=SolverOptions)
    points: int = 2
    posture: Array | None = None
    postures: Array | None = None

    def __post_init__(self) -> None:
        """Write the program down."""
        begin = time.perf_counter()
        postures = posture_guess(self.problem, self.posture) if self.postures is None else self.postures
        own = self.options.solver == "stages"
        self.transcription = Transcription(self.problem, postures, points=self.points, carried=own)
        self.guess = unknowns_guess(self.transcription, postures)
        self._stages = Stages(self.transcription) if own else None
        self._made = time.perf_counter() - begin

    @threadpool_limits.wrap(limits=1, user_api="blas")  # matrices of stages are small: threads wait for each other
    def solve(
        self, start: GaitResult | ProgramSolution | None = None, progress: ProgressCallback | None = None,
        time_limit: float = math.inf,
    ) -> GaitResult:  # fmt: skip
        """Solve, from a neighbour's solution if there is one.

        Args:
            start: of a problem with the same phases, intervals and rows.
            progress: is told of iterations, and may cancel; the last iterate is what there is then.
            time_limit: after which the last iterate is what there is [s].

        Raises:
            InputError: the start is of another shape; IPOPT has no progress and no time limit.
        """
        near = start.solution if isinstance(start, GaitResult) else start
        if near is not None and not fits(near, self.transcription):
            own = self.transcription.layout.unknowns, len(self.transcription.row_lower)
            remedy = f"Give one of {own[0]} and {own[1]}: of the same robot, phases and intervals; or none"
            problem = f"has {len(near.x)} unknowns and {len(near.multipliers)} rows"
            raise InputError(problem, element="start", remedy=remedy)
        if self._stages is None and (progress is not None or time_limit < math.inf):
            raise InputError("can't be stopped", element="solver 'ipopt'", remedy="Solve by 'stages'")
        begin = time.perf_counter()
        barrier = self.options.barrier if near is None else min(self.options.barrier, NEAR)
        x = self.guess if near is None else near.x
        multipliers, of_bounds = (None, None) if near is None else (near.multipliers, near.bound_multipliers)
        if self._stages is None:
            program = IpoptProgram(self.transcription, replace(self.options, barrier=barrier))
            found = program.solve(x, multipliers, of_bounds)
        else:
            watch = Watch(progress, time_limit)
            found = InteriorPoint(self._stages, self.options).solve(x, barrier, multipliers, of_bounds, watch)
        return self._result(found, time.perf_counter() - begin)

    def _result(self, found: ProgramSolution, seconds: float) -> GaitResult:
        motion = whole_body_motion(self.transcription, found.x)
        friction = [hold.friction for phase in self.problem.phases for hold in (*phase.holds, *phase.cuts)]
        violations = judge_motion(motion, self.problem.ground, max(friction, default=1.0), self.problem.obstacles)
        return GaitResult(
            self.problem, motion, violations, found, self.transcription, found.cost, (self._made, seconds)
        )
