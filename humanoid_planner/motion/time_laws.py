# SPDX-License-Identifier: Apache-2.0
r"""Time laws of paths: the thesis' sinusoidal law (7.3), and the fastest one within the robot's limits.

The fastest law is found by reachability along the path as in TOPP-RA (Pham and Pham 2018): on a grid of the path
parameter s, with :math:`x=\dot s^2` and :math:`u=\ddot s`, the greatest x from which the end can be reached follows
backwards, then the greatest u is taken forwards. Joint torques and contact forces are affine in (u, x): both are in the
linear program of each grid point, so that what comes out is balanced by forces within friction pyramids and torques
within their limits, at the speed that it has, and not only at rest. A balanced path gives these limits, and the forces
and torques that carry each sample of it.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.optimize import linprog

from humanoid_model.arrays import Array, Reals
from humanoid_model.configuration_path import ConfigurationPath
from humanoid_model.joint_trajectory import PathPlace, TimeLaw
from humanoid_model.progress import Watch
from humanoid_model.robot import Robot
from humanoid_model.whole_body_dynamics import zero_moment_point
from humanoid_model.whole_body_trajectory import PlannedForce
from humanoid_planner.equilibrium.contact_points import pyramid
from humanoid_planner.equilibrium.force_distribution import FACETS, LoadedPoint, moving_forces, point_jacobian
from humanoid_planner.motion.motion import Transition
from humanoid_planner.motion.stance_postures import inset_patch
from humanoid_planner.posture.tasks.contact import PlacedContact

_STILL = 1e-9
"""Squared path speed that counts as none."""

_LEAST = 0.25
"""Share of the squared path speed that is left at the next grid point, unless that is the end. The greatest speed at a
point may be one from which the robot could only brake to a standstill at the next: a peak that costs a stop."""


class SinusoidalLaw:
    """Half a period of a cosine (7.3): rest, way L/2 (1 - cos(pi t / T)), rest.

    Attributes:
        duration: T [s].
    """

    def __init__(self, slopes: Array, speed: Array, period: float) -> None:
        """Take the shortest duration within the joints' speeds that is a multiple of the control period.

        Args:
            slopes: (m, n) derivatives of the joints by s, on an even grid from 0 to 1.
            speed: (n,) largest speeds [rad/s or m/s].
            period: of the control [s].
        """
        s = np.linspace(0.0, 1.0, len(slopes))
        # ds/dt = pi / T sqrt(s (1 - s)).
        asked = np.pi * np.sqrt(s * (1.0 - s))[:, None] * np.abs(slopes) / speed
        self._period = period
        self.duration = self._rounded(float(asked.max(initial=0.0)))

    def _rounded(self, duration: float) -> float:
        """Return the next multiple of the control period."""
        return self._period * max(math.ceil(duration / self._period - 1e-9), 1)

    def at(self, time: float) -> PathPlace:
        """Return the place on the path at a time [s]."""
        phase = np.pi * min(max(time / self.duration, 0.0), 1.0)
        rate = np.pi / self.duration
        return PathPlace(
            0.5 * (1.0 - math.cos(phase)),
            0.5 * rate * math.sin(phase),
            0.5 * rate**2 * math.cos(phase),
        )

    def slower(self, duration: float) -> SinusoidalLaw:
        """Return the same law for a longer duration; unchanged where it takes as long already."""
        if duration <= self.duration:
            return self
        law = copy.copy(self)
        law.duration = self._rounded(duration)
        return law


@dataclass(frozen=True, eq=False)
class PathDynamics:
    r"""What motion along the path asks of the robot at one place: :math:`\tau=A_u u+A_x x+g` less what contacts give.

    Attributes:
        slope: (n,) velocities per ds/dt, base left out.
        bend: (n,) accelerations per squared ds/dt, base left out.
        by_bend: (nv,) generalised forces per u.
        by_square: (nv,) per x.
        at_rest: (nv,) at rest.
        by_force: (nv, c) of each edge of the friction pyramids.
    """

    slope: Array
    bend: Array
    by_bend: Array
    by_square: Array
    at_rest: Array
    by_force: Array


@dataclass(frozen=True, eq=False)
class PathLimits:
    """Largest values of joints without the base.

    Attributes:
        speed: (n,) [rad/s or m/s].
        acceleration: (n,) [rad/s^2 or m/s^2].
        effort: (n,) [N m or N].
    """

    speed: Array
    acceleration: Array
    effort: Array


def fastest_law(
    points: Sequence[PathDynamics], limits: PathLimits, watch: Watch | None = None
) -> TimeLaw | int:
    """Return the fastest law from rest to rest, or the index of the point that it doesn't get past.

    Limits hold at both ends of each grid interval, with the u that it has.

    Args:
        points: of the path on an even grid of s from 0 to 1, each of which :func:`rests`.
        limits: of the joints.
        watch: ends the work by a ``CancelledWorkError``.
    """
    watch = watch or Watch()
    count = len(points)
    step = 1.0 / (count - 1)
    ends = [_End(point, limits) for point in points]
    least = [*([_LEAST] * (count - 2)), 0.0]
    programs = [_Program(*both, step, share) for both, share in zip(itertools.pairwise(ends), least, strict=True)]
    most = np.zeros(count)
    for k in range(count - 2, -1, -1):
        watch.check()
        most[k] = programs[k].most_square(most[k + 1])
    squares = np.zeros(count)
    for k in range(count - 1):
        watch.check()
        squares[k + 1] = programs[k].most_following(squares[k], most[k + 1])
        if squares[k] + squares[k + 1] < _STILL:
            return k + 1
    return _law_of(np.arange(count) * step, squares)


def smoothed(law: TimeLaw, passes: int) -> TimeLaw:
    """Return a law whose speed is nowhere greater, its peaks and kinks rounded; at rest at both ends as before."""
    squares = np.square(law.speeds)
    for _ in range(passes):
        squares[1:-1] = np.minimum(squares[1:-1], 0.25 * (squares[:-2] + 2.0 * squares[1:-1] + squares[2:]))
    return _law_of(law.positions, squares)


def _law_of(s: Reals, squares: Reals) -> TimeLaw:
    """Return the law of squared rates (m,) on a grid, between whose points the second derivative stays."""
    rates, steps = np.sqrt(squares), np.diff(s)
    spans = 2.0 * steps / (rates[:-1] + rates[1:])
    return TimeLaw(np.concatenate([[0.0], np.cumsum(spans)]), s, rates, np.diff(squares) / (2.0 * steps))


def rests(point: PathDynamics, limits: PathLimits) -> bool:
    """Return whether forces within friction and torques within limits hold the robot at a place of the path."""
    end = _End(point, limits)
    bounds = [(0, 0), (0, 0), *([(0, None)] * end.edges)]
    cost = np.zeros(2 + end.edges)
    solved = linprog(cost, end.rows, end.most, end.equal, end.load, bounds=bounds, method="highs")
    return bool(solved.status == 0)


class _End:
    """What a grid point asks of (u, x, pyramid edges)."""

    def __init__(self, point: PathDynamics, limits: PathLimits) -> None:
        base = len(point.at_rest) - len(point.slope)
        columns = np.column_stack([point.by_bend, point.by_square, -point.by_force])
        self.equal, self.load = columns[:base], -point.at_rest[:base]
        held = np.isfinite(limits.effort)
        efforts, rest, most = columns[base:][held], point.at_rest[base:][held], limits.effort[held]
        rates: Array = np.zeros((len(point.slope), columns.shape[1]))
        rates[:, 0], rates[:, 1] = point.slope, point.bend
        # In shares of the limits, so that tolerances mean the same everywhere.
        efforts, rest, rates = efforts / most[:, None], rest / most, rates / limits.acceleration[:, None]
        self.rows = np.vstack([efforts, -efforts, rates, -rates])
        self.most = np.concatenate([1.0 - rest, 1.0 + rest, np.ones(2 * len(rates))])
        moving = np.abs(point.slope) > 1e-9
        self.square = float(np.square(limits.speed[moving] / np.abs(point.slope[moving])).min(initial=1e6))
        self.edges = columns.shape[1] - 2


class _Program:
    """The linear program of one interval over (u, x, edges at its beginning, edges at its end)."""

    def __init__(self, first: _End, last: _End, step: float, least: float) -> None:
        self._twice = 2.0 * step
        count = first.edges + last.edges

        def joined(a: Array, b: Array) -> Array:
            """Rows of both ends; at the second one x is x + 2 step u."""
            above = np.hstack([a, np.zeros((len(a), last.edges))])
            below = np.zeros((len(b), 2 + count))
            below[:, 0], below[:, 1] = b[:, 0] + self._twice * b[:, 1], b[:, 1]
            below[:, 2 + first.edges :] = b[:, 2:]
            return np.vstack([above, below])

        following = np.zeros((2, 2 + count))
        following[:, :2] = [[self._twice, 1.0], [-self._twice, least - 1.0]]
        self._A = np.vstack([joined(first.rows, last.rows), following])
        self._b = np.concatenate([first.most, last.most])
        self._equal, self._load = joined(first.equal, last.equal), np.concatenate([first.load, last.load])
        self._square, self._last_square, self._edges = first.square, last.square, count

    def most_square(self, following: float) -> float:
        """Greatest x from which the next point is reached with at most ``following``; zero at least."""
        found = self._solve(1, (0.0, self._square), following)
        return 0.0 if found is None else max(float(found[1]), 0.0)

    def most_following(self, square: float, following: float) -> float:
        """Greatest x at the next point, at most ``following``, from a given one."""
        found = self._solve(0, (square, square), following)
        # Rounding: the point is on the boundary of those that the end can be reached from.
        return following if found is None else min(max(square + self._twice * float(found[0]), 0.0), following)

    def _solve(self, column: int, square: tuple[float, float], following: float) -> Array | None:
        cost = np.zeros(2 + self._edges)
        cost[column] = -1.0
        most = np.concatenate([self._b, [min(following, self._last_square), 0.0]])
        bounds = [(None, None), square, *([(0.0, None)] * self._edges)]
        solved = linprog(cost, self._A, most, self._equal, self._load, bounds=bounds, method="highs")
        return None if solved.status != 0 else np.asarray(solved.x)


@dataclass(frozen=True, eq=False)
class BalancedSample:
    """A robot at one instant.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        tau: (nv,) torques, zero for the base [N m].
        forces: of the contacts.
        zero_moment_point: (3,) at the height of the forces' middle [m].
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    forces: tuple[PlannedForce, ...]
    zero_moment_point: Array


def loaded_points(robot: Robot, held: Sequence[PlacedContact], reserve: float) -> list[LoadedPoint]:
    """Corners of contacts, their patches smaller by a reserve all around [m]."""
    return [
        LoadedPoint(
            robot.parts.links[placed.contact.location.link].joint_id,
            placed.placement_ground_contact.act(np.array([x, y, 0.0])),
            placed.placement_ground_contact.rotation,
            placed.friction,
            1.0,
        )
        for placed in held
        for x, y in inset_patch(placed.bearing, reserve)
    ]


class BalancedPath:
    """A path of a robot that holds contacts.

    Attributes:
        path: of the robot.
    """

    def __init__(
        self,
        robot: Robot,
        path: ConfigurationPath,
        transition: Transition,
        held: Sequence[PlacedContact],
        reserve: float,
        effort: float,
    ) -> None:
        """Take path and contacts.

        Args:
            robot: that moves.
            path: of the robot.
            transition: tells which contacts begin and cease to bear.
            held: contacts of the transition, in the world.
            reserve: that a time law keeps from the edges of contacts [m].
            effort: share of the effort limits that samples keep to where they can.
        """
        self.path = path
        self._robot, self._model, self._data = robot, robot.model, robot.model.createData()
        self._transition, self._held, self._effort = transition, held, effort
        self._inner = [loaded_points(robot, [placed], reserve) for placed in held]
        self._whole = [loaded_points(robot, [placed], 0.0) for placed in held]

    def dynamics(self, s: float) -> PathDynamics:
        """Return what motion asks at a parameter of the path."""
        model, data = self._model, self._data
        q, slope, bend = self.path.at(s), self.path.slope(s), self.path.bend(s)
        still = np.zeros(model.nv)
        rest = np.array(pin.rnea(model, data, q, still, still))
        by_square = np.array(pin.rnea(model, data, q, slope, bend)) - rest
        by_bend = np.array(pin.rnea(model, data, q, still, slope)) - rest
        pin.computeJointJacobians(model, data, q)
        edges = [
            point_jacobian(model, data, item).T @ item.frame @ pyramid(item.friction, FACETS).T
            for points in self._inner
            for item in points
        ]
        return PathDynamics(slope[6:], bend[6:], by_bend, by_square, rest, np.hstack(edges))

    def sample(self, place: PathPlace) -> BalancedSample | None:
        """Return the robot at a place of the path; None where nothing carries it."""
        s = min(place.position, 1.0)
        q, (v, a) = self.path.at(s), place.rates(self.path.slope(s), self.path.bend(s))
        shares = [self._share(placed.contact.location.name, s) for placed in self._held]
        points = [
            item._replace(share=share) for items, share in zip(self._whole, shares, strict=True) for item in items
        ]
        limits = self._robot.limits.effort
        found = moving_forces(self._model, self._data, points, (q, v, a), self._effort * limits)
        found = found or moving_forces(self._model, self._data, points, (q, v, a), limits)
        if found is None:
            return None
        owners = [placed for placed, items in zip(self._held, self._whole, strict=True) for _ in items]
        forces = tuple(
            PlannedForce(
                placed.contact.location.name,
                placed.contact.surface.name,
                np.asarray(point.place, dtype=float),
                np.asarray(point.frame[:, 2], dtype=float),
                force,
                placed.friction,
            )
            for placed, point, force in zip(owners, points, found.forces, strict=True)
        )
        tau: Array = np.array(found.torques, dtype=float)
        tau[:6] = 0.0
        point = zero_moment_point([item.place for item in forces], [item.force for item in forces])
        return BalancedSample(q, v, a, tau, forces, point)

    def _share(self, location: str, s: float) -> float:
        """Return the share of the load that a contact is meant to take: new ones take it over, others give it away."""
        share = 1.0
        if location in self._transition.fresh:
            share *= s
        if location in self._transition.ending:
            share *= 1.0 - s
        return share
