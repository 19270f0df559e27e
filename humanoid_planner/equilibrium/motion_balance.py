# SPDX-License-Identifier: Apache-2.0
"""Balance of a robot along a motion: do contact forces exist that give it, and with what margin?"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_model.errors import InputError
from humanoid_model.time_law import PathPlace
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.equilibrium.force_distribution import check_equilibrium


class MotionBalance:
    """Margins of balance along a motion, at the places where its own kinematics put its contacts.

    The contacts push on the corners of what touches, along the contact locations' normals. The needed force and moment
    are those of the momentum's rate (Newton and Euler for the whole robot), not of the centre of mass alone.
    """

    def __init__(self, trajectory: WholeBodyTrajectory, friction: float) -> None:
        """Prepare.

        Args:
            trajectory: the motion.
            friction: coefficient at all contacts.

        Raises:
            InputError: the motion doesn't tell its contacts, or its robot is fixed to the world.
        """
        robot = trajectory.robot
        if not trajectory.contacts or robot.base_joint is None:
            raise InputError(
                "has no contacts, or its robot is fixed to the world",
                element="trajectory",
                remedy="Give the contact schedule of a robot that stands on its feet",
            )
        self._trajectory = trajectory
        self._friction = friction
        self._mass = robot.total_mass
        self._data = robot.model.createData()

    def margin(self, position: float, speed: float = 1.0, acceleration: float = 0.0) -> float:
        """Return the margin [N], see :func:`check_equilibrium`; minus infinite where nothing bears.

        Args:
            position: place on the path, in the trajectory's own time [s].
            speed: along the path, as a share of the trajectory's own; 0 asks for static equilibrium.
            acceleration: of that share [1/s].
        """
        sample = self._trajectory.at(position)
        points = self._points(position, sample.q)
        if points is None:
            return -np.inf
        v, a = PathPlace(position, speed, acceleration).rates(sample.v, sample.a)
        rate = pin.computeCentroidalMomentumTimeVariation(
            self._trajectory.robot.model, self._data, sample.q, v, a
        )
        wrench = np.concatenate([np.zeros(3), -np.asarray(rate.angular)])
        return check_equilibrium(
            points,
            self._mass,
            self._data.com[0],
            acceleration=np.asarray(rate.linear) / self._mass,
            external_wrench=wrench,
        ).margin

    def bearing(self, position: float) -> tuple[str, ...]:
        """Return the contact locations that bear at a place on the path [s]."""
        return tuple(sorted(self._trajectory.at(position).bearing))

    def _points(self, position: float, q: np.ndarray) -> ContactPoints | None:
        robot = self._trajectory.robot
        pin.forwardKinematics(robot.model, self._data, q)
        places, normals, bilateral = [], [], []
        for span in self._trajectory.held(position):
            if not span.contact.kind.bears:
                continue
            location = span.contact.location
            part = robot.parts.links[location.link]
            placement = self._data.oMi[part.joint_id] * part.placement_joint_link
            corners = span.corners_link
            places.append(corners @ placement.rotation.T + placement.translation)
            normal = (placement * location.placement_link_patch).rotation[:, 2]
            normals.append(np.tile(normal, (len(corners), 1)))
            bilateral.append(np.full(len(corners), span.contact.bilateral))
        if not places:
            return None
        return ContactPoints.of_normals(
            np.concatenate(places), np.concatenate(normals), self._friction, np.concatenate(bilateral)
        )
