# SPDX-License-Identifier: Apache-2.0
"""Joint efforts that carry out weighted tasks within contact cones and the limits of joints, step by step.

A controller looks at a state, adds the tasks of this tick, and asks for the efforts::

    body.look(q, v)
    body.hold("left_sole", body.corners["left_sole"])
    body.reach("right_sole", placement, twist, acceleration)
    body.move_centre(acceleration)
    efforts = body.solve()
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_control.moving_points import MovingPoints, moving_coordinates
from humanoid_control.self_collision import SelfCollision
from humanoid_control.strict_priorities import solve_in_order
from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_model.checks import check_known
from humanoid_model.controller import Command
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, number
from humanoid_model.whole_body_dynamics import BodyLimits, WeightedTasks

_TASKS = ("hold", "centre", "trunk", "spin", "swing")
"""Tasks that may come strictly before the others."""
_HEAVIEST = 1e9
"""Largest weight: beyond it the program's matrix is singular in double precision."""


@dataclass(frozen=True)
class BodyGains(Described):
    """How strictly and how fast tasks are followed.

    Attributes:
        priorities: tasks that come strictly before the others, by levels, the first ones first: of "hold", "centre",
            "trunk", "spin", "swing". Weights count within a level, and among all others.
    """

    part_of: ClassVar[str] = "gains."

    trunk: float = number(10.0, "natural frequency of the base's attitude", "rad/s", low=0.0, above=True)
    swing: float = number(25.0, "natural frequency of a sole in the air", "rad/s", low=0.0, above=True)
    joint: float = number(10.0, "natural frequency of joints that the tasks leave free", "rad/s", low=0.0, above=True)
    contact: float = number(30.0, "rate at which a bearing sole's speed fades", "1/s", low=0.0, above=True)
    hold_weight: float = number(3e3, "weight of bearing soles", low=0.0, above=True, high=_HEAVIEST)
    centre_weight: float = number(
        100.0,
        "weight of the centre of mass along the ground; its height has a third of it",
        low=0.0, above=True, high=_HEAVIEST,
    )  # fmt: skip
    trunk_weight: float = number(3.0, "weight of the base's attitude", low=0.0, above=True, high=_HEAVIEST)
    spin: float = number(
        5.0,
        "rate at which the angular momentum about the centre of mass fades",
        "1/s", low=0.0, above=True,
    )  # fmt: skip
    spin_weight: float = number(
        0.02, "weight of the angular momentum", "1/(kg m²)²", low=0.0, above=True, high=_HEAVIEST,
    )  # fmt: skip
    swing_weight: float = number(10.0, "weight of a swinging sole", low=0.0, above=True, high=_HEAVIEST)
    joint_weight: float = number(1e-2, "weight of the posture", low=0.0, above=True, high=_HEAVIEST)
    force_weight: float = number(
        1e-6,
        "weight of squared contact forces, beside squared accelerations",
        "1/kg²", low=0.0, above=True, high=_HEAVIEST,
    )  # fmt: skip
    friction: float = number(0.6, "coefficient that forces keep to", low=0.0, above=True)
    barrier: float = number(
        60.0,
        "rate at which a joint comes to the end of its range or to its greatest speed at most",
        "1/s", low=0.0, above=True,
    )  # fmt: skip
    clearance: float = number(0.01, "gap that parts of the robot keep from each other", "m", low=0.0)
    clearance_rate: float = number(
        25.0, "rate at which they come to that gap at most", "1/s", low=0.0, above=True,
    )  # fmt: skip
    slew: float = number(
        250.0, "change of an effort in a second at most, in its greatest", "1/s", low=0.0, above=True,
    )  # fmt: skip
    patience: float = number(
        0.1, "how long the last answer stays where there is no newer one", "s", low=0.0, above=True,
    )  # fmt: skip
    priorities: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers and names.

        Raises:
            InputError: a number out of its range, a task that isn't there or is on two levels.
        """
        super().__post_init__()
        named = [task for level in self.priorities for task in level]
        for task in named:
            check_known(task, _TASKS, "gains.priorities", "task")
        if len({*named}) < len(named):
            raise InputError(f"are {named}", element="gains.priorities", remedy="Give each task once")


class Sole(NamedTuple):
    """A contact location as the controller needs it.

    Attributes:
        joint: index of the model's joint that carries it.
        placement: frame in the middle of the patch, in the joint's.
        corners: (k, 3) of the patch in the joint's frame [m].
        patch: (k, 2) its corners in that frame [m].
    """

    joint: int
    placement: pin.SE3
    corners: Array
    patch: Array


def soles_of(robot: Robot, locations: Iterable[str]) -> dict[str, Sole]:
    """Return contact locations of a robot by name.

    Raises:
        InputError: it has no such one.
    """
    soles = {}
    for name in locations:
        contact = robot.contacts[check_known(name, robot.contacts, "contacts", "contact location")]
        placed = robot.parts.links[contact.link].placement_joint_link
        corners = contact.vertices_link @ placed.rotation.T + placed.translation
        joint = robot.parts.links[contact.link].joint_id
        patch = np.asarray(contact.patch, dtype=float)
        middle = 0.5 * (patch.min(axis=0) + patch.max(axis=0))
        frame = placed * contact.placement_link_patch * pin.SE3(np.eye(3), np.append(middle, 0.0))
        soles[name] = Sole(joint, frame, corners, patch - middle)
    return soles


class WholeBodyControl:
    r"""The inverse dynamics of a robot on a free base as a quadratic program, weighted or with strict priorities.

    Driven joints keep to their ranges and speeds by barriers (exponential control barrier functions, Nguyen & Sreenath
    2016): with the rate k of the gains, :math:`\ddot q\le k^2(\bar q-q)-2k\dot q` and
    :math:`\ddot q\le k(\bar v-\dot q)`, likewise below; parts of the robot keep from each other likewise
    (:class:`.SelfCollision`). They come before all tasks; contacts, friction and efforts come before them.

    Attributes:
        soles: contact locations by name.
        joint_names: driven joints, the order of efforts.
        columns: (joints,) their velocity coordinates.
        data: Pinocchio's, of the state that was looked at.
        apart: what keeps parts of the robot from each other.
        solved: whether the last tick's program was solved; else its answer is the one before.
        accelerations: (nv,) of the last solution.
        forces: (k, 3) at the corners that bear, in the axes in which they are held [N].
    """

    def __init__(
        self, robot: Robot, gains: BodyGains | None = None, locations: Iterable[str] | None = None
    ) -> None:
        """Prepare for a robot.

        Args:
            robot: that is moved.
            gains: how tasks are followed.
            locations: contact locations that may bear or be led; its soles if not given.

        Raises:
            InputError: its base doesn't float, it has no such location.
        """
        if robot.base_joint is None:
            raise InputError("has a fixed base", element=f"robot '{robot.name}'", remedy="Give one on a free base")
        self.robot, self.model, self.gains = robot, robot.model, gains or BodyGains()
        support = [name for name, contact in robot.contacts.items() if contact.support]
        self.soles = soles_of(robot, support if locations is None else locations)
        self.joint_names = [name for name in robot.joint_names if name in robot.actuators]
        self.columns = np.array([robot.index_v(name) for name in self.joint_names])
        self.root = robot.model.joints[robot.base_joint].idx_v
        self.data = robot.model.createData()
        efforts = robot.limits.effort[self.columns]
        self._body = BodyLimits(self.root, self.columns, efforts, self.gains.friction, self.gains.force_weight)
        self._zero = np.zeros(robot.model.nv)
        self._moved = {sole.joint: moving_coordinates(robot.model, sole.joint) for sole in self.soles.values()}
        self._names, self._fastest = tuple(self.joint_names), robot.limits.velocity[self.columns]
        self._driven_q = np.array([robot.index_q(name) for name in self.joint_names])
        ranged = [name for name in self.joint_names if robot.model.joints[robot.parts.joint_ids[name]].nq == 1]
        self._ranged_q = np.array([robot.index_q(name) for name in ranged])
        self._ranged_v = np.array([robot.index_v(name) for name in ranged])
        limits, speeds = robot.limits, robot.limits.velocity[self._ranged_v]
        self._range = np.stack([limits.lower[self._ranged_q], limits.upper[self._ranged_q]])
        self._speed = np.stack([-speeds, speeds])
        self.apart = SelfCollision(robot, self.gains.clearance)
        self._unbounded = np.outer([-np.inf, np.inf], np.ones(robot.model.nv))
        self.reset()

    def reset(self) -> None:
        """Forget the last answer and command."""
        self._commanded: Command | None = None
        self._unsolved = 0.0
        self.solved, self.accelerations, self.forces = True, self._zero.copy(), np.zeros((0, 3))
        self._efforts: Array = np.zeros(len(self.columns))

    def look(self, q: Array, v: Array) -> None:
        """Kinematics and dynamics of a state, (nq,) and (nv,); forgets the tasks of the last tick."""
        model, data = self.model, self.data
        pin.computeAllTerms(model, data, q, v)
        pin.computeJointJacobiansTimeVariation(model, data, q, v)
        self.q, self.v, self._rates = q, v, np.array([data.J.T, data.dJ.T])
        self._tasks, self._bearing = WeightedTasks(model.nv), [np.zeros((0, model.nv))]
        self._wanted: list[Array] = [np.zeros(0)]
        self._levels: list[list[tuple[Array, Array]]] = [[] for _ in self.gains.priorities]
        drift = pin.computeCentroidalMomentumTimeVariation(model, data, q, v, self._zero)
        self._centre_bias, self._spin_bias = drift.linear / data.mass[0], np.array(drift.angular)

    @property
    def centre(self) -> Array:
        """(3,) centre of mass [m]."""
        return np.array(self.data.com[0])

    @property
    def centre_velocity(self) -> Array:
        """(3,) its velocity [m/s]."""
        return np.asarray(self.data.Jcom @ self.v)

    def sole(self, name: str) -> pin.SE3:
        """Frame of a sole in the world."""
        sole = self.soles[name]
        return self.data.oMi[sole.joint] * sole.placement

    def hold(
        self,
        name: str,
        corners: Array,
        axes: Array | None = None,
        force: Array | None = None,
        *,
        attitude: Array | None = None,
    ) -> None:
        """Let a sole bear where it is.

        Args:
            name: of the sole.
            corners: (k, 3) where it bears, in its joint's frame [m].
            axes: (3, 3) rotation in the world of the axes whose last one is the ground's normal, by default the
                world's.
            force: (3,) that it had best bear, in these axes [N]; by default as little as can be.
            attitude: (3, 3) of its frame in the world that it keeps, where it would roll over a line or a point.
        """
        joint, count = self.soles[name].joint, 3 * len(corners)
        here = self.data.oMi[joint]
        points = self._points(joint, corners @ here.rotation.T + here.translation)
        J_corners = points.J[:count]
        target = -self.gains.contact * points.speeds[:count] - points.drifts[:count]
        self._add("hold", J_corners, target, self.gains.hold_weight)
        if attitude is not None:
            k, error = self.gains.swing, pin.log3(attitude @ self.sole(name).rotation.T)
            target = k**2 * error - 2.0 * k * points.speeds[count:] - points.drifts[count:]
            self._add("swing", points.J[count:], target, self.gains.swing_weight)
        if axes is not None:
            J_corners = (axes.T @ J_corners.reshape(-1, 3, self.model.nv)).reshape(count, -1)
        self._bearing.append(J_corners)
        self._wanted.append(np.tile(np.zeros(3) if force is None else force / len(corners), len(corners)))

    def _points(self, joint: int, places: Array) -> MovingPoints:
        """Motion of points (k, 3) of the world that a joint carries, and of its turning."""
        return MovingPoints.of(self._moved[joint], self._rates, self.v, places)

    def reach(self, name: str, placement: pin.SE3, velocity: Array, acceleration: Array) -> None:
        """Lead a sole along a motion.

        Args:
            name: of the sole.
            placement: where its frame should be in the world.
            velocity: (6,) of its origin and of turning, in the world's axes [m/s, rad/s].
            acceleration: (6,) likewise.
        """
        k, here = self.gains.swing, self.sole(name)
        point = self._points(self.soles[name].joint, here.translation[None])
        turn = pin.log3(placement.rotation @ here.rotation.T)
        error = np.concatenate([placement.translation - here.translation, turn])
        target = acceleration + k**2 * error + 2.0 * k * (velocity - point.speeds) - point.drifts
        self._add("swing", point.J, target, self.gains.swing_weight)

    def move_centre(self, acceleration: Array) -> None:
        """Give the centre of mass an acceleration (3,) [m/s²]."""
        weights = np.sqrt(np.array([1.0, 1.0, 0.3]))
        target = weights * (acceleration - self._centre_bias)
        self._add("centre", weights[:, None] * self.data.Jcom, target, self.gains.centre_weight)

    def calm(self, ease: float = 1.0, wanted: Array | None = None, change: Array | None = None) -> None:
        """Let the angular momentum about the centre of mass fade, so that legs don't turn the robot over its soles.

        Args:
            ease: divides its weight.
            wanted: (3,) momentum that it comes to [kg m²/s], zero if not given.
            change: (3,) rate of that [N m], likewise.
        """
        A = np.asarray(self.data.Ag[3:])
        off = np.asarray(self.data.hg.angular) - (0.0 if wanted is None else wanted)
        target = -self.gains.spin * off - self._spin_bias + (0.0 if change is None else change)
        self._add("spin", A, target, self.gains.spin_weight / ease)

    def orient_base(
        self, rotation: Array, rate: Array | None = None, acceleration: Array | None = None, ease: float = 1.0
    ) -> None:
        """Turn the base.

        Args:
            rotation: (3, 3) its attitude in the world.
            rate: (3,) in the world's axes [rad/s], zero if not given.
            acceleration: (3,) likewise [rad/s²].
            ease: divides its weight.
        """
        base, k, root = self.robot.base_joint, self.gains.trunk, self.root
        angular = slice(root + 3, root + 6)
        J = np.zeros((3, self.model.nv))
        J[:, angular] = np.eye(3)
        turn = self.data.oMi[base].rotation
        wanted = np.zeros(3) if rate is None else turn.T @ rate
        error = turn.T @ pin.log3(rotation @ turn.T)
        ahead = np.zeros(3) if acceleration is None else turn.T @ acceleration
        target = ahead + k**2 * error + 2.0 * k * (wanted - self.v[angular])
        self._add("trunk", J, target, self.gains.trunk_weight / ease)

    def keep_posture(self, q: Array, v: Array | None = None, a: Array | None = None) -> None:
        """Bring the driven joints to a motion, as far as nothing else moves them.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity, zero if not given.
            a: (nv,) acceleration, likewise.
        """
        k = self.gains.joint
        error = pin.difference(self.model, self.q, q)
        speed = -self.v if v is None else v - self.v
        target = k**2 * error + 2.0 * k * speed + (0.0 if a is None else a)
        self._tasks.add_single(self.columns, target[self.columns], self.gains.joint_weight)

    def _add(self, task: str, J: Array, target: Array, weight: float) -> None:
        """Add a task (k, nv) with its target (k,) to its level, or to the weighted ones."""
        for level, names in zip(self._levels, self.gains.priorities, strict=True):
            if task in names:
                level.append((math.sqrt(weight) * J, math.sqrt(weight) * target))
                return
        self._tasks.add(J, target, weight)

    def solve(self) -> Array:
        """(joints,) efforts [N m]; those before where no answer is found, zero where there are none."""
        program = self._body.program(
            self._tasks, self.data.M, self.data.nle, np.concatenate(self._bearing), np.concatenate(self._wanted),
            self._barriers(), *self.apart.barriers(self.data, self._rates, self.v, self.gains.clearance_rate),
        )  # fmt: skip
        levels = [
            (np.vstack([J for J, _ in level]), np.concatenate([target for _, target in level]))
            for level in self._levels
            if level
        ]
        x = solve_in_order(program, levels) if levels else program.solve()
        self.solved = x is not None
        if x is not None:
            nv = self.model.nv
            self.accelerations, self.forces = x[:nv], x[nv:].reshape(-1, 3)
            self._efforts = _within(program.efforts(x), -self._body.efforts, self._body.efforts)
        return self._efforts

    @property
    def lost(self) -> bool:
        """Whether there has been no answer for longer than the gains' patience lasts."""
        return self._unsolved > self.gains.patience

    def command(self, time: float, dt: float, efforts: Array, speeds: Array) -> Command:
        """Return what the joints are to do until the next tick, within their limits whatever is asked for.

        An effort changes by ``slew * dt`` of its limit at most, a position by twice what its greatest speed makes.

        Args:
            time: of the measurement [s].
            dt: since the one before [s].
            efforts: (joints,) wanted [N m].
            speeds: (joints,) a tick later [rad/s].
        """
        self._unsolved = 0.0 if self.solved else self._unsolved + dt
        most, fastest, last = self._body.efforts, self._fastest, self._commanded
        least, greatest = -most, most
        positions = self.q[self._driven_q] + dt * self.v[self.columns]
        if last is not None:
            change, way = (self.gains.slew * dt) * most, (2.0 * dt) * fastest
            least, greatest = np.maximum(least, last.efforts - change), np.minimum(greatest, last.efforts + change)
            positions = _within(positions, last.positions - way, last.positions + way)
        efforts, speeds = _within(efforts, least, greatest), _within(speeds, -fastest, fastest)
        self._commanded = Command(time, self._names, efforts, positions, speeds)
        return self._commanded

    def _barriers(self) -> Array:
        """(2, nv) least and greatest accelerations with which the driven joints keep to ranges and speeds."""
        k, v = self.gains.barrier, self.v[self._ranged_v]
        ends = k * (k * (self._range - self.q[self._ranged_q]) - 2.0 * v)
        fast = k * (self._speed - v)
        bounds = self._unbounded.copy()
        # Where both don't go together, as a joint is too fast near its end, the range comes before the speed.
        bounds[0, self._ranged_v] = np.minimum(np.maximum(fast[0], ends[0]), ends[1])
        bounds[1, self._ranged_v] = np.maximum(np.minimum(fast[1], ends[1]), ends[0])
        return bounds


def _within(values: Array, least: Array, greatest: Array) -> Array:
    """Values no further than their bounds; NumPy's own clip takes several times as long."""
    return np.asarray(np.minimum(np.maximum(values, least), greatest))
