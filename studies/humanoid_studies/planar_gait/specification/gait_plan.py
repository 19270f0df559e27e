# SPDX-License-Identifier: Apache-2.0
"""Phases in a row: their place in the world, whether they join, their sums (specification 003 section 2.32.2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.phase_spec import MAX_PHASES, PhaseSpec, PlannedPhase, plan_phase
from humanoid_studies.planar_gait.specification.walker import Walker

JUMP = 1e-8
"""Greatest jump of places [m] and velocities [m/s] between phases that counts as none."""


@dataclass(frozen=True)
class TransitionJump:
    """What changes at a transition in the world.

    Attributes:
        place: greatest jump of a point of the robot [m].
        velocity: greatest jump of its velocity [m/s].
        rate: greatest jump of an absolute rate of a body [rad/s].
        point: name of the point, in single support, that jumps most.
    """

    place: float
    velocity: float
    rate: float
    point: str

    def within(self, tolerance: float = JUMP) -> bool:
        """Return whether nothing jumps by more than the tolerance."""
        return max(self.place, self.velocity, self.rate) <= tolerance


@dataclass(frozen=True)
class GaitTotals:
    """Sums over a gait.

    Attributes:
        duration: [s].
        distance: that the hip advances [m].
        energy: J_e [J].
    """

    duration: float
    distance: float
    energy: float

    @property
    def mean_speed(self) -> float:
        """[m/s]."""
        return self.distance / self.duration

    @property
    def mean_power(self) -> float:
        """[W]."""
        return self.energy / self.duration

    def cost_of_transport(self, weight: float) -> float:
        """Energy over weight times distance.

        Args:
            weight: of the robot [N].

        Raises:
            InputError: the weight isn't positive, or the hip doesn't advance.
        """
        if not (math.isfinite(weight) and weight > 0.0 and self.distance > 0.0):
            raise InputError(
                f"weight {weight}, distance {self.distance:g} m",
                element="cost of transport",
                remedy="Give both above 0",
            )
        return self.energy / (weight * self.distance)


@dataclass(frozen=True, eq=False)
class GaitPlan:
    """Phases that follow each other, each in a frame of its own.

    Attributes:
        walker: the walking model.
        phases: in order.
        offsets: (phases, 2) place of each phase's frame in the world [m].
    """

    walker: Walker
    phases: tuple[PlannedPhase, ...]
    offsets: Array

    @property
    def duration(self) -> float:
        """[s]."""
        return sum(phase.spec.duration for phase in self.phases)

    @property
    def starts(self) -> Array:
        """(phases,) time at which each phase begins [s]."""
        return np.concatenate([[0.0], np.cumsum([phase.spec.duration for phase in self.phases])[:-1]])

    @property
    def distance(self) -> float:
        """Advance of the hip from the first phase's beginning to the last one's end [m]."""
        first, last = self.phases[0], self.phases[-1]
        begin = first.model.points["hip"].position(first.start.q) + self.offsets[0]
        end = last.model.points["hip"].position(last.end.q) + self.offsets[-1]
        return float(end[0] - begin[0])

    @property
    def next_offset(self) -> Array:
        """(2,) place of the frame of a phase that would follow [m]."""
        advance = self.phases[-1].advance
        return np.asarray(self.offsets[-1] + np.array([advance.real, advance.imag]))

    def repeated(self, cycles: int) -> GaitPlan:
        """Return the phases as often as told, each time where the time before ends."""
        advance = self.next_offset - self.offsets[0]
        offsets = np.vstack([self.offsets + cycle * advance for cycle in range(cycles)])
        return GaitPlan(self.walker, self.phases * cycles, offsets)

    def legs_exchanged(self, cycles: int = 1) -> tuple[bool, ...]:
        """Of each phase of the gait repeated, whether the first phase's front leg has the part of the rear one.

        The front leg becomes the stance leg where single support follows double support.
        """
        count, exchanged, found = len(self.phases), False, []
        for index in range(cycles * count):
            before, own = self.phases[(index - 1) % count], self.phases[index % count]
            exchanged ^= index > 0 and before.double and not own.double
            found.append(exchanged)
        return tuple(found)

    def place(self, index: int, point: str, q: ArrayLike) -> Array:
        """(..., 2) place in the world of a point of a phase's model at angles (..., n) [m]."""
        place = self.phases[index].model.points[point].position(q)
        return np.asarray(place + self.offsets[index])

    def jump(
        self, index: int, before: BoundaryState | None = None, after: BoundaryState | None = None
    ) -> TransitionJump:
        """Return what jumps from phase ``index`` to the next one.

        Args:
            index: of the phase before the transition.
            before: its last state; the planned one if left out.
            after: the next phase's first state; the planned one if left out.
        """
        first, second = self.phases[index], self.phases[index + 1]
        last = first.end if before is None else before
        begin = second.start if after is None else after
        worst = (0.0, "")
        velocity = 0.0
        for single, names in self.walker.same_points.items():
            if first.double and second.double:
                one = other = names[0]
            else:
                one, other = (names[1], single) if first.double else (single, names[0])
            gap = np.abs(self.place(index, one, last.q) - self.place(index + 1, other, begin.q)).max()
            worst = max(worst, (float(gap), single))
            speeds = [
                phase.model.points[name].jacobian(state.q) @ state.v
                for phase, name, state in ((first, one, last), (second, other, begin))
            ]
            velocity = max(velocity, float(np.abs(speeds[0] - speeds[1]).max()))
        if first.double and second.double:
            rates = (last.v, begin.v)
        elif first.double:
            rates = (self.walker.single_from_double(last).v, begin.v)
        else:
            rates = (last.v, self.walker.single_from_touch_down(begin).v)
        return TransitionJump(worst[0], velocity, float(np.abs(rates[0] - rates[1]).max()), worst[1])

    def jumps(self) -> tuple[TransitionJump, ...]:
        """Return what jumps at each transition."""
        return tuple(self.jump(index) for index in range(len(self.phases) - 1))

    def totals(self, energies: Sequence[float]) -> GaitTotals:
        """Return sums for given energies of the phases [J].

        Raises:
            InputError: not one energy for each phase, or one that isn't finite and at least zero.
        """
        if len(energies) != len(self.phases) or not all(math.isfinite(e) and e >= 0.0 for e in energies):
            raise InputError(
                f"are {list(energies)}", element="energies", remedy=f"Give {len(self.phases)}, each 0 J or more"
            )
        return GaitTotals(self.duration, self.distance, float(sum(energies)))


def plan_gait(walker: Walker, specs: Sequence[PhaseSpec], offset: complex = 0.0) -> GaitPlan:
    """Plan phases in a row and checks that they join.

    Args:
        walker: the walking model.
        specs: phases in order.
        offset: place of the first phase's frame in the world [m].

    Raises:
        InputError: no phase or more than :data:`.MOST_PHASES`, two of the same support one after the other, an
            unreachable end, or a jump of places or velocities at a transition.
    """
    if not 1 <= len(specs) <= MAX_PHASES:
        raise InputError(f"has {len(specs) or 'no'} phases", element="gait", remedy=f"Give 1 to {MAX_PHASES}")
    for first, second in itertools.pairwise(specs):
        if first.kind.double == second.kind.double:
            raise InputError(
                f"{second.kind.label} follows {first.kind.label}",
                element="gait",
                remedy="Let single and double support take turns",
            )
    planned = {spec: plan_phase(walker, spec) for spec in dict.fromkeys(specs)}
    phases = tuple(planned[spec] for spec in specs)
    places = offset + np.concatenate([[0.0], np.cumsum([phase.advance for phase in phases[:-1]])])
    plan = GaitPlan(walker, phases, np.stack([places.real, places.imag], axis=1))
    for index, jump in enumerate(plan.jumps()):
        if not jump.within():
            raise InputError(
                f"jumps by {jump.place:.2e} m ({jump.point}), {jump.velocity:.2e} m/s, {jump.rate:.2e} rad/s",
                element=f"gait: from phase {index + 1} to {index + 2}",
                remedy="Let both name the same step",
            )
    return plan
