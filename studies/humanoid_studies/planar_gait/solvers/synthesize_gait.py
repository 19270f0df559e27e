# SPDX-License-Identifier: Apache-2.0
"""A whole gait: each phase solved between its planned ends, put in a row and summed up (specification 003, 2.32.2).

Every phase is a problem of its own, for both its ends are given, so that phases are solved side by side; a phase that
repeats is solved once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback, as_part
from humanoid_studies.planar_gait.optimal_control.control_rows import ControlRow, cut_foot
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions, synthesize_phase
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.gait_plan import GaitPlan, GaitTotals, TransitionJump, plan_gait
from humanoid_studies.planar_gait.specification.phase_spec import PhaseSpec, PlannedPhase
from humanoid_studies.planar_gait.specification.stairs import over_stairs
from humanoid_studies.planar_gait.specification.walker import Walker


@dataclass(frozen=True)
class PhaseSettings:
    """What is minimised and kept in one kind of phase.

    Attributes:
        effort: the criterion.
        penalties: on closures, ranges, rates and clearances.
        min_root_force: least normal force at each place of the foot that isn't cut, kept by the controls [N]; None
            leaves it to the check afterwards, as the thesis does.
        root_friction: coefficient that the foot that isn't cut keeps to by the controls; inf leaves it free.
    """

    effort: QuadraticEffort = field(default_factory=QuadraticEffort)
    penalties: Penalties = field(default_factory=Penalties)
    min_root_force: float | None = None
    root_friction: float = math.inf

    def __post_init__(self) -> None:
        """Check the force and the coefficient.

        Raises:
            InputError: a force that isn't finite and at least zero, or a coefficient that isn't above zero.
        """
        if self.min_root_force is not None and not 0.0 <= self.min_root_force < math.inf:
            raise InputError(
                f"is {self.min_root_force} N", element="min_root_force", remedy="Give 0 N or more, or None"
            )
        if not self.root_friction > 0.0:
            raise InputError(f"is {self.root_friction}", element="root_friction", remedy="Give a number above 0")


@dataclass(frozen=True)
class GaitSettings:
    """Settings of all phases.

    Attributes:
        double: of double supports.
        single: of single supports, starts and stops.
        friction: Coulomb coefficient of the ground that every foot is checked against.
        synthesis: how each phase is solved.
    """

    double: PhaseSettings = field(default_factory=PhaseSettings)
    single: PhaseSettings = field(default_factory=PhaseSettings)
    friction: float = math.inf
    synthesis: SynthesisOptions = field(default_factory=SynthesisOptions)

    def __post_init__(self) -> None:
        """Check the coefficient.

        Raises:
            InputError: it isn't above zero.
        """
        if not self.friction > 0.0:
            raise InputError(f"is {self.friction}", element="gait.friction", remedy="Give a number above 0")


@dataclass(frozen=True, eq=False)
class GaitSolution:
    """A synthesised gait.

    Attributes:
        plan: phases with their places in the world.
        phases: solution of each; phases that repeat share theirs.
    """

    plan: GaitPlan
    phases: tuple[PhaseSolution, ...]

    @property
    def converged(self) -> bool:
        """Whether every phase is solved, kept limits or not."""
        return all(solution.converged for solution in self.phases)

    @property
    def starts(self) -> Array:
        """(phases,) time at which each phase begins [s]."""
        return np.concatenate([[0.0], np.cumsum([solution.duration for solution in self.phases])[:-1]])

    @property
    def duration(self) -> float:
        """[s]."""
        return sum(solution.duration for solution in self.phases)

    @property
    def totals(self) -> GaitTotals:
        """Duration, distance and energy J_e of the whole."""
        energy = sum(solution.energies.total for solution in self.phases)
        return GaitTotals(self.duration, self.plan.distance, energy)

    @property
    def friction_required(self) -> float:
        """Greatest friction coefficient that a foot needs."""
        return max(solution.friction_required for solution in self.phases)

    def jumps(self) -> tuple[TransitionJump, ...]:
        """Return what jumps in the world from the end of each solved phase to the beginning of the next one."""
        found = []
        for index, (first, second) in enumerate(zip(self.phases[:-1], self.phases[1:], strict=True)):
            before, after = BoundaryState(first.q[-1], first.v[-1]), BoundaryState(second.q[0], second.v[0])
            found.append(self.plan.jump(index, before, after))
        return tuple(found)

    def at(self, time: float) -> tuple[int, Array, Array, Array]:
        """Phase and, in its coordinates, angles (n,), rates (n,) and controls (N,) at a time of the gait.

        At a transition it is the later phase that counts; beyond its ends the gait holds still there.

        Raises:
            InputError: the time isn't finite.
        """
        if not math.isfinite(time):
            raise InputError(f"is {time} s", element="time", remedy="Give a finite time")
        index = int(np.searchsorted(self.starts, time, side="right")) - 1
        index = min(max(index, 0), len(self.phases) - 1)
        solution = self.phases[index]
        local = min(max(time - float(self.starts[index]), 0.0), solution.duration)
        q, v, u = solution.sample(np.array([local]))
        return index, q[0], v[0], u[0]

    def report(self) -> str:
        """One line for each phase and one for the whole."""
        lines = []
        for planned, solution in zip(self.plan.phases, self.phases, strict=True):
            lines.append(
                f"{planned.spec.kind.label:15} {solution.duration:6.3f} s  J {solution.cost:9.6f}  "
                f"J_e {solution.energies.total:7.2f} J  friction {solution.friction_required:5.3f}  "
                f"{solution.status.value}: {solution.message}"
            )
        totals = self.totals
        lines.append(
            f"{'whole':15} {totals.duration:6.3f} s  {totals.distance:.3f} m  {totals.mean_speed:.3f} m/s  "
            f"J_e {totals.energy:7.2f} J  {totals.mean_power:.1f} W"
        )
        return "\n".join(lines)


def phase_problem(walker: Walker, phase: PlannedPhase, settings: GaitSettings) -> PhaseProblem:
    """Return the optimal control problem of a planned phase, all its feet watched, the swinging one kept above stairs.

    Args:
        walker: the walking model.
        phase: with model and ends.
        settings: of the gait.

    Raises:
        InputError: the settings don't fit the model.
    """
    own = settings.double if phase.double else settings.single
    root = walker.root_forces(phase.model)
    rows: tuple[ControlRow, ...] = ()
    if own.min_root_force is not None:
        rows += root.unilateral(own.min_root_force)
    if math.isfinite(own.root_friction):
        rows += root.friction(own.root_friction)
    penalties, spec = own.penalties, phase.spec
    if spec.before is not None and spec.next_step is not None:
        penalties = over_stairs(penalties, spec.before, spec.next_step, walker.foot_length)
    return PhaseProblem(
        phase.model,
        EndState(phase.start.q, phase.start.v),
        EndState(phase.end.q, phase.end.v),
        phase.spec.duration,
        own.effort,
        penalties,
        rows,
        (root, *(cut_foot(phase.model, contact.name) for contact in phase.model.contacts)),
        settings.friction,
    )


def synthesize_gait(
    walker: Walker,
    specs: Sequence[PhaseSpec],
    settings: GaitSettings | None = None,
    executor: Executor | None = None,
    progress: ProgressCallback | None = None,
) -> GaitSolution:
    """Plan a gait, solves its phases and joins them.

    Args:
        walker: the walking model.
        specs: phases in order, :func:`.phase_spec.walk_between_rests` for example.
        settings: criterion, penalties and solver; those of the reference solutions if left out.
        executor: that phases are solved on side by side; one after the other here if left out.
        progress: told between stages, each preceded by the phase; cancels by returning True. Executors can't be watched
            that closely: there it is told as phases are done, and cancels those not yet begun.

    Returns:
        Solutions of all phases, each with its status: what didn't converge is there with its best iterate.

    Raises:
        InputError: an unreachable end, phases that don't join, or settings that don't fit.
    """
    chosen = settings or GaitSettings()
    plan = plan_gait(walker, specs)
    distinct = {phase.spec: phase for phase in plan.phases}
    problems = {spec: phase_problem(walker, phase, chosen) for spec, phase in distinct.items()}
    solved: dict[PhaseSpec, PhaseSolution] = {}
    if executor is None:
        cancelled = False

        def watched(item: Progress) -> bool:
            nonlocal cancelled
            cancelled = cancelled or (progress is not None and bool(progress(item)))
            return cancelled

        for index, (spec, problem) in enumerate(problems.items()):
            told = as_part(watched, index, f"{spec.kind.label}: ")
            solved[spec] = synthesize_phase(problem, chosen.synthesis, told)
    else:
        solved = solve_side_by_side(problems, chosen.synthesis, executor, progress)
    return GaitSolution(plan, tuple(solved[phase.spec] for phase in plan.phases))


def solve_side_by_side(
    problems: dict[PhaseSpec, PhaseProblem],
    options: SynthesisOptions,
    executor: Executor,
    progress: ProgressCallback | None,
) -> dict[PhaseSpec, PhaseSolution]:
    """Solves problems on an executor; those cancelled before they began count as stopped at once.

    Args:
        problems: of different phases.
        options: how each is solved.
        executor: that they are solved on.
        progress: told as phases are done; cancels those not yet begun by returning True.
    """
    futures: dict[PhaseSpec, Future[PhaseSolution]] = {
        spec: executor.submit(synthesize_phase, problem, options) for spec, problem in problems.items()
    }
    solved: dict[PhaseSpec, PhaseSolution] = {}
    for spec, future in futures.items():
        if future.cancelled():
            solved[spec] = synthesize_phase(problems[spec], options, lambda _: True)
            continue
        solved[spec] = future.result()
        done = Progress(f"{spec.kind.label}: done", residual=solved[spec].residual, cost=solved[spec].cost)
        if progress is not None and progress(done):
            for other in futures.values():
                other.cancel()
    return solved
