# SPDX-License-Identifier: Apache-2.0
"""Kleinfinger-Khalil parameters place a joint's frame."""

import numpy as np
import pinocchio as pin

from humanoid_kinematics import KleinfingerKhalil


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
