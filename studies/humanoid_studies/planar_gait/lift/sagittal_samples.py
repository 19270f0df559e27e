# SPDX-License-Identifier: Apache-2.0
"""A sagittal gait on all joints of the robot, sampled phase by phase, with standing before and after it.

Legs take turns at being the model's stance leg; which foot bears, and with what part of its sole, follows from the
phase: the whole sole in single support, the toe of the rear foot and the front sole in double support (its heel alone
where the step lets the foot come down on it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.lift.bearing import Bearing, Part, sole_of_leg
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalProjection
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind

STANDING = "standing"
"""Kind of the phases before a start and after a stop."""


@dataclass(frozen=True, eq=False)
class SagittalPhase:
    """A phase of the gait on the robot's joints, moving in the plane alone.

    Attributes:
        kind: ``standing`` or the value of a :class:`PhaseKind`.
        t: (K,) times, the first and the last one at the transitions [s].
        q: (K, nq) configurations.
        v: (K, nv) velocities.
        bearings: feet on the ground.
        stance: sole that bears before a transfer of weight, and after it; the same one where there is none. None for
            both soles together.
        transferred: (K,) share of the weight that has gone over from the one to the other.
    """

    kind: str
    t: Reals
    q: Reals
    v: Reals
    bearings: tuple[Bearing, ...]
    stance: tuple[str | None, str | None]
    transferred: Reals


def accelerations(t: Reals, v: Reals) -> Reals:
    """(K, nv) derivatives of velocities within a phase, by cubic splines [m/s², rad/s²].

    Args:
        t: (K,) times [s], four or more.
        v: (K, nv) velocities.
    """
    return np.asarray(CubicSpline(t, v).derivative()(t))


def sample_gait(
    gait: GaitSolution, projection: SagittalProjection, period: float, standing: tuple[float, float], right_first: bool
) -> tuple[SagittalPhase, ...]:
    """Return samples a gait on the robot.

    Args:
        gait: of the projection's model, on level ground.
        projection: of the robot.
        period: greatest time between samples [s]; each phase is divided evenly.
        standing: durations before a start and after a stop [s].
        right_first: whether the projection's rear leg (its first limb) is the stance leg of the first phase.

    Raises:
        InputError: a phase isn't solved, the ground isn't level, a gait that starts or stops without time to stand, or
            a number that makes no sense.
    """
    _check(gait, period, standing)
    first, second = (sole_of_leg(projection.robot, leg.joints[2]).name for leg in (projection.rear, projection.front))
    phases: list[SagittalPhase] = []
    swap, time = not right_first, 0.0
    for index, (planned, solution) in enumerate(zip(gait.plan.phases, gait.phases, strict=True)):
        kind = planned.spec.kind
        if index and not planned.double:
            swap = not swap  # the front leg has become the stance leg
        rear, front = (second, first) if swap else (first, second)
        local = np.linspace(0.0, solution.duration, max(4, math.ceil(solution.duration / period)) + 1)
        angles, rates, _ = solution.sample(local)
        offset = float(gait.plan.offsets[index, 0])
        q, v = _states(projection, planned.model, angles, rates, offset, swap)
        if kind is PhaseKind.START:
            q0 = q[0]
            phases.append(_standing(projection, q0, time, standing[0], period, (rear, front), (None, rear)))
            time += standing[0]
        if planned.double:
            step = planned.spec.own
            part = Part.HEEL if step is not None and step.initial_sole_angle > 0.0 else Part.WHOLE
            bearings: tuple[Bearing, ...] = (Bearing(rear, Part.TOE), Bearing(front, part))
            stance: tuple[str | None, str | None] = (rear, front)
            transferred = _front_share(solution, local)
        else:
            bearings, stance, transferred = (Bearing(rear),), (rear, rear), np.zeros(len(local))
        phases.append(SagittalPhase(kind.label, time + local, q, v, bearings, stance, transferred))
        time += solution.duration
        if kind is PhaseKind.STOP:
            phases.append(_standing(projection, q[-1], time, standing[1], period, (rear, front), (rear, None)))
            time += standing[1]
    return tuple(phases)


def _check(gait: GaitSolution, period: float, standing: tuple[float, float]) -> None:
    if not (math.isfinite(period) and period > 0.0):
        raise InputError(f"is {period} s", element="period", remedy="Give a time above 0")
    kinds = [phase.spec.kind for phase in gait.plan.phases]
    for name, duration, kind in (("before", standing[0], PhaseKind.START), ("after", standing[1], PhaseKind.STOP)):
        if kind in kinds and not (math.isfinite(duration) and duration > 0.0):
            raise InputError(
                f"is {duration} s", element=f"standing {name} the walk", remedy="Give a time above 0: weight is shifted"
            )
    for index, (planned, solution) in enumerate(zip(gait.plan.phases, gait.phases, strict=True)):
        if not solution.converged:
            raise InputError(
                f"isn't solved: {solution.message}",
                element=f"phase {index + 1} of the gait",
                remedy="Give a gait whose phases are",
            )
        step = planned.spec.own
        if step is not None and step.step_height != 0.0:
            raise InputError(
                f"step_height is {step.step_height:g} m",
                element=f"phase {index + 1} of the gait",
                remedy="Give a gait on level ground",
            )


def _states(
    projection: SagittalProjection, model: PhaseModel, angles: Reals, rates: Reals, offset: float, swap: bool
) -> tuple[Reals, Reals]:
    pairs = [projection.state(model, a, r, offset, swap) for a, r in zip(angles, rates, strict=True)]
    return np.array([q for q, _ in pairs]), np.array([v for _, v in pairs])


def _front_share(solution: PhaseSolution, local: Reals) -> Reals:
    """(K,) share of the normal forces that the front foot of a double support bears."""
    front = {contact.name for contact in solution.problem.model.contacts}
    bears = {name: np.interp(local, solution.t, series.total_normal) for name, series in solution.forces.items()}
    total = sum(bears.values())
    return np.asarray(sum(values for name, values in bears.items() if name in front) / total)


def _standing(
    projection: SagittalProjection,
    q: Reals,
    time: float,
    duration: float,
    period: float,
    feet: tuple[str, str],
    stance: tuple[str | None, str | None],
) -> SagittalPhase:
    """Both feet bear while the posture stays."""
    model = projection.robot.model
    t = time + np.linspace(0.0, duration, max(4, math.ceil(duration / period)) + 1)
    return SagittalPhase(
        STANDING,
        t,
        np.tile(q, (len(t), 1)),
        np.zeros((len(t), model.nv)),
        tuple(Bearing(sole) for sole in feet),
        stance,
        quintic((t - time) / duration),
    )


def quintic(s: Reals) -> Reals:
    """(K,) from 0 at s = 0 to 1 at s = 1, at rest at both ends."""
    return np.asarray(s**3 * (10.0 + s * (-15.0 + 6.0 * s)))
