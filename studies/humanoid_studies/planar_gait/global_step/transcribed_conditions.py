# SPDX-License-Identifier: Apache-2.0
"""Pontryagin's conditions evaluated along a transcription as it is: weaker than a proof, and there where none is.

Nothing is solved again. States, controls, costates and multipliers of limits are those of the nonlinear program, whose
own conditions IPOPT has met; what is seen here is how well they stand for those of the continuous problem:

    maximality     H(x, w, u) against its maximum over the admissible controls, at each point,
    adjoint        w_{k+1} - w_k against the integral of -H_x + mu h_x over each interval,
    Hamiltonian    the spread of H within a phase,
    transversality as for the proof, with the transcription's costates.

That a motion fulfils them shows that it is about an extremal, not that there is one nearby.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.global_step.global_problem import GlobalProblem
from humanoid_studies.planar_gait.global_step.solve_global import GlobalIterate
from humanoid_studies.planar_gait.global_step.transversality import (
    bound_multipliers,
    gait_distance,
    limit_multipliers,
    transversality,
)
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution

_COARSE_SPREAD = 0.2
"""Deviation of H, over the mean rate of cost, beyond which a transcription is too coarse."""


@dataclass(frozen=True, eq=False)
class TranscribedConditions:
    """Residuals of the conditions along a transcription.

    Attributes:
        maximality: (P,) by how much H could be greater on average, over the mean rate of cost of the phase.
        worst_maximality: (P,) the same at the worst point.
        adjoint: (P,) root mean square of the adjoint equation's residual over the intervals, over the size of each
            costate's change along the phase.
        hamiltonian_spread: (P,) standard deviation of H over the mean rate of cost.
        jumps: (transitions,) of the costates at each transition what links don't account for, over their size.
        length_gap: what they don't account for in the step lengths, over F.
    """

    maximality: Reals
    worst_maximality: Reals
    adjoint: Reals
    hamiltonian_spread: Reals
    jumps: Reals
    length_gap: float

    @property
    def coarse_phases(self) -> tuple[int, ...]:
        """Phases along which H varies so much that a finer transcription is needed before anything can be proved."""
        return tuple(int(index) for index in np.flatnonzero(self.hamiltonian_spread > _COARSE_SPREAD))

    def report(self) -> str:
        """Return a few lines."""

        def listed(values: Reals) -> str:
            return ", ".join(f"{value:.1e}" for value in values)

        return "\n".join(
            [
                f"along the transcription (no proof): H below its maximum by {listed(self.maximality)}, "
                f"at worst {listed(self.worst_maximality)}",
                f"adjoint equation {listed(self.adjoint)} off, H spread {listed(self.hamiltonian_spread)}",
                f"costates at transitions {listed(self.jumps)} off, step lengths {self.length_gap:.1e}",
            ]
        )


def check_transcription(
    problem: GlobalProblem,
    iterate: GlobalIterate,
    finals: Sequence[PhaseProblem],
    phases: Sequence[PhaseSolution],
) -> TranscribedConditions:
    """Evaluate the conditions along a gait's transcription.

    Args:
        problem: that was solved.
        iterate: its solution.
        finals: its phases by themselves, between the ends that were found.
        phases: the same as transcribed, as of :func:`.transcribed_gait`.
    """
    found = [_along(problem, iterate, i, own, phase) for i, (own, phase) in enumerate(zip(finals, phases, strict=True))]
    H = np.array([_mean(phase.hamiltonian) for phase in phases])
    jumps, length_gap = transversality(problem, iterate, finals, phases, H)
    columns = np.array(found).T
    return TranscribedConditions(columns[0], columns[1], columns[2], columns[3], jumps, length_gap)


def _along(
    problem: GlobalProblem, iterate: GlobalIterate, index: int, own: PhaseProblem, phase: PhaseSolution
) -> tuple[float, float, float, float]:
    """Mean and greatest lack of H, residual of the adjoint equation, and deviation of H in one phase."""
    motion, n = iterate.phases[index], own.model.n
    rate = motion.cost / motion.duration
    x = np.concatenate([phase.q, phase.p], axis=1)
    best = PontryaginSystem(own).evaluate(x, motion.costates)
    lack = np.where(best.feasible, best.hamiltonian - phase.hamiltonian, np.inf)
    # H' = 0: of a mean over the phase, as of an integral, Simpson's rule evens out what alternates.
    deviation = float(np.sqrt(_mean((phase.hamiltonian - _mean(phase.hamiltonian)) ** 2)))

    # Multipliers of limits over Simpson's weights, as costates are. A shift by mu/r - h makes the penalty pull with mu.
    weights = problem.phases[index].program.weights
    own_cost = gait_distance(problem, iterate) if problem.settings.per_metre else 1.0
    per_time = own_cost / (motion.duration * weights[:, None])
    multipliers = per_time * limit_multipliers(problem, iterate, index)
    multipliers[[0, -1]] = 0.0
    penalties = dataclasses.replace(
        own.penalties, inequality=1.0, range_weight=1.0, rate_weight=1.0, clearance_weight=1.0
    )
    soft = PontryaginSystem(own.replace(hard_inequalities=False, penalties=penalties), shifted=True)
    shift = np.maximum(multipliers, 0.0) - soft.inequalities(phase.q, phase.v)
    pulled = soft.evaluate(x, motion.costates, shift).w_rate
    pulled[:, :n] += per_time * bound_multipliers(problem, iterate, index)
    h = 2.0 * motion.duration * np.diff(motion.s)[::2, None]
    integral = h / 6.0 * (pulled[:-1:2] + 4.0 * pulled[1::2] + pulled[2::2])
    residual = np.diff(motion.costates[::2], axis=0) - integral
    size = np.abs(motion.costates - motion.costates.mean(axis=0)).max(axis=0)
    inner = residual[1:-1] / np.maximum(size, 1e-6 * size.max())
    return (
        float(_mean(lack) / rate),
        float(lack.max() / rate),
        float(np.sqrt(np.mean(inner**2))),
        deviation / rate,
    )


def _mean(values: Reals) -> float:
    """Over a phase by Simpson's rule at its nodes and middles."""
    return float((values[:-1:2] + 4.0 * values[1::2] + values[2::2]).mean() / 6.0)


