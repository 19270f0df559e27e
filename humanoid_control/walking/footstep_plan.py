# SPDX-License-Identifier: Apache-2.0
"""Where and when the feet of a walk are set down on flat ground."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model import Robot
from humanoid_model.errors import InputError


@dataclass(frozen=True)
class Footstep:
    """A sole flat on the ground.

    Attributes:
        sole: name of the support contact.
        x: of the origin of the sole's frame [m].
        y: likewise.
        yaw: of the sole's frame about the vertical [rad].
    """

    sole: str
    x: float
    y: float
    yaw: float = 0.0

    @property
    def placement(self) -> pin.SE3:
        """Sole frame in the frame of the walk."""
        return pin.SE3(pin.utils.rotate("z", self.yaw), np.array([self.x, self.y, 0.0]))


@dataclass(frozen=True)
class Phase:
    """A span of a walk between two events at the feet.

    Attributes:
        start: s.
        end: s.
        supports: where the soles are that stand.
        swing: where the swinging sole comes from and goes to; None in double support.
        step: index of the step in the plan; -1 before the first, the number of steps after the last.
    """

    start: float
    end: float
    supports: tuple[Footstep, ...]
    swing: tuple[Footstep, Footstep] | None
    step: int


@dataclass(frozen=True)
class FootstepPlan:
    """A walk from standing to standing: each step shifts the weight in double support, then swings one foot.

    Attributes:
        start: both soles at the beginning.
        steps: in order; a foot doesn't step twice in a row.
        step_time: of each step, both its parts [s].
        double_support: share of a step in which both feet stand.
        lead: time before the first step [s].
        settle: time after the last step [s].

    Raises:
        InputError: no step, a foot that steps twice in a row or isn't among those of the start, a time that is not
            positive, a share outside (0, 1), a value that is not finite.
    """

    start: tuple[Footstep, Footstep]
    steps: tuple[Footstep, ...]
    step_time: float = 1.0
    double_support: float = 0.2
    lead: float = 2.0
    settle: float = 1.5

    def __post_init__(self) -> None:
        for name, value in {"step_time": self.step_time, "lead": self.lead, "settle": self.settle}.items():
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"{name} is {value}", element=name, remedy="Give a positive time in seconds")
        if not 0.0 < self.double_support < 1.0:
            raise InputError(
                f"double_support is {self.double_support}",
                element="double_support",
                remedy="Give a share of the step between 0 and 1",
            )
        if not self.steps:
            raise InputError("there is no step", element="steps", remedy="Give at least one")
        soles = [foot.sole for foot in self.start]
        if soles[0] == soles[1]:
            raise InputError(f"both start on '{soles[0]}'", element="start", remedy="Give one place for each sole")
        last = None
        for index, foot in enumerate((*self.start, *self.steps), -2):
            where = f"steps[{index}]" if index >= 0 else f"start[{index + 2}]"
            for name, value in {"x": foot.x, "y": foot.y, "yaw": foot.yaw}.items():
                if not math.isfinite(value):
                    raise InputError(f"{name} is {value}", element=where, remedy="Give finite numbers")
            if index < 0:
                continue
            if foot.sole not in soles:
                raise InputError(
                    f"there is no sole '{foot.sole}'", element=where, remedy=f"The walk starts on {', '.join(soles)}"
                )
            if foot.sole == last:
                raise InputError(f"'{foot.sole}' steps twice in a row", element=where, remedy="Let the feet alternate")
            last = foot.sole

    @property
    def duration(self) -> float:
        """From the beginning to the end, standing included [s]."""
        return self.lead + len(self.steps) * self.step_time + self.settle

    @property
    def phases(self) -> tuple[Phase, ...]:
        """All phases in the order of time, without gaps."""
        feet = {foot.sole: foot for foot in self.start}
        phases = [Phase(0.0, self.lead, tuple(feet.values()), None, -1)]
        for index, foot in enumerate(self.steps):
            begin = self.lead + index * self.step_time
            lift, land = begin + self.double_support * self.step_time, self.lead + (index + 1) * self.step_time
            origin = feet[foot.sole]
            stance = next(other for sole, other in feet.items() if sole != foot.sole)
            phases.append(Phase(begin, lift, tuple(feet.values()), None, index))
            phases.append(Phase(lift, land, (stance,), (origin, foot), index))
            feet[foot.sole] = foot
        phases.append(Phase(phases[-1].end, self.duration, tuple(feet.values()), None, len(self.steps)))
        return tuple(phases)


def support_soles(robot: Robot) -> tuple[str, str]:
    """Return names of the two support contacts of a robot.

    Raises:
        InputError: it has another number of them, or its base doesn't float.
    """
    soles = [name for name, contact in robot.contacts.items() if contact.support]
    if len(soles) != 2 or robot.base_joint is None:
        what = f"has {len(soles)} support contacts" if robot.base_joint is not None else "has a fixed base"
        raise InputError(
            f"{what}; walking takes two soles and a floating base",
            element=f"robot '{robot.name}'",
            remedy="Mark the contact location of each foot with 'support: true'",
        )
    return soles[0], soles[1]


def plan_footsteps(
    robot: Robot,
    posture: str,
    *,
    steps: int = 6,
    length: float = 0.225,
    width: float | None = None,
    turn: float = 0.0,
    first: str | None = None,
    **timing: float,
) -> FootstepPlan:
    """Footsteps forwards, or on an arc, from a posture; the last one closes the feet.

    With the default length a foot swings 0.45 m from one place to its next, the longest step of specification 000
    §26.3, and 6 steps take 6 s.

    Args:
        robot: with two support contacts.
        posture: of the robot, standing on both soles.
        steps: number of steps, the closing one included.
        length: from one footprint to the next one, of the other foot, along the way [m]; negative walks backwards.
        width: between the origins of the soles across the way [m]; as in the posture if not given.
        turn: of the way at each step but the last [rad], positive to the left.
        first: sole that steps first; the one on the right if not given.
        timing: ``step_time``, ``double_support``, ``lead`` and ``settle`` of the :class:`FootstepPlan`.

    Raises:
        InputError: a number that makes no sense, an unknown posture or sole, a robot without two soles.
    """
    soles = support_soles(robot)
    q = robot.posture(posture)
    if first is not None and first not in soles:
        raise InputError(f"there is no sole '{first}'", element="first", remedy=f"Take {' or '.join(soles)}")
    if steps < 1:
        raise InputError(f"steps is {steps}", element="steps", remedy="Give 1 or more")
    for name, value in {"length": length, "turn": turn, "width": 0.0 if width is None else width}.items():
        if not math.isfinite(value):
            raise InputError(f"{name} is {value}", element=name, remedy="Give a finite number")
    start = [standing_footstep(robot, q, sole) for sole in soles]
    middle = 0.5 * (np.array([start[0].x, start[0].y]) + np.array([start[1].x, start[1].y]))
    heading = 0.5 * (start[0].yaw + start[1].yaw)
    across = np.array([-math.sin(heading), math.cos(heading)])
    offsets = {foot.sole: float((np.array([foot.x, foot.y]) - middle) @ across) for foot in start}
    right, left = sorted(soles, key=lambda sole: offsets[sole])
    if width is not None:
        offsets = {right: -0.5 * width, left: 0.5 * width}
    if not offsets[left] - offsets[right] > 0.0:
        raise InputError(
            f"width is {offsets[left] - offsets[right]}", element="width", remedy="Give a positive distance in metres"
        )
    stepping = first or right
    placed: list[Footstep] = []
    for index in range(steps):
        if index < steps - 1 or steps == 1:
            heading += 0.5 * turn
            middle = middle + length * np.array([math.cos(heading), math.sin(heading)])
            heading += 0.5 * turn
        placed.append(_footstep(stepping, middle, heading, offsets[stepping]))
        stepping = left if stepping == right else right
    return FootstepPlan((start[0], start[1]), tuple(placed), **timing)


def standing_footstep(robot: Robot, q: NDArray[np.float64], sole: str) -> Footstep:
    """Return where a sole is in a configuration, shape (nq,).

    Raises:
        InputError: the sole is not flat on z = 0.
    """
    contact = robot.contacts[sole]
    link = robot.parts.links[contact.link]
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    placement = data.oMi[link.joint_id] * link.placement_joint_link * contact.placement_link_patch
    if placement.rotation[2, 2] < math.cos(1e-3) or abs(placement.translation[2]) > 1e-3:
        raise InputError(
            f"the sole is {1e3 * placement.translation[2]:.1f} mm high and tilted by "
            f"{math.degrees(math.acos(min(1.0, placement.rotation[2, 2]))):.2f} degrees",
            element=f"contact '{sole}'",
            remedy="Start from a posture that stands on both soles",
        )
    x, y, _ = placement.translation
    return Footstep(sole, float(x), float(y), math.atan2(placement.rotation[1, 0], placement.rotation[0, 0]))


def _footstep(sole: str, middle: NDArray[np.float64], heading: float, offset: float) -> Footstep:
    x, y = middle + offset * np.array([-math.sin(heading), math.cos(heading)])
    return Footstep(sole, float(x), float(y), heading)
