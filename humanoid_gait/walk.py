# SPDX-License-Identifier: Apache-2.0
"""Cycles of walking in space: a step that repeats on the other side, or two steps that turn or go aside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin

from humanoid_gait.costs import AccelerationCost, Cost, ForceCost, TorqueCost
from humanoid_gait.hold import Hold, hold_of
from humanoid_gait.mirror import uneven_joint
from humanoid_gait.mirrored_name import flipped, mirrored_name
from humanoid_gait.placement import posture_at
from humanoid_gait.problem import Cycle, GaitProblem, Phase, State
from humanoid_model import InputError, Robot, Surface
from humanoid_model.arrays import Array
from humanoid_model.description import Geometry
from humanoid_model.ground_profile import LEVEL, GroundProfile

Duration = float | tuple[float, float]
_UNEVEN = 2.0
"""Greatest speed of a joint that begins and ends slowly, over its mean one."""


@dataclass(frozen=True)
class WalkRequest:
    """A cycle of walking.

    Attributes:
        length: of a step, from one foot to the other's next place [m].
        side: that a stride of two steps goes to the left [m].
        turn: of a stride, counter-clockwise [rad].
        slope: angle by which the ground rises ahead [rad].
        rise: of a stair, one for each step [m].
        width: between the soles' middles [m]; None for that of the robot's default posture.
        single: duration of single support, or its range [s].
        double: of double support, likewise [s].
        intervals: of double and single support.
        heel: of double support before that, the front foot on its hindmost corners; 0 for none, likewise [s].
        toe: of double support after it, the rear foot on its foremost corners; 0 for none, likewise [s].
        settle: of standing on both feet before a start and after a stop, likewise; longer where a joint's speed takes
            that [s].
        clearance: of soles that swing [m].
        friction: coefficient.
        costs: that are summed up.
        apart: gap that parts of the robot keep from each other [m]; None where they may touch.
        obstacles: in the world, that nothing of the robot touches on its first cycle (:class:`.GaitProblem`).
        impacts: whether soles may strike the ground: velocities jump then, which no controller can follow exactly.
    """

    length: float
    side: float = 0.0
    turn: float = 0.0
    slope: float = 0.0
    rise: float = 0.0
    width: float | None = None
    single: Duration = 0.6
    double: Duration = 0.15
    heel: Duration = 0.0
    toe: Duration = 0.0
    settle: Duration = 0.6
    intervals: tuple[int, int] = (8, 16)
    clearance: float = 0.03
    friction: float = 0.6
    costs: Sequence[Cost] = field(default_factory=lambda: (TorqueCost(), AccelerationCost(), ForceCost()))
    apart: float | None = None
    obstacles: Sequence[Geometry] = ()
    impacts: bool = False

    def problem(self, robot: Robot) -> GaitProblem:
        """Return the optimal control problem: one mirrored step, or a stride of two.

        A stride it is where the robot turns or goes aside, or is heavier on one side.

        Raises:
            InputError: the robot hasn't two soles, a left one and a right one; it turns on a slope or on stairs; or a
                stair is shorter than a sole.
        """
        if self.turn and (self.slope or self.rise):
            raise InputError(f"is {self.turn}", element="turn", remedy="Turn on level ground")
        first, second = soles(robot)
        a = self._beside(robot, first, second)
        if not (self.side or self.turn) and uneven_joint(robot) is None:
            step = self._further(1.0)
            phases = self._step(robot, (first, a), (second, step * flipped(a)))
            return self._problem(robot, phases, Cycle(step, mirrored=True))
        stride = self._further(2.0)
        # The second foot stands half a stride ahead, beside where the first one's path is then.
        half = pin.SE3.Interpolate(pin.SE3.Identity(), stride, 0.5)
        ahead = half * flipped(a)
        last = self._step(robot, (second, ahead), (first, stride * a))
        both = (*self._step(robot, (first, a), (second, ahead)), *last)
        return self._problem(robot, both, Cycle(stride))

    def starting(self, robot: Robot, q: Array, v: Array) -> GaitProblem:
        """Return the way from rest, feet side by side, into a cycle.

        Args:
            robot: that walks.
            q: (nq,) configuration with which the cycle begins.
            v: (nv,) velocity, likewise.
        """
        first, second, a, ahead = self._pair(robot)
        beside = flipped(a)
        both = (self._hold(robot, first, a), self._hold(robot, second, beside))
        swing = Phase(both[:1], self.single, self.intervals[1], (second,), self.clearance)
        lands = (both[0], self._hold(robot, second, ahead))
        rest = self._rest(robot, {first: a, second: beside})
        stand = self._stand(robot, both, rest, q)
        return self._problem(robot, (stand, swing), State(q, v), State(rest), lands)

    def stopping(self, robot: Robot, q: Array, v: Array) -> GaitProblem:
        """Return the way from a cycle's beginning to rest, feet side by side; arguments as of :meth:`starting`."""
        first, second, a, ahead = self._pair(robot)
        beside = ahead * flipped(a).inverse() * a
        step = self._step(robot, (first, a), (second, ahead))
        both = (self._hold(robot, first, beside), self._hold(robot, second, ahead))
        rest = self._rest(robot, {first: beside, second: ahead})
        stand = self._stand(robot, both, rest, q)
        return self._problem(robot, (*step, stand), State(rest), State(q, v))

    def _pair(self, robot: Robot) -> tuple[str, str, pin.SE3, pin.SE3]:
        """Return both soles and where a cycle begins with them."""
        first, second = soles(robot)
        a = self._beside(robot, first, second)
        return first, second, a, pin.SE3.Interpolate(pin.SE3.Identity(), self._further(2.0), 0.5) * flipped(a)

    def _stand(self, robot: Robot, holds: tuple[Hold, ...], rest: Array, q: Array) -> Phase:
        """Return standing between rest and a cycle, as long as joints take for their way, the swing's time included."""
        way = np.abs(pin.difference(robot.model, rest, q))
        driven = [robot.index_v(name) for name in robot.joint_names if name in robot.actuators]
        takes = _UNEVEN * float((way / robot.limits.velocity)[driven].max(initial=0.0)) - _range(self.single)[0]
        least, most = _range(self.settle)
        longer = max(1.0, takes / least)
        settle = self.settle if longer == 1.0 else (longer * least, max(longer * least, most))
        return Phase(holds, settle, math.ceil(2 * self.intervals[0] * longer))

    def _rest(self, robot: Robot, places: dict[str, pin.SE3]) -> Array:
        """(nq,) the default posture with soles at places."""
        q = robot.default_posture
        middle = pin.SE3(np.eye(3), np.mean([place.translation for place in places.values()], axis=0))
        grounded = {name: self._tilt * place for name, place in places.items()}
        return posture_at(robot, robot.place_base(q, middle * robot.placement_base(q)), grounded)

    def _problem(
        self, robot: Robot, phases: Sequence[Phase], end: Cycle | State, start: State | None = None,
        lands: Sequence[Hold] = (),
    ) -> GaitProblem:  # fmt: skip
        if isinstance(end, Cycle):
            end = replace(end, step=self._tilt * end.step * self._tilt.inverse())
            lands = [(own.mirrored(robot) if end.mirrored else own).moved(end.step) for own in phases[0].holds]
        if self.impacts:
            phases = _with_impacts(phases, lands)
        return GaitProblem(
            robot, phases, start, end, self.costs, heading=0.5 * self.turn, ground=self._ground(robot),
            apart=self.apart, obstacles=self.obstacles,
        )

    @property
    def _tilt(self) -> pin.SE3:
        """Frame of the ground in which places are given."""
        return pin.SE3(pin.utils.rotate("y", -self.slope), np.zeros(3))

    def _further(self, steps: float) -> pin.SE3:
        """Return the motion of so many steps."""
        share = 0.5 * steps
        turn = pin.utils.rotate("z", share * self.turn)
        return pin.SE3(turn, np.array([steps * self.length, share * self.side, steps * self.rise]))

    def _ground(self, robot: Robot) -> GroundProfile:
        if not self.rise:
            return GroundProfile(LEVEL.edges, LEVEL.heights, math.tan(self.slope))
        location = robot.contacts[soles(robot)[0]]
        x = np.array([location.placement_link_patch.actInv(corner)[0] for corner in location.vertices_link])
        if abs(self.length) <= np.ptp(x):
            remedy = f"Give more than {np.ptp(x):g} m on stairs: a sole is so long, and stands on one"
            raise InputError(f"is {self.length}", element="length", remedy=remedy)
        k = np.arange(-2, 8)
        # Edges midway between a sole's toe and the next one's heel.
        edges = 0.5 * (x.min() + x.max()) + abs(self.length) * (k + 0.5)
        heights = self.rise * np.sign(self.length) * np.arange(-2, 9)
        return GroundProfile(edges, heights)

    def _step(self, robot: Robot, rear: tuple[str, pin.SE3], front: tuple[str, pin.SE3]) -> tuple[Phase, ...]:
        leaving, standing = self._hold(robot, *rear), self._hold(robot, *front)
        first, last = ("heel", "toe") if self.length >= 0.0 else ("toe", "heel")
        few = max(2, self.intervals[0] // 2)
        landing, rolling = replace(standing, part=first), replace(leaving, part=last)
        return (
            *([Phase((leaving, landing), self.heel, few)] if self.heel else []),
            Phase((leaving, standing), self.double, self.intervals[0]),
            *([Phase((rolling, standing), self.toe, few)] if self.toe else []),
            Phase((standing,), self.single, self.intervals[1], (rear[0],), self.clearance),
        )

    def _hold(self, robot: Robot, name: str, place: pin.SE3) -> Hold:
        x, y, z = place.translation.tolist()
        theta = float(np.arctan2(place.rotation[1, 0], place.rotation[0, 0]))
        ground = Surface("ground", "ground", self._tilt * pin.SE3(np.eye(3), np.array([0.0, 0.0, z])))
        return hold_of(robot, name, (x, y), theta, ground, self.friction)

    def _beside(self, robot: Robot, first: str, second: str) -> pin.SE3:
        """Where the first sole is at the start."""
        places = self._places(robot)
        side = 1.0 if places[first].translation[1] > places[second].translation[1] else -1.0
        return pin.SE3(np.eye(3), np.array([0.0, 0.5 * side * self._width(robot, first, second), 0.0]))

    def _width(self, robot: Robot, first: str, second: str) -> float:
        if self.width is not None:
            return self.width
        places = self._places(robot)
        return abs(float(places[first].translation[1] - places[second].translation[1]))

    @staticmethod
    def _places(robot: Robot) -> dict[str, pin.SE3]:
        links = robot.link_placements(robot.default_posture)
        return {name: links[own.link] * own.placement_link_patch for name, own in robot.contacts.items() if own.support}


def _range(duration: Duration) -> tuple[float, float]:
    return duration if isinstance(duration, tuple) else (duration, duration)


def _with_impacts(phases: Sequence[Phase], lands: Sequence[Hold]) -> list[Phase]:
    """Put an impact behind every swing; what is held after the last phase lands in one, too."""
    found = []
    for phase, after in zip(phases, [*(own.holds for own in phases[1:]), tuple(lands)], strict=True):
        found.append(phase)
        if phase.swinging:
            found.append(Phase(tuple(after), 0.0, 1))
    return found


def soles(robot: Robot) -> tuple[str, str]:
    """Return the names of a robot's soles, one and its mirror image.

    Raises:
        InputError: there are no two.
    """
    names = [name for name, location in robot.contacts.items() if location.support]
    for name in names:
        if (other := mirrored_name(name)) != name and other in names:
            return name, other
    raise InputError(
        f"has no two soles, left and right, among {', '.join(names) or 'none'}",
        element=f"robot '{robot.name}'",
        remedy="Give its contact locations 'support: true' and names of their sides",
    )

