# SPDX-License-Identifier: Apache-2.0
"""A sagittal gait lifted to the whole robot, ready to be walked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_model.robot import Robot
from humanoid_model.violation import ViolationKind
from humanoid_model.whole_body_dynamics import multibody_zero_moment_point
from humanoid_studies.planar_gait.lift.bearing import (
    Bearing,
    Part,
    SoleGeometry,
    bearing_points,
    sole_of_leg,
    support_margin,
)
from humanoid_studies.planar_gait.lift.ground_forces import GroundForces, ground_forces
from humanoid_studies.planar_gait.lift.lateral_sway import PendulumMotion, PendulumPhase, solve_pendulum
from humanoid_studies.planar_gait.lift.leg_placement import LegPlacement
from humanoid_studies.planar_gait.lift.sagittal_samples import SagittalPhase, accelerations, sample_gait
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalProjection
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind


@dataclass(frozen=True)
class LiftSettings:
    """How a gait is lifted.

    Attributes:
        period: greatest time between samples [s].
        standing: time to shift the weight before a start, and to shift it back after a stop [s].
        inset: of the zero-moment point in single support from the middle of the sole towards the other foot [m].
        passes: of the dynamic filter.
        friction: coefficient that the planned forces keep to.
        right_first: whether the robot's first leg bears first.
    """

    period: float = 5e-3
    standing: tuple[float, float] = (1.5, 1.5)
    inset: float = 0.0
    passes: int = 4
    friction: float = 0.5
    right_first: bool = True

    def __post_init__(self) -> None:
        """Check the numbers that are only used here.

        Raises:
            InputError: one makes no sense.
        """
        if not math.isfinite(self.inset):
            raise InputError(f"is {self.inset} m", element="inset", remedy="Give a finite distance")
        if self.passes < 0:
            raise InputError(f"is {self.passes}", element="passes", remedy="Give 0 or more")
        if not (math.isfinite(self.friction) and self.friction > 0.0):
            raise InputError(f"is {self.friction}", element="friction", remedy="Give a coefficient above 0")


@dataclass(frozen=True, eq=False)
class LiftedPhase:
    """A phase of the whole robot's motion.

    Attributes:
        kind: as of :class:`SagittalPhase`.
        t: (K,) times [s].
        q: (K, nq) configurations.
        v: (K, nv) velocities.
        a: (K, nv) accelerations.
        bearings: feet on the ground.
        zmp: (K, 2) of all bodies [m].
        zmp_reference: (K, 2) what it should be [m].
        margin: (K,) of ``zmp`` inside the support [m].
        forces: (K, k, 3) of the ground on the corners that bear, bearing after bearing, in the world [N].
        places: (K, k, 3) where these corners are [m].
        torques: (K, nv) of the joints; the base's are zero [N m].
        sagittal: the same phase in the plane.
    """

    kind: str
    t: Reals
    q: Reals
    v: Reals
    a: Reals
    bearings: tuple[Bearing, ...]
    zmp: Reals
    zmp_reference: Reals
    margin: Reals
    forces: Reals
    places: Reals
    torques: Reals
    sagittal: SagittalPhase


@dataclass(frozen=True, eq=False)
class LiftedGait:
    """A gait of the whole robot.

    Attributes:
        robot: that walks.
        legs: limbs; the projection's rear leg first.
        soles: of these legs, by name.
        phases: in order; both sides of a transition are sampled.
        filter_errors: (passes + 1,) greatest distance of the zero-moment point from its reference after each pass of
            the dynamic filter [m].
    """

    robot: Robot
    legs: tuple[str, str]
    soles: dict[str, SoleGeometry]
    phases: tuple[LiftedPhase, ...]
    filter_errors: Reals

    @property
    def margin(self) -> float:
        """Least margin of the zero-moment point [m]."""
        return min(float(phase.margin.min()) for phase in self.phases)

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.phases[-1].t[-1])


def lift_gait(
    gait: GaitSolution,
    projection: SagittalProjection,
    settings: LiftSettings | None = None,
    progress: ProgressCallback | None = None,
) -> LiftedGait:
    """Add lateral sway to a sagittal gait and makes it a motion of all joints.

    1. Soles and hips keep their places in the plane, and the trunk its attitude. Feet stay as far apart as they are in
       the projection's posture.
    2. The centre of mass sways such that the zero-moment point is under the sole that bears. In double support it is
       where the loads that the sagittal gait puts on both feet have their middle (:mod:`.lateral_sway`).
    3. Roll joints, and what that changes of the others, by inverse kinematics (:mod:`.leg_placement`).
    4. The zero-moment point of all bodies, by inverse dynamics, differs from the plan: along x from what the sagittal
       gait has, along y from the pendulum's. The difference goes through the pendulum's equation and corrects hips and
       centre of mass; after a few passes little of it is left (Kajita et al. 2003, there by preview control).
    5. Forces of the ground and joint torques by inverse dynamics (:mod:`.ground_forces`).

    A gait from rest to rest begins and ends standing. Any other one has to repeat after an even number of steps, with
    both legs where they began: its sway is cyclic.

    Args:
        gait: of the projection's model, on level ground.
        projection: of a robot whose legs have six joints.
        settings: how it is lifted.
        progress: told of stages, several times a second at most, with the zero-moment point's greatest error [m] as
            residual; what it raises ends the work and is passed on.

    Raises:
        InputError: a gait that can't be sampled or leaves a loop open, legs that can't reach, or a motion that no
            forces of the ground carry; the message says when.
    """
    return _Lift(gait, projection, settings or LiftSettings(), progress or (lambda _: None)).make()


class _Lift:
    """One gait being lifted."""

    def __init__(
        self, gait: GaitSolution, projection: SagittalProjection, settings: LiftSettings, progress: ProgressCallback
    ) -> None:
        self._robot, self._settings, self._progress = projection.robot, settings, progress
        robot = self._robot
        _check_closed(gait)
        self._phases = sample_gait(gait, projection, settings.period, settings.standing, settings.right_first)
        kinds = [phase.spec.kind for phase in gait.plan.phases]
        self._rests = kinds[0] is PhaseKind.START and kinds[-1] is PhaseKind.STOP
        if not self._rests and (PhaseKind.START in kinds or PhaseKind.STOP in kinds or len(kinds) % 4):
            raise InputError(
                f"phases are {', '.join(kind.label for kind in kinds)}",
                element="gait",
                remedy="Give one from rest to rest, or an even number of steps that repeat: legs have to be back",
            )
        self._legs = _limb_of(robot, projection.rear.joints[2]), _limb_of(robot, projection.front.joints[2])
        soles = [sole_of_leg(robot, leg.joints[2]) for leg in (projection.rear, projection.front)]
        self._soles: dict[str, SoleGeometry] = {sole.name: sole for sole in soles}
        self._placement = LegPlacement(robot, self._legs, soles)
        self._data = robot.model.createData()

    def make(self) -> LiftedGait:
        """Return the lifted gait."""
        model, phases = self._robot.model, self._phases
        self._progress(Progress("sway"))
        planes = [accelerations(phase.t, phase.v) for phase in phases]
        stiffness, forward = [], []
        for phase, a in zip(phases, planes, strict=True):
            stiffness.append(self._stiffness(phase, a))
            forward.append(multibody_zero_moment_point(model, phase.q, phase.v, a)[0][:, 0])
        wanted = [self._lateral_reference(phase) for phase in phases]
        sway = self._solve(stiffness, wanted)
        lateral = [np.column_stack([y, s]) for y, s in zip(sway.position, sway.velocity, strict=True)]
        shift = [np.zeros((len(phase.t), 2)) for phase in phases]
        references = [np.column_stack([x, y]) for x, y in zip(forward, sway.zmp, strict=True)]
        errors: list[float] = []
        for done in range(self._settings.passes + 1):
            motion = self._motion(lateral, shift)
            zmp = [multibody_zero_moment_point(model, *one)[0] for one in motion]
            errors.append(max(float(np.abs(z - r).max()) for z, r in zip(zmp, references, strict=True)))
            self._progress(Progress(f"filter pass {done} of {self._settings.passes}", residual=errors[-1]))
            if done == self._settings.passes:
                break
            for axis, moved in ((0, shift), (1, lateral)):
                off = [r[:, axis] - z[:, axis] for z, r in zip(zmp, references, strict=True)]
                correction = self._solve(stiffness, off)
                for i in range(len(phases)):
                    moved[i] = moved[i] + np.column_stack([correction.position[i], correction.velocity[i]])
                    references[i][:, axis] += correction.zmp[i] - off[i]
        return self._result(motion, zmp, references, np.array(errors))

    def _solve(self, stiffness: Sequence[Reals], zmp: Sequence[Reals]) -> PendulumMotion:
        """Return the motion of the pendulum along one axis, at rest at both ends or cyclic."""
        ends = ((0.0, 0.0), (0.0, 0.0)) if self._rests else None
        pieces = []
        for i, (phase, k, p) in enumerate(zip(self._phases, stiffness, zmp, strict=True)):
            s = (phase.t - phase.t[0]) / (phase.t[-1] - phase.t[0])
            bump, none = 16.0 * (s * (1.0 - s)) ** 2, np.zeros(len(s))
            first, last = self._rests and i == 0, self._rests and i == len(self._phases) - 1
            pieces.append(PendulumPhase(phase.t, k, p, bump if first else none, bump if last else none))
        return solve_pendulum(pieces, ends)

    def _stiffness(self, phase: SagittalPhase, a: Reals) -> Reals:
        """(K,) (z'' + g)/z of the motion in the plane [1/s²]."""
        model, data = self._robot.model, self._data
        gravity = -float(model.gravity.linear[2])
        values = np.empty(len(phase.t))
        for i in range(len(values)):
            pin.centerOfMass(model, data, phase.q[i], phase.v[i], a[i])
            values[i] = (data.acom[0][2] + gravity) / data.com[0][2]
        return values

    def _lateral_reference(self, phase: SagittalPhase) -> Reals:
        """(K,) where the zero-moment point should be along y [m]."""
        pin.forwardKinematics(self._robot.model, self._data, phase.q[0])
        middles = {
            name: float((self._data.oMi[sole.joint] * sole.placement).translation[1])
            for name, sole in self._soles.items()
        }
        centre = 0.5 * sum(middles.values())
        before, after = (
            centre if name is None else middles[name] + math.copysign(self._settings.inset, centre - middles[name])
            for name in phase.stance
        )
        return before + (after - before) * phase.transferred

    def _motion(
        self, lateral: Sequence[Reals], shift: Sequence[Reals]
    ) -> list[tuple[Reals, Reals, Reals]]:
        """Return configuration, velocities, accelerations of each phase."""
        result = []
        guess = self._phases[0].q[0]
        for phase, sways, shifts in zip(self._phases, lateral, shift, strict=True):
            q, v = np.empty_like(phase.q), np.empty_like(phase.v)
            still = self._still(phase)
            for i, time in enumerate(phase.t):
                try:
                    q[i], v[i] = self._placement.place(phase.q[i], phase.v[i], sways[i], shifts[i], guess, still)
                except InputError as problem:
                    raise InputError(
                        f"at {time:.3f} s {problem.problem}", element=problem.element, remedy=problem.remedy
                    ) from None
                guess = q[i]
            result.append((q, v, accelerations(phase.t, v)))
        return result

    def _still(self, phase: SagittalPhase) -> dict[str, pin.SE3]:
        """Return where soles are that bear as a whole.

        The closed chain of double support is held by penalties, which let its front foot turn by a degree or so on the
        way; at the phase's end it is in place.
        """
        pin.forwardKinematics(self._robot.model, self._data, phase.q[-1])
        return {
            bearing.sole: self._data.oMi[self._soles[bearing.sole].joint].copy()
            for bearing in phase.bearings
            if bearing.part is Part.WHOLE
        }

    def _result(
        self,
        motion: Sequence[tuple[Reals, Reals, Reals]],
        zmp: Sequence[Reals],
        references: Sequence[Reals],
        errors: Reals,
    ) -> LiftedGait:
        model, data = self._robot.model, self._data
        lifted = []
        for phase, (q, v, a), points, wanted in zip(self._phases, motion, zmp, references, strict=True):
            margin, ground = np.empty(len(phase.t)), list[GroundForces]()
            self._progress(Progress(f"forces from {phase.t[0]:.1f} s on", residual=float(errors[-1])))
            for i, time in enumerate(phase.t):
                pin.forwardKinematics(model, data, q[i])
                margin[i] = support_margin(bearing_points(self._soles, data, phase.bearings), points[i])
                shares = _shares(phase, float(phase.transferred[i]))
                forces = ground_forces(
                    model, data, self._soles, phase.bearings, shares, (q[i], v[i], a[i]), self._settings.friction
                )
                if forces is None:
                    raise _unsupported(phase.kind, float(time), float(margin[i]), self._settings.friction)
                ground.append(forces)
            lifted.append(
                LiftedPhase(
                    phase.kind,
                    phase.t,
                    q,
                    v,
                    a,
                    phase.bearings,
                    points,
                    wanted,
                    margin,
                    np.array([instant.forces for instant in ground]),
                    np.array([instant.places for instant in ground]),
                    np.array([instant.torques for instant in ground]),
                    phase,
                )
            )
        return LiftedGait(self._robot, self._legs, self._soles, tuple(lifted), errors)


def corner_forces(lifted: LiftedGait, phase: LiftedPhase, sample: int) -> Iterator[tuple[SoleGeometry, Reals, Reals]]:
    """Sole, force (3,) [N] and place (3,) [m] of every corner that bears at a sample of a phase."""
    rows = itertools.count()
    for bearing in phase.bearings:
        sole = lifted.soles[bearing.sole]
        for row in itertools.islice(rows, len(sole.corners(bearing.part))):
            yield sole, phase.forces[sample, row], phase.places[sample, row]


def _check_closed(gait: GaitSolution) -> None:
    """Refuse a gait that leaves a loop open: its feet slide over the ground by the gap.

    Raises:
        InputError: a double support violates its closure.
    """
    for index, solution in enumerate(gait.phases):
        for violation in solution.violations:
            if violation.kind is ViolationKind.CLOSURE:
                raise InputError(
                    f"leaves its loop open by {1e3 * solution.closure_gap.max():.1f} mm: {violation}",
                    element=f"gait: phase {index + 1}, {gait.plan.phases[index].spec.kind.label}",
                    remedy="Give a gait that closes it: another stride or duration, or a greater penalties.closure",
                )


def _unsupported(kind: str, time: float, margin: float, friction: float) -> InputError:
    """Why no forces of the ground carry a motion: the zero-moment point is outside, or forces would pull or slide."""
    said = f"at {time:.3f} s no forces of the ground carry the motion: the zero-moment point is "
    if margin < 0.0:
        return InputError(
            f"{said}{-100.0 * margin:.1f} cm outside the support",
            element=kind,
            remedy="Give a gait whose heel and toe forces stay well above zero",
        )
    return InputError(
        f"{said}{100.0 * margin:.1f} cm inside the support, but forces within a friction of {friction:g} don't do",
        element=kind,
        remedy="Give a gait that accelerates less, or more friction in the lift's settings",
    )


def _limb_of(robot: Robot, joint: str) -> str:
    return next(name for name, joints in robot.limbs.items() if joint in joints)


def _shares(phase: SagittalPhase, transferred: float) -> list[float]:
    """Return the share of the load that each foot should have, once so much has gone over."""
    before, after = phase.stance
    names = [bearing.sole for bearing in phase.bearings]
    parts = []
    for name in names:
        start, end = (1.0 / len(names) if one is None else float(one == name) for one in (before, after))
        parts.append(start + (end - start) * transferred)
    return parts
