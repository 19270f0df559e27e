# SPDX-License-Identifier: Apache-2.0
"""Potentials that guide a search for contacts (specification 001 sections 6.1, 6.8 and 7.5).

Of points: attractors. Of postures: attractors of the centre of mass and of points, valleys along guides. Of stances:
bonus and penalty U_S, which only the search sees.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_planner.contacts.stance import Couples, PlannedStance, Role
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import Criterion
from humanoid_planner.posture.motion.guide import GuidePath
from humanoid_planner.posture.tasks.state import PostureState


class Attractor:
    """A mixed attractor (5.16, E-14): quadratic near the goal, linear far away, with a continuous slope.

    A switch of infinity gives the quadratic attractor (5.7), one of zero the linear one (5.3), scaled by ``scale``.

    Attributes:
        goal: (n,) where the potential is zero.
        switch: d0, distance at which it becomes linear.
        scale: a of the quadratic part; slope of the linear attractor.
    """

    def __init__(self, goal: ArrayLike, switch: float = 1.0, scale: float = 1.0) -> None:
        """Take a goal.

        Raises:
            InputError: a goal that isn't finite, a switch below zero or NaN, a scale that isn't above zero.
        """
        self.goal = np.atleast_1d(np.asarray(goal, dtype=float))
        self.switch, self.scale = float(switch), float(scale)
        if not np.isfinite(self.goal).all():
            raise InputError(f"is {self.goal}", element="goal of the attractor", remedy="Give finite numbers")
        if not self.switch >= 0:
            raise InputError(f"is {switch}", element="switch of the attractor", remedy="Give a number of at least 0")
        if not 0 < self.scale < math.inf:
            raise InputError(f"is {scale}", element="scale of the attractor", remedy="Give a number above 0")

    def value(self, point: ArrayLike) -> float:
        """Return u of a point (n,)."""
        far = float(np.linalg.norm(np.asarray(point) - self.goal))
        if self.switch == 0.0:
            return self.scale * far
        if far <= self.switch:
            return 0.5 * self.scale * far * far
        return self.scale * self.switch * (far - 0.5 * self.switch)

    def force(self, point: ArrayLike) -> Array:
        """(n,) -dU/dpoint; zero at the goal, where the linear attractor has none."""
        away = self.goal - np.asarray(point, dtype=float)
        far = float(np.linalg.norm(away))
        if far == 0.0:
            return np.zeros_like(away)
        if self.switch == 0.0:
            return np.asarray(self.scale * away / far)
        return np.asarray(self.scale * min(1.0, self.switch / far) * away)


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


class StanceTerm(ABC):
    """A part of U_S. Subclass it for one of your own."""

    @abstractmethod
    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Return the added to the potential; below zero is a bonus."""


@dataclass(frozen=True)
class ContactCount(StanceTerm):
    """a |k - k0|, k the number of contacts.

    Attributes:
        weight: a.
        preferred: k0; below 2 the count is kept small.
        new: what a new contact counts.
        released: what a released contact counts.
    """

    weight: float
    preferred: float = 0.0
    new: float = 1.0
    released: float = 0.0

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Weighted difference of the counts."""
        worth = {Role.BEARING: 1.0, Role.NEW: self.new, Role.RELEASED: self.released}
        return self.weight * abs(sum(worth[hold.role] for hold in stance.holds) - self.preferred)


@dataclass(frozen=True)
class LocationPenalty(StanceTerm):
    """A constant for each contact of certain locations.

    Attributes:
        penalty: by name of location or link; below zero is a bonus.
    """

    penalty: Mapping[str, float]

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Sum over the contacts that last."""
        total = 0.0
        for couple in stance.couples:
            location = couples.location(couple)
            total += self.penalty.get(location.name, self.penalty.get(location.link, 0.0))
        return total


@dataclass(frozen=True)
class OnlyPenalty(StanceTerm):
    """A penalty of stances that consist of certain locations only, such as hands.

    Attributes:
        locations: names of locations or links.
        penalty: added.
    """

    locations: frozenset[str]
    penalty: float

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Return the penalty, or zero."""
        used = [couples.location(couple) for couple in stance.couples]
        only = all({location.name, location.link} & self.locations for location in used)
        return self.penalty if only and used else 0.0


@dataclass(frozen=True, eq=False)
class BarycentreNear(StanceTerm):
    """Distance of the barycentre of the contacts that last to a place.

    Attributes:
        target: (3,) world [m].
        placements: world placement of each surface, by name.
        weight: of the distance.
    """

    target: NDArray[np.float64]
    placements: Mapping[str, pin.SE3]
    weight: float = 1.0

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Weight times distance [m]."""
        places = [
            self.placements[surface.name].act(surface.place(hold.x, hold.y, hold.theta).translation)
            for hold in stance.key
            for surface in [couples.surface(hold.couple)]
        ]
        return self.weight * float(np.linalg.norm(np.mean(places, axis=0) - self.target))


@dataclass(frozen=True, eq=False)
class CrossedPenalty(StanceTerm):
    """A penalty of feet that cross each other or come too near: no leg gets past the other one.

    Attributes:
        placements: world placement of each surface, by name.
        weight: of what lacks to the width [1/m].
        width: that each foot keeps beside the other one, seen by either [m].
        left: name of the location that belongs to the left.
        right: of the one that belongs to the right.
    """

    placements: Mapping[str, pin.SE3]
    weight: float = 3.0
    width: float = 0.12
    left: str = "left_sole"
    right: str = "right_sole"

    def value(self, stance: PlannedStance, couples: Couples) -> float:
        """Weight times what lacks to the width; zero where not both bear or come to."""
        places = {}
        for hold in stance.key:
            surface = couples.surface(hold.couple)
            placed = self.placements[surface.name] * surface.place(hold.x, hold.y, hold.theta)
            places[couples.location(hold.couple).name] = placed
        if not {self.left, self.right} <= places.keys():
            return 0.0
        left, right = places[self.left], places[self.right]
        beside = min(-left.actInv(right.translation)[1], right.actInv(left.translation)[1])
        return self.weight * max(self.width - float(beside), 0.0)
