# SPDX-License-Identifier: Apache-2.0
"""A verifier of motions over time that shares nothing with the planner but their data; see ``verify_plan``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_model.contact import Contact, Stance
from humanoid_model.fields import number
from humanoid_model.progress import Progress, ProgressCallback, Watch
from humanoid_model.scene import Scene
from humanoid_model.whole_body_trajectory import PlannedForce, WholeBodyTrajectory
from humanoid_planner.contacts.verify_plan import PlanLimits, PlanLook, PlanVerdict


@dataclass(frozen=True)
class MotionLimits(PlanLimits):
    """What a motion may be off by."""

    speed: float = number(1.0, "largest joint speed as a part of its limit", low=0.0)
    course: float = number(
        0.05, "of speeds from what a joint or the base goes between samples", "rad/s or m/s", low=0.0
    )
    force: float = number(1e-3, "of a force beyond its cone, as a part of the weight", low=0.0)
    beside: float = number(1e-3, "of a force's place from the contact's patch", "m", low=0.0)
    residual: float = number(1e-3, "of what nothing bears, as a part of the weight and a metre", low=0.0)


def verify_motion(
    trajectory: WholeBodyTrajectory,
    scene: Scene,
    limits: MotionLimits | None = None,
    *,
    time_limit: float = math.inf,
    progress: ProgressCallback | None = None,
) -> PlanVerdict:
    """Look at a motion: where the robot is at all times, how fast, and what carries it.

    Between samples it is looked at as densely as a plan's walk: what sweeps through a body there is seen. A violation's
    ``stance`` counts the changes of contacts before it. The verdict's margin is infinite: a motion isn't at rest.

    Args:
        trajectory: with forces and torques.
        scene: around the robot.
        limits: what is allowed.
        time_limit: wall-clock time [s]; what was found until then is returned, without success.
        progress: told now and then; returns True to cancel, likewise.

    Raises:
        InputError: a contact names no body of the scene.
    """
    watch, look = Watch(progress, time_limit), _MotionLook(trajectory, scene, limits or MotionLimits())
    count, gone = len(trajectory.times), 1.0
    for k in range(count):
        watch.now = Progress(f"{trajectory.times[k]:.2f} of {trajectory.duration:.2f} s", k / count, k)
        if watch.over():
            break
        look.sample(k)
        if k + 1 < count:
            gone = look.between(k, gone)
    found = look.places
    whole = not found.violations and not watch.why
    return PlanVerdict(whole, tuple(found.violations), found.postures, found.drift, math.inf, found.torque, watch.why)


def collisions_of(trajectory: WholeBodyTrajectory, scene: Scene) -> list[tuple[float, str]]:
    """Return when which link runs into the robot itself or the scene, as :func:`verify_motion` sees it [s].

    Raises:
        InputError: a contact names no body of the scene.
    """
    found = verify_motion(trajectory, scene).violations
    return [(float(trajectory.times[item.sample]), link) for item in found for link in item.links]


class _MotionLook:
    """Looks at samples and at what is between them."""

    def __init__(self, trajectory: WholeBodyTrajectory, scene: Scene, limits: MotionLimits) -> None:
        self._motion, self._limits, self._model = trajectory, limits, trajectory.robot.model
        self._data = self._model.createData()
        self._base = 6 if trajectory.robot.base_joint is not None else 0
        self._weight = pin.computeTotalMass(self._model) * max(float(np.linalg.norm(scene.gravity)), 1e-9)
        self.places = PlanLook(trajectory.robot, scene, limits)

    def sample(self, k: int) -> None:
        """Look at speeds, efforts and forces of a sample."""
        motion, limits = self._motion, self._motion.robot.limits
        time, held = motion.times[k], self._held(k)
        index = sum(span.start < time for span in motion.contacts)
        for kind, values, bounds, allowed in (
            ("speed", motion.v[k], limits.velocity, self._limits.speed),
            ("torque", motion.tau[k], limits.effort, self._limits.torque),
        ):
            shares = np.abs(values[self._base :]) / bounds[self._base :]
            worst = float(shares.max(initial=0.0))
            if kind == "torque":
                self.places.torque = max(self.places.torque, worst)
            if worst > allowed + 1e-9:
                self.places.say(index, k, kind, f"a joint has {worst:.3g} of its limit at {time:.2f} s")
        for force in motion.forces[k] if motion.forces else ():
            for what in self._wrong(force, held):
                self.places.say(index, k, "force", f"{force.location} at {time:.2f} s: {what}")
        lacking = self._residual(k)
        if lacking > self._limits.residual:
            self.places.say(index, k, "dynamics", f"{lacking:.3g} of the weight is borne by nothing at {time:.2f} s")

    def between(self, k: int, gone: float) -> float:
        """Look at the robot from a sample to the next.

        Args:
            k: of the first sample.
            gone: way since the last look, in steps.

        Returns:
            The same for the next one.
        """
        motion, model = self._motion, self._model
        span = motion.times[k + 1] - motion.times[k]
        change = pin.difference(model, motion.q[k], motion.q[k + 1])
        off = np.abs(change - 0.5 * span * (motion.v[k] + motion.v[k + 1])).max()
        index = sum(one.start <= motion.times[k] for one in motion.contacts)
        if off > self._limits.course * max(span, 1e-6):
            self.places.say(index, k, "course", f"{off:.3g} rad or m aside of its speeds at {motion.times[k]:.2f} s")
        ways = np.linalg.norm(change[:3]) / self._limits.step_base if self._base else 0.0
        turns = np.abs(change[3 if self._base else 0 :]).max(initial=0.0) / self._limits.step_joint
        way = float(max(ways, turns))
        stance = Stance(tuple(self._during(motion.times[k], motion.times[k + 1])))
        last = k + 2 == len(motion.times)
        looks = [(n - gone) / way for n in range(1, math.floor(gone + way) + 1)] if way > 0.0 else []
        for share in [max(0.0, min(1.0, look)) for look in looks] + [1.0] * last:
            self.places.place(index, k, stance, pin.interpolate(model, motion.q[k], motion.q[k + 1], share))
        return (gone + way) % 1.0

    def _during(self, start: float, end: float) -> Iterator[Contact]:
        """Contacts that hold from one time to another."""
        for span in self._motion.contacts:
            if span.start <= start and span.end >= end:
                yield span.contact

    def _held(self, k: int) -> list[Contact]:
        """Contacts at a sample; of two at one time the first ends what was before, the second begins what follows."""
        times, time = self._motion.times, self._motion.times[k]
        first = k + 1 < len(times) and times[0] < time == times[k + 1]
        second = k > 0 and times[k - 1] == time < times[-1]
        held = (span for span in self._motion.contacts if span.start <= time <= span.end)
        return [
            span.contact
            for span in held
            if not (first and span.start == time) and not (second and span.end == time)
        ]

    def _wrong(self, force: PlannedForce, held: list[Contact]) -> Iterator[str]:
        """Yield what is wrong with a force."""
        contact = next((one for one in held if one.location.name == force.location), None)
        if contact is None:
            yield "a force acts where nothing holds"
            return
        seat, allowed = self.places.seat(contact), self._limits.force * self._weight
        along = seat.rotation.T @ force.force
        if not contact.bilateral and along[2] < -allowed:
            yield f"{-along[2]:.3g} N pull"
        slip = float(np.linalg.norm(along[:2])) - self.places.friction(contact) * max(float(along[2]), 0.0)
        if not contact.bilateral and slip > allowed:
            yield f"{slip:.3g} N beyond the friction cone"
        at = seat.actInv(np.asarray(force.place, dtype=float))
        low, high = contact.touching.min(axis=0), contact.touching.max(axis=0)
        out = max(float(np.max(low - at[:2])), float(np.max(at[:2] - high)), abs(float(at[2])))
        if out > self._limits.beside:
            yield f"{out:.3g} m beside its patch"

    def _residual(self, k: int) -> float:
        """Return what the motion needs beside its forces and torques, as a part of the weight and a metre."""
        motion, model, data = self._motion, self._model, self._data
        q = motion.q[k]
        pin.forwardKinematics(model, data, q)
        wrenches = pin.StdVec_Force()
        for _ in range(model.njoints):
            wrenches.append(pin.Force.Zero())
        for force in motion.forces[k] if motion.forces else ():
            link = motion.robot.contacts[force.location].link
            joint = motion.robot.parts.links[link].joint_id
            wrenches[joint] += data.oMi[joint].actInv(pin.Force(force.force, np.cross(force.place, force.force)))
        lacking = pin.rnea(model, data, q, motion.v[k], motion.a[k], wrenches) - motion.tau[k]
        return float(np.abs(lacking).max()) / self._weight
