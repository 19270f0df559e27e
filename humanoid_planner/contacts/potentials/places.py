# SPDX-License-Identifier: Apache-2.0
"""Potentials of postures: attractors of the centre of mass and of points, valleys along guides (sections 6.8, 7.5)."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.contacts.potentials.attractors import Attractor
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import Criterion
from humanoid_planner.posture.motion.guide import GuidePath
from humanoid_planner.posture.tasks.state import PostureState

#: Key postures are joined by so many parts when a body's curve is made.
_PARTS = 8


class _PlaceCriterion(Criterion):
    """A function of a point in the world that moves with the posture."""

    @abstractmethod
    def _place(self, kinematics: RobotKinematics) -> NDArray[np.float64]:
        """(3,) the point."""

    @abstractmethod
    def _jacobian(self, kinematics: RobotKinematics) -> NDArray[np.float64]:
        """(3, nx) its derivative."""

    @abstractmethod
    def _of_point(self, point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Value, (3,) gradient and a (3, 3) positive semidefinite approximation of the Hessian."""

    def value(self, state: PostureState) -> float:
        """Of the point."""
        return self._of_point(self._place(state.kinematics))[0]

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """(state.size,)."""
        g = np.zeros(state.size)
        slope = self._of_point(self._place(state.kinematics))[1]
        g[: state.first_force] = slope @ self._jacobian(state.kinematics)
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Gauss-Newton approximation."""
        J = self._jacobian(state.kinematics)
        H = np.zeros((state.size, state.size))
        count = state.first_force
        H[:count, :count] = J.T @ self._of_point(self._place(state.kinematics))[2] @ J
        return H


def _attraction(field: Attractor, point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    force = field.force(point)
    far = float(np.linalg.norm(point - field.goal))
    return field.value(point), -force, float(np.linalg.norm(force)) / max(far, 1e-9) * np.eye(3)


class CentreOfMassAttractor(_PlaceCriterion):
    """A mixed attractor on the centre of mass."""

    def __init__(self, field: Attractor) -> None:
        """Take an attractor in the world, three coordinates."""
        self._field = field

    def _place(self, kinematics: RobotKinematics) -> NDArray[np.float64]:
        return kinematics.centre_of_mass()

    def _jacobian(self, kinematics: RobotKinematics) -> NDArray[np.float64]:
        return kinematics.centre_of_mass_jacobian()

    def _of_point(self, point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        return _attraction(self._field, point)


class PointAttractor(_PlaceCriterion):
    """A mixed attractor on a link's point, the base's included."""

    def __init__(self, field: Attractor, link: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Take an attractor in the world, a link, and a point (3,) in its frame [m]."""
        self._field, self._link, self._point = field, link, np.asarray(point, dtype=float)

    def _place(self, kinematics: RobotKinematics) -> NDArray[np.float64]:
        return kinematics.point(self._link, self._point)

    def _jacobian(self, kinematics: RobotKinematics) -> NDArray[np.float64]:
        return kinematics.point_jacobian(self._link, self._point)

    def _of_point(self, point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        return _attraction(self._field, point)


class PointAlongGuide(_PlaceCriterion):
    """A valley along the curve that a link's point describes on a guide (section 7.5.3): U_Ti as U_T in 3-D.

    Attributes:
        path: the curve, its corners rounded.
    """

    def __init__(
        self,
        kinematics: RobotKinematics,
        postures: Sequence[ArrayLike],
        link: str,
        point: ArrayLike = (0.0, 0.0, 0.0),
        progress: float = 1.0,
        switch: float = 1.0,
    ) -> None:
        """Take a guide.

        Args:
            kinematics: of the robot.
            postures: (nq,) key postures of the guide.
            link: that carries the point.
            point: (3,) in the link's frame [m].
            progress: k [m], what a metre of the curve is worth.
            switch: d0 [m], where the valley's walls become linear.

        Raises:
            InputError: the point doesn't move along the guide.
        """
        self._link, self._point = link, np.asarray(point, dtype=float)
        self._progress, self._walls = progress, switch
        keys = [kinematics.coordinates(np.asarray(q, dtype=float)) for q in postures]
        points: list[NDArray[np.float64]] = []
        for one, other in itertools.pairwise(keys):
            for part in np.linspace(0.0, 1.0, _PARTS + 1):
                kinematics.set((1 - part) * one + part * other)
                place = kinematics.point(link, self._point).copy()
                if not points or np.linalg.norm(place - points[-1]) > 1e-3:
                    points.append(place)
        if len(points) < 2:
            raise InputError(
                f"link '{link}' stays where it is", element="guide", remedy="Leave out its potential, or let it move"
            )
        self.path = GuidePath(points, range(3))

    def _place(self, kinematics: RobotKinematics) -> NDArray[np.float64]:
        return kinematics.point(self._link, self._point)

    def _jacobian(self, kinematics: RobotKinematics) -> NDArray[np.float64]:
        return kinematics.point_jacobian(self._link, self._point)

    def _of_point(self, point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        near = self.path.nearest(point)
        field = Attractor(near.point, self._walls)
        value, slope, curvature = _attraction(field, point)
        along = -float(slope @ near.velocity) - self._progress * near.rate
        return value - self._progress * near.length, slope + along * near.gradient, curvature
