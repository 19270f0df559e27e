# SPDX-License-Identifier: Apache-2.0
"""Whether an object that hands hold on the ground stays there, and the feet too (thesis (5.19)-(5.24))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array

GROUND_CONDITIONS = ("slip", "tip backward", "tip forward", "lift-off")
FEET_CONDITIONS = ("feet slip", "feet lift")


@dataclass(frozen=True)
class GroundedObject:
    """An object on level ground, seen from the side, held by hands.

    Places are from its rear lower edge, forward and up. The thesis prints 0.15 m as the height of the centre of mass,
    which is at the height of the grasp: it is its way forward (specification 000, erratum 34).

    Attributes:
        mass: [kg].
        depth: d_o, from rear to front edge [m].
        centre_x: x_o of the centre of mass [m].
        hand_x: x_h [m].
        hand_z: z_h [m].
        friction: mu_o with the ground.
        gravity: [m/s²].
    """

    mass: float = 4.5
    depth: float = 0.3
    centre_x: float = 0.15
    hand_x: float = 0.0
    hand_z: float = 0.495
    friction: float = 0.4
    gravity: float = 9.8

    def margins(self, force_x: ArrayLike, force_z: ArrayLike, moment: ArrayLike = 0.0) -> Array:
        """(..., 4) how far (5.19) to (5.22) are from being broken, negative where they are [N, N m, N m, N].

        The thesis prints (5.19) for forces forward; it holds for both ways here.

        Args:
            force_x: (...) force of the hands on the object, forward [N].
            force_z: (...) up [N].
            moment: (...) of the hands, from forward to up [N m].
        """
        fx, fz, tau = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (force_x, force_z, moment)))
        weight = self.mass * self.gravity
        rear = tau - weight * self.centre_x + fz * self.hand_x - fx * self.hand_z
        front = tau + weight * (self.depth - self.centre_x) - fz * (self.depth - self.hand_x) - fx * self.hand_z
        return np.stack([self.friction * (weight - fz) - np.abs(fx), -rear, front, weight - fz], axis=-1)


def feet_margins(force_x: ArrayLike, force_z: ArrayLike, friction: float) -> Array:
    """(..., 2) how far (5.23) and (5.24) are from being broken, negative where they are [N].

    Args:
        force_x: (...) force of the ground on the feet, forward [N].
        force_z: (...) up [N].
        friction: mu_p of soles and ground.
    """
    fx, fz = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (force_x, force_z)))
    return np.stack([friction * fz - np.abs(fx), fz], axis=-1)
