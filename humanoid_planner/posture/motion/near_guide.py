# SPDX-License-Identifier: Apache-2.0
"""Following a guide trajectory as a criterion: the valley potential (specification 001 section 7.5.2, K4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_number
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.motion.guide_path import DEVIATION, GuidePath
from humanoid_planner.posture.problem.criterion import Criterion
from humanoid_planner.posture.problem.state import PostureState

#: Metres that count as much as one radian (specification 001 Appendix B).
RADIAN = 0.5


class NearGuide(Criterion):
    r"""K4: a valley along a guide that falls towards its end.

    m is the guide's posture whose root (position and orientation of the floating base) is nearest to that of x, l'
    the path length of the root up to there. With d = x - m and lengths in which a radian counts ``RADIAN`` metres,

    .. math::
        U_T = |d|^2 - k\,l' \quad(6.7),\qquad
        U_T = \begin{cases}\frac12|d|^2 - k\,l' & |d|\le d_0\\
        d_0|d| - \frac12d_0^2 - k\,l' & |d| > d_0\end{cases}\quad(6.8, E-18).

    Attributes:
        progress: k [m], what a metre of the root's path is worth.
        switch: d0 [m]; None takes (6.7).
        path: the guide, in metres.
    """

    def __init__(
        self,
        kinematics: RobotKinematics,
        postures: Sequence[ArrayLike],
        progress: float,
        switch: float | None = 1.0,
        deviation: float = DEVIATION,
    ) -> None:
        """Take the guide.

        Args:
            kinematics: of a robot with a floating base.
            postures: (nq,) key postures in Pinocchio's order, two or more; the root moves between any two.
            progress: k [m].
            switch: d0 [m], where the mixed potential becomes linear; None takes the quadratic one.
            deviation: of rounded corners, see :class:`GuidePath`.

        Raises:
            InputError: a robot without floating base, or values that can't be used.
        """
        if kinematics.variables.base is None:
            raise InputError(
                f"robot '{kinematics.robot.name}' has no floating base", element="guide", remedy="Give one that has"
            )
        self.progress = check_number(progress, "progress of the guide")
        self.switch = None if switch is None else check_number(switch, "switch of the guide", lower=1e-9)
        self._deviation = deviation
        self._postures = [np.array(q, dtype=float) for q in postures]
        self.bind(kinematics)

    def bind(self, kinematics: RobotKinematics) -> None:
        """Express the guide in the variables of ``kinematics``."""
        variables = kinematics.variables
        turning = np.zeros(variables.size, dtype=bool)
        turning[variables.tree.dof_column[~variables.tree.is_length()]] = True
        self._scale = np.where(turning, RADIAN, 1.0)
        points = np.array([kinematics.coordinates(q) for q in self._postures])
        self.path = GuidePath(points * self._scale, variables.base_columns, self._deviation)

    def value(self, state: PostureState) -> float:
        """U_T [m^2]."""
        y = self._scale * state.x[: state.first_force]
        near = self.path.nearest(y)
        square = float((y - near.point) @ (y - near.point))
        if self.switch is None:
            valley = square
        elif square <= self.switch**2:
            valley = 0.5 * square
        else:
            valley = self.switch * np.sqrt(square) - 0.5 * self.switch**2
        return float(valley - self.progress * near.length)

    def _slope(self, distance: float) -> float:
        """Return the derivative of the valley by half the squared distance."""
        if self.switch is None:
            return 2.0
        return min(1.0, self.switch / max(distance, 1e-300))

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """Its gradient."""
        y = self._scale * state.x[: state.first_force]
        near = self.path.nearest(y)
        d = y - near.point
        slope = self._slope(float(np.linalg.norm(d)))
        by_parameter = -slope * float(d @ near.velocity) - self.progress * near.rate
        g = np.zeros(state.size)
        g[: state.first_force] = self._scale * (slope * d + by_parameter * near.gradient)
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Gauss-Newton approximation: that of the squared distance, less steep where the valley is linear."""
        y = self._scale * state.x[: state.first_force]
        near = self.path.nearest(y)
        slope = self._slope(float(np.linalg.norm(y - near.point)))
        J = (np.eye(len(y)) - np.outer(near.velocity, near.gradient)) * self._scale
        H = np.zeros((state.size, state.size))
        H[: state.first_force, : state.first_force] = slope * J.T @ J
        return H
