# SPDX-License-Identifier: Apache-2.0
"""Cycles of walking in space: a step that repeats on the other side, or two steps that turn or go aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_gait.costs import AccelerationCost, Cost, ForceCost, TorqueCost
from humanoid_gait.hold import Hold, hold_of
from humanoid_gait.mirror import uneven_joint
from humanoid_gait.mirrored_name import flipped, mirrored_name
from humanoid_gait.problem import Cycle, GaitProblem, Phase
from humanoid_model import InputError, Robot

Duration = float | tuple[float, float]


@dataclass(frozen=True)
class WalkRequest:
    """A cycle of walking.

    Attributes:
        length: of a step, from one foot to the other's next place [m].
        side: that a stride of two steps goes to the left [m].
        turn: of a stride, counter-clockwise [rad].
        width: between the soles' middles [m]; None for that of the robot's default posture.
        single: duration of single support, or its range [s].
        double: of double support, likewise [s].
        intervals: of double and single support.
        clearance: of soles that swing [m].
        friction: coefficient.
        costs: that are summed up.
    """

    length: float
    side: float = 0.0
    turn: float = 0.0
    width: float | None = None
    single: Duration = 0.6
    double: Duration = 0.15
    intervals: tuple[int, int] = (8, 16)
    clearance: float = 0.03
    friction: float = 0.6
    costs: Sequence[Cost] = field(default_factory=lambda: (TorqueCost(), AccelerationCost(), ForceCost()))

    def problem(self, robot: Robot) -> GaitProblem:
        """Return the optimal control problem: one mirrored step, or a stride of two.

        A stride it is where the robot turns or goes aside, or is heavier on one side.

        Raises:
            InputError: the robot hasn't two soles, a left one and a right one.
        """
        first, second = _soles(robot)
        width = self._width(robot, first, second)
        side = 1.0 if self._places(robot)[first].translation[1] > self._places(robot)[second].translation[1] else -1.0
        straight = not (self.side or self.turn) and uneven_joint(robot) is None
        a = pin.SE3(np.eye(3), np.array([0.0, 0.5 * side * width, 0.0]))
        if straight:
            step = pin.SE3(np.eye(3), np.array([self.length, 0.0, 0.0]))
            rear, front = a, step * flipped(a)
            phases = self._step(robot, (first, rear), (second, front))
            return GaitProblem(robot, phases, None, Cycle(step, mirrored=True), self.costs)
        stride = pin.SE3(
            pin.utils.rotate("z", self.turn), np.array([2.0 * self.length, self.side, 0.0])
        )
        # The second foot stands half a stride ahead, beside where the first one's path is then.
        half = pin.SE3.Interpolate(pin.SE3.Identity(), stride, 0.5)
        ahead = half * flipped(a)
        last = self._step(robot, (second, ahead), (first, stride * a))
        both = (*self._step(robot, (first, a), (second, ahead)), *last)
        return GaitProblem(robot, both, None, Cycle(stride), self.costs, heading=0.5 * self.turn)

    def _step(self, robot: Robot, rear: tuple[str, pin.SE3], front: tuple[str, pin.SE3]) -> tuple[Phase, Phase]:
        standing = self._hold(robot, *front)
        both = (self._hold(robot, *rear), standing)
        return (
            Phase(both, self.double, self.intervals[0]),
            Phase((standing,), self.single, self.intervals[1], (rear[0],), self.clearance),
        )

    def _hold(self, robot: Robot, name: str, place: pin.SE3) -> Hold:
        x, y, _ = place.translation.tolist()
        theta = float(np.arctan2(place.rotation[1, 0], place.rotation[0, 0]))
        return hold_of(robot, name, (x, y), theta, friction=self.friction)

    def _width(self, robot: Robot, first: str, second: str) -> float:
        if self.width is not None:
            return self.width
        places = self._places(robot)
        return abs(float(places[first].translation[1] - places[second].translation[1]))

    @staticmethod
    def _places(robot: Robot) -> dict[str, pin.SE3]:
        links = robot.link_placements(robot.default_posture)
        return {name: links[own.link] * own.placement_link_patch for name, own in robot.contacts.items() if own.support}


def _soles(robot: Robot) -> tuple[str, str]:
    soles = [name for name, location in robot.contacts.items() if location.support]
    for name in soles:
        if (other := mirrored_name(name)) != name and other in soles:
            return name, other
    raise InputError(
        f"has no two soles, left and right, among {', '.join(soles) or 'none'}",
        element=f"robot '{robot.name}'",
        remedy="Give its contact locations 'support: true' and names of their sides",
    )

