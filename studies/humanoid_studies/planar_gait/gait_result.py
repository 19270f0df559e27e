# SPDX-License-Identifier: Apache-2.0
"""What came of a specification: solved phases, and the trajectory and figures that they make."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_model import Robot
from humanoid_model.violation import Violation, told
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_studies.planar_gait.global_step.global_gait import GlobalGait
from humanoid_studies.planar_gait.lift.lifted_figure import lifted_figure
from humanoid_studies.planar_gait.lift.lifted_gait import LiftedGait
from humanoid_studies.planar_gait.lift.whole_trajectory import whole_trajectory
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalProjection
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution, PhaseStatus
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.gait_model import GaitModel
from humanoid_studies.planar_gait.specification.gait_spec import GaitSpec
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind
from humanoid_studies.planar_gait.trajectory import GaitTrajectory, gait_trajectory
from humanoid_studies.planar_gait.trajectory.gait_motion import gait_motion
from humanoid_studies.planar_gait.trajectory.moving_figure import MovingFigure, chain_figure, walk_figure

JOINS = 1e-3
"""Jump from one phase to the next that counts as none [m, rad, and per s]: phases whose transitions are unknowns of one
problem join as exactly as that is solved; phases between given states exactly."""


@dataclass(frozen=True, eq=False)
class GaitResult:
    """A generated gait, or what there is of it.

    Attributes:
        spec: that asked for it.
        model: that moves.
        success: whether all of it is solved, every limit and contact kept, and the whole-body motion walks.
        message: why not: what isn't solved, or "converged, but" and what isn't kept, the worst first.
        phases: solved ones in order; the last one may be the first that isn't solved.
        kinds: of these phases, and of one whose ends don't exist.
        gait: the phases as those of a walk; None of a mechanism, or where an end doesn't exist.
        one_problem: what solving all phases as one problem found; None where they were solved one by one.
        exchanged: the gait with the legs' data exchanged; None where there is none yet.
        lifted: the whole robot's motion; None where it isn't lifted.
        repeats: how often trajectory and figure repeat the phases.
    """

    spec: GaitSpec
    model: GaitModel
    success: bool
    message: str
    phases: tuple[PhaseSolution, ...] = ()
    kinds: tuple[PhaseKind, ...] = ()
    gait: GaitSolution | None = None
    one_problem: GlobalGait | None = None
    exchanged: GaitSolution | None = None
    lifted: LiftedGait | None = None
    repeats: int = 1

    @property
    def starts(self) -> tuple[float, ...]:
        """Beginning of each phase [s]."""
        starts, time = [], 0.0
        for solution in self.phases:
            starts.append(time)
            time += solution.duration
        return tuple(starts)

    @property
    def duration(self) -> float:
        """Of the phases [s]."""
        return float(sum(solution.duration for solution in self.phases))

    @property
    def distance(self) -> float:
        """That the hip advances [m]."""
        return float(sum(solution.hip_advance for solution in self.phases))

    @property
    def speed(self) -> float:
        """Mean speed [m/s]."""
        return self.distance / self.duration if self.duration > 0.0 else 0.0

    @property
    def cost(self) -> float:
        """Sum over the phases."""
        return float(sum(solution.cost for solution in self.phases))

    @property
    def cost_of_transport(self) -> float:
        """Energy over weight times distance; NaN where the hip doesn't advance."""
        # Single support leaves the stance foot out of its tree; double support has all of the robot.
        trees = [solution.problem.model.tree for solution in self.phases]
        weight = max((tree.mass * tree.gravity for tree in trees), default=0.0)
        energy = sum(solution.energies.total for solution in self.phases)
        return float(energy / (weight * self.distance)) if weight * self.distance > 0.0 else math.nan

    @property
    def max_velocity_jump(self) -> float:
        """Largest jump of a rate between phases [rad/s]."""
        return max((jump.rate for jump in self.gait.jumps()), default=0.0) if self.gait is not None else 0.0

    @property
    def robot(self) -> Robot | None:
        """Whose trajectory it is; None of what no robot moves as."""
        if self.lifted is not None:
            return self.lifted.robot
        robot = self.model.robot
        return robot.robot if isinstance(robot, SagittalProjection) else robot

    @functools.cached_property
    def trajectory(self) -> GaitTrajectory | None:
        """What a controller takes; None unless all is solved, for either leg, and a robot moves so."""
        if self.lifted is not None:
            return whole_trajectory(self.lifted)
        if self.gait is None or self.model.robot is None or self.exchanged is None or not self.exchanged.converged:
            return None
        return gait_trajectory(
            self.gait,
            self.model.robot,
            self.spec.defaults.sample_rate,
            cycles=self.repeats,
            exchanged=self.exchanged,
            tolerance=JOINS,
        )

    @functools.cached_property
    def motion(self) -> WholeBodyTrajectory | None:
        """The trajectory as a motion of the whole robot; None where there is no trajectory."""
        if self.trajectory is None or self.robot is None:
            return None
        return gait_motion(self.trajectory, self.robot, self.spec.friction, self.lifted)

    @functools.cached_property
    def figure(self) -> MovingFigure | None:
        """Stick figures of the motion; None where nothing is solved."""
        if self.lifted is not None and isinstance(self.model.robot, SagittalProjection):
            return lifted_figure(self.lifted, self.model.robot)
        if self.gait is not None:
            whole = self.exchanged is not None and self.exchanged.converged
            return walk_figure(self.gait, self.repeats, self.exchanged if whole else None)
        return chain_figure(self.phases, self.model.chain) if self.phases else None


def outcome(phases: tuple[PhaseSolution, ...], verdict: Sequence[Violation] = ()) -> tuple[bool, str]:
    """Return whether phases, solved but for the last one, and their motion keep everything, and what not.

    Args:
        phases: in order.
        verdict: what the whole-body motion doesn't keep.
    """
    last = phases[-1]
    if not last.converged:
        return False, f"phases[{len(phases) - 1}]: {last.status.value}: {last.message}"
    broken = [
        (max((item.severity for item in solution.violations), default=math.inf), index, solution)
        for index, solution in enumerate(phases)
        if solution.status is not PhaseStatus.CONVERGED and phases.index(solution) == index
    ]
    reasons = [told(verdict)] if verdict else []
    if broken:
        _, index, worst = max(broken, key=lambda item: item[0])
        more = f" (and {len(broken) - 1} phases more)" if len(broken) > 1 else ""
        reasons.append(f"phases[{index}]: {worst.status.value}: {worst.message}{more}")
    return not reasons, f"converged, but {'; '.join(reasons)}" if reasons else ""
