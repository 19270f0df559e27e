# SPDX-License-Identifier: Apache-2.0
"""What a phase of a walk is, and what is solved for it: model, ends, duration (specification 003 section 2.32)."""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_model.errors import InputError
from humanoid_planner.gait.mechanism.phase_model import PhaseModel
from humanoid_planner.gait.specification.boundary_state import BoundaryState
from humanoid_planner.gait.specification.step_data import RestData, StepData, WalkData
from humanoid_planner.gait.specification.walker import Walker

START_DURATION = 0.45
"""Of the swing from rest, as the thesis has it (III.3.2.8 a) [s]."""
STOP_DURATION = 0.5
"""Of the swing to rest (III.3.2.8 d) [s]."""

MOST_CYCLES = 1000
"""Cyclic steps of one gait, ten minutes of walking: its samples are all kept."""
MOST_PHASES = 2 * MOST_CYCLES + 10
"""Of one gait: room for a start, a braking step and a stop beside them."""

_CLOSED = 1e-9
"""Greatest gap [m] and speed of a gap [m/s] at the ends of a double support."""


class PhaseKind(str, enum.Enum):
    """The four kinds of phases of the thesis."""

    DOUBLE = "double_support"
    SINGLE = "single_support"
    START = "start"
    STOP = "stop"


@dataclass(frozen=True)
class PhaseSpec:
    """A phase by its data.

    Attributes:
        kind: of the phase.
        duration: [s].
        step: of a double support.
        previous: double support before a single support or a stop.
        next: double support after a single support or a start.
        rest: before a start or after a stop.
    """

    kind: PhaseKind
    duration: float
    step: StepData | None = None
    previous: StepData | None = None
    next: StepData | None = None
    rest: RestData | None = None

    def __post_init__(self) -> None:
        """Check that the phase has the data of its kind and no other.

        Raises:
            InputError: no kind, the duration isn't positive, or data are missing or don't belong to the kind.
        """
        if not isinstance(self.kind, PhaseKind):
            known = ", ".join(f"PhaseKind.{kind.name}" for kind in PhaseKind)
            raise InputError(f"is {self.kind!r}", element="phase.kind", remedy=f"Use one of {known}")
        if not (math.isfinite(self.duration) and self.duration > 0.0):
            raise InputError(
                f"is {self.duration} s", element=f"{self.kind.value}.duration", remedy="Give a time above 0"
            )
        needed = {
            PhaseKind.DOUBLE: {"step"},
            PhaseKind.SINGLE: {"previous", "next"},
            PhaseKind.START: {"rest", "next"},
            PhaseKind.STOP: {"previous", "rest"},
        }[self.kind]
        given = {name for name in ("step", "previous", "next", "rest") if getattr(self, name) is not None}
        if given != needed:
            raise InputError(
                f"has {', '.join(sorted(given)) or 'no data'}",
                element=self.kind.value,
                remedy=f"Give {' and '.join(sorted(needed))} and nothing else",
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
        return self.spec.kind is PhaseKind.DOUBLE

    @property
    def advance(self) -> complex:
        """From the frame of this phase to that of the next one: double support hands over to the front foot [m]."""
        return self.spec.step.foothold if self.spec.step is not None else 0j

    def limit_violations(self) -> tuple[str, ...]:
        """Which joints are out of their range or too fast at one of the ends, in words."""
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
        walker: who walks.
        spec: the phase.

    Raises:
        InputError: a leg can't reach at one of the ends; the message says which one and by how much.
    """
    if spec.step is not None:
        model = walker.double_support(spec.step)
        start, end = walker.double_support_start(spec.step), walker.double_support_end(spec.step)
        for name, state in (("start", start), ("end", end)):
            gap = float(np.abs(model.closure(state.q)).max())
            rate = float(np.abs(model.closure_jacobian(state.q) @ state.v).max())
            if max(gap, rate) > _CLOSED:
                raise InputError(
                    f"front foot off by {gap:.1e} m and {rate:.1e} m/s",
                    element=f"{spec.kind.value} {name}",
                    remedy="Give a state in which the loop is closed",
                )
        return PlannedPhase(spec, model, start, end)
    if spec.previous is not None:
        start = walker.single_from_double(walker.double_support_end(spec.previous))
    else:
        start = walker.rest(_given(spec.rest))
    if spec.next is not None:
        end = walker.single_from_touch_down(walker.double_support_start(spec.next))
    else:
        end = walker.rest(_given(spec.rest))
    return PlannedPhase(spec, walker.single_support(), start, end)


def cyclic_walk(walk: WalkData, cycles: int = 1) -> tuple[PhaseSpec, ...]:
    """Double and single support in turn, the same step for ever (III.3.2.8 b).

    Args:
        walk: step and durations.
        cycles: how many times.

    Raises:
        InputError: fewer than one cycle, or more than :data:`MOST_CYCLES`.
    """
    if not (isinstance(cycles, (int, np.integer)) and 1 <= cycles <= MOST_CYCLES):
        raise InputError(f"is {cycles}", element="cycles", remedy=f"Give a whole number from 1 to {MOST_CYCLES}")
    double = PhaseSpec(PhaseKind.DOUBLE, walk.double_support, step=walk.step)
    single = PhaseSpec(PhaseKind.SINGLE, walk.single_support, previous=walk.step, next=walk.step)
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
    last = PhaseSpec(PhaseKind.SINGLE, walk.single_support, previous=walk.step, next=braking.step)
    return (
        PhaseSpec(PhaseKind.START, start_duration, next=walk.step, rest=walk.rest),
        *steady[:-1],
        last,
        PhaseSpec(PhaseKind.DOUBLE, braking.double_support, step=braking.step),
        PhaseSpec(PhaseKind.STOP, stop_duration, previous=braking.step, rest=braking.rest),
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
    phases = [PhaseSpec(PhaseKind.START, start_duration, next=steps[0].step, rest=before)]
    for first, second in itertools.pairwise(steps):
        phases.append(PhaseSpec(PhaseKind.DOUBLE, first.double_support, step=first.step))
        phases.append(PhaseSpec(PhaseKind.SINGLE, first.single_support, previous=first.step, next=second.step))
    phases.append(PhaseSpec(PhaseKind.DOUBLE, steps[-1].double_support, step=steps[-1].step))
    phases.append(PhaseSpec(PhaseKind.STOP, stop_duration, previous=steps[-1].step, rest=after))
    return tuple(phases)


def _given(rest: RestData | None) -> RestData:
    if rest is None:
        raise InputError("has no rest", element="phase", remedy="Give it")
    return rest
