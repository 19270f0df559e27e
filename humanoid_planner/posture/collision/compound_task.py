# SPDX-License-Identifier: Apache-2.0
"""Self-collision at compound joints by smooth functions of their positions (specification 001 section 4.8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.distance.compound_limit import CompoundLimit
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.state import PostureState
from humanoid_planner.posture.tasks.task import Task


class CompoundTask(Task):
    """Functions of the positions of compound joints at 0 or below, where the links around them don't collide.

    Also the way to give limits of the general form b(q) <= 0 to a compound joint.
    """

    def __init__(self, kinematics: RobotKinematics, limits: Sequence[CompoundLimit]) -> None:
        """Take the functions."""
        count = len(limits)
        super().__init__("compound joints", np.full(count, -np.inf), np.zeros(count))
        self._limits = tuple(limits)
        names = list(kinematics.variables.coordinate_names)
        # Coordinates count from body 1; a joint that mimics another follows its variable.
        self._bodies = [np.array([names.index(joint) + 1 for joint in limit.joint.joints]) for limit in limits]

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"collision at {'+'.join(limit.joint.joints)}" for limit in self._limits)

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) values of the functions."""
        return np.array([limit.value(self._positions(state, row)) for row, limit in enumerate(self._limits)])

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivatives."""
        joints = state.kinematics.tree.joints
        J = np.zeros((self.size, state.size))
        for row, limit in enumerate(self._limits):
            bodies = self._bodies[row]
            gradient = limit.gradient(self._positions(state, row)) * joints["factor"][bodies]
            np.add.at(J[row], joints["idx_q"][bodies], gradient)
        return J

    def _positions(self, state: PostureState, row: int) -> NDArray[np.float64]:
        joints = state.kinematics.tree.joints[self._bodies[row]]
        return np.asarray(joints["factor"] * state.x[joints["idx_q"]] + joints["offset"])
