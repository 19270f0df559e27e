# SPDX-License-Identifier: Apache-2.0
"""Tells how a robot keeps to a whole-body motion: contact forces, slip, joints, base, efforts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.whole_body_dynamics import zero_moment_point
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory

#: A base lower than its plan by this much has fallen [m].
_FALLEN = 0.25
#: Part of a contact's time, at its beginning and at its end, in which it takes over and gives away its load [s].
_EDGE = 0.02


class ContactLoad(NamedTuple):
    """A contact that presses on a link.

    Attributes:
        link: name.
        place: (3,) in the world [m].
        force: (3,) on the link, in the world [N].
        normal: (3,) unit, into the link, in the world.
    """

    link: str
    place: Array
    force: Array
    normal: Array


@dataclass(frozen=True, eq=False)
class PlayedMotion:
    """What was seen of a motion, every few steps of time; L locations ever bear.

    Attributes:
        times: (k,) [s].
        locations: names of the L contact locations.
        planned: (k, L) sums of planned normal forces [N]; NaN where the trajectory plans none, as a walking pattern.
        measured: (k, L) sums of those of the simulator [N].
        planned_zero_moment_point: (k, 3) [m]; NaN where the trajectory plans none.
        zero_moment_point: (k, 3) of the simulator's forces [m]; NaN where nothing presses.
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
    planned_zero_moment_point: Array
    zero_moment_point: Array
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
        """Root mean square of measured less planned normal forces, over times and locations [N]; NaN without a plan."""
        return float(np.sqrt(np.square(self.measured - self.planned).mean()))

    @property
    def zero_moment_point_error(self) -> float:
        """Root mean square of the way from the planned zero-moment point, seen from above [m]; NaN without a plan."""
        off = (self.zero_moment_point - self.planned_zero_moment_point)[:, :2]
        known = np.isfinite(off).all(axis=1)
        return float(np.sqrt(np.square(off[known]).sum(axis=1).mean())) if known.any() else float("nan")

    def report(self) -> str:
        """Return the figures in words, a line each."""
        end = "stands" if self.fallen is None else f"fell at {self.fallen:.2f} s"
        forces = f"{self.force_error:.1f} N off the plan (root mean square)"
        point = f"zero-moment point {1e3 * self.zero_moment_point_error:.1f} mm off the plan (root mean square)"
        slips = ", ".join(f"{name} {1e3 * way:.2f}" for name, way in self.slip.items())
        return "\n".join(
            [
                f"{end}; {np.degrees(self.goal_joint):.2f} degrees and {1e3 * self.goal_base:.2f} mm from the goal",
                f"joints within {np.degrees(self.joints.max()):.2f} degrees of the plan, "
                f"base within {1e3 * np.linalg.norm(self.base[:, :3], axis=1).max():.2f} mm",
                f"largest slip [mm]: {slips}",
                f"contact forces {'were not planned' if np.isnan(self.planned).any() else forces}",
                *([] if np.isnan(self.zero_moment_point_error) else [point]),
                f"efforts at most {self.efforts.max():.0%} of their limits",
            ]
        )


class MotionWatch:
    """What is seen of a robot that plays a motion, in a simulation or by its topics.

    Attributes:
        slip: largest way of each location along its surface while it bore [m].
        placed: farthest that each location bore from its planned place [m].
        fallen: when the robot fell, None if it didn't [s].
    """

    def __init__(self, trajectory: WholeBodyTrajectory) -> None:
        """Watch a motion.

        Args:
            trajectory: that is played.
        """
        self._trajectory, robot = trajectory, trajectory.robot
        self._robot = robot
        self._limits = np.array([robot.limits.effort[robot.index_v(name)] for name in robot.joint_names])
        self._rows: list[tuple[float, Array, Array, Array, Array, Array, float, float]] = []
        self._starts: dict[int, pin.SE3] = {}
        self._goals = [self._planned_place(span) for span in trajectory.contacts]
        self._q = trajectory.q[0]
        self.slip = dict.fromkeys(trajectory.locations, 0.0)
        self.placed = dict.fromkeys(trajectory.locations, 0.0)
        self.fallen: float | None = None

    def look(self, now: float, q: Array, efforts: Array, contacts: Sequence[ContactLoad]) -> None:
        """Compare the robot with its plan.

        Args:
            now: since the motion began [s].
            q: (nq,) configuration.
            efforts: (n,) of the robot's joints, in its order; not a number where unknown [N m or N].
            contacts: of the robot's links.
        """
        trajectory, robot = self._trajectory, self._robot
        self._q = q
        off = pin.difference(robot.model, trajectory.at(now).q, q)
        if off[:3] @ off[:3] > _FALLEN**2 and self.fallen is None:
            self.fallen = now
        shares = float(np.nanmax(np.abs(efforts) / self._limits, initial=0.0))
        loads: dict[str, float] = {}
        for one in contacts:
            loads[one.link] = loads.get(one.link, 0.0) + float(one.force @ one.normal)
        measured = self._measured(now, loads)
        point = zero_moment_point([one.place for one in contacts], [one.force for one in contacts])
        points = trajectory.zero_moment_point
        planned_point = np.full(3, np.nan) if points is None else points[self._sample(now)]
        worst = float(np.abs(off[6:]).max())
        self._rows.append((now, self._planned(now), measured, planned_point, point, off[:6], worst, shares))
        links = robot.link_placements(q)
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
        links = self._robot.link_placements(self._trajectory.at(0.5 * (span.start + span.end)).q)
        return np.asarray((links[span.contact.location.link] * span.contact.location.placement_link_patch).translation)

    def _planned(self, now: float) -> Array:
        trajectory = self._trajectory
        if not trajectory.forces:
            return np.full(len(trajectory.locations), np.nan)
        sums = dict.fromkeys(trajectory.locations, 0.0)
        for item in trajectory.forces[self._sample(now)]:
            sums[item.location] += float(item.force @ item.normal)
        return np.array(list(sums.values()))

    def _sample(self, now: float) -> int:
        """Return the index of the trajectory's last sample that isn't later."""
        return max(int(np.searchsorted(self._trajectory.times, now, side="right")) - 1, 0)

    def _measured(self, now: float, loads: Mapping[str, float]) -> Array:
        """(k,) loads of the locations [N]: a link's load is that of the location by which it holds, if it does."""
        trajectory = self._trajectory
        spans = trajectory.held(now)
        held, links = {span.location for span in spans}, {span.contact.location.link for span in spans}
        return np.array(
            [
                sum(loads.get(link, 0.0) for link in self._links(name) if name in held or link not in links)
                for name in trajectory.locations
            ]
        )

    def _links(self, location: str) -> set[str]:
        return {span.contact.location.link for span in self._trajectory.contacts if span.location == location}

    def played(self) -> PlayedMotion:
        """Return all of it."""
        times, planned, measured, planned_points, points, base, joints, efforts = (
            np.array(column) for column in zip(*self._rows, strict=True)
        )
        off = pin.difference(self._robot.model, self._trajectory.q[-1], self._q)
        return PlayedMotion(
            times,
            self._trajectory.locations,
            planned,
            measured,
            planned_points,
            points,
            base,
            joints,
            efforts,
            self.slip,
            self.placed,
            self.fallen,
            float(np.abs(off[6:]).max()),
            float(np.linalg.norm(off[:3])),
        )
