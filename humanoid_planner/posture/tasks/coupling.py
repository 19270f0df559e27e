# SPDX-License-Identifier: Apache-2.0
"""Tasks that couple several postures to each other (specification 001 (3.90), (3.91))."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.contact import ContactLocation
from humanoid_model.errors import InputError
from humanoid_planner.posture.problem.state import PostureState


class Coupling(ABC):
    """A vector function of several postures between bounds; equal bounds make an equality.

    Subclass it in a file of your own, with :meth:`value` and :meth:`jacobians`.

    Attributes:
        name: how messages call it.
        postures: indices of the postures that it couples, all different.
        lower: (m,) lowest values.
        upper: (m,) highest values.
        unit: of the values, for messages.
    """

    def __init__(
        self, name: str, postures: Sequence[int], lower: ArrayLike, upper: ArrayLike, *, unit: str = ""
    ) -> None:
        self.name = name
        self.postures = tuple(postures)
        self.lower = np.atleast_1d(np.asarray(lower, dtype=float))
        self.upper = np.atleast_1d(np.asarray(upper, dtype=float))
        self.unit = unit
        if len(set(self.postures)) != len(self.postures) or min(self.postures, default=-1) < 0:
            raise InputError(
                f"couples the postures {list(self.postures)}",
                element=f"coupling '{name}'",
                remedy="Give different indices of postures, from 0",
            )
        if self.lower.shape != self.upper.shape or self.lower.ndim != 1 or not (self.lower <= self.upper).all():
            raise InputError(
                f"bounds are {self.lower.tolist()} and {self.upper.tolist()}",
                element=f"coupling '{name}'",
                remedy="Give as many lower bounds as upper ones, and none above its upper one",
            )

    @property
    def size(self) -> int:
        """Number of rows m."""
        return len(self.lower)

    @abstractmethod
    def value(self, states: Sequence[PostureState]) -> NDArray[np.float64]:
        """(m,) values; ``states`` are those of :attr:`postures`, in their order."""

    @abstractmethod
    def jacobians(self, states: Sequence[PostureState]) -> Sequence[NDArray[np.float64]]:
        """For each of the ``states`` the (m, size) derivative of :meth:`value` by its variables."""


class SamePlacement(Coupling):
    """A link is in the same place in two postures: six equalities on position [m] and rotation vector [rad]."""

    def __init__(self, first: int, second: int, link: str) -> None:
        super().__init__(
            f"{link} in the same place in postures {first} and {second}",
            (first, second),
            np.zeros(6),
            np.zeros(6),
            unit="m, rad",
        )
        self.link = link

    def value(self, states: Sequence[PostureState]) -> NDArray[np.float64]:
        """(6,) difference of the origins, in the world, and rotation vector from the first to the second."""
        (R_a, p_a), (R_b, p_b) = (state.kinematics.placement(self.link) for state in states)
        return np.concatenate([p_b - p_a, pin.log3(R_a.T @ R_b)])

    def jacobians(self, states: Sequence[PostureState]) -> Sequence[NDArray[np.float64]]:
        """(6, size) each."""
        (R_a, _), (R_b, _) = (state.kinematics.placement(self.link) for state in states)
        R = R_a.T @ R_b
        J_log = pin.Jlog3(R)
        matrices = []
        for state, sign, turn in ((states[0], -1.0, -J_log @ R.T), (states[1], 1.0, J_log)):
            J = np.zeros((6, state.size))
            n = state.first_force
            J[:3, :n] = sign * state.kinematics.point_jacobian(self.link, np.zeros(3))
            J[3:, :n] = turn @ _body_rate_jacobian(state, self.link)
            matrices.append(J)
        return matrices


class SameFootprint(Coupling):
    """A contact location that touches a plane in two postures covers the same spot there: three equalities.

    The contacts themselves keep the location on the plane in both, so that this leaves nothing to be said about
    height and tilt, and says nothing twice.
    """

    def __init__(
        self, first: int, second: int, location: ContactLocation, placement_world_surface: pin.SE3 | None = None
    ) -> None:
        """Couple two postures.

        Args:
            first: index of a posture.
            second: index of another.
            location: which touches the plane in both.
            placement_world_surface: frame of the plane, z out of it; None takes the ground.
        """
        super().__init__(
            f"{location.name} on the same spot in postures {first} and {second}",
            (first, second),
            np.zeros(3),
            np.zeros(3),
            unit="m, rad",
        )
        self.location = location
        surface = pin.SE3.Identity() if placement_world_surface is None else placement_world_surface
        self._axes = np.array(surface.rotation).T

    def value(self, states: Sequence[PostureState]) -> NDArray[np.float64]:
        """(3,) offset along the plane's two axes, and angle of heading from the first posture to the second."""
        patch = self.location.placement_link_patch
        points = [state.kinematics.point(self.location.link, patch.translation) for state in states]
        headings = [state.kinematics.direction(self.location.link, patch.rotation[:, 0]) for state in states]
        sine, cosine = self._axes[2] @ np.cross(headings[0], headings[1]), headings[0] @ headings[1]
        return np.append(self._axes[:2] @ (points[1] - points[0]), math.atan2(sine, cosine))

    def jacobians(self, states: Sequence[PostureState]) -> Sequence[NDArray[np.float64]]:
        """(3, size) each."""
        patch, link = self.location.placement_link_patch, self.location.link
        headings = [state.kinematics.direction(link, patch.rotation[:, 0]) for state in states]
        normal = self._axes[2]
        sine, cosine = normal @ np.cross(headings[0], headings[1]), headings[0] @ headings[1]
        square = sine**2 + cosine**2
        matrices = []
        for state, sign, other in ((states[0], -1.0, headings[1]), (states[1], 1.0, headings[0])):
            J = np.zeros((3, state.size))
            n = state.first_force
            J[:2, :n] = sign * self._axes[:2] @ state.kinematics.point_jacobian(link, patch.translation)
            # normal . (first x second) is linear in each of the headings, as is their product
            by_heading = (cosine * sign * np.cross(normal, other) - sine * other) / square
            J[2, :n] = by_heading @ state.kinematics.direction_jacobian(link, patch.rotation[:, 0])
            matrices.append(J)
        return matrices


def _body_rate_jacobian(state: PostureState, link: str) -> NDArray[np.float64]:
    """(3, nx) from rates of the variables to the link's angular velocity in its own frame."""
    kinematics = state.kinematics
    R, _ = kinematics.placement(link)
    x, y, z = (kinematics.direction_jacobian(link, axis) for axis in np.eye(3))
    return np.array([R[:, 2] @ y, R[:, 0] @ z, R[:, 1] @ x])
