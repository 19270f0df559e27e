# SPDX-License-Identifier: Apache-2.0
"""Zero-moment points: of the motion of all bodies by inverse dynamics, and of contact forces."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array, Reals


def multibody_zero_moment_point(
    model: pin.Model, q: Reals, v: Reals, a: Reals
) -> tuple[Array, Array]:
    """Zero-moment points on the ground z = 0, and the forces there.

    Args:
        model: of the robot; its gravity is along -z.
        q: configurations, shape (k, nq).
        v: velocities, shape (k, nv).
        a: accelerations, shape (k, nv).

    Returns:
        Points [m], shape (k, 2), and forces of the ground [N], shape (k, 3); a point means nothing where its force
        doesn't point upwards.
    """
    data = model.createData()
    mass = pin.computeTotalMass(model)
    weight = -mass * model.gravity.linear
    points, forces = np.empty((len(q), 2)), np.empty((len(q), 3))
    for i in range(len(q)):
        rate = pin.computeCentroidalMomentumTimeVariation(model, data, q[i], v[i], a[i])
        force = rate.linear + weight
        moment = rate.angular + np.cross(data.com[0], force)
        points[i] = -moment[1] / force[2], moment[0] / force[2]
        forces[i] = force
    return points, forces


def zero_moment_point_of_forces(places: ArrayLike, forces: ArrayLike) -> Array:
    """(3,) point where contact forces have no horizontal moment, at the mean height of their vertical parts [m].

    Args:
        places: of m contacts in the world, shape (m, 3) [m].
        forces: on the robot, in the world, shape (m, 3) [N].

    Returns:
        The point; not a number where nothing presses.
    """
    at, f = (np.asarray(one, dtype=float).reshape(-1, 3) for one in (places, forces))
    total = float(f[:, 2].sum())
    if not total > 0.0:
        return np.full(3, np.nan)
    height = float(f[:, 2] @ at[:, 2]) / total
    level = f[:, [2]] * at[:, :2] - (at[:, [2]] - height) * f[:, :2]
    return np.array([*(level.sum(axis=0) / total), height])
