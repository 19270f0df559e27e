# SPDX-License-Identifier: Apache-2.0
"""Points that a joint carries against Pinocchio's Jacobians, velocities and accelerations of its frame."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.moving_points import MovingPoints, moving_coordinates
from humanoid_model import load_robot

pytestmark = pytest.mark.feature("000-F162")

BIP = load_robot("bip")
ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


@pytest.mark.parametrize("joint", [1, 4, BIP.model.njoints - 1])
def test_rows_speeds_and_drifts_are_those_of_the_points(joint):
    model, data, rng = BIP.model, BIP.model.createData(), np.random.default_rng(joint)
    q = pin.integrate(model, BIP.postures["standing"], 0.2 * rng.normal(size=model.nv))
    v, levers = rng.normal(size=model.nv), rng.normal(size=(3, 3))
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    pin.computeJointJacobiansTimeVariation(model, data, q, v)
    rates = np.array([data.J.T, data.dJ.T])
    points = MovingPoints.of(moving_coordinates(model, joint), rates, v, data.oMi[joint].translation + levers)
    J = pin.getJointJacobian(model, data, joint, ALIGNED)
    twist, drift = (of(model, data, joint, ALIGNED) for of in (pin.getVelocity, pin.getClassicalAcceleration))
    np.testing.assert_allclose(points.J[9:], J[3:], atol=1e-12)
    np.testing.assert_allclose(points.speeds[9:], twist.angular, atol=1e-11)
    np.testing.assert_allclose(points.drifts[9:], drift.angular, atol=1e-10)
    for k, lever in enumerate(levers):
        own, w = slice(3 * k, 3 * k + 3), twist.angular
        np.testing.assert_allclose(points.J[own], J[:3] - pin.skew(lever) @ J[3:], atol=1e-12)
        np.testing.assert_allclose(points.speeds[own], twist.linear + np.cross(w, lever), atol=1e-11)
        carried = drift.linear + np.cross(drift.angular, lever) + np.cross(w, np.cross(w, lever))
        np.testing.assert_allclose(points.drifts[own], carried, atol=1e-10)
