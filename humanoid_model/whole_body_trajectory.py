# SPDX-License-Identifier: Apache-2.0
"""Motion of a whole robot over time, with contacts, feed-forward torques and planned forces.

Gaits and plans of contacts become this type; the stabiliser, the players and the ROS messages take it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.contact import Contact
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.robot import Robot

WHOLE = "sole"
_PARTS = (WHOLE, "toe", "heel", "tip")
_SAME = 1e-3
"""Corners of an edge are level to this [m]."""


@dataclass(frozen=True, eq=False)
class ContactSpan:
    """A contact that is held for a while.

    Attributes:
        contact: what holds where; one that doesn't bear touches without force.
        start: [s].
        end: [s].
        part: of the location that touches: ``sole`` for the whole, its foremost corners ``toe``, its rearmost ones
            ``heel``, or ``tip`` of a robot without feet.
    """

    contact: Contact
    start: float
    end: float
    part: str = WHOLE

    @property
    def location(self) -> str:
        """Name of the robot's location."""
        return self.contact.location.name

    @property
    def corners_link(self) -> Array:
        """(k, 3) corners of the part that touches, in the frame of its link [m]."""
        location = self.contact.location
        along = location.patch[:, 0]
        touches = np.ones(len(along), dtype=bool)
        if self.part == "toe":
            touches = along > along.max() - _SAME
        elif self.part == "heel":
            touches = along < along.min() + _SAME
        return np.asarray(location.vertices_link[touches])


@dataclass(frozen=True, eq=False)
class PlannedForce:
    """A force of the scene, or of one link, on the robot.

    Attributes:
        location: contact location that it acts on.
        surface: that it comes from.
        place: (3,) in the world [m].
        normal: (3,) unit normal of the surface in the world, into the robot.
        force: (3,) in the world [N].
        friction: coefficient.
        slips: whether the motion needs more friction than that.
        link: of the robot that the surface is on and the force acts back on; empty for a surface of the scene.
    """

    location: str
    surface: str
    place: Array
    normal: Array
    force: Array
    friction: float
    slips: bool = False
    link: str = ""


class Impact(NamedTuple):
    """What makes velocities jump.

    Attributes:
        time: when [s].
        impulses: of the scene on the robot; their forces are impulses [N s].
    """

    time: float
    impulses: tuple[PlannedForce, ...]


class WholeBodySample(NamedTuple):
    """A motion at one time.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        tau: (nv,) feed-forward torques [N m].
        bearing: part of each location that bears.
        landed: since when [s].
        landing: when each location that doesn't bear will [s]; inf if never.
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    bearing: dict[str, str]
    landed: dict[str, float]
    landing: dict[str, float]


class WholeBodyTrajectory:
    """Samples of a motion; before the first and after the last one the robot stands.

    Accelerations, torques and forces jump where contacts change, velocities in impacts. Such a time may be there twice,
    first with what the part before ends with, then with what the next one begins with.

    Attributes:
        robot: that moves.
        times: (K,) [s].
        q: (K, nq) configurations.
        v: (K, nv) velocities.
        a: (K, nv) accelerations.
        tau: (K, nv) feed-forward torques [N m].
        contacts: when what touches.
        forces: of each sample; empty where they aren't known.
        zero_moment_point: (K, 3) planned, NaN where nothing presses [m]; None where it isn't known.
        impacts: in order; none at first (:meth:`with_impacts`).
        base: model joint that carries the base link; None for a robot fixed to the world.
        joint_names: of driven joints with one coordinate, the n joints of what follows.
    """

    def __init__(
        self,
        robot: Robot,
        times: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        contacts: Sequence[ContactSpan],
        *,
        tau: ArrayLike | None = None,
        forces: Sequence[Sequence[PlannedForce]] = (),
        zero_moment_point: ArrayLike | None = None,
        base: int | None = None,
    ) -> None:
        """Keep the samples.

        Args:
            robot: that moves.
            times: (K,) in order, each at most twice [s].
            q: (K, nq) configurations.
            v: (K, nv) velocities.
            a: (K, nv) accelerations.
            contacts: when what touches.
            tau: (K, nv) feed-forward torques, zero if left out [N m].
            forces: planned ones of each sample.
            zero_moment_point: (K, 3) [m].
            base: joint that carries the base link, of a planar robot; the floating base's if left out.

        Raises:
            InputError: arrays of other shapes, values that aren't finite, quaternions that aren't unit ones, times that
                fall or stand, a contact of another robot's location, of an unknown part or without duration.
        """
        self.robot = robot
        model, self.times = robot.model, np.array(times, dtype=float).reshape(-1)
        count = len(self.times)
        if count < 2 or not np.isfinite(self.times).all() or (np.diff(self.times) < 0.0).any():
            raise InputError("are fewer than two, or fall", element="times", remedy="Give two or more in order")
        if (self.times[2:] == self.times[:-2]).any():
            raise InputError("hold one thrice", element="times", remedy="Give a time twice at most, where values jump")
        self.q = _table(q, "q", (count, model.nq))
        self.v = _table(v, "v", (count, model.nv))
        self.a = _table(a, "a", (count, model.nv))
        self.tau = _table(np.zeros((count, model.nv)) if tau is None else tau, "tau", (count, model.nv))
        wrong = [k for k in range(count) if not pin.isNormalized(model, self.q[k], 1e-4)]
        if wrong:
            raise InputError(
                f"has a rotation that isn't one at {self.times[wrong[0]]:g} s",
                element="q",
                remedy="Give unit quaternions",
            )
        self.zero_moment_point = (
            None if zero_moment_point is None else _table(zero_moment_point, "zero_moment_point", (count, 3), True)
        )
        if len(forces) not in (0, count):
            raise InputError(f"are {len(forces)}", element="forces", remedy=f"Give those of each of {count} samples")
        self.forces = tuple(tuple(item) for item in forces)
        _check_spans(robot, contacts)
        self.contacts: tuple[ContactSpan, ...] = tuple(contacts)
        self.impacts: tuple[Impact, ...] = ()
        self.base = robot.base_joint if base is None else base
        joints = ((name, model.joints[robot.parts.joint_ids[name]]) for name in robot.joint_names)
        plain = [(name, j) for name, j in joints if name in robot.actuators and j.nq == j.nv == 1]
        self.joint_names = tuple(name for name, _ in plain)
        self._places_q = np.array([joint.idx_q for _, joint in plain], dtype=np.int64)
        self._places_v = np.array([joint.idx_v for _, joint in plain], dtype=np.int64)

    @property
    def duration(self) -> float:
        """From the first to the last sample [s]."""
        return float(self.times[-1] - self.times[0])

    @property
    def positions(self) -> Array:
        """(K, n) of the driven joints [rad or m]."""
        return np.asarray(self.q[:, self._places_q])

    @property
    def velocities(self) -> Array:
        """(K, n) of the driven joints [rad/s or m/s]."""
        return np.asarray(self.v[:, self._places_v])

    @property
    def accelerations(self) -> Array:
        """(K, n) of the driven joints [rad/s² or m/s²]."""
        return np.asarray(self.a[:, self._places_v])

    @property
    def torques(self) -> Array:
        """(K, n) feed-forward efforts of the driven joints [N m or N]."""
        return np.asarray(self.tau[:, self._places_v])

    @property
    def increasing(self) -> NDArray[np.int64]:
        """Indices of samples whose times increase strictly: of each time that is there twice the later one."""
        return np.flatnonzero(np.append(np.diff(self.times) > 0.0, True))

    def joint_trajectory(self, samples: slice | NDArray[np.int64] = slice(None)) -> JointTrajectory:
        """Return the motion of the driven joints, with the feed-forward efforts.

        Args:
            samples: which become points; all if left out.

        Raises:
            InputError: joints jump where a time is there twice, as in impacts.
        """
        if self.impacts:
            when = f"at {self.impacts[0].time:g} s, where joints' velocities jump"
            raise InputError(f"has an impact {when}", element="motion", remedy="Plan a soft landing: drives can't jump")
        return JointTrajectory(
            self.joint_names,
            self.times[samples],
            self.positions[samples],
            self.velocities[samples],
            self.accelerations[samples],
            efforts=self.torques[samples],
        )

    @property
    def locations(self) -> tuple[str, ...]:
        """Contact locations that ever bear."""
        return tuple(dict.fromkeys(span.location for span in self.contacts if span.contact.kind.bears))

    def held(self, time: float) -> tuple[ContactSpan, ...]:
        """Return contacts that are held at a time [s]: at a change those that are held from then on."""
        clipped = self._clipped(time)
        now = tuple(item for item in self.contacts if item.start <= clipped < item.end)
        return now or tuple(item for item in self.contacts if item.start <= clipped <= item.end)

    def at(self, time: float) -> WholeBodySample:
        """Return the motion at a time [s]; between samples straight lines, on rotations too."""
        clipped = self._clipped(time)
        i = min(max(int(np.searchsorted(self.times, clipped, side="right")) - 1, 0), len(self.times) - 2)
        span = self.times[i + 1] - self.times[i]
        share = float((clipped - self.times[i]) / span) if span > 0.0 else 1.0
        moving = 1.0 if time == clipped else 0.0
        v, a, tau = ((1.0 - share) * row[i] + share * row[i + 1] for row in (self.v, self.a, self.tau))
        now = [item for item in self.held(clipped) if item.contact.kind.bears]
        bearing = {item.location: item.part for item in now}
        landing = {}
        for name in self.locations:
            if name not in bearing:
                later = [s.start for s in self.contacts if s.location == name and s.contact.kind.bears]
                landing[name] = min((start for start in later if start > clipped), default=np.inf)
        return WholeBodySample(
            pin.interpolate(self.robot.model, self.q[i], self.q[i + 1], share),
            moving * v,
            moving * a,
            tau,
            bearing,
            {item.location: item.start for item in now},
            landing,
        )

    def with_impacts(self, impacts: Sequence[Impact]) -> WholeBodyTrajectory:
        """Return the motion with impacts, in order, each at a time that is there twice or at an end."""
        found = copy.copy(self)
        found.impacts = tuple(impacts)
        return found

    def reversed(self) -> WholeBodyTrajectory:
        """Return the motion backwards: without friction in the joints it takes the same torques and forces.

        Impacts aren't those of the motion backwards, and are left out.
        """
        first, last = float(self.times[0]), float(self.times[-1])
        backwards = slice(None, None, -1)
        return WholeBodyTrajectory(
            self.robot,
            first + last - self.times[backwards],
            self.q[backwards],
            -self.v[backwards],
            self.a[backwards],
            [
                ContactSpan(span.contact, first + last - span.end, first + last - span.start, span.part)
                for span in reversed(self.contacts)
            ],
            tau=self.tau[backwards],
            forces=self.forces[backwards],
            zero_moment_point=None if self.zero_moment_point is None else self.zero_moment_point[backwards],
            base=self.base,
        )

    def part(self, start: float, end: float) -> WholeBodyTrajectory:
        """Return the motion from one sample to another, with their times.

        Args:
            start: time of the first one; of two the later [s].
            end: time of the last one; of two the earlier [s].
        """
        near = 1e-9
        first, last = int(np.searchsorted(self.times, start + near)) - 1, int(np.searchsorted(self.times, end - near))
        rows = slice(first, last + 1)
        spans = [
            replace(span, start=max(span.start, start), end=min(span.end, end))
            for span in self.contacts if span.start < end - near and span.end > start + near
        ]  # fmt: skip
        zmp = self.zero_moment_point
        return WholeBodyTrajectory(
            self.robot, self.times[rows], self.q[rows], self.v[rows], self.a[rows], spans, tau=self.tau[rows],
            forces=self.forces[rows], zero_moment_point=None if zmp is None else zmp[rows], base=self.base,
        ).with_impacts([own for own in self.impacts if start - near < own.time < end + near])  # fmt: skip

    def _clipped(self, time: float) -> float:
        return min(max(time, float(self.times[0])), float(self.times[-1]))


def _table(values: ArrayLike, element: str, shape: tuple[int, int], gaps: bool = False) -> Array:
    """Return a table of finite numbers, or of NaN in gaps."""
    array = np.array(values, dtype=float)
    if array.shape != shape or not (np.isfinite(array) | (gaps & np.isnan(array))).all():
        raise InputError(
            f"has the shape {array.shape}, or isn't finite",
            element=element,
            remedy=f"Give {shape[0]} x {shape[1]} finite numbers",
        )
    return array


def _check_spans(robot: Robot, contacts: Sequence[ContactSpan]) -> None:
    for index, span in enumerate(contacts):
        element = f"contacts[{index}]"
        if span.contact.location.link not in robot.parts.links:
            raise InputError(
                f"'{span.location}' is on '{span.contact.location.link}', no link of '{robot.name}'",
                element=element,
                remedy=f"Use {', '.join(robot.contacts) or 'a robot that has contact locations'}",
            )
        if span.part not in _PARTS:
            raise InputError(f"part is '{span.part}'", element=element, remedy=f"Use one of {', '.join(_PARTS)}")
        if not (np.isfinite([span.start, span.end]).all() and span.start < span.end):
            raise InputError(
                f"'{span.location}' is held from {span.start:g} to {span.end:g} s",
                element=element,
                remedy="Let the end be later",
            )
