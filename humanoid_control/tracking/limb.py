# SPDX-License-Identifier: Apache-2.0
"""A contact location on its way through the contacts of a plan: held, led, or sought."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_control.tracking.motion_reference import MotionReference
from humanoid_control.tracking.tracker_settings import TrackerSettings
from humanoid_control.whole_body_control import Sole
from humanoid_model.arrays import Array
from humanoid_model.contact import SurfaceForm
from humanoid_model.whole_body_trajectory import WHOLE, ContactSpan

_SETTLED = 0.01
"""How long a contact is felt until it is believed [s]."""
_DUE = 2e-3
"""A contact is due when so little is left of its time [s]."""
_INWARDS = 0.4
"""Share of the half width of what bears that forces keep from its edge at most."""


class Limb:
    """What becomes of the contacts of one location.

    Attributes:
        name: of the location.
        sole: where it is on the robot.
        held: whether it bears now.
        sunk: how far it has gone on beyond its place [m].
        made: time of the plan at which it has begun to bear last [s].
        displacement: (3,) of where it bears, or did last, from its plan [m].
    """

    def __init__(self, name: str, sole: Sole, reference: MotionReference, settings: TrackerSettings) -> None:
        """Take the contacts of a location from the motion."""
        self.name, self.sole, self._reference, self._settings = name, sole, reference, settings
        motion = reference.motion
        spans = [span for span in motion.contacts if span.location == name and span.contact.kind.bears]
        self._spans = sorted(spans, key=lambda span: span.start)
        self._goals = [reference.placement_at(span.start, sole) for span in self._spans]
        self._corners = [self._bearing_corners(span) for span in self._spans]
        support = motion.robot.contacts[name].support
        self._threshold = settings.presses if support else settings.touches
        self._next, self._end = 0, float(motion.times[-1])
        self.held, self.sunk, self.displacement, self.made = False, 0.0, np.zeros(3), -math.inf
        self._felt, self._left, self._turned = 0.0, float(motion.times[0]), np.zeros(3)

    def _bearing_corners(self, span: ContactSpan) -> Array:
        """(k, 3) corners that bear, a little inside, in the joint's frame [m]."""
        link = self._reference.motion.robot.parts.links[span.contact.location.link]
        corners = span.corners_link
        if span.contact.surface.form is not SurfaceForm.PLANE:
            patch = np.column_stack([span.contact.touching, np.zeros(len(span.contact.touching))])
            placement = span.contact.location.placement_link_patch
            corners = patch @ placement.rotation.T + placement.translation
        middle = corners.mean(axis=0)
        half = np.abs(corners - middle).max(axis=0)
        inner = 1.0 - np.minimum(self._settings.margin / np.maximum(half, 1e-9), _INWARDS)
        inside = middle + inner * (corners - middle)
        return np.asarray(inside @ link.placement_joint_link.rotation.T + link.placement_joint_link.translation)

    @property
    def span(self) -> ContactSpan | None:
        """Contact that is held, or comes next; None after the last one."""
        return self._spans[self._next] if self._next < len(self._spans) else None

    @property
    def corners(self) -> Array:
        """(k, 3) that bear, of that contact."""
        return self._corners[self._next]

    def goal(self, phase: float) -> pin.SE3:
        """Where the plan has a contact that is held, or that comes."""
        if phase < self._spans[self._next].start:
            return self._goals[self._next]
        return self._reference.placement(self.sole)

    def late(self, phase: float) -> bool:
        """Whether it should bear by now, and doesn't."""
        span = self.span
        return span is not None and not self.held and phase >= span.start - _DUE

    def begin(self, phase: float) -> None:
        """Hold what the plan holds at a time."""
        self._next = sum(1 for span in self._spans if span.end <= phase < self._end)
        span = self.span
        self.held = span is not None and span.start <= phase

    def update(self, phase: float, dt: float, load: float, here: pin.SE3) -> None:
        """Go on by a tick.

        Args:
            phase: time of the plan [s].
            dt: of the tick [s].
            load: normal force as a share of the weight.
            here: where the location is.
        """
        if self.held:
            self._leave(phase, here)
        elif self.span is not None and self.span.end <= phase < self._end:  # missed
            self._next += 1
        span = self.span
        if span is None:
            return
        if self.held:
            self.displacement = here.translation - self.goal(phase).translation
            return
        late, waits = self.late(phase), self._reference.waits
        near = late or span.start - phase < self._settings.early
        pressed = near and load > self._threshold
        self._felt = self._felt + dt if pressed else 0.0
        if self._felt > _SETTLED:
            self.held, self.sunk, self._felt, self.made = True, 0.0, 0.0, phase
            return
        if late:
            self.sunk += dt * (self._settings.seeking if waits else self._settings.descent)

    def _leave(self, phase: float, here: pin.SE3) -> None:
        """Go over to the next contact, or into the air, when the time of one is over."""
        span = self._spans[self._next]
        if not span.end <= phase < self._end:
            return
        self._next += 1
        following = self.span
        self.held = following is not None and following.start - span.end < _DUE
        if not self.held:
            planned = self._reference.placement(self.sole)
            self._left, self.displacement = phase, here.translation - planned.translation
            self._turned = pin.log3(here.rotation @ planned.rotation.T)

    def way(self, phase: float, rate: float, displacement: Array) -> tuple[pin.SE3, Array, Array]:
        """Return where it is led, its velocity (6,) and acceleration (6,) in the world's axes.

        Args:
            phase: time of the plan [s].
            rate: at which that goes on.
            displacement: (3,) of where it lands from its plan, as far as that is known [m].
        """
        span, settings = self._spans[self._next], self._settings
        planned, (velocity, acceleration) = self._reference.placement(self.sole), self._reference.rates(self.sole)
        time = max(span.start - self._left, 1e-3)
        share = min(max((phase - self._left) / time, 0.0), 1.0)
        done = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        normal = self._goals[self._next].rotation[:, 2]
        up = settings.lift * 16.0 * share**2 * (1.0 - share) ** 2 if self._reference.waits else 0.0
        place = planned.translation + (1.0 - done) * self.displacement + done * displacement
        place = place + (up - self.sunk) * normal
        velocity[:3] += rate / time * 30.0 * share**2 * (1.0 - share) ** 2 * (displacement - self.displacement)
        if self.sunk > 0.0:
            velocity[:3] -= (settings.seeking if self._reference.waits else settings.descent) * normal
        return pin.SE3(pin.exp3((1.0 - done) * self._turned) @ planned.rotation, place), velocity, acceleration

    @property
    def upright(self) -> Array | None:
        """(3, 3) attitude that it keeps by itself, in the world: of one that would roll; None where it lies flat."""
        return None if self._flat else np.asarray(self._goals[self._next].rotation)

    @property
    def _flat(self) -> bool:
        return self._spans[self._next].contact.surface.form is SurfaceForm.PLANE

    def axes(self, here: pin.SE3) -> Array:
        """(3, 3) axes of the forces on it, the last one normal: its own on a plane, else the plan's."""
        if self._spans[self._next].part != WHOLE:
            return np.eye(3)
        return np.asarray(here.rotation if self._flat else self._goals[self._next].rotation)
