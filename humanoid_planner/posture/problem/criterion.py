# SPDX-License-Identifier: Apache-2.0
"""What is minimised among the postures that fulfil everything (specification 001 section 4.5, K0-K12)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_number
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.state import PostureState


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
