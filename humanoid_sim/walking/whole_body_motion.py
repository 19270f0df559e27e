# SPDX-License-Identifier: Apache-2.0
"""A planned motion of a whole walking robot, with the times at which its soles bear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot

_PARTS = ("sole", "toe", "heel")


class ContactSpan(Protocol):
    """A sole, its foremost or its rearmost corners on the ground for a while."""

    @property
    def foot(self) -> str:
        """Support contact of the robot."""

    @property
    def part(self) -> str:
        """``sole``, ``toe`` or ``heel``."""

    @property
    def start(self) -> float:
        """[s]."""

    @property
    def end(self) -> float:
        """[s]."""


class MotionSample(NamedTuple):
    """A planned motion at one time.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        bearing: part of each sole that bears.
        landed: since when [s].
        landing: when each sole that doesn't bear will [s]; inf if never.
    """

    q: Array
    v: Array
    a: Array
    bearing: dict[str, str]
    landed: dict[str, float]
    landing: dict[str, float]


class WholeBodyMotion:
    """Samples of a motion; before the first and after the last one the robot stands.

    Attributes:
        robot: that moves.
        times: (K,) [s].
        soles: support contacts that ever bear.
    """

    def __init__(
        self, robot: Robot, times: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike, contacts: Sequence[ContactSpan]
    ) -> None:
        """Keep the samples.

        Args:
            robot: on a free base.
            times: (K,) increasing; a time may be there twice, before and after accelerations jump [s].
            q: (K, nq) configurations.
            v: (K, nv) velocities.
            a: (K, nv) accelerations.
            contacts: when soles or their edges are on the ground.

        Raises:
            InputError: arrays of other shapes, values that aren't finite, times that fall, a contact of no sole or an
                unknown part.
        """
        self.robot = robot
        self.times = np.array(times, dtype=float)
        self._q, self._v, self._a = (np.array(values, dtype=float) for values in (q, v, a))
        count, model = len(self.times), robot.model
        for name, array, size in (("q", self._q, model.nq), ("v", self._v, model.nv), ("a", self._a, model.nv)):
            if array.shape != (count, size) or not np.isfinite(array).all():
                raise InputError(
                    f"has the shape {array.shape}, or isn't finite", element=name, remedy=f"Give ({count}, {size})"
                )
        if count < 2 or not np.isfinite(self.times).all() or (np.diff(self.times) < 0.0).any():
            raise InputError("are fewer than two, or fall", element="times", remedy="Give two or more in order")
        for span in contacts:
            if span.foot not in robot.contacts or not robot.contacts[span.foot].support:
                soles = [name for name, contact in robot.contacts.items() if contact.support]
                raise InputError(
                    f"'{span.foot}' is no sole of '{robot.name}'",
                    element="contacts",
                    remedy=f"Use {', '.join(soles) or 'a robot that has soles'}",
                )
            if span.part not in _PARTS:
                raise InputError(f"part is '{span.part}'", element="contacts", remedy="Use sole, toe or heel")
        self._contacts = tuple(contacts)
        self.soles = tuple(dict.fromkeys(span.foot for span in contacts))

    def at(self, time: float) -> MotionSample:
        """Return the motion at a time [s]; between samples straight lines, on rotations too."""
        clipped = min(max(time, float(self.times[0])), float(self.times[-1]))
        i = min(max(int(np.searchsorted(self.times, clipped, side="right")) - 1, 0), len(self.times) - 2)
        span = self.times[i + 1] - self.times[i]
        share = float((clipped - self.times[i]) / span) if span > 0.0 else 1.0
        moving = time == clipped
        q = pin.interpolate(self.robot.model, self._q[i], self._q[i + 1], share)
        v = (1.0 - share) * self._v[i] + share * self._v[i + 1]
        a = (1.0 - share) * self._a[i] + share * self._a[i + 1]
        now = [item for item in self._contacts if item.start <= clipped < item.end]
        if not now:  # the last instant
            now = [item for item in self._contacts if item.end >= clipped >= item.start]
        bearing = {item.foot: item.part for item in now}
        landing = {}
        for sole in self.soles:
            if sole not in bearing:
                later = [item.start for item in self._contacts if item.foot == sole and item.start > clipped]
                landing[sole] = min(later, default=np.inf)
        return MotionSample(
            q, v if moving else 0.0 * v, a if moving else 0.0 * a, bearing, {i.foot: i.start for i in now}, landing
        )
