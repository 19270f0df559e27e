# SPDX-License-Identifier: Apache-2.0
"""When which part of which foot stands on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution

DOWN = 1e-3
"""Height of a toe below which its foot counts as flat [m]: penalties bring it down to the ground, not onto it."""


@dataclass(frozen=True)
class ContactInterval:
    """A foot on the ground for a while.

    Attributes:
        foot: support contact of the robot.
        part: ``heel``, ``toe``, ``sole`` for both, or ``tip`` of a robot without feet.
        start: [s].
        end: [s].
    """

    foot: str
    part: str
    start: float
    end: float

    @property
    def parts(self) -> tuple[str, ...]:
        """Places of the foot that touch."""
        return ("heel", "toe") if self.part == "sole" else (self.part,)


def phase_contacts(
    solution: PhaseSolution, start: float, feet: tuple[str, str], has_feet: bool
) -> tuple[ContactInterval, ...]:
    """Return contacts of one phase.

    A stance foot bears with its sole, the rear one of a double support with its toe. The front one touches by its heel
    and bears with its sole from the time on when its toe is down to :data:`DOWN`, whatever force is planned at the toe.

    Args:
        solution: of the phase.
        start: of the phase [s].
        feet: support contacts of the rear or stance leg, and of the front or swing leg.
        has_feet: whether feet are soles; tips if not.
    """
    model, end = solution.problem.model, start + solution.duration
    if not model.cut_forces:
        return (ContactInterval(feet[0], "sole" if has_feet else "tip", start, end),)
    if not has_feet:
        return tuple(ContactInterval(foot, "tip", start, end) for foot in feet)
    rear = ContactInterval(feet[0], "toe", start, end)
    height = model.points["front_toe"].position(solution.q)[:, 1] - model.point_closures[0].target.imag
    down = start + _first_below(solution.t, height, DOWN)
    front = [ContactInterval(feet[1], "heel", start, min(down, end))] if down > start else []
    if down < end:
        front.append(ContactInterval(feet[1], "sole", down, end))
    return (rear, *front)


def merged(intervals: Sequence[ContactInterval]) -> tuple[ContactInterval, ...]:
    """Intervals in the order of their beginnings, those that follow each other in one part of one foot made one."""
    found: list[ContactInterval] = []
    for item in sorted(intervals, key=lambda interval: interval.start):
        for index, other in enumerate(found):
            if (other.foot, other.part) == (item.foot, item.part) and abs(other.end - item.start) < 1e-9:
                found[index] = ContactInterval(item.foot, item.part, other.start, item.end)
                break
        else:
            found.append(item)
    return tuple(found)


def _first_below(t: np.ndarray, height: np.ndarray, level: float) -> float:
    """First time at which a height is down to a level; inf where it never is [s]."""
    below = height <= level
    if not below.any():
        return float("inf")
    index = int(np.argmax(below))
    if index == 0:
        return float(t[0])
    share = (height[index - 1] - level) / (height[index - 1] - height[index])
    return float(t[index - 1] + share * (t[index] - t[index - 1]))
