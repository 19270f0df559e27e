# SPDX-License-Identifier: Apache-2.0
"""Forces and torques along a path: what a time law may ask, and what carries each sample of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.configuration_path import ConfigurationPath
from humanoid_model.robot import Robot
from humanoid_model.time_law import PathPlace
from humanoid_model.whole_body_trajectory import PlannedForce
from humanoid_planner.equilibrium.friction_cone import pyramid
from humanoid_planner.equilibrium.moving_forces import FACETS, LoadedPoint, moving_forces, point_jacobian
from humanoid_planner.motion.stance_postures import inset_patch
from humanoid_planner.motion.time_laws import PathDynamics
from humanoid_planner.motion.transitions import Transition
from humanoid_planner.posture.tasks.contact import PlacedContact


@dataclass(frozen=True, eq=False)
class BalancedSample:
    """A robot at one instant.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        tau: (nv,) torques, zero for the base [N m].
        forces: of the contacts.
        zero_moment_point: (3,) at the height of the forces' middle [m].
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    forces: tuple[PlannedForce, ...]
    zero_moment_point: Array


def loaded_points(robot: Robot, held: Sequence[PlacedContact], reserve: float) -> list[LoadedPoint]:
    """Corners of contacts, their patches smaller by a reserve all around [m]."""
    return [
        LoadedPoint(
            robot.parts.links[placed.contact.location.link].joint_id,
            placed.placement_ground_contact.act(np.array([x, y, 0.0])),
            placed.placement_ground_contact.rotation,
            placed.friction,
            1.0,
        )
        for placed in held
        for x, y in inset_patch(placed.bearing, reserve)
    ]


class BalancedPath:
    """A path of a robot that holds contacts.

    Attributes:
        path: of the robot.
    """

    def __init__(
        self,
        robot: Robot,
        path: ConfigurationPath,
        transition: Transition,
        held: Sequence[PlacedContact],
        reserve: float,
        effort: float,
    ) -> None:
        """Take path and contacts.

        Args:
            robot: that moves.
            path: of the robot.
            transition: tells which contacts begin and cease to bear.
            held: contacts of the transition, in the world.
            reserve: that a time law keeps from the edges of contacts [m].
            effort: share of the effort limits that samples keep to where they can.
        """
        self.path = path
        self._robot, self._model, self._data = robot, robot.model, robot.model.createData()
        self._transition, self._held, self._effort = transition, held, effort
        self._inner = [loaded_points(robot, [placed], reserve) for placed in held]
        self._whole = [loaded_points(robot, [placed], 0.0) for placed in held]

    def dynamics(self, s: float) -> PathDynamics:
        """Return what motion asks at a parameter of the path."""
        model, data = self._model, self._data
        q, slope, bend = self.path.at(s), self.path.slope(s), self.path.bend(s)
        still = np.zeros(model.nv)
        rest = np.array(pin.rnea(model, data, q, still, still))
        by_square = np.array(pin.rnea(model, data, q, slope, bend)) - rest
        by_bend = np.array(pin.rnea(model, data, q, still, slope)) - rest
        pin.computeJointJacobians(model, data, q)
        edges = [
            point_jacobian(model, data, item).T @ item.frame @ pyramid(item.friction, FACETS).T
            for points in self._inner
            for item in points
        ]
        return PathDynamics(slope[6:], bend[6:], by_bend, by_square, rest, np.hstack(edges))

    def sample(self, place: PathPlace) -> BalancedSample | None:
        """Return the robot at a place of the path; None where nothing carries it."""
        s = min(place.position, 1.0)
        q, (v, a) = self.path.at(s), place.rates(self.path.slope(s), self.path.bend(s))
        shares = [self._share(placed.contact.location.name, s) for placed in self._held]
        points = [
            item._replace(share=share) for items, share in zip(self._whole, shares, strict=True) for item in items
        ]
        limits = self._robot.limits.effort
        found = moving_forces(self._model, self._data, points, (q, v, a), self._effort * limits)
        found = found or moving_forces(self._model, self._data, points, (q, v, a), limits)
        if found is None:
            return None
        owners = [placed for placed, items in zip(self._held, self._whole, strict=True) for _ in items]
        forces = tuple(
            PlannedForce(
                placed.contact.location.name,
                placed.contact.surface.name,
                np.asarray(point.place, dtype=float),
                np.asarray(point.frame[:, 2], dtype=float),
                force,
                placed.friction,
            )
            for placed, point, force in zip(owners, points, found.forces, strict=True)
        )
        tau: Array = np.array(found.torques, dtype=float)
        tau[:6] = 0.0
        return BalancedSample(q, v, a, tau, forces, zero_moment_point(forces))

    def _share(self, location: str, s: float) -> float:
        """Return the share of the load that a contact is meant to take: new ones take it over, others give it away."""
        share = 1.0
        if location in self._transition.fresh:
            share *= s
        if location in self._transition.ending:
            share *= 1.0 - s
        return share


def zero_moment_point(forces: Sequence[PlannedForce]) -> Array:
    """(3,) where the forces' horizontal moment vanishes, at the mean height of their vertical parts [m]."""
    places = np.array([item.place for item in forces])
    pushes = np.array([item.force for item in forces])
    total = float(pushes[:, 2].sum())
    height = float(pushes[:, 2] @ places[:, 2]) / total
    level = pushes[:, [2]] * places[:, :2] - (places[:, [2]] - height) * pushes[:, :2]
    return np.array([*(level.sum(axis=0) / total), height])
