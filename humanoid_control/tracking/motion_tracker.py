# SPDX-License-Identifier: Apache-2.0
"""A controller that carries a whole-body motion out on feet and hands, on a world that differs from the plan."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_control.estimation import Estimate, Estimator, EstimatorSettings
from humanoid_control.estimation.estimator import sensor_towards
from humanoid_control.tracking.limb import Limb
from humanoid_control.tracking.motion_reference import MotionReference
from humanoid_control.tracking.tracker_settings import TrackerSettings
from humanoid_control.whole_body_control import WholeBodyControl
from humanoid_model.arrays import Array
from humanoid_model.checks import check_array
from humanoid_model.controller import Command, Measurement
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory

GRAVITY = 9.81
_UPRIGHT = 6e-3
"""Deviation of the tilt below which a tracker begins, a fifth of a second after the first readings [rad]."""
_LONGEST_TICK = 0.02
"""Time between ticks beyond which the clock has jumped: the plan's clock doesn't follow it [s]."""
_BRAKE = 4.0
"""How fast the rate of the plan's clock changes [1/s]."""
_HURRY = 1.3
"""Rate of the plan's clock while a contact bears before its time."""
_ALIGNED = 0.5
"""How long the world of the estimate is put where the plan begins, from the first command on [s]."""
_INSIDE = 0.9
"""Share of the plan's friction that forces use."""
_SIDEWAYS = 0.1
"""Share of its normal force from which on a planned force has a side."""
_FOLLOW = 0.15
"""Time in which the plan of the centre of mass follows displaced contacts [s]."""


class TrackMode(Enum):
    """What a tracker does."""

    TRACKING = "tracking"
    WAITING = "waiting"
    STOPPED = "stopped"
    DONE = "done"
    FALLEN = "fallen"


class MotionTracker:
    r"""Carries a motion out: balance on its contacts, feet and hands alike, which it finds by force.

    Each tick asks the whole body (:class:`.WholeBodyControl`) for the plan's acceleration of the centre of mass and
    what brings it back, :math:`\ddot c_d+\omega_c^2(c_d-c)+2\omega_c(\dot c_d-\dot c)`, the plan's angular momentum,
    attitude and posture, and near to the plan's contact forces, within friction pyramids at the corners of what bears:
    the wrench that brings the robot back is distributed to feet and hands. The plan of the centre of mass is displaced
    along with its contacts, by the shares of the weight that they bear in the plan.

    A contact bears once it is felt. One that is felt early bears at once, one that isn't felt at its time is sought
    along its normal. A motion that is at rest whenever a contact is made, as those of contact plans are, waits for it:
    the plan's clock stands still, as it does while the centre of mass is far from its plan. Where nothing is found
    within ``settings.depth`` the robot stays in the stance that it has, which balances without it. A motion that isn't
    at rest then, as a walk, goes on.

    It knows the robot by its measurements alone; a contact without force-torque sensor is judged by the weight that
    the others don't bear. ``copy.deepcopy`` takes a tracker as it is, without its robot and motion.

    Attributes:
        robot: that it moves.
        motion: that is carried out.
        settings: how.
        mode: what it does.
        reason: why it has stopped or fallen; empty before.
        phase: time of the plan [s].
        offset: (3,) how far the plan of the centre of mass is displaced [m].
        estimate: of the last measurement; None before the first one.
        placement_plan_world: of the estimate's world in the plan's.
    """

    def __init__(
        self,
        motion: WholeBodyTrajectory,
        settings: TrackerSettings | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        """Prepare for a motion.

        Args:
            motion: of a robot on a free base.
            settings: how it is carried out.
            estimator: of its state; one whose contacts are soles, and locations behind force-torque sensors, if not
                given.

        Raises:
            InputError: the base is fixed, or a contact is at no location of the robot.
        """
        robot = motion.robot
        self.robot, self.motion, self.settings = robot, motion, settings or TrackerSettings()
        soles = [name for name, location in robot.contacts.items() if location.support]
        gains = self.settings.gains
        least = min((item.friction for forces in motion.forces for item in forces), default=math.inf)
        gains = replace(gains, friction=min(gains.friction, _INSIDE * least))
        self.body = WholeBodyControl(robot, gains, dict.fromkeys([*soles, *motion.locations]))
        sensed = [n for n in self.body.soles if n in soles or sensor_towards(robot, robot.contacts[n].link) is not None]
        self._estimator = estimator or Estimator(robot, EstimatorSettings(contacts=tuple(sensed)))
        self._weight = GRAVITY * robot.total_mass
        self.reset()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints in the order in which measurements have them."""
        return self._estimator.joint_names

    @property
    def sensors(self) -> tuple[str, ...]:
        """Force-torque sensors that it reads."""
        return self._estimator.sensors

    @property
    def bearing(self) -> tuple[str, ...]:
        """Locations that bear."""
        return tuple(limb.name for limb in self._limbs if limb.held)

    def reset(self, placement_world_base: pin.SE3 | None = None) -> None:
        """Forget all that was measured, and begin at the beginning of the motion.

        Args:
            placement_world_base: where the base is now in the world of the estimate; as of :meth:`.Estimator.reset`.
        """
        self._estimator.reset(placement_world_base)
        self.body.reset()
        self._reference = MotionReference(self.motion)
        self._limbs = [Limb(n, self.body.soles[n], self._reference, self.settings) for n in self.motion.locations]
        self.phase = float(self.motion.times[0])
        for limb in self._limbs:
            limb.begin(self.phase)
        self.mode, self.reason = TrackMode.TRACKING, ""
        self.estimate: Estimate | None = None
        self.placement_plan_world, self._began = pin.SE3.Identity(), math.nan
        self.offset: Array = np.zeros(3)
        self._surfaces: dict[str, Array] = {}
        self._time, self._rate, self._missing = math.nan, 1.0 if not self._reference.waits else 0.0, ""

    def stop(self, reason: str) -> None:
        """Stay in the stance that it has; a motion that isn't at rest where contacts are made goes on to its end."""
        if self.mode in (TrackMode.TRACKING, TrackMode.WAITING) and self._reference.waits:
            self.mode, self.reason = TrackMode.STOPPED, reason

    def __deepcopy__(self, memo: dict[int, Any]) -> MotionTracker:
        """Return a copy that goes on by itself and shares robot and motion."""
        for shared in (self.robot, self.robot.model, self.motion):
            memo[id(shared)] = shared
        other = MotionTracker.__new__(MotionTracker)
        memo[id(self)] = other
        other.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return other

    def update(self, time: float, measurement: Measurement) -> Command | None:
        """Efforts of the driven joints until the next tick.

        Args:
            time: of the controller's clock [s].
            measurement: readings of this tick.

        Returns:
            The command; None until it is well known once how the robot stands, for which something else has to hold
            it at rest for a fifth of a second.
        """
        estimate = self._estimator.update(time, measurement)
        if estimate is None:
            return None
        if self.estimate is None and not estimate.tilt_deviation < _UPRIGHT:
            return None
        self.estimate = estimate
        if math.isnan(self._began):
            self._began = time
        if time - self._began < _ALIGNED and all(limb.made == -math.inf for limb in self._limbs):
            self._align(estimate)
        loads: dict[str, float] = {}
        for name, contact in estimate.contacts.items():
            force = float(contact.wrench[2])
            loads[name] = force if math.isfinite(force) else contact.probability * self._weight
        base = self.placement_plan_world * estimate.placement_world_base
        return self.respond(time, self.robot.place_base(estimate.q, base), estimate.v, loads)

    def _align(self, estimate: Estimate) -> None:
        """Put the world of the estimate where the plan has what bears at first, its vertical upright."""
        model, data = self.robot.model, self.body.data
        pin.forwardKinematics(model, data, estimate.q)
        pairs = [(self._reference.placement(limb.sole), self._here(limb)) for limb in self._limbs if limb.held]
        if not pairs:
            pairs = [(self.robot.placement_base(self.motion.q[0]), estimate.placement_world_base)]
        turns = [planned.rotation @ here.rotation.T for planned, here in pairs]
        turn = pin.utils.rotate("z", float(np.mean([math.atan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]) for R in turns])))
        off = [planned.translation - turn @ here.translation for planned, here in pairs]
        self.placement_plan_world = pin.SE3(turn, np.mean(off, axis=0))

    def respond(self, time: float, q: Array, v: Array, loads: Mapping[str, float]) -> Command:
        """Efforts of the driven joints until the next tick, in a state that is known.

        Args:
            time: of the controller's clock [s].
            q: (nq,) configuration in the plan's world.
            v: (nv,) velocity.
            loads: normal force on locations of which it is known [N].

        Raises:
            InputError: a configuration or velocity of another length, or with a number that isn't finite.
        """
        check_array(q, "q", (self.robot.model.nq,))
        check_array(v, "v", (self.robot.model.nv,))
        dt = min(max(time - self._time, 0.0), _LONGEST_TICK) if math.isfinite(self._time) else 0.0
        self._time = time
        self.body.look(q, v)
        if self.mode is not TrackMode.FALLEN:
            self._touch(dt, loads)
            self._run(dt)
            self._judge()
        speeds = v[self.body.columns]
        if self.mode is TrackMode.FALLEN:
            return self.body.command(time, dt, -self.settings.softness * speeds, 0.0 * speeds)
        efforts = self._move()
        return self.body.command(time, dt, efforts, speeds + dt * self.body.accelerations[self.body.columns])

    # Contacts --------------------------------------------------------------------------------------------------------

    def _touch(self, dt: float, loads: Mapping[str, float]) -> None:
        """Let contacts be made and left, and learn where surfaces are."""
        carried: dict[int, float] = {}
        for name, load in loads.items():
            joint = self.body.soles[name].joint
            carried[joint] = max(carried.get(joint, 0.0), load)
        left = 1.0 - sum(carried.values()) / self._weight
        for limb in self._limbs:
            load = loads[limb.name] / self._weight if limb.name in loads else left
            if self.mode is TrackMode.STOPPED and not limb.held:
                continue
            limb.update(self.phase, dt, load, self._here(limb))
            if limb.held and limb.span is not None:
                self._surfaces[limb.span.contact.surface.name] = limb.displacement
        self._limbs.sort(key=lambda limb: limb.made)
        shift, share = self._shift(), -math.expm1(-dt / _FOLLOW)
        self.offset = self.offset + share * (shift - self.offset)

    def _here(self, limb: Limb) -> pin.SE3:
        return self.body.data.oMi[limb.sole.joint] * limb.sole.placement

    def _shift(self) -> Array:
        """(3,) displacement of what bears, by the shares of the planned load [m]."""
        held, forces = [limb for limb in self._limbs if limb.held], self._reference.forces()
        shares = np.array([float(np.linalg.norm(forces.get(limb.name, np.zeros(3)))) for limb in held])
        if not shares.sum() > 0.0:
            shares = np.ones(len(held))
        if not held:
            return self.offset
        return np.asarray(shares @ np.array([limb.displacement for limb in held]) / shares.sum())

    # The plan's clock ------------------------------------------------------------------------------------------------

    def _run(self, dt: float) -> None:
        """Let the plan's clock go on, wait or hurry, and look at the plan there."""
        reference, settings, before = self._reference, self.settings, self._rate
        if reference.waits:
            wanted = 1.0
            if any(limb.held and limb.span.start > self.phase for limb in self._limbs if limb.span is not None):
                wanted = _HURRY
            wanted *= min(max(2.0 * (1.0 - self.distance / settings.slowest), 0.0), 1.0)
            for limb in self._limbs:
                if limb.span is not None and not limb.held:  # it can stop where the contact is made
                    wanted = min(wanted, math.sqrt(2.0 * _BRAKE * max(limb.span.start - self.phase, 0.0)))
            if self.mode is TrackMode.STOPPED:
                wanted = 0.0
            self._rate = min(max(wanted, before - _BRAKE * dt), before + _BRAKE * dt)
        change = (self._rate - before) / dt if dt > 0.0 else 0.0
        self.phase += dt * self._rate
        reference.look(self.phase, self._rate, change)

    @property
    def distance(self) -> float:
        """Of the centre of mass from its plan [m]."""
        return float(np.linalg.norm(self._reference.data.com[0] + self.offset - self.body.centre))

    def _judge(self) -> None:
        """Say what is done, and stop where a contact isn't found."""
        settings = self.settings
        planned, here = (data.oMi[self.robot.base_joint].rotation for data in (self._reference.data, self.body.data))
        lean = math.acos(min(max(0.5 * (float(np.sum(planned * here)) - 1.0), -1.0), 1.0))
        if lean > settings.fallen or self.distance > settings.astray:
            self.mode, self.reason = TrackMode.FALLEN, f"{self.distance:.2f} m and {lean:.2f} rad off the plan"
        elif self.body.lost:
            self.mode, self.reason = TrackMode.FALLEN, "no efforts are found that obey the dynamics"
        if self.mode in (TrackMode.FALLEN, TrackMode.STOPPED):
            return
        late = [limb for limb in self._limbs if limb.late(self.phase)] if self._reference.waits else []
        self.mode = TrackMode.WAITING if late else TrackMode.TRACKING
        if not late and self.phase >= float(self.motion.times[-1]):
            self.mode = TrackMode.DONE
        for limb in late:
            if limb.sunk > settings.depth and limb.span is not None:
                self.mode = TrackMode.STOPPED
                self.reason = (
                    f"'{limb.name}' finds no '{limb.span.contact.surface.name}' within "
                    f"{1e3 * settings.depth:.0f} mm at {limb.span.start:.2f} s of the plan"
                )
                limb.sunk = 0.0

    # Tasks -----------------------------------------------------------------------------------------------------------

    def _move(self) -> Array:
        """Tasks of the whole body, and their efforts."""
        body, reference, k = self.body, self._reference, self.settings.centre
        forces, bearing = reference.forces(), {limb.sole.joint for limb in self._limbs if limb.held}
        for limb in self._limbs:
            if limb.held:
                wanted = forces.get(limb.name, np.zeros(3))
                axes = _edge_along(limb.axes(self._here(limb)), wanted)
                force = axes.T @ wanted
                body.hold(limb.name, limb.corners, axes, force, attitude=limb.upright)
            elif limb.span is not None and limb.sole.joint not in bearing:
                known = self._surfaces.get(limb.span.contact.surface.name, np.zeros(3))
                body.reach(limb.name, *limb.way(self.phase, self._rate, known))
        data = reference.data
        error = data.com[0] + self.offset - body.centre
        body.move_centre(data.acom[0] + k**2 * error + 2.0 * k * (data.vcom[0] - body.centre_velocity))
        base = self.robot.base_joint
        twist = pin.getVelocity(self.robot.model, data, base, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        change = pin.getAcceleration(self.robot.model, data, base, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        body.orient_base(data.oMi[base].rotation, twist.angular, change.angular)
        body.calm(wanted=np.array(data.hg.angular), change=np.array(data.dhg.angular))
        body.keep_posture(reference.q, reference.v, reference.a)
        return body.solve()


def _edge_along(axes: Array, force: Array) -> Array:
    """(3, 3) axes about the same normal of which the friction pyramid has an edge on the side of a force (3,)."""
    along = axes.T @ force
    if math.hypot(along[0], along[1]) < _SIDEWAYS * along[2]:
        return axes
    return np.asarray(axes @ pin.utils.rotate("z", math.atan2(along[1], along[0]) - 0.25 * math.pi))
