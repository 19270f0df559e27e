# SPDX-License-Identifier: Apache-2.0
"""A point of a body: where it is, how it moves, and how easily a force moves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class PointState:
    """A frame that moves with a body, in the world.

    Attributes:
        position: of its origin [m], shape (3,).
        rotation: of the body, shape (3, 3).
        velocity: of the origin [m/s], shape (3,).
        angular_velocity: [rad/s], shape (3,).
    """

    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]


class BodyPoint:
    """A point fixed to a body or to a robot's link.

    Attributes:
        body: name of the body or ``robot/link``.
        local: the point in the body's frame [m], shape (3,).
    """

    def __init__(self, simulation: Simulation, body: str, local: NDArray[np.float64]) -> None:
        """Fix a point to a body.

        Args:
            simulation: in which the body is.
            body: its name.
            local: in its frame [m], shape (3,).

        Raises:
            InputError: there is no such body.
        """
        world = simulation.world
        found = world.find_body(body)
        self.body = body
        self.local = np.array(local, dtype=float)
        self._joint = found.joint
        self._placement = found.placement_joint_body
        self._part = None if found.joint == 0 else world.part(found.owner)
        self._data = None if self._part is None else self._part.model.createData()

    @property
    def fixed(self) -> bool:
        """Whether the body can't move."""
        return self._joint == 0

    def state(self, simulation: Simulation) -> PointState:
        """Place and velocity now."""
        if self._part is None or self._data is None:
            placement = self._placement
            return PointState(placement.act(self.local), placement.rotation, np.zeros(3), np.zeros(3))
        model, data, joint = self._part.model, self._data, self._part.joint(self._joint)
        pin.forwardKinematics(model, data, simulation.q[self._part.q], simulation.v[self._part.v])
        placement = data.oMi[joint] * self._placement
        position = placement.act(self.local)
        twist = pin.getVelocity(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = position - data.oMi[joint].translation
        velocity = twist.linear + np.cross(twist.angular, arm)
        return PointState(position, np.array(placement.rotation), velocity, np.array(twist.angular))

    def mobility(self, simulation: Simulation) -> NDArray[np.float64]:
        """Return the acceleration of the point per force and torque on it without contacts, J M^-1 J^T, shape (6, 6).

        Linear part first, in the world's axes; zero for a fixed body.
        """
        if self._part is None or self._data is None:
            return np.zeros((6, 6))
        model, data, q = self._part.model, self._data, simulation.q[self._part.q]
        joint = self._part.joint(self._joint)
        pin.crba(model, data, q)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        pin.computeJointJacobians(model, data, q)
        J = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = (data.oMi[joint] * self._placement).act(self.local) - data.oMi[joint].translation
        J[:3] -= pin.skew(arm) @ J[3:]
        return np.asarray(J @ np.linalg.solve(M, J.T))

    def mass(self, simulation: Simulation) -> float:
        """Return mass that the damping rule (3.63) takes for the object [kg].

        That of a free body; for a robot's link the mean mass that a force on the point feels, 3 / tr(J M^-1 J^T).
        """
        if self.body in simulation.world.free_bodies:
            return float(simulation.world.model.inertias[self._joint].mass)
        return float(3.0 / np.trace(self.mobility(simulation)[:3, :3]))
