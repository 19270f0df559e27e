# SPDX-License-Identifier: Apache-2.0
"""Centre of mass and momentum of a robot, and the points where its weight and motion press on the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.errors import InputError

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


def centre_of_pressure(
    positions: NDArray[np.float64], normal_forces: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean of contact points weighted by their normal forces, which for points in a plane is where the resultant acts.

    Args:
        positions: m points [m], shape (m, 3).
        normal_forces: N, 0 or more, shape (m,).

    Returns:
        m, shape (3,); NaN where nothing presses.
    """
    total = float(normal_forces.sum())
    return normal_forces @ positions / total if total > 0.0 else np.full(3, np.nan)


def inertial_zero_moment_point(
    centre_of_mass: NDArray[np.float64],
    momentum_rate: NDArray[np.float64],
    angular_momentum_rate: NDArray[np.float64],
    mass: float,
    gravity: NDArray[np.float64],
    height: float,
) -> NDArray[np.float64]:
    r"""Return the zero-moment point that a motion needs: of a force :math:`\dot P - m g` at the centre and a moment.

    Args:
        centre_of_mass: m, shape (3,).
        momentum_rate: derivative of the linear momentum [N], shape (3,).
        angular_momentum_rate: derivative of the angular momentum about the centre of mass [N m], shape (3,).
        mass: kg.
        gravity: m/s^2, not zero, shape (3,).
        height: of the plane against gravity [m].

    Returns:
        m, shape (3,); NaN where the motion needs no force upwards.
    """
    up = -gravity / np.linalg.norm(gravity)
    force = momentum_rate - mass * gravity
    carried = float(force @ up)
    if carried <= 0.0:
        return np.full(3, np.nan)
    moment = np.cross(centre_of_mass, force) + angular_momentum_rate
    return np.asarray((np.cross(up, moment) + height * force) / carried)


def capture_point(
    centre_of_mass: NDArray[np.float64],
    velocity: NDArray[np.float64],
    gravity: NDArray[np.float64],
    height: float,
) -> NDArray[np.float64]:
    r"""Where the robot would have to step to come to rest, as a linear inverted pendulum: :math:`c + \dot c\sqrt{z/g}`.

    Args:
        centre_of_mass: m, shape (3,).
        velocity: of the centre of mass [m/s], shape (3,).
        gravity: m/s^2, shape (3,).
        height: of the ground against gravity [m].

    Returns:
        m, on the ground, shape (3,); NaN for a centre of mass below the ground.

    Raises:
        InputError: gravity is zero.
    """
    g = float(np.linalg.norm(gravity))
    if g == 0.0:
        raise InputError("gravity is zero", element="gravity", remedy="Nothing falls: there is no capture point")
    up = -gravity / g
    above = float(centre_of_mass @ up) - height
    if above < 0.0:
        return np.full(3, np.nan)
    point = centre_of_mass + velocity * math.sqrt(above / g)
    return np.asarray(point + (height - float(point @ up)) * up)


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
        self._part = simulation.world.part(simulation.robots[robot].name)
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
