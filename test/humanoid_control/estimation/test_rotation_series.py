# SPDX-License-Identifier: Apache-2.0
"""Series of rotations against their definition, and their derivatives against differences."""

from __future__ import annotations

from math import factorial

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.estimation.rotation_series import gamma, gamma_derivative, rotation_vector

ANGLES = [0.0, 1e-9, 1e-3, 0.3, 0.999, 1.001, 2.5, 3.1]


def vector(angle: float) -> np.ndarray:
    axis = np.array([0.3, -0.8, 0.5])
    return angle * axis / np.linalg.norm(axis)


def written(m: int, phi: np.ndarray) -> np.ndarray:
    out = np.empty((3, 3))
    gamma(m, phi, out)
    return out


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("m", [0, 1, 2])
def test_it_is_the_sum_of_the_series(m: int, angle: float) -> None:
    powers = [np.linalg.matrix_power(pin.skew(vector(angle)), n) / factorial(n + m) for n in range(40)]
    assert np.abs(written(m, vector(angle)) - np.sum(powers, axis=0)).max() < 1e-14


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("m", [1, 2])
def test_its_derivative_is_that_of_differences(m: int, angle: float) -> None:
    a, h, slope = np.array([4.0, -1.0, 9.0]), 1e-5, np.empty((3, 3))
    phi = vector(angle)
    gamma_derivative(m, phi, a, slope)
    for j, step in enumerate(h * np.eye(3)):
        difference = (written(m, phi + step) - written(m, phi - step)) @ a / (2.0 * h)
        assert np.abs(slope[:, j] - difference).max() < 1e-8


@pytest.mark.parametrize("angle", [*ANGLES, np.pi - 1e-4, np.pi - 1e-9])
def test_a_rotation_gives_its_vector_back(angle: float) -> None:
    rng = np.random.default_rng(3)
    for axis in [*np.eye(3), *-np.eye(3), *rng.normal(size=(20, 3))]:
        phi, out = angle * axis / np.linalg.norm(axis), np.empty(3)
        rotation_vector(np.array(pin.exp3(phi)), out)
        assert np.abs(out - phi).max() < 1e-8
