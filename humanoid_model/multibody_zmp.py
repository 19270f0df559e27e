# SPDX-License-Identifier: Apache-2.0
"""Zero-moment point that the motion of all bodies asks for, by inverse dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

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
