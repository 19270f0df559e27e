# SPDX-License-Identifier: Apache-2.0
"""Kleinfinger-Khalil parameters place a joint's frame."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import KleinfingerKhalil


@pytest.mark.feature("002-F013", "002-F060")
def test_the_matrix_has_the_printed_digits():
    parameters = KleinfingerKhalil(
        theta=np.radians(60), r=70, alpha=np.radians(40), d=50, gamma=np.radians(20), epsilon=30
    )
    printed = [
        [0.24294538, -0.94479900, 0.21984631, 62.37387277],
        [0.79441526, 0.06372502, -0.60402277, -25.18058698],
        [0.55667040, 0.32139380, 0.76604444, 83.62311102],
        [0, 0, 0, 1],
    ]
    assert np.abs(parameters.placement.homogeneous - printed).max() < 1e-8


@pytest.mark.feature("002-F013")
def test_the_matrix_is_the_product_of_the_six_steps():
    rng = np.random.default_rng(3)

    def turn(axis, angle):
        return pin.SE3(pin.exp3(angle * np.eye(3)[axis]), np.zeros(3))

    def shift(axis, distance):
        return pin.SE3(np.eye(3), distance * np.eye(3)[axis])

    for theta, r, alpha, d, gamma, epsilon in rng.normal(size=(50, 6)):
        steps = turn(2, gamma) * shift(2, epsilon) * turn(0, alpha) * shift(0, d) * turn(2, theta) * shift(2, r)
        placement = KleinfingerKhalil(theta, r, alpha, d, gamma, epsilon).placement
        assert placement.isApprox(steps, 1e-12)


def test_any_placement_has_parameters():
    rng = np.random.default_rng(4)
    pin.seed(4)
    special = [
        pin.SE3(pin.exp3(angle * np.eye(3)[axis]), shift)
        for angle in (0.0, np.pi / 2, np.pi, -np.pi / 2)
        for axis in range(3)
        for shift in (np.zeros(3), np.array([0.0, 0.0, 0.3]), rng.normal(size=3))
    ]
    for placement in [pin.SE3.Random() for _ in range(200)] + special:
        found = KleinfingerKhalil.from_placement(placement)
        assert np.abs(found.placement.homogeneous - placement.homogeneous).max() < 1e-8
        assert abs(found.gamma) <= np.pi
    for placement in [pin.SE3.Random() for _ in range(200)]:
        found = KleinfingerKhalil.from_placement(placement)
        assert np.abs(found.placement.homogeneous - placement.homogeneous).max() < 1e-12


def test_parameters_of_serial_links_are_found_again():
    rng = np.random.default_rng(5)
    for theta, r, alpha, d in rng.uniform(-1.5, 1.5, size=(50, 4)):
        given = KleinfingerKhalil(theta, r, alpha, abs(d))
        found = KleinfingerKhalil.from_placement(given.placement)
        for key in ("theta", "r", "alpha", "d", "gamma", "epsilon"):
            assert abs(getattr(found, key) - getattr(given, key)) < 1e-9
