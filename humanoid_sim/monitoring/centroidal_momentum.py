# SPDX-License-Identifier: Apache-2.0
"""Centre of mass and momentum of a robot in a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.errors import InputError

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class CentroidalMomentum:
    """A robot's motion as a whole, in the world; of a fixed robot, of the links that move.

    Attributes:
        mass: kg.
        position: of the centre of mass [m], shape (3,).
        velocity: of the centre of mass [m/s], shape (3,).
        angular: momentum about the centre of mass [kg m^2/s], without that of the motors' rotors, shape (3,).
    """

    mass: float
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular: NDArray[np.float64]

    @property
    def linear(self) -> NDArray[np.float64]:
        """Linear momentum [kg m/s], shape (3,)."""
        return self.mass * self.velocity


class MomentumMeter:
    """Computes the momentum of one robot of a simulation."""

    def __init__(self, simulation: Simulation, robot: str) -> None:
        """Find the robot's joints.

        Raises:
            InputError: there is no robot of that name, or nothing of it that has a mass moves.
        """
        if robot not in simulation.robots:
            raise InputError(
                f"there is no robot '{robot}'",
                element="robot",
                remedy=f"There are {', '.join(simulation.robots) or 'none'}",
            )
        self._part = simulation.world.part(robot)
        model = self._part.model
        self._data = model.createData()
        joints = list(range(1, model.njoints))
        self._roots = [j for j in joints if model.parents[j] == 0]
        self._joints = np.array(joints, dtype=np.int64) + self._part.before  # in the world
        self._masses = np.array([model.inertias[j].mass for j in joints])
        self._levers = np.array([model.inertias[j].lever for j in joints]).reshape(-1, 3)
        self._mass = float(self._masses.sum())
        if not self._mass > 0.0:
            raise InputError(f"nothing of the robot '{robot}' moves", element="robot", remedy="Watch another one")

    def measure(self, simulation: Simulation) -> CentroidalMomentum:
        """Return the robot's momentum at the present state."""
        part, data = self._part, self._data
        pin.computeCentroidalMomentum(part.model, data, simulation.q[part.q], simulation.v[part.v])
        total = pin.Force.Zero()
        for j in self._roots:  # which hold the sums over their branches, each in its frame
            total += data.oMi[j].act(data.h[j])
        R, p = simulation.joint_placements()
        centres = np.einsum("jrc,jc->jr", R[self._joints], self._levers) + p[self._joints]
        position = self._masses @ centres / self._mass
        return CentroidalMomentum(
            self._mass,
            position,
            np.array(total.linear) / self._mass,
            np.array(total.angular) - pin.skew(position) @ total.linear,
        )
