# SPDX-License-Identifier: Apache-2.0
"""Criterion of postures that follow each other: near a reference, and near the posture before (3.92)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_number
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.criterion import Criterion
from humanoid_planner.posture.problem.state import PostureState


class ReactiveBlend(Criterion):
    r"""K9: :math:`\alpha\sum_i(x_i - x_i^{ref})^2 + (1 - \alpha)\sum_i(x_i - x_i^{t-1})^2` over all n + 6 variables.

    Attributes:
        alpha: weight of the reference; what is left weighs the posture before, which smoothes the motion.
        reference: (nx,) kinematic variables.
        previous: (nx,) those of the posture before.
    """

    def __init__(self, kinematics: RobotKinematics, q: ArrayLike, alpha: float = 0.5) -> None:
        """Take the reference, which is the posture before as well until there is one.

        Args:
            kinematics: of the robot.
            q: (nq,) reference in Pinocchio's order.
            alpha: from 0 to 1.

        Raises:
            InputError: numbers that can't be used.
        """
        self.alpha = check_number(alpha, "alpha of the criterion", upper=1.0)
        self._q = np.array(q, dtype=float)
        self.reference = kinematics.coordinates(self._q)
        self.previous = self.reference.copy()

    def bind(self, kinematics: RobotKinematics) -> None:
        """Both in the variables of ``kinematics``; the reference becomes the posture before."""
        self.reference = kinematics.coordinates(self._q)
        self.previous = self.reference.copy()

    def value(self, state: PostureState) -> float:
        """Weighted squared distances."""
        x = state.x[: state.first_force]
        a, b = x - self.reference, x - self.previous
        return float(self.alpha * (a @ a) + (1 - self.alpha) * (b @ b))

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """2 (x - blend of both postures)."""
        g = np.zeros(state.size)
        blend = self.alpha * self.reference + (1 - self.alpha) * self.previous
        g[: state.first_force] = 2 * (state.x[: state.first_force] - blend)
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Twice the identity on the kinematic variables."""
        H = np.zeros((state.size, state.size))
        index = np.arange(state.first_force)
        H[index, index] = 2.0
        return H
