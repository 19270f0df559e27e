# SPDX-License-Identifier: Apache-2.0
"""What the global problem gives: its outcome, the gait as every report and trajectory takes it, and key figures."""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_studies.planar_gait.global_step.global_problem import GlobalPhase, GlobalProblem
from humanoid_studies.planar_gait.global_step.optimality import OptimalityProof
from humanoid_studies.planar_gait.global_step.solve_global import GlobalIterate
from humanoid_studies.planar_gait.global_step.transcribed_conditions import TranscribedConditions
from humanoid_studies.planar_gait.global_step.transition_map import TransitionMap
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem
from humanoid_studies.planar_gait.solvers.phase_solution import (
    PhaseSamples,
    PhaseSolution,
    SolverOutcome,
    solution_from_samples,
)
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.gait_plan import GaitPlan
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind, PhaseSpec, PlannedPhase
from humanoid_studies.planar_gait.specification.step_data import StepData
from humanoid_studies.planar_gait.specification.walker import Walker


class GlobalStatus(enum.Enum):
    """Outcome of a gait solved as a whole."""

    CONVERGED = "converged"
    NOT_CONVERGED = "not converged"
    INFEASIBLE = "infeasible"
    CANCELLED = "cancelled"


@dataclass(frozen=True, eq=False)
class GlobalGait:
    """A gait solved as a whole.

    Attributes:
        status: outcome.
        message: what it means; of an infeasible problem the limit that can't be kept.
        problem: what was solved.
        iterate: what IPOPT ended with: the solution, or its best iterate.
        gait: the same as phases in a row, as :func:`.synthesize_gait` gives them.
        proof: how well the conditions of optimality hold; None where it wasn't asked for or there is no solution.
        conditions: the same conditions evaluated along the transcription as it is; None likewise.
        log: what was done, line by line.
        seconds: time of everything.
    """

    status: GlobalStatus
    message: str
    problem: GlobalProblem
    iterate: GlobalIterate
    gait: GaitSolution
    proof: OptimalityProof | None
    conditions: TranscribedConditions | None
    log: tuple[str, ...]
    seconds: float

    @property
    def converged(self) -> bool:
        """Whether it is a solution."""
        return self.status is GlobalStatus.CONVERGED

    @property
    def cost(self) -> float:
        """Criterion of all phases, J."""
        return sum(motion.cost for motion in self.iterate.phases)

    @property
    def distance(self) -> float:
        """That the hip advances [m]."""
        return float(self.iterate.step_lengths.sum()) + self.problem.advance_at_rests

    @property
    def cost_per_metre(self) -> float:
        """J over the distance [1/m]."""
        return self.cost / self.distance

    @property
    def duration(self) -> float:
        """Of all phases [s]."""
        return sum(motion.duration for motion in self.iterate.phases)

    @property
    def speed(self) -> float:
        """Mean speed [m/s]."""
        return self.distance / self.duration

    @property
    def step_length(self) -> float:
        """Of the first double support [m]."""
        return float(self.iterate.step_lengths[0])

    @property
    def cost_of_transport(self) -> float:
        """Work of the torques, taken absolutely, over weight times distance."""
        return self.gait.totals.energy / (_weight(self.problem) * self.distance)

    @property
    def friction_required(self) -> float:
        """Greatest friction coefficient that a foot needs."""
        return self.gait.friction_required

    @property
    def peak_torque(self) -> float:
        """Greatest absolute torque [N m]."""
        return max(
            float(np.abs(motion.u[:, : phase.problem.model.torque_count]).max())
            for phase, motion in zip(self.problem.phases, self.iterate.phases, strict=True)
        )

    def report(self) -> str:
        """Return a few lines: outcome, key figures, phases."""
        lines = [
            f"{self.status.value}: {self.message}",
            f"J {self.cost:.6f}, {self.cost_per_metre:.6f} per metre; {self.speed:.3f} m/s, "
            f"steps of {', '.join(f'{length:.3f}' for length in self.iterate.step_lengths)} m",
            f"cost of transport {self.cost_of_transport:.4f}, friction {self.friction_required:.3f}, "
            f"peak torque {self.peak_torque:.1f} N m",
            self.gait.report(),
        ]
        if self.proof is not None:
            lines.append(self.proof.report())
        if self.conditions is not None and not (self.proof is not None and self.proof.solved):
            lines.append(self.conditions.report())
        return "\n".join(lines)


def _weight(problem: GlobalProblem) -> float:
    """Of the whole robot [N]: double support has all of it in its tree."""
    tree = next(phase.problem.tree for phase in problem.phases if phase.double)
    return float(tree.mass * tree.gravity)


Ends = tuple[BoundaryState, BoundaryState]


def joined_ends(problem: GlobalProblem, iterate: GlobalIterate) -> tuple[Ends, ...]:
    """Both ends of each phase, loops closed and phases joined to rounding.

    The transcription leaves a loop that was closed at touch-down open by its own error, some 1e-6 m, at lift-off. The
    nearest closed state is taken there, and single support begins with it.
    """
    ends = [
        [BoundaryState(m.q[place].copy(), m.v[place].copy()) for place in (0, -1)] for m in iterate.phases
    ]
    phases = problem.phases
    models = [final_model(problem, iterate, phase) for phase in phases]
    for phase, model, both in zip(phases, models, ends, strict=True):
        if phase.double:
            both[:] = [_closed(problem, model, state) for state in both]
    for i in range(len(phases) - (0 if problem.cyclic else 1)):
        j = (i + 1) % len(phases)
        if phases[i].double and phases[j].double:
            ends[j][0] = ends[i][1]
        elif phases[i].double:
            ends[j][0] = problem.walker.single_from_double(ends[i][1])
        else:
            ends[i][1] = problem.walker.single_from_touch_down(ends[j][0])
    return tuple((start, end) for start, end in ends)


def _closed(problem: GlobalProblem, model: PhaseModel, state: BoundaryState) -> BoundaryState:
    """Return the nearest closed state; the feet keep their turns, which other links may give."""
    free = np.setdiff1d(np.arange(model.n), np.concatenate(flat_coordinates(problem.walker, model)))
    q, v = state.q.copy(), state.v.copy()
    for _ in range(5):
        q[free] -= np.linalg.pinv(model.closure_jacobian(q)[:, free]) @ model.closure(q)
    G = model.closure_jacobian(q)
    v[free] -= np.linalg.pinv(G[:, free]) @ (G @ v)
    return BoundaryState(q, v)


def flat_coordinates(walker: Walker, model: PhaseModel) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return coordinates of double support that single support before it, and after it, has none of: flat feet's."""
    return (
        TransitionMap.of(walker.single_from_touch_down, model.n).dropped,
        TransitionMap.of(walker.single_from_double, model.n).dropped,
    )


def final_model(problem: GlobalProblem, iterate: GlobalIterate, phase: GlobalPhase) -> PhaseModel:
    """Return the model of a phase with the step length that was found."""
    model = phase.problem.model
    if phase.length is None:
        return model
    moved = float(iterate.step_lengths[phase.length]) - phase.foothold.real
    closures = tuple(
        dataclasses.replace(closure, target=closure.target + moved) for closure in model.point_closures
    )
    return model.replace(point_closures=closures)


def final_problem(problem: GlobalProblem, iterate: GlobalIterate, index: int, ends: Ends) -> PhaseProblem:
    """Return a phase by itself, between the ends and in the time that were found."""
    phase = problem.phases[index]
    start, end = (EndState(state.q, state.v) for state in ends)
    return phase.problem.replace(
        model=final_model(problem, iterate, phase),
        start=start,
        end=end,
        duration=iterate.phases[index].duration,
        duration_range=None,
    )


def final_plan(problem: GlobalProblem, iterate: GlobalIterate, ends: tuple[Ends, ...]) -> GaitPlan:
    """Phases with the step data that were found."""
    phases = problem.phases
    steps = [_step(problem, iterate, ends, index) for index in range(len(iterate.step_lengths))]
    planned: list[PlannedPhase] = []
    count = 0
    for i, phase in enumerate(phases):
        spec, duration = phase.planned.spec, iterate.phases[i].duration
        if phase.length is not None:
            count = phase.length + 1
            new = PhaseSpec(PhaseKind.DOUBLE_SUPPORT, duration, step=steps[phase.length])
        else:
            new = PhaseSpec(
                spec.kind,
                duration,
                step=steps[count - 1] if spec.before is not None else None,
                next_step=steps[count % len(steps)] if spec.next_step is not None else None,
                rest=spec.rest,
            )
        model = final_model(problem, iterate, phase)
        planned.append(dataclasses.replace(phase.planned, spec=new, model=model, start=ends[i][0], end=ends[i][1]))
    places = np.concatenate([[0.0], np.cumsum([item.advance for item in planned[:-1]])])
    return GaitPlan(problem.walker, tuple(planned), np.stack([places.real, places.imag], axis=1))


def _step(problem: GlobalProblem, iterate: GlobalIterate, ends: tuple[Ends, ...], length: int) -> StepData:
    """Step data of a double support; the trunk's rates and the front foot's, which they don't have, left out."""
    own = [i for i, phase in enumerate(problem.phases) if phase.length == length]
    first, last = own[0], own[-1]
    start, end = ends[first][0], ends[last][1]
    model = final_model(problem, iterate, problem.phases[last])
    hip, trunk = model.points["hip"], model.tree.index("trunk")
    places = [complex(*hip.position(state.q)) for state in (start, end)]
    speeds = [complex(*(hip.jacobian(state.q) @ state.v)) for state in (start, end)]
    sole = turn = rate = 0.0
    for rear in flat_coordinates(problem.walker, model)[0]:
        turn, rate = min(0.0, float(end.q[rear] - start.q[rear])), float(end.v[rear])
    for front in flat_coordinates(problem.walker, model)[1]:
        sole = max(0.0, float(start.q[front] - end.q[front]))
    found = problem.phases[first].planned.spec.own
    assert found is not None
    return found.replace(
        step_length=float(iterate.step_lengths[length]),
        initial_hip=places[0],
        final_hip=places[1],
        initial_hip_velocity=speeds[0],
        final_hip_velocity=speeds[1],
        initial_trunk_angle=float(start.q[trunk]),
        final_trunk_angle=float(end.q[trunk]),
        initial_sole_angle=sole,
        final_rear_foot_angle=turn,
        final_rear_foot_rate=rate,
    )


def transcribed_gait(problem: GlobalProblem, iterate: GlobalIterate, message: str) -> GaitSolution:
    """Return the gait as the transcription has it, at its own points."""
    ends = joined_ends(problem, iterate)
    solutions: list[PhaseSolution] = []
    for i, motion in enumerate(iterate.phases):
        own = final_problem(problem, iterate, i, ends[i])
        solutions.append(
            solution_from_samples(
                own,
                PontryaginSystem(own),
                PhaseSamples(
                    motion.duration * motion.s,
                    np.concatenate([motion.q, own.tree.momentum(motion.q, motion.v)], axis=1),
                    motion.costates,
                    motion.u,
                ),
                SolverOutcome("direct", iterate.converged, message, iterate.infeasibility, motion.cost, motion.cost),
                seconds=iterate.seconds,
            )
        )
    return GaitSolution(final_plan(problem, iterate, ends), tuple(solutions))
