# SPDX-License-Identifier: Apache-2.0
"""Plays a whole-body motion in the simulator, and tells how the robot kept to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.control import JointTrajectory
from humanoid_sim.walking.whole_body_tracking import WholeBodyTracking

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation

#: A base lower than its plan by this much has fallen [m].
_FALLEN = 0.25
#: Part of a contact's time, at its beginning and at its end, in which it takes over and gives away its load [s].
_EDGE = 0.02


@dataclass(frozen=True, eq=False)
class PlayedMotion:
    """What was seen of a motion, every few steps of time; L locations ever bear.

    Attributes:
        times: (k,) [s].
        locations: names of the L contact locations.
        planned: (k, L) sums of planned normal forces [N].
        measured: (k, L) sums of those of the simulator [N].
        base: (k, 6) how far the base is from its plan, and turned, in its own axes [m, rad].
        joints: (k,) largest distance of a joint from its plan [rad].
        efforts: (k,) largest share of an effort limit.
        slip: largest way of each location along its surface while it bore [m].
        placed: farthest that each location bore from its planned place [m].
        fallen: when the robot fell, None if it didn't [s].
        goal_joint: distance of the joint that is farthest from the goal posture at the end [rad].
        goal_base: distance of the base from there [m].
    """

    times: Array
    locations: tuple[str, ...]
    planned: Array
    measured: Array
    base: Array
    joints: Array
    efforts: Array
    slip: dict[str, float]
    placed: dict[str, float]
    fallen: float | None
    goal_joint: float
    goal_base: float

    @property
    def force_error(self) -> float:
        """Root mean square of measured less planned normal forces, over times and locations [N]."""
        return float(np.sqrt(np.square(self.measured - self.planned).mean()))

    def report(self) -> str:
        """Return the figures in words, a line each."""
        end = "stands" if self.fallen is None else f"fell at {self.fallen:.2f} s"
        slips = ", ".join(f"{name} {1e3 * way:.2f}" for name, way in self.slip.items())
        return "\n".join(
            [
                f"{end}; {np.degrees(self.goal_joint):.2f} degrees and {1e3 * self.goal_base:.2f} mm from the goal",
                f"joints within {np.degrees(self.joints.max()):.2f} degrees of the plan, "
                f"base within {1e3 * np.linalg.norm(self.base[:, :3], axis=1).max():.2f} mm",
                f"largest slip [mm]: {slips}",
                f"contact forces {self.force_error:.1f} N off the plan (root mean square)",
                f"efforts at most {self.efforts.max():.0%} of their limits",
            ]
        )


def play_motion(
    simulation: Simulation,
    robot: str,
    trajectory: WholeBodyTrajectory,
    *,
    stabilise: bool = False,
    after: float = 1.0,
    every: int = 5,
    progress: ProgressCallback | None = None,
) -> PlayedMotion:
    """Put a robot where a motion begins, play it, and look at contacts, joints and efforts.

    Servos with the robot's own gains follow the joints, the trajectory's torques added. With ``stabilise`` torques of a
    whole-body controller bring the robot back to its plan instead, which knows soles alone.

    Args:
        simulation: whose robot moves, from now on.
        robot: its name in the scene.
        trajectory: of this robot.
        stabilise: close the loop.
        after: how long the robot is watched at its end [s].
        every: steps of time from one look to the next.
        progress: told now and then; returns True to end.

    Raises:
        InputError: there is no such robot, or it isn't the trajectory's.
    """
    if robot not in simulation.robots:
        raise InputError(
            f"there is no robot '{robot}'",
            element="robot",
            remedy=f"There are {', '.join(simulation.robots) or 'none'}",
        )
    own = simulation.robots[robot]
    if list(own.robot.model.names) != list(trajectory.robot.model.names):
        raise InputError(
            f"'{robot}' isn't the robot of the trajectory",
            element="trajectory",
            remedy=f"Give a motion of '{own.robot.name}'",
        )
    own.set_state(trajectory.q[0], trajectory.v[0])
    begin = simulation.time
    if stabilise:
        if begin > 0.0:
            raise InputError(f"is at {begin:g} s", element="simulation", remedy="Stabilise from the beginning on")
        module: WholeBodyTracking | TrajectoryPlayer = WholeBodyTracking(robot, trajectory)
    else:
        plan = JointTrajectory(
            trajectory.joint_names,
            trajectory.times,
            trajectory.positions,
            trajectory.velocities,
            trajectory.accelerations,
            efforts=trajectory.torques,
        )
        module = TrajectoryPlayer(robot, plan, start_time=begin)
    simulation.add_module(module)
    look = _Look(simulation, robot, trajectory, begin)
    steps = round((trajectory.duration + after) / simulation.dt)
    try:
        for count in range(1, steps + 1):
            simulation.step()
            if count % every == 0 or count == steps:
                look.take()
                if look.fallen is not None:
                    break
                told = Progress(f"{simulation.time - begin:.1f} s", count / steps)
                if progress is not None and count % (40 * every) == 0 and progress(told):
                    break
    finally:
        simulation.remove_module(module.name)
    return look.played()


class _Look:
    """What is seen while a motion is played."""

    def __init__(self, simulation: Simulation, robot: str, trajectory: WholeBodyTrajectory, begin: float) -> None:
        self._simulation, self._robot, self._trajectory, self._begin = simulation, robot, trajectory, begin
        self._own = simulation.robots[robot]
        model = self._own.robot
        self._limits = np.array([model.limits.effort[model.index_v(name)] for name in self._own.joint_names])
        self._rows: list[tuple[float, Array, Array, Array, float, float]] = []
        self._starts: dict[int, pin.SE3] = {}
        self._goals = [self._planned_place(span) for span in trajectory.contacts]
        self.slip = dict.fromkeys(trajectory.locations, 0.0)
        self.placed = dict.fromkeys(trajectory.locations, 0.0)
        self.fallen: float | None = None

    def take(self) -> None:
        """Look at the robot now."""
        trajectory, own = self._trajectory, self._own
        now = self._simulation.time - self._begin
        off = pin.difference(own.robot.model, trajectory.at(now).q, own.q)
        if off[:3] @ off[:3] > _FALLEN**2:
            self.fallen = now
        planned, measured = self._planned(now), self._measured()
        efforts = float(np.nanmax(np.abs(own.joint_efforts) / self._limits))
        self._rows.append((now, planned, measured, off[:6], float(np.abs(off[6:]).max()), efforts))
        links = own.robot.link_placements(own.q)
        for index, span in enumerate(trajectory.contacts):
            if span.contact.kind.bears and span.start + _EDGE <= now < span.end - _EDGE:
                self._follow(index, span, links[span.contact.location.link])

    def _follow(self, index: int, span: ContactSpan, link: pin.SE3) -> None:
        """Compare a bearing contact with where it began to bear, and with its plan."""
        place = link * span.contact.location.placement_link_patch
        way = self._starts.setdefault(index, place).actInv(place)
        # Along the surface; how a soft or tilted sole rises is no slip.
        self.slip[span.location] = max(self.slip[span.location], float(np.linalg.norm(way.translation[:2])))
        off = float(np.linalg.norm(place.translation - self._goals[index]))
        self.placed[span.location] = max(self.placed[span.location], off)

    def _planned_place(self, span: ContactSpan) -> Array:
        """(3,) place of a contact by the plan [m]."""
        links = self._own.robot.link_placements(self._trajectory.at(0.5 * (span.start + span.end)).q)
        return np.asarray((links[span.contact.location.link] * span.contact.location.placement_link_patch).translation)

    def _planned(self, now: float) -> Array:
        trajectory = self._trajectory
        index = min(int(np.searchsorted(trajectory.times, now, side="right")), len(trajectory.times)) - 1
        sums = dict.fromkeys(trajectory.locations, 0.0)
        for item in trajectory.forces[max(index, 0)] if trajectory.forces else ():
            sums[item.location] += float(item.force @ item.normal)
        return np.array(list(sums.values()))

    def _measured(self) -> Array:
        spans = self._trajectory.contacts
        owners = {f"{self._robot}/{span.contact.location.link}": span.location for span in spans}
        sums = dict.fromkeys(self._trajectory.locations, 0.0)
        contacts = self._simulation.contacts
        for force, bodies in zip(contacts.normal_force, contacts.bodies, strict=True):
            for body in bodies:
                if body in owners:
                    sums[owners[body]] += float(force)
        return np.array(list(sums.values()))

    def played(self) -> PlayedMotion:
        """Return all of it."""
        times, planned, measured, base, joints, efforts = (np.array(column) for column in zip(*self._rows, strict=True))
        off = pin.difference(self._own.robot.model, self._trajectory.q[-1], self._own.q)
        return PlayedMotion(
            times,
            self._trajectory.locations,
            planned,
            measured,
            base,
            joints,
            efforts,
            self.slip,
            self.placed,
            self.fallen,
            float(np.abs(off[6:]).max()),
            float(np.linalg.norm(off[:3])),
        )
