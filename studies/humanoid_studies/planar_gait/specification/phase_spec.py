# SPDX-License-Identifier: Apache-2.0
"""What a phase of a walk is, and what is solved for it: model, ends, duration (specification 003 section 2.32)."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_model.checks import check_not_negative, check_numbers
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.step_data import RestData, StepData, WalkData
from humanoid_studies.planar_gait.specification.walker import Walker

START_DURATION = 0.45
"""Of the swing from rest, as the thesis has it (III.3.2.8 a) [s]."""
STOP_DURATION = 0.5
"""Of the swing to rest (III.3.2.8 d) [s]."""

MAX_CYCLES = 1000
"""Cyclic steps of one gait, ten minutes of walking: its samples are all kept."""
MAX_PHASES = 2 * MAX_CYCLES + 10
"""Of one gait: room for a start, a braking step and a stop beside them."""

_CLOSED = 1e-9
"""Greatest gap [m] and speed of a gap [m/s] at the ends of a double support."""


class PhaseKind(enum.IntEnum):
    """The kinds of phases of a walk, numbered as in messages."""

    DOUBLE_SUPPORT = 0
    SINGLE_SUPPORT = 1
    START = 2
    BRAKE = 3
    STOP = 4

    @property
    def label(self) -> str:
        """In reports, files and on the command line: ``double_support``."""
        return self.name.lower()

    @property
    def double(self) -> bool:
        """Whether both feet bear."""
        return self in (PhaseKind.DOUBLE_SUPPORT, PhaseKind.BRAKE)


_HAS = {
    PhaseKind.DOUBLE_SUPPORT: ("step",),
    PhaseKind.BRAKE: ("step",),
    PhaseKind.SINGLE_SUPPORT: ("step", "next_step"),
    PhaseKind.START: ("rest", "next_step"),
    PhaseKind.STOP: ("step", "rest"),
}
"""Data of each kind."""


@dataclass(frozen=True)
class PhaseSpec:
    """A phase by its data.

    Attributes:
        kind: of the phase.
        duration: [s]; 0: free, optimised too.
        step: the double support itself, or the one before a single support or a stop.
        next_step: double support after a single support or a start.
        rest: before a start or after a stop; of a :class:`.GaitSpec` the model's own if left out.
        initial_state: absolute angles of the segments, then their rates [rad, rad/s]; empty: from the step. Mechanisms
            that don't walk need both states and no step.
        final_state: likewise.
        free_initial: which components of the initial state are free; empty: none.
        free_final: likewise of the final state.
    """

    kind: PhaseKind
    duration: float
    step: StepData | None = None
    next_step: StepData | None = None
    rest: RestData | None = None
    initial_state: tuple[float, ...] = ()
    final_state: tuple[float, ...] = ()
    free_initial: tuple[bool, ...] = ()
    free_final: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        """Check what doesn't depend on the walker.

        Raises:
            InputError: no kind, a duration that isn't one, numbers that aren't, or data that don't belong to the kind.
        """
        if not isinstance(self.kind, PhaseKind):
            known = ", ".join(f"PhaseKind.{kind.name}" for kind in PhaseKind)
            raise InputError(f"is {self.kind!r}", element="kind", remedy=f"Use one of {known}")
        check_not_negative(self.duration, "duration", "s; 0: free")
        for end in ("initial_state", "final_state"):
            check_numbers(np.array(getattr(self, end), dtype=float), end)
        for name in ("step", "next_step", "rest"):
            if getattr(self, name) is not None and name not in _HAS[self.kind]:
                raise InputError(
                    f"is given, but a phase of kind {self.kind.name} has none", element=name, remedy="Leave it empty"
                )
        step = self.step
        if self.kind is PhaseKind.BRAKE and step and step.final_hip_velocity.real >= step.initial_hip_velocity.real:
            raise InputError(
                f"is {step.final_hip_velocity.real:g} m/s, not below {step.initial_hip_velocity.real:g} m/s before",
                element="step.final_hip_velocity",
                remedy="Give a lower one, or kind 0 (DOUBLE_SUPPORT)",
            )

    @property
    def before(self) -> StepData | None:
        """The double support before, of phases that come after one."""
        return None if self.kind.double else self.step

    @property
    def own(self) -> StepData | None:
        """The double support that this phase is; None of others."""
        return self.step if self.kind.double else None

    def check_data(self) -> None:
        """Refuse a phase of a walker that lacks what its kind needs.

        Raises:
            InputError: it does.
        """
        for name in _HAS[self.kind]:
            if getattr(self, name) is None:
                what = "how it rests" if name == "rest" else "step length, hips and their velocities"
                raise InputError(
                    f"is empty, but a phase of kind {self.kind.name} needs it", element=name, remedy=f"Give {what}"
                )


@dataclass(frozen=True, eq=False)
class PlannedPhase:
    """A phase ready to be optimised.

    Attributes:
        spec: its data.
        model: its dynamics.
        start: state at its beginning.
        end: state at its end.
    """

    spec: PhaseSpec
    model: PhaseModel
    start: BoundaryState
    end: BoundaryState

    @property
    def double(self) -> bool:
        """Whether both feet bear."""
        return self.spec.kind.double

    @property
    def advance(self) -> complex:
        """From the frame of this phase to that of the next one: double support hands over to the front foot [m]."""
        return self.spec.own.foothold if self.spec.own is not None else 0j

    def limit_violations(self) -> tuple[str, ...]:
        """Return which joints are out of their range or too fast at one of the ends, in words."""
        model, found = self.model, []
        for name, state in (("start", self.start), ("end", self.end)):
            angles, rates = model.joint_angles(state.q), model.joint_rates(state.v)
            for joint, angle, rate in zip(model.joints, angles, rates, strict=True):
                shown = [joint.sign * (value - joint.offset) + 0.0 for value in (angle, joint.lower, joint.upper)]
                low, high = sorted(shown[1:])
                if not low <= shown[0] <= high:
                    found.append(
                        f"{joint.name} is at {shown[0]:.3f} rad at the {name}, its range is {low:g} to {high:g}"
                    )
                if abs(rate) > joint.rate_limit:
                    found.append(
                        f"{joint.name} turns at {abs(rate):.2f} rad/s at the {name}, its limit is {joint.rate_limit:g}"
                    )
        return tuple(found)


def plan_phase(walker: Walker, spec: PhaseSpec) -> PlannedPhase:
    """Model and ends of a phase.

    Args:
        walker: the walking model.
        spec: the phase.

    Raises:
        InputError: a leg can't reach at one of the ends; the message says which one and by how much.
    """
    spec.check_data()
    if spec.own is not None:
        model = walker.double_support(spec.own)
        start, end = walker.double_support_start(spec.own), walker.double_support_end(spec.own)
        for name, state in (("start", start), ("end", end)):
            gap = float(np.abs(model.closure(state.q)).max())
            rate = float(np.abs(model.closure_jacobian(state.q) @ state.v).max())
            if max(gap, rate) > _CLOSED:
                raise InputError(
                    f"front foot off by {gap:.1e} m and {rate:.1e} m/s",
                    element=f"{spec.kind.label} {name}",
                    remedy="Give a state in which the loop is closed",
                )
        return PlannedPhase(spec, model, start, end)
    if spec.step is not None:
        start = walker.single_from_double(walker.double_support_end(spec.step))
    else:
        start = walker.rest(_given(spec.rest))
    if spec.next_step is not None:
        end = walker.single_from_touch_down(walker.double_support_start(spec.next_step))
    else:
        end = walker.rest(_given(spec.rest))
    return PlannedPhase(spec, walker.single_support(), start, end)


def cyclic_walk(walk: WalkData, cycles: int = 1) -> tuple[PhaseSpec, ...]:
    """Double and single support in turn, the same step repeated (III.3.2.8 b).

    Args:
        walk: step and durations.
        cycles: how many times.

    Raises:
        InputError: fewer than one cycle, or more than :data:`MAX_CYCLES`.
    """
    if not (isinstance(cycles, (int, np.integer)) and 1 <= cycles <= MAX_CYCLES):
        raise InputError(f"is {cycles}", element="cycles", remedy=f"Give a whole number from 1 to {MAX_CYCLES}")
    double = PhaseSpec(PhaseKind.DOUBLE_SUPPORT, walk.double_support, step=walk.step)
    single = PhaseSpec(PhaseKind.SINGLE_SUPPORT, walk.single_support, step=walk.step, next_step=walk.step)
    return (double, single) * cycles


def walk_between_rests(
    walk: WalkData,
    braking: WalkData,
    cycles: int = 1,
    start_duration: float = START_DURATION,
    stop_duration: float = STOP_DURATION,
) -> tuple[PhaseSpec, ...]:
    """Start, cyclic steps, braking, stop: with one cycle the five phases of III.3.2.8 e.

    Args:
        walk: the cyclic step, its durations, and the rest before it.
        braking: the double support in which the hip slows down, its duration, and the rest after it.
        cycles: of the cyclic step.
        start_duration: of the swing from rest [s].
        stop_duration: of the swing to rest [s].

    Raises:
        InputError: fewer than one cycle, or a duration that isn't positive.
    """
    steady = cyclic_walk(walk, cycles)
    last = PhaseSpec(PhaseKind.SINGLE_SUPPORT, walk.single_support, step=walk.step, next_step=braking.step)
    return (
        PhaseSpec(PhaseKind.START, start_duration, next_step=walk.step, rest=walk.rest),
        *steady[:-1],
        last,
        PhaseSpec(PhaseKind.DOUBLE_SUPPORT, braking.double_support, step=braking.step),
        PhaseSpec(PhaseKind.STOP, stop_duration, step=braking.step, rest=braking.rest),
    )


def walk_through(
    steps: Sequence[WalkData],
    before: RestData,
    after: RestData,
    start_duration: float = START_DURATION,
    stop_duration: float = STOP_DURATION,
) -> tuple[PhaseSpec, ...]:
    """From rest to rest through any double supports: speed and length may change from step to step.

    Args:
        steps: double supports in order; the duration of the swing that follows one is its ``single_support``. Rests of
            steps aren't looked at.
        before: rest before the first swing.
        after: rest after the last one.
        start_duration: of the swing from rest [s].
        stop_duration: of the swing to rest [s].

    Raises:
        InputError: no step, or a duration that isn't positive.
    """
    if not steps:
        raise InputError("no step", element="steps", remedy="Give one or more")
    phases = [PhaseSpec(PhaseKind.START, start_duration, next_step=steps[0].step, rest=before)]
    for first, second in itertools.pairwise(steps):
        phases.append(PhaseSpec(PhaseKind.DOUBLE_SUPPORT, first.double_support, step=first.step))
        phases.append(PhaseSpec(PhaseKind.SINGLE_SUPPORT, first.single_support, step=first.step, next_step=second.step))
    phases.append(PhaseSpec(PhaseKind.DOUBLE_SUPPORT, steps[-1].double_support, step=steps[-1].step))
    phases.append(PhaseSpec(PhaseKind.STOP, stop_duration, step=steps[-1].step, rest=after))
    return tuple(phases)


def _given(rest: RestData | None) -> RestData:
    assert rest is not None
    return rest
