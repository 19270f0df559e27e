# SPDX-License-Identifier: Apache-2.0
"""Zero-moment point of a motion of the whole robot, by inverse dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_sim.monitoring.zero_moment_point import inertial_zero_moment_point


def multibody_zmp(
    model: pin.Model,
    q: NDArray[np.float64],
    v: NDArray[np.float64],
    a: NDArray[np.float64],
    gravity: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Zero-moment points on z = 0 that the momentum of all bodies asks for.

    Args:
        model: of the robot.
        q: configurations, shape (k, nq).
        v: velocities, shape (k, nv).
        a: accelerations, shape (k, nv).
        gravity: m/s^2, downwards along z, shape (3,).

    Returns:
        m, shape (k, 2); NaN where the motion asks for no force from below.
    """
    data = model.createData()
    mass = pin.computeTotalMass(model)
    points = np.empty((len(q), 2))
    for i in range(len(q)):
        rate = pin.computeCentroidalMomentumTimeVariation(model, data, q[i], v[i], a[i])
        points[i] = inertial_zero_moment_point(data.com[0], rate.linear, rate.angular, mass, gravity, 0.0)[:2]
    return points
