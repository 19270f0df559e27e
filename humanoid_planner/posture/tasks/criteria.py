# SPDX-License-Identifier: Apache-2.0
"""What is minimised among the postures that fulfil everything (specification 001 section 4.5, K0-K12)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_number
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.body_equilibrium import centre_of_mass_region
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.contact import PlacedContact
from humanoid_planner.posture.tasks.stability import contact_points
from humanoid_planner.posture.tasks.state import ForceModel, PostureState


class Criterion(ABC):
    """A function of the posture, twice continuously differentiable, better convex. Subclass it for one of your own."""

    @abstractmethod
    def value(self, state: PostureState) -> float:
        """Return the criterion."""

    @abstractmethod
    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """(state.size,) its gradient."""

    def hessian(self, state: PostureState) -> NDArray[np.float64] | None:
        """(state.size, state.size) its Hessian or a positive semidefinite approximation; None when unknown."""
        return None

    def bind(self, kinematics: RobotKinematics) -> None:
        """Take the criterion into a problem, whose kinematic variables are those of ``kinematics``."""
        return


class NoCriterion(Criterion):
    """K0: any posture will do."""

    def value(self, state: PostureState) -> float:
        """Zero."""
        return 0.0

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """Zero."""
        return np.zeros(state.size)

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Zero."""
        return np.zeros((state.size, state.size))


class NearReference(Criterion):
    """K1, K12: weighted squared distance of the configuration to a reference, sum of w_i (x_i - x0_i)^2.

    Attributes:
        reference: (nx,) kinematic variables.
        weights: (nx,).
    """

    def __init__(
        self, kinematics: RobotKinematics, q: ArrayLike, weights: ArrayLike | None = None, *, base: bool = False
    ) -> None:
        """Take a reference posture.

        Args:
            kinematics: of the robot.
            q: (nq,) reference in Pinocchio's order.
            weights: (nx,) of the kinematic variables; None weighs all joints alike.
            base: whether the floating base counts too when ``weights`` is None.

        Raises:
            InputError: wrong lengths, negative weights.
        """
        self._q = np.array(q, dtype=float)
        self.reference = kinematics.coordinates(self._q)
        self.weights = joint_weights(kinematics) if weights is None else np.array(weights, dtype=float)
        if base and weights is None:
            self.weights[:] = 1.0
        if self.weights.shape != self.reference.shape or not (self.weights >= 0).all():
            raise InputError(
                f"weights have shape {self.weights.shape}",
                element="criterion",
                remedy=f"Give {len(self.reference)} numbers of at least 0",
            )

    def bind(self, kinematics: RobotKinematics) -> None:
        """Express the reference in the variables of ``kinematics``."""
        self.reference = kinematics.coordinates(self._q)

    def value(self, state: PostureState) -> float:
        """Weighted squared distance."""
        d = state.x[: len(self.reference)] - self.reference
        return float(self.weights @ (d * d))

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """2 w (x - x0)."""
        count = len(self.reference)
        g = np.zeros(state.size)
        g[:count] = 2 * self.weights * (state.x[:count] - self.reference)
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Diagonal 2 w."""
        H = np.zeros((state.size, state.size))
        index = np.arange(len(self.reference))
        H[index, index] = 2 * self.weights
        return H


def near_middle(kinematics: RobotKinematics) -> NearReference:
    """K2 (4.11): reference half-way between the zero posture and the middle of the joint ranges."""
    variables = kinematics.variables
    bounded = np.isfinite(variables.lower) & np.isfinite(variables.upper) & variables.driven
    x = np.zeros(variables.size)
    x[bounded] = (variables.lower[bounded] + variables.upper[bounded]) / 4
    return NearReference(kinematics, kinematics.configuration(x))


def joint_weights(kinematics: RobotKinematics) -> NDArray[np.float64]:
    """(nx,) one for joints, zero for the floating base and for other joints that no motor holds."""
    weights = np.ones(kinematics.size)
    weights[~kinematics.variables.driven] = 0.0
    return weights


class CentreOfMassNear(Criterion):
    """K5, K6, K10: squared horizontal distance of the centre of mass to a place, e.g. the polygon's middle."""

    def __init__(self, target: ArrayLike) -> None:
        """Take the place, (2,) world coordinates [m]."""
        self.target = np.asarray(target, dtype=float)[:2]

    def value(self, state: PostureState) -> float:
        """Squared distance [m^2]."""
        d = state.kinematics.centre_of_mass()[:2] - self.target
        return float(d @ d)

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """Its gradient."""
        g = np.zeros(state.size)
        d = state.kinematics.centre_of_mass()[:2] - self.target
        g[: state.first_force] = 2 * d @ state.kinematics.centre_of_mass_jacobian()[:2]
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Gauss-Newton approximation."""
        H = np.zeros((state.size, state.size))
        J = state.kinematics.centre_of_mass_jacobian()[:2]
        H[: state.first_force, : state.first_force] = 2 * J.T @ J
        return H


class LeastTorque(Criterion):
    """K7: sum of squared joint efforts, each over its limit; without one over the robot's weight times one metre."""

    def __init__(self, kinematics: RobotKinematics, weight: float) -> None:
        """Take the robot and its weight [N]."""
        variables = kinematics.variables
        self._rows = np.flatnonzero(variables.driven)
        limits = variables.effort[self._rows]
        self._units = np.where(np.isfinite(limits) & (limits > 0), limits, weight)

    def _jacobian(self, state: PostureState) -> NDArray[np.float64]:
        model = state.place_forces()
        J = np.zeros((len(self._rows), state.size))
        J[:, : state.first_force] = model.efforts_jacobian()[self._rows]
        J[:, state.first_force : state.first_extra] = model.efforts_by_force()[self._rows]
        return np.asarray(J / self._units[:, None])

    def _efforts(self, state: PostureState) -> NDArray[np.float64]:
        return np.asarray(state.efforts[self._rows] / self._units)

    def value(self, state: PostureState) -> float:
        """Return the sum of squares [-]."""
        tau = self._efforts(state)
        return float(tau @ tau)

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """Its gradient."""
        return np.asarray(2 * self._efforts(state) @ self._jacobian(state))

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Gauss-Newton approximation."""
        J = self._jacobian(state)
        return np.asarray(2 * J.T @ J)


class Comfort(Criterion):
    """K8: a function of the user's, of the configuration alone."""

    def __init__(
        self,
        function: Callable[[NDArray[np.float64]], float],
        gradient: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ) -> None:
        """Take a function of the (nx,) kinematic variables and its (nx,) gradient."""
        self._function = function
        self._gradient = gradient

    def value(self, state: PostureState) -> float:
        """Return the user's function."""
        return float(self._function(state.x[: state.first_force]))

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """Return the user's gradient."""
        g = np.zeros(state.size)
        g[: state.first_force] = self._gradient(state.x[: state.first_force])
        return g


class WeightedSum(Criterion):
    """Sum of criteria, each with a weight."""

    def __init__(self, terms: Sequence[tuple[float, Criterion]]) -> None:
        """Take weights and criteria.

        Raises:
            InputError: a weight is negative or not finite.
        """
        for weight, _ in terms:
            check_number(weight, "weight of a criterion")
        self.terms = tuple(terms)

    def bind(self, kinematics: RobotKinematics) -> None:
        """Binds all terms."""
        for _, term in self.terms:
            term.bind(kinematics)

    def value(self, state: PostureState) -> float:
        """Weighted sum."""
        return float(sum(weight * term.value(state) for weight, term in self.terms))

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """Weighted sum of the gradients."""
        g = np.zeros(state.size)
        for weight, term in self.terms:
            g += weight * term.gradient(state)
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64] | None:
        """Weighted sum of the Hessians; None when one of them is unknown."""
        H = np.zeros((state.size, state.size))
        for weight, term in self.terms:
            part = term.hessian(state)
            if part is None:
                return None
            H += weight * part
        return H


class NearPath(Criterion):
    """K3: squared distance of the configuration to a piecewise-linear path of postures, (3.27).

    The floating base counts like the joints (E-04), its translation in metres and its angles in radians. The gradient
    is that of the distance to the nearest point of the path; it jumps where two points are equally near.

    Attributes:
        points: (p, nx) kinematic variables of the path's postures.
    """

    def __init__(self, kinematics: RobotKinematics, postures: Sequence[ArrayLike]) -> None:
        """Take the path.

        Args:
            kinematics: of the robot.
            postures: (nq,) each, in Pinocchio's order; two or more.

        Raises:
            InputError: fewer, or one that can't be used.
        """
        if len(postures) < 2:
            raise InputError(
                f"has {len(postures)} postures", element="path of the criterion", remedy="Give two or more"
            )
        self._postures = [np.array(q, dtype=float) for q in postures]
        self.bind(kinematics)

    def bind(self, kinematics: RobotKinematics) -> None:
        """Express the path in the variables of ``kinematics``."""
        self.points = np.array([kinematics.coordinates(q) for q in self._postures])

    def nearest(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the path's nearest point to (nx,) variables.

        Returns:
            (nx,) the point, and the (nx,) unit direction of the path there, zero where the point is a vertex.
        """
        starts, spans = self.points[:-1], np.diff(self.points, axis=0)
        squares = np.einsum("ij,ij->i", spans, spans)
        along = np.einsum("ij,ij->i", x - starts, spans) / np.where(squares > 0.0, squares, 1.0)
        shares = np.clip(along, 0.0, 1.0)
        candidates = starts + shares[:, None] * spans
        gaps = x - candidates
        best = int(np.argmin(np.einsum("ij,ij->i", gaps, gaps)))
        inside = 0.0 < shares[best] < 1.0
        direction = spans[best] / np.sqrt(squares[best]) if inside else np.zeros_like(x)
        return candidates[best], direction

    def value(self, state: PostureState) -> float:
        """Squared distance."""
        x = state.x[: self.points.shape[1]]
        d = x - self.nearest(x)[0]
        return float(d @ d)

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """2 (x - p(s))."""
        count = self.points.shape[1]
        x = state.x[:count]
        g = np.zeros(state.size)
        g[:count] = 2.0 * (x - self.nearest(x)[0])
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """2 (I - t t^T) along the path's direction t, 2 I at its vertices."""
        count = self.points.shape[1]
        direction = self.nearest(state.x[:count])[1]
        H = np.zeros((state.size, state.size))
        H[:count, :count] = 2.0 * (np.eye(count) - np.outer(direction, direction))
        return H


#: How well the region of centres of mass in equilibrium is known, with some room [m].
_REGION_TOLERANCE = 2e-3


def centre_in_polygon(
    kinematics: RobotKinematics, contacts: Sequence[PlacedContact], gravity: ArrayLike
) -> CentreOfMassNear:
    """K5: the centre of mass near the centre of the largest circle in the support polygon.

    Args:
        kinematics: of the robot.
        contacts: of the stance.
        gravity: (3,) [m/s^2].

    Raises:
        InputError: no contact bears load, or one has no place that is known before the posture is.
    """
    points = _bearing(kinematics, contacts, gravity)
    return CentreOfMassNear(SupportPolygon.of_points(points.positions).largest_circle()[0])


def centre_in_wrenches(
    kinematics: RobotKinematics, contacts: Sequence[PlacedContact], gravity: ArrayLike
) -> CentreOfMassNear:
    """K6: the weight's wrench near the centre of the largest ball in the wrenches that the contacts can bear.

    Of the wrench only the weight's moment changes with the posture, and with it the horizontal place of the centre of
    mass: the ball is a circle in the region of those that are in equilibrium.

    Args:
        kinematics: of the robot.
        contacts: of the stance.
        gravity: (3,) [m/s^2].

    Raises:
        InputError: as for the polygon, or the contacts can hold the weight nowhere.
    """
    points = _bearing(kinematics, contacts, gravity)
    region = centre_of_mass_region(points, kinematics.total_mass, gravity=np.asarray(gravity, dtype=float))
    if len(region) == 0:
        raise InputError(
            "nowhere can the contacts hold the robot's weight", element="criterion", remedy="Give other contacts"
        )
    polygon = SupportPolygon.of_points(region)
    centre, radius = polygon.largest_circle()
    if radius > _REGION_TOLERANCE:
        # In what is a rectangle but for the tolerance the very largest circle may be at either end.
        centre = polygon.shrunk(radius - _REGION_TOLERANCE).vertices.mean(axis=0)
    return CentreOfMassNear(centre)


def _bearing(
    kinematics: RobotKinematics, contacts: Sequence[PlacedContact], gravity: ArrayLike
) -> ContactPoints:
    gravity_vector: NDArray[np.float64] = np.asarray(gravity, dtype=float)
    model = ForceModel(kinematics, contacts, (), gravity_vector)
    if not model.points:
        raise InputError("no contact bears load", element="criterion", remedy="Give a contact that does")
    return contact_points(model)
