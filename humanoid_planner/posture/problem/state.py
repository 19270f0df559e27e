# SPDX-License-Identifier: Apache-2.0
"""A posture under trial: configuration, contact forces, extra variables, and what follows from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.force_model import ForceModel


class PostureState:
    """The variables of a posture problem (specification 001 section 4.1), lazily evaluated.

    ``x`` holds the configuration, the force variables, and extra variables, in this order.

    Attributes:
        kinematics: at the configuration.
        force_model: forces and efforts.
        extra_count: number of extra variables.
        x: (size,) all variables; read-only, use :meth:`set`.
        version: goes up with every move, for those who keep what they have computed.
    """

    def __init__(self, kinematics: RobotKinematics, force_model: ForceModel, extra_count: int = 0) -> None:
        self.kinematics = kinematics
        self.force_model = force_model
        self.extra_count = extra_count
        self.x = np.full(kinematics.size + force_model.size + extra_count, np.nan)
        self.version = 0

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.x)

    @property
    def first_force(self) -> int:
        """Index of the first force variable."""
        return self.kinematics.size

    @property
    def first_extra(self) -> int:
        """Index of the first extra variable."""
        return self.kinematics.size + self.force_model.size

    def set(self, x: NDArray[np.float64]) -> None:
        """Move the posture, unless it is there already.

        Args:
            x: (size,) variables; copied.
        """
        if np.array_equal(x, self.x):
            return
        self.x[:] = x
        self.version += 1
        self.kinematics.set(self.x[: self.first_force])
        self.force_model.forget()

    @property
    def force_variables(self) -> NDArray[np.float64]:
        """(k, 3) forces in units of the weight, in the contact frames: tangents, normal."""
        return self.x[self.first_force : self.first_extra].reshape(-1, 3)

    @property
    def extras(self) -> NDArray[np.float64]:
        """Extra variables."""
        return self.x[self.first_extra :]

    def place_forces(self) -> ForceModel:
        """Return the force model at this posture."""
        self.force_model.update(self.x[self.first_force : self.first_extra])
        return self.force_model

    @property
    def forces(self) -> NDArray[np.float64]:
        """(k, 3) forces at the contact points, world frame [N]."""
        model = self.place_forces()
        return model.forces[: len(model.points)]

    @property
    def efforts(self) -> NDArray[np.float64]:
        """(nx,) efforts that hold the posture [N m] or [N]; those of a floating base are zero in equilibrium."""
        return self.place_forces().efforts()
