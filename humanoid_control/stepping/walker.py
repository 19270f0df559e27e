# SPDX-License-Identifier: Apache-2.0
"""A controller that lets a robot stand, walk at a commanded velocity, and step when it is pushed."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_control.estimation import Estimate, Estimator
from humanoid_control.stepping.replanned_swing import ReplannedSwing
from humanoid_control.stepping.standing_posture import StandingPosture, heading, mean_heading, turned
from humanoid_control.stepping.step_adjustment import AdjustedStep, StepBounds, adjust_step, wanted_offset
from humanoid_control.stepping.walker_settings import WalkerSettings
from humanoid_control.walking.footstep_plan import support_soles
from humanoid_control.whole_body_control import WholeBodyControl
from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_model.checks import check_array
from humanoid_model.controller import Command, Measurement
from humanoid_model.convex_polygon import convex_hull, nearest_point, polygon_margin
from humanoid_model.errors import InputError

GRAVITY = 9.81
_SETTLED = 0.1
"""A step's duration is changed no more when this is left of it [s]."""
_FROZEN = 0.04
"""Nor is its place [s]."""
_SUNK = 0.006
"""How far below the ground a foot aims, so that it isn't late [m]."""
_UPRIGHT = 0.1
"""Deviation of the tilt below which a walker begins [rad]."""
_LONGEST_TICK = 0.02
"""Time between ticks beyond which the clock has jumped: swinging feet and course don't follow it [s]."""
_SHIFTED = (0.015, 0.02)
"""How near the DCM and the centre of mass come to where a walk begins [m]."""
_BESIDE = 0.04
"""How far a foot may be ahead of the other one when the robot stops [m]."""
_LEARNED = 1.0
"""Time in which what the robot carries is made up for: at first it isn't known [s]."""
_HEAVIER, _ASIDE = 0.15, 0.03
"""Share of the mass and offset of the centre of mass [m] up to which what the robot carries is made up for."""
_INSIDE = 0.02
"""How far inside the soles the DCM is then [m]."""


class WalkMode(Enum):
    """What a walker does."""

    STANDING = "standing"
    SHIFTING = "shifting"
    STEPPING = "stepping"
    FALLEN = "fallen"


class Walker:
    r"""Keeps a robot's balance by the divergent component of motion (DCM), walks, and steps where it must.

    Standing, it shifts the centre of pressure within the soles. When the DCM leaves them, or a velocity is commanded,
    it steps: :func:`.adjust_step` chooses place and time of the foot and the centre of pressure p in each tick, and
    the whole body (:class:`.WholeBodyControl`) accelerates the centre of mass as the pendulum does,
    :math:`\ddot c=\omega^2(c-p)`. What neither the sole nor the step can take up is left to the trunk. A foot that
    meets the ground early bears at once, one that finds none goes on down; where soles stand is the ground.

    It knows the robot by its measurements alone; what it carries beyond its model is estimated and made up for.
    ``copy.deepcopy`` takes a walker as it is, without its robot.

    Attributes:
        robot: that it moves.
        settings: how.
        mode: what it does.
        stance: the sole that bears, or that bore last, in a step.
        dcm: divergent component of motion in the world of the estimate, shape (2,) [m].
        pressure: wanted centre of pressure (beyond the sole: centroidal moment pivot), shape (2,) [m].
        estimate: of the last measurement; None before the first one.
    """

    def __init__(
        self,
        robot: Robot,
        posture: str,
        settings: WalkerSettings | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        """Prepare for a robot.

        Args:
            robot: on a free base, with two soles.
            posture: in which it stands.
            settings: how it walks.
            estimator: of its state; one with the usual settings if not given.

        Raises:
            InputError: the base is fixed, it has another number of soles, or no such posture.
        """
        support_soles(robot)
        self.robot, self.settings = robot, settings or WalkerSettings()
        self.body = WholeBodyControl(robot, self.settings.gains)
        self._estimator = estimator or Estimator(robot)
        self._measure_posture(posture)
        self._velocity: Array = np.zeros(3)
        self.reset()

    def _measure_posture(self, posture: str) -> None:
        """Sizes of the robot as it stands."""
        body, settings = self.body, self.settings
        upright = StandingPosture.of(body, self.robot.posture(posture))
        self._usual, self._unit = upright.lowered(settings.lower), upright.height
        turn = turned(mean_heading([body.sole(name) for name in body.soles]))
        across = {name: float(turn.T[1] @ body.sole(name).translation[:2]) for name in body.soles}
        self._right, self._left = sorted(across, key=across.__getitem__)
        self._width, self._weight = across[self._left] - across[self._right], GRAVITY * self.robot.total_mass
        self._edge = np.min([np.abs(sole.patch).max(axis=0) for sole in body.soles.values()], axis=0) - settings.margin
        self._half = 0.5 * np.max([np.ptp(sole.patch, axis=0) for sole in body.soles.values()], axis=0)
        self._widest = max(settings.widest * self._unit, self._width)

    def reset(self, placement_world_base: pin.SE3 | None = None) -> None:
        """Forget all that was measured; the commanded velocity stays.

        Args:
            placement_world_base: where the base is now; as of :meth:`.Estimator.reset`.
        """
        self._estimator.reset(placement_world_base)
        self.body.reset()
        self.mode, self.stance = WalkMode.STANDING, self._left
        self._stands, self._led = self._usual, self._usual
        self._bearing: tuple[str, ...] = (self._right, self._left)
        self.estimate: Estimate | None = None
        self._heavier, self._aside = 0.0, np.zeros(3)
        self.dcm: Array = np.zeros(2)
        self.pressure: Array = np.zeros(2)
        self._goal: Array = np.zeros(4)
        self._time, self._course, self._level, self._omega = math.nan, math.nan, math.nan, 0.0
        self._began, self._duration, self._urgency = 0.0, self.settings.step_time, 0.0
        self._swing: ReplannedSwing | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Walker:
        """Return a copy that goes on by itself and shares the robot."""
        memo[id(self.robot)], memo[id(self.robot.model)] = self.robot, self.robot.model
        other = Walker.__new__(Walker)
        memo[id(self)] = other
        other.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return other

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints in the order in which measurements have them."""
        return self._estimator.joint_names

    @property
    def velocity(self) -> Array:
        """Commanded velocity: ahead, to the left [m/s], turning to the left [rad/s], shape (3,)."""
        return self._velocity.copy()

    @property
    def bearing(self) -> tuple[str, ...]:
        """Soles that bear."""
        return self._bearing

    @property
    def support(self) -> Array:
        """Corners (k, 2) of the hull of the soles that bear, in the world of the estimate, without margins [m]."""
        return self._hull(self._bearing, 0.0)

    @property
    def footstep(self) -> tuple[pin.SE3, float] | None:
        """Where the swinging sole will land in the world of the estimate, and when [s from now]; None: none swings."""
        if self.mode is not WalkMode.STEPPING or self._swing is None:
            return None
        landing = pin.SE3(pin.utils.rotate("z", float(self._goal[3])), self._goal[:3] + np.array([0.0, 0.0, _SUNK]))
        return landing, self._began + self._duration - self._time

    def walk(self, forward: float, sideways: float = 0.0, turn: float = 0.0) -> None:
        """Walk at a velocity in the robot's axes [m/s, m/s, rad/s] from now on; zeros stop.

        Raises:
            InputError: a number that isn't finite.
        """
        velocity = np.array([forward, sideways, turn], dtype=float)
        if not np.all(np.isfinite(velocity)):
            raise InputError(f"is {velocity.tolist()}", element="velocity", remedy="Give finite numbers")
        self._velocity = velocity
        if np.any(velocity != 0.0):
            self._led = self._usual

    def stand(self, q: Array | None = None) -> None:
        """Go to another posture on both soles; to its own again when it is to walk or has to step.

        Args:
            q: (nq,) of the other one, whose base may be anywhere; None: its own.

        Raises:
            InputError: a configuration of another length, or with a number that isn't finite.
        """
        if q is not None:
            check_array(q, "q", (self.robot.model.nq,))
        here = self.body.q, self.body.v
        self._led = self._usual if q is None else StandingPosture.of(self.body, q)
        self.body.look(*here)

    def update(self, time: float, measurement: Measurement) -> Command | None:
        """Efforts of the driven joints until the next tick.

        Args:
            time: of the controller's clock [s].
            measurement: readings of this tick.

        Returns:
            The command; None until it is known once how the robot stands, for which something else has to hold it: from
            measurements with all joints and inertial readings, and not in free fall.
        """
        estimate = self._estimator.update(time, measurement)
        if estimate is None:
            return None
        if self.estimate is None and not estimate.tilt_deviation < _UPRIGHT:
            return None
        self.estimate = estimate
        loads = {}
        for name in self.body.soles:
            contact = estimate.contacts[name]
            force = float(contact.wrench[2])
            loads[name] = force if math.isfinite(force) else contact.probability * self._weight
        load, share = estimate.load, min(max(time - self._time, 0.0), _LONGEST_TICK) / _LEARNED
        if math.isfinite(share):
            self._heavier += share * (min(max(load.mass / load.total, -_HEAVIER), _HEAVIER) - self._heavier)
            self._aside = self._aside + share * (np.minimum(np.maximum(load.offset, -_ASIDE), _ASIDE) - self._aside)
        return self.respond(time, estimate.q, estimate.v, loads)

    def respond(self, time: float, q: Array, v: Array, loads: Mapping[str, float]) -> Command:
        """Efforts of the driven joints until the next tick, in a state that is known.

        Args:
            time: of the controller's clock [s].
            q: (nq,) configuration.
            v: (nv,) velocity.
            loads: normal force on each sole [N].

        Raises:
            InputError: a configuration or velocity of another length, or with a number that isn't finite.
        """
        check_array(q, "q", (self.robot.model.nq,))
        check_array(v, "v", (self.robot.model.nv,))
        dt = min(max(time - self._time, 0.0), _LONGEST_TICK) if math.isfinite(self._time) else 0.0
        self._time = time
        self._look(q, v, dt)
        if self.mode is WalkMode.STEPPING:
            self._step(time, dt, loads)
        if self.mode in (WalkMode.STANDING, WalkMode.SHIFTING):
            self._stand(time)
        speeds = v[self.body.columns]
        if self.body.lost:
            self.mode = WalkMode.FALLEN
        if self.mode is WalkMode.FALLEN:
            return self.body.command(time, dt, -self.settings.softness * speeds, 0.0 * speeds)
        efforts = self._move(dt)
        return self.body.command(time, dt, efforts, speeds + dt * self.body.accelerations[self.body.columns])

    def _look(self, q: Array, v: Array, dt: float) -> None:
        """Where the soles are, the DCM, the heading; whether the robot has fallen."""
        body, settings = self.body, self.settings
        body.look(q, v)
        self._soles = {name: body.sole(name) for name in body.soles}
        standing = [self.stance] if self.mode is WalkMode.STEPPING else list(self._soles)
        self._ground = {name: self._lowest(name) for name in self._soles}
        ground = min(self._ground[name] for name in standing)
        height = max(float(body.centre[2]) - ground, 0.3 * self._usual.height)
        self._omega = math.sqrt(GRAVITY / height)
        base = body.data.oMi[self.robot.base_joint].rotation
        self._centre = body.centre[:2] + (base @ self._aside)[:2]
        self.dcm = self._centre + body.centre_velocity[:2] / self._omega
        self._ahead = mean_heading(list(self._soles.values()))
        self._stands = self._stands.towards(self._led, dt, body, settings.climb)
        if not abs(_wrapped(self._course - self._ahead)) < settings.sharpest:
            self._course = self._ahead  # at the start, or when the feet were turned too far from it
        if self.mode is WalkMode.STEPPING:
            self._course += dt * self._velocity[2]
        upright = pin.utils.rotate("z", self._ahead) @ self._stands.trunk
        self._lean, self._upright = math.acos(min(max(0.5 * (float(np.sum(upright * base)) - 1.0), -1.0), 1.0)), upright
        if self._lean > settings.fallen:
            self.mode = WalkMode.FALLEN
        self._urgency = 0.0

    def _move(self, dt: float) -> Array:
        """Tasks of the whole body, and their efforts."""
        body, settings = self.body, self.settings
        k, level = settings.height_frequency, sum(self._ground[name] for name in self._bearing) / len(self._bearing)
        rise = dt * settings.climb
        self._level = level if math.isnan(self._level) else min(max(level, self._level - rise), self._level + rise)
        lift = k**2 * (self._level + self._stands.height - body.centre[2]) - 2.0 * k * body.centre_velocity[2]
        lift += self._heavier * (lift + GRAVITY)
        body.move_centre(np.append(self._omega**2 * (self._centre - self.pressure), lift))
        for name in self._bearing:
            body.hold(name, body.soles[name].corners)
        if self.mode is WalkMode.STEPPING and self._swing is not None:
            foot = self._swing
            placement = pin.SE3(pin.utils.rotate("z", foot.position[3]), foot.position[:3])
            rates = [np.concatenate([x[:3], [0.0, 0.0, x[3]]]) for x in (foot.velocity, foot.acceleration)]
            body.reach(self._other(self.stance), placement, *rates)
        ease = 1.0 + max(0.0, 1.0 - (self._lean / settings.lean) ** 2) * self._urgency**2
        body.orient_base(self._upright, ease=ease)
        body.calm(ease)
        body.keep_posture(self._stands.q)
        return body.solve()

    # Standing --------------------------------------------------------------------------------------------------------

    def _stand(self, time: float) -> None:
        """Bear on both feet; begin a step when one is wanted or needed."""
        settings = self.settings
        self._bearing = (self._right, self._left)
        polygon, target = self._polygon(), np.mean([self._origin(name) for name in self._soles], axis=0)
        target += turned(self._ahead) @ self._stands.offset
        if self.mode is WalkMode.SHIFTING:
            inward = self._origin(self._other(self.stance)) - self._origin(self.stance)
            target = self._origin(self.stance) + inward / (1.0 + math.exp(self._omega * settings.step_time))
        off = self.dcm - target
        self.pressure = nearest_point(polygon, self.dcm + settings.standing_gain / self._omega * off)
        if polygon_margin(polygon, self.dcm) < 0.0:
            self._begin(time, min((self._right, self._left), key=self._trouble))
        elif self.mode is WalkMode.STANDING:
            if np.any(self._velocity != 0.0):
                self.mode, self.stance = WalkMode.SHIFTING, self._right if self._velocity[1] > 0.0 else self._left
        elif not np.any(self._velocity != 0.0):
            self.mode = WalkMode.STANDING
        elif np.linalg.norm(off) < _SHIFTED[0] and np.linalg.norm(self._centre - target) < _SHIFTED[1]:
            self._begin(time, self.stance)

    def _trouble(self, stance: str) -> float:
        """How bad the best step on a foot is: what it leaves over, and how far it is from the wanted one [m]."""
        self.stance, self._swing, self._duration = stance, None, self.settings.step_time
        step = self._adjust(0.0)
        return float(np.abs(step.offset_error).sum() + 0.1 * np.abs(step.place - self._wanted()[0]).sum())

    def _polygon(self) -> Array:
        """(k, 2) corners of what both soles span, without their margins [m]."""
        return self._hull(tuple(self._soles), self.settings.margin)

    def _hull(self, soles: tuple[str, ...], margin: float) -> Array:
        """(k, 2) corners of what soles span, each without a margin [m]."""
        corners = []
        for name in soles:
            patch, placement = self.body.soles[name].patch, self._soles[name]
            inner = patch * (1.0 - margin / np.abs(patch).max(axis=0))
            corners.append(inner @ placement.rotation[:2, :2].T + placement.translation[:2])
        return convex_hull(np.vstack(corners))

    def _lowest(self, sole: str) -> float:
        """Height of a sole's lowest corner [m]: of what it stands on, though its heel may be in the air."""
        own = self.body.soles[sole]
        placement = self.body.data.oMi[own.joint]
        return float((own.corners @ placement.rotation[2]).min() + placement.translation[2])

    def _origin(self, sole: str) -> Array:
        return np.asarray(self._soles[sole].translation[:2])

    def _other(self, sole: str) -> str:
        return self._left if sole == self._right else self._right

    # Stepping --------------------------------------------------------------------------------------------------------

    def _begin(self, time: float, stance: str) -> None:
        """Begin a step on a foot; the other one still bears for a while."""
        self.mode, self.stance, self._began, self._swing = WalkMode.STEPPING, stance, time, None
        self._led = self._usual
        self._duration, self._bearing = self.settings.step_time, (self._right, self._left)
        self._adjust(0.0)

    def _step(self, time: float, dt: float, loads: Mapping[str, float]) -> None:
        """Lead the swinging foot; go on with the next step when it has landed."""
        settings, elapsed, free = self.settings, time - self._began, self._other(self.stance)
        if self._swing is None and elapsed >= settings.double_support:
            here = np.append(self._soles[free].translation, heading(self._soles[free]))
            self._swing = ReplannedSwing(here, settings.clearance * self._unit, elapsed)
            self._bearing = (self.stance,)
        late = elapsed - settings.double_support > 0.5 * (self._duration - settings.double_support)
        if self._swing is not None and late and loads[free] > settings.presses * self._weight:
            self._land(time, free)
            return
        self._adjust(elapsed)
        if self._swing is not None:
            self._swing.advance(self._goal, elapsed, self._duration, dt, settings.descent)

    def _land(self, time: float, landed: str) -> None:
        """Step on with the other foot; stand where nothing else is wanted and both are side by side."""
        if not np.any(self._velocity != 0.0):
            gap = self._origin(landed) - self._origin(self._other(landed))
            ahead = turned(heading(self._soles[landed])).T @ gap
            if abs(ahead[0]) < _BESIDE and polygon_margin(self._polygon(), self.dcm) > _INSIDE:
                self.mode, self._bearing = WalkMode.STANDING, (self._right, self._left)
                return
        self._begin(time, landed)

    def _wanted(self) -> tuple[Array, Array]:
        """Displacements of this step and of the one after it, in the stance's axes, (2,) each [m]."""
        side = 1.0 if self.stance == self._right else -1.0
        off = _wrapped(self._course - heading(self._soles[self.stance]))
        way, across = self._velocity[:2] * self.settings.step_time, np.array([0.0, side * self._width])
        turn = turned(off + 0.5 * self._velocity[2] * self.settings.step_time)
        return turn @ (way + across), turn @ (way - across)

    def _beside(self, bend: float) -> float:
        """Least lateral distance of a foot that lands turned by an angle: all of it is beside the standing one [m]."""
        along, across = self._half
        return float(across + along * abs(math.sin(bend)) + across * math.cos(bend)) + self.settings.gap

    def _adjust(self, elapsed: float) -> AdjustedStep:
        """Choose pressure, place and duration of the step anew."""
        settings, side = self.settings, 1.0 if self.stance == self._right else -1.0
        origin, yaw = self._origin(self.stance), heading(self._soles[self.stance])
        turn, rest = turned(yaw), self._duration - elapsed
        free = self._origin(self._other(self.stance)) if self._swing is None else self._swing.position[:2]
        step, following = self._wanted()
        bend = min(max(_wrapped(self._course - yaw), -settings.sharpest), settings.sharpest)
        lateral, reach = sorted((side * self._beside(bend), side * self._widest)), settings.reach * self._unit
        least = max(settings.shortest, elapsed + _SETTLED)
        span = np.array([least, max(settings.longest, least)])
        settled = self._swing is not None and rest < _SETTLED
        if settled:
            span[:] = max(self._duration, elapsed + 0.5 * _FROZEN)
        places = np.array([[-reach, lateral[0]], [reach, lateral[1]]])
        adjusted = adjust_step(
            turn.T @ (self.dcm - origin), self._omega, elapsed, pressure=np.zeros(2), place=step,
            offset=wanted_offset(step, following, self._omega, settings.step_time),
            duration=float(np.clip(settings.step_time, *span)), swing=turn.T @ (free - origin),
            bounds=StepBounds(np.stack([-self._edge, self._edge]), places, span, settings.swing_speed),
            weights=settings.weights,
        )  # fmt: skip
        growth = math.exp(self._omega * max(adjusted.duration - elapsed, 0.5 * _SETTLED))
        most = settings.moment_reach * self._unit
        beyond = np.clip(adjusted.offset_error / (growth - 1.0), -most, most)
        self.pressure = origin + turn @ (adjusted.pressure + beyond)
        self._urgency = float(np.linalg.norm(beyond)) / 0.01
        if not (self._swing is not None and 0.0 < rest < _FROZEN):
            low = self._ground[self.stance] - _SUNK
            self._goal = np.concatenate([origin + turn @ adjusted.place, [low, yaw + bend]])
        if not settled:
            self._duration = adjusted.duration
        return adjusted


def _wrapped(angle: float) -> float:
    """Return the angle within half a turn [rad]."""
    return math.remainder(angle, 2.0 * math.pi)
