# SPDX-License-Identifier: Apache-2.0
"""Legs that keep soles in place, and robots that they can't be found on."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.lift.bearing import Part, sole_of_leg
from humanoid_studies.planar_gait.lift.leg_placement import LegPlacement

BIP = load_robot("bip")
SOLES = (sole_of_leg(BIP, "r_ankle_pitch"), sole_of_leg(BIP, "l_ankle_pitch"))
STANDING = BIP.postures["standing"]


def test_the_hips_sway_and_advance_over_soles_that_stay():
    legs = LegPlacement(BIP, ("right_leg", "left_leg"), SOLES)
    still = np.zeros(BIP.model.nv)
    q, v = legs.place(STANDING, still, (0.04, 0.3), (0.02, -0.1), STANDING, {})
    data, before = BIP.model.createData(), BIP.model.createData()
    pin.forwardKinematics(BIP.model, before, STANDING)
    pin.forwardKinematics(BIP.model, data, q, v)
    for sole in SOLES:
        np.testing.assert_allclose(data.oMi[sole.joint].homogeneous, before.oMi[sole.joint].homogeneous, atol=1e-9)
        np.testing.assert_allclose(data.v[sole.joint].vector, 0.0, atol=1e-9)
    centre = pin.centerOfMass(BIP.model, data, q, v)
    assert centre[1] == pytest.approx(0.04, abs=1e-10)
    assert data.vcom[0][1] == pytest.approx(0.3, abs=1e-10)
    assert q[0] - STANDING[0] == pytest.approx(0.02)
    # The rate of the configuration by differences of the solution itself.
    h = 1e-6
    later, _ = legs.place(STANDING, still, (0.04 + 0.3 * h, 0.3), (0.02 - 0.1 * h, -0.1), q, {})
    np.testing.assert_allclose(pin.difference(BIP.model, q, later) / h, v, atol=1e-4)


def test_edges_are_the_outermost_corners():
    sole = SOLES[0]
    assert sole.corners(Part.WHOLE).shape == (4, 3)
    np.testing.assert_allclose(sole.corners(Part.TOE)[:, 0], 0.17)
    np.testing.assert_allclose(sole.corners(Part.HEEL)[:, 0], -0.12)


def test_legs_too_short_are_refused():
    legs = LegPlacement(BIP, ("right_leg", "left_leg"), SOLES)
    with pytest.raises(InputError, match="soles in place"):
        legs.place(STANDING, np.zeros(BIP.model.nv), (0.6, 0.0), (0.0, 0.0), STANDING, {})


def test_robots_without_such_legs_are_refused():
    with pytest.raises(InputError, match="base doesn't move freely"):
        LegPlacement(load_robot("bip", floating_base=False), ("right_leg", "left_leg"), SOLES)
    with pytest.raises(InputError, match="3 joints"):
        LegPlacement(BIP, ("right_leg", "trunk"), SOLES)
    with pytest.raises(InputError, match="no support contact"):
        sole_of_leg(BIP, "trunk_yaw")
