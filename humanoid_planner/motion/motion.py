# SPDX-License-Identifier: Apache-2.0
"""What a motion along a plan is asked to be, and what it came out as.

What its contacts do between one posture and the next (specification 001 section 8.3), and what a stabiliser takes of
it (section 8.6).
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.checks import check_number
from humanoid_model.contact import Contact, ContactKind, Stance
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, choice, count, number
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory


class Case(enum.Enum):
    """How a stance comes out of the one before, and goes over into the next: the thesis' five cases."""

    ADDED_ADDED = "1"
    """One body comes into contact."""
    REMOVED_REMOVED = "2"
    """One body leaves."""
    ADDED_REMOVED = "3"
    """The weight is transferred; no body moves."""
    MOVED = "4a"
    """One body goes from one contact to the next."""
    LEFT_AND_CAME = "4b"
    """One body leaves, another one comes."""


@dataclass(frozen=True)
class Transition:
    """From one posture of a plan to the next.

    Attributes:
        index: of the posture that it begins with.
        case: of the thesis.
        held: contacts that hold all the while; they may all bear.
        leaving: contact that bears no more at the beginning, and is left.
        arriving: contact that is made, and doesn't bear yet at the end.
        fresh: locations of held contacts that don't bear at the beginning.
        ending: locations of held contacts that don't bear at the end.
    """

    index: int
    case: Case
    held: Stance
    leaving: Contact | None
    arriving: Contact | None
    fresh: tuple[str, ...]
    ending: tuple[str, ...]

    @property
    def label(self) -> str:
        """How messages call it."""
        parts = []
        if self.leaving is not None and self.arriving is not None and self.case is Case.MOVED:
            parts.append(
                f"{self.arriving.location.name} from {self.leaving.surface.name} to {self.arriving.surface.name}"
            )
        else:
            if self.leaving is not None:
                parts.append(f"{self.leaving.location.name} leaves {self.leaving.surface.name}")
            if self.arriving is not None:
                parts.append(f"{self.arriving.location.name} comes onto {self.arriving.surface.name}")
        return f"step {self.index} ({', '.join(parts) or 'weight transfer'})"


def find_transitions(stances: Sequence[Stance]) -> list[Transition]:
    """Return transitions between the stances of a plan.

    A contact of the kind RELEASED is one that is new, if the stance before doesn't have it, or about to go. Before the
    first posture and after the last one nothing changes.

    Raises:
        InputError: fewer than two stances, or two that differ by more than a contact that goes and one that comes.
    """
    if len(stances) < 2:
        raise InputError(f"has {len(stances)} stances", element="plan", remedy="Give a plan of two or more")
    found = []
    for index, (stance, following) in enumerate(itertools.pairwise(stances)):
        goes, comes = stance.lacking_in(following), following.lacking_in(stance)
        if len(goes) > 1 or len(comes) > 1:
            names = ", ".join(sorted({contact.location.name for contact in (*goes, *comes)}))
            raise InputError(
                f"the contacts of {names} change at once",
                element=f"plan: stance {index + 1}",
                remedy="Let consecutive stances differ by one contact that goes and one that comes",
            )
        for contact in (*goes, *comes):
            if contact.kind.bears:
                raise InputError(
                    f"{contact.location.name} bears on {contact.surface.name} where it is made or broken",
                    element=f"plan: stance {index + (contact in comes)}",
                    remedy=f"Give it the kind {ContactKind.RELEASED.name} there",
                )
        held = [contact for contact in stance.contacts if contact not in goes]
        last = {contact.location.name: contact for contact in following.contacts}
        found.append(
            Transition(
                index,
                _case(goes, comes),
                Stance(tuple(replace(contact, kind=ContactKind.FIXED) for contact in held)),
                goes[0] if goes else None,
                comes[0] if comes else None,
                tuple(contact.location.name for contact in held if not contact.kind.bears),
                tuple(c.location.name for c in held if not last[c.location.name].kind.bears),
            )
        )
    return found


def _case(goes: Sequence[Contact], comes: Sequence[Contact]) -> Case:
    if goes and comes:
        return Case.MOVED if goes[0].location.link == comes[0].location.link else Case.LEFT_AND_CAME
    if goes:
        return Case.REMOVED_REMOVED
    if comes:
        return Case.ADDED_ADDED
    return Case.ADDED_REMOVED


LAWS = ("fastest", "sinusoidal")


class Plan(Protocol):
    """Stances and a posture of each; a :class:`humanoid_planner.contacts.ContactPlan` is one."""

    @property
    def stances(self) -> Sequence[Stance]:
        """Contacts; those that are new or about to go are of the kind RELEASED."""

    @property
    def postures(self) -> Sequence[NDArray]:
        """(nq,) each."""


@dataclass(frozen=True, eq=False)
class PlannedPostures:
    """A plan given by its stances and postures."""

    stances: Sequence[Stance]
    postures: Sequence[NDArray]


@dataclass(frozen=True)
class MotionSettings(Described):
    """How a plan becomes a motion.

    Attributes:
        durations: least ones of steps, by their index [s].
        via: points that a moving body passes through, by the step's index [m].

    Raises:
        InputError: a number or a word that can't be used.
    """

    law: str = choice("fastest", LAWS, "fastest within the limits, or sinusoidal, the thesis' (7.3)")
    approach: float = number(0.02, "length of the straight pieces along the normals", "m", low=0.0)
    clearance: float = number(0.01, "of a moving body from what it isn't about to touch", "m", low=0.0)
    samples: int = count(0, "projected postures between two of the plan; 0 for as many as the way is long")
    speed: float = number(0.5, "share of the joints' speed limits", low=0.0, above=True, high=1.0)
    joint_speed: float = number(math.inf, "largest joint speed beside", "rad/s or m/s", low=0.0, above=True)
    acceleration: float = number(5.0, "largest of a joint", "rad/s² or m/s²", low=0.0, above=True)
    effort: float = number(0.9, "share of the joints' effort limits", low=0.0, above=True, high=1.0)
    reserve: float = number(
        0.015,
        "that forces keep from the edges of contacts in the plan's postures and between them; half of it at speed",
        "m",
        low=0.0,
    )
    least_reserve: float = number(
        0.005, "that is enough where a step has none with the reserve; the result tells these steps", "m", low=0.0
    )
    pace: float = number(
        0.7, "share of the fastest law's speed; forces keep off their limits with less", low=0.0, above=True, high=1.0
    )
    pause: float = number(0.0, "at rest after each step", "s", low=0.0)
    period: float = number(
        0.005, "between two samples of the trajectory, the control period", "s", low=0.0, above=True
    )
    searched: int = count(
        400, "random postures that a search grows towards where no way along the straight line was found"
    )
    seed: int = count(0, "of that search; the same one gives the same motion")
    durations: Mapping[int, float] = field(default_factory=dict)
    via: Mapping[int, Sequence[ArrayLike]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        for index, duration in self.durations.items():
            check_number(duration, f"durations[{index}]")


@dataclass(frozen=True, eq=False)
class MotionStep:
    """From one posture of the plan to the next.

    Attributes:
        transition: what the contacts do.
        start: [s].
        duration: [s].
        walk: (k, nq) postures along it, near enough to each other to be verified.
        searched: whether the straight projection failed and a way was searched for.
        reserve: that forces keep from the edges of contacts; half of it at speed [m].
    """

    transition: Transition
    start: float
    duration: float
    walk: Array
    searched: bool
    reserve: float


@dataclass(frozen=True, eq=False)
class MotionResult:
    """What became of a plan.

    Attributes:
        success: whether it is the whole plan.
        explanation: in words; after a failure, which step and what keeps it.
        trajectory: the motion, after a failure the part before it; None where there is none.
        steps: that are in it.
        stances: of the plan as far as the steps go.
        postures: (nq,) of these stances, with the reserve.
        time: wall-clock time that it took [s].
    """

    success: bool
    explanation: str
    trajectory: WholeBodyTrajectory | None
    steps: tuple[MotionStep, ...]
    stances: tuple[Stance, ...]
    postures: tuple[Array, ...]
    time: float

    def parts(self) -> tuple[list[Stance], list[Array]]:
        """Return stances and postures along them in the order of time: what :func:`verify_plan` takes."""
        stances, walks = list(self.stances[:1]), list(self.postures[:1])
        for step, stance, q in zip(self.steps, self.stances[1:], self.postures[1:], strict=True):
            stances += [step.transition.held, stance]
            walks += [step.walk, q]
        return stances, walks


class WaistReferences(NamedTuple):
    """References of K samples.

    Attributes:
        zero_moment_point: (K, 3) projection of the centre of mass onto the height where forces act, in the waist's
            frame [m].
        orientation: (K, 3) roll, pitch and yaw of the waist [rad].
    """

    zero_moment_point: Array
    orientation: Array


def waist_references(trajectory: WholeBodyTrajectory) -> WaistReferences:
    """Return references in the frame of the base link.

    Raises:
        InputError: a robot without floating base, or a motion without a planned zero-moment point, which tells the
            height.
    """
    robot, planned = trajectory.robot, trajectory.zero_moment_point
    if robot.base_joint is None or planned is None:
        raise InputError(
            "has no floating base or no planned zero-moment point",
            element="trajectory",
            remedy="Give what generate_motion returns",
        )
    data = robot.model.createData()
    points, turns = [], []
    for q, point in zip(trajectory.q, planned, strict=True):
        centre = pin.centerOfMass(robot.model, data, q)
        waist = robot.placement_base(q)
        points.append(waist.actInv(np.array([centre[0], centre[1], point[2]])))
        turns.append(pin.rpy.matrixToRpy(waist.rotation))
    return WaistReferences(np.array(points), np.array(turns))


def stabiliser_events(trajectory: WholeBodyTrajectory) -> list[tuple[float, bool]]:
    """Return when a stabiliser of the feet goes off and on again, as time and state [s].

    It is off while anything but soles bears. A contact that is new or about to go bears nothing in the plan's posture,
    which balances without it: there it is switched.
    """
    hands = [
        (span.start, span.end)
        for span in trajectory.contacts
        if span.contact.kind.bears and not span.contact.location.support
    ]
    events: list[tuple[float, bool]] = []
    until = -np.inf
    for start, end in sorted(hands):
        if start > until:
            if events:
                events.append((float(until), True))
            events.append((float(start), False))
        until = max(until, end)
    return [*events, (float(until), True)] if events else []
