# SPDX-License-Identifier: Apache-2.0
"""Zero-moment point of a motion of all bodies, against the wrench that inverse dynamics puts on the base."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_model import load_robot
from humanoid_model.whole_body_dynamics import multibody_zero_moment_point


def test_ground_wrench_has_no_moment_about_it() -> None:
    """A floating base gets from the recursion the force and moment that the ground must give."""
    robot = load_robot("hrp2", floating_base=True, geometry=False)
    model, rng = robot.model, np.random.default_rng(4)
    data, count = model.createData(), 20
    stance = robot.postures["half_sitting"]
    q = np.array([pin.integrate(model, stance, 0.1 * rng.normal(size=model.nv)) for _ in range(count)])
    v, a = 0.3 * rng.normal(size=(2, count, model.nv))
    points, forces = multibody_zero_moment_point(model, q, v, a)
    for i in range(count):
        wrench = pin.rnea(model, data, q[i], v[i], a[i])[:6]
        pin.forwardKinematics(model, data, q[i])
        assert model.joints[1].nq == 7
        own = data.oMi[1].act(pin.Force(wrench))
        np.testing.assert_allclose(forces[i], own.linear, rtol=1e-9, atol=1e-9)
        about = own.angular - np.cross([*points[i], 0.0], own.linear)
        np.testing.assert_allclose(about[:2], 0.0, atol=1e-8 * np.abs(own.angular).max())
