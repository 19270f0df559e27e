# SPDX-License-Identifier: Apache-2.0
"""What a motion along a plan is asked to be, and what it came out as."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.checks import check_number
from humanoid_model.contact import Stance
from humanoid_model.fields import Described, choice, count, number
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.motion.transitions import Transition

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
    """

    transition: Transition
    start: float
    duration: float
    walk: Array
    searched: bool


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
