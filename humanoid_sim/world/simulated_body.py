# SPDX-License-Identifier: Apache-2.0
"""A single body of a running simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError

if TYPE_CHECKING:
    from humanoid_sim.readings import Readings


class SimulatedBody:
    """A free or fixed body of the scene; read its state, or put it somewhere.

    Attributes:
        name: its name in the scene.
        fixed: whether it stays where it is.
    """

    def __init__(self, simulation: Readings, name: str) -> None:
        """View of the body ``name``; made by the simulation."""
        self.name = name
        self._simulation = simulation
        self._slices = simulation.world.free_bodies.get(name)
        self.fixed = self._slices is None

    @property
    def placement_world_body(self) -> pin.SE3:
        """Body frame in the world."""
        if self._slices is None:
            body = self._simulation.world.bodies[self._simulation.world.index[self.name]]
            return body.placement_joint_body.copy()
        return pin.XYZQUATToSE3(self._simulation.q[self._slices.q])

    @property
    def twist(self) -> NDArray[np.float64]:
        """Linear and angular velocity in the body frame [m/s, rad/s], shape (6,)."""
        if self._slices is None:
            return np.zeros(6)
        simulation = self._simulation
        return self._slices.free_flyer_velocity(simulation.q[self._slices.q], simulation.v[self._slices.v])

    def set_state(self, placement_world_body: pin.SE3, twist: ArrayLike | None = None) -> None:
        """Put the body somewhere.

        Args:
            placement_world_body: body frame in the world.
            twist: linear and angular velocity in the body frame, shape (6,); zero if not given.

        Raises:
            InputError: the body is fixed, a value is not finite or of the wrong length, or the rotation is none.
        """
        if self._slices is None:
            raise InputError(f"the body '{self.name}' is fixed", element="body", remedy="Move another one")
        R = placement_world_body.rotation
        if np.all(np.isfinite(R)) and not (np.allclose(R @ R.T, np.eye(3), atol=1e-6) and np.linalg.det(R) > 0.0):
            raise InputError(
                f"the rotation of '{self.name}' is {R.tolist()}", element="state", remedy="Give a rotation matrix"
            )
        q = pin.SE3ToXYZQUAT(placement_world_body)
        v = np.zeros(6) if twist is None else np.asarray(twist, dtype=float).reshape(-1)
        if v.shape != (6,) or not np.all(np.isfinite(v)) or not np.all(np.isfinite(q)):
            raise InputError(
                f"the state of '{self.name}' is {q.tolist()}, {v.tolist()}",
                element="state",
                remedy="Give a finite placement and a twist of 6 finite numbers",
            )
        self._simulation.overwrite(self._slices, q, v)
