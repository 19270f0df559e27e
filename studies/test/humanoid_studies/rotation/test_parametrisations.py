# SPDX-License-Identifier: Apache-2.0
"""Kinematic equations of the three parametrisations against finite differences (specification 000, N19)."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_studies.rotation import quaternion, rotation_vector, three_angles

STEP = 1e-5


def matrix(module, q: np.ndarray) -> np.ndarray:
    R = np.empty((3, 3))
    module.rotation(q, R)
    return R


def rate(module, q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    q_dot = np.empty(len(q))
    if module is three_angles:
        assert not module.rate(q, omega, 0.0, q_dot)
    else:
        module.rate(q, omega, q_dot)
    return q_dot


def samples(module, rng: np.random.Generator) -> np.ndarray:
    if module is three_angles:
        return rng.uniform([-3, 0.2, -3], [3, 2.9, 3])
    if module is rotation_vector:
        axis = rng.normal(size=3)
        return axis / np.linalg.norm(axis) * rng.uniform(0.0, 5.5)
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


@pytest.mark.feature("000-F040")
@pytest.mark.parametrize("module", [three_angles, rotation_vector, quaternion])
def test_rates_turn_the_body_as_the_angular_velocity_says(module) -> None:
    """dR/dt = omega x R, by central differences, to 1e-8."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        q, omega = samples(module, rng), rng.normal(size=3)
        q_dot = rate(module, q, omega)
        derivative = (matrix(module, q + STEP * q_dot) - matrix(module, q - STEP * q_dot)) / (2 * STEP)
        if module is quaternion:  # off the unit sphere (3.61) also scales: compare on it
            ends = [q + s * STEP * q_dot for s in (1, -1)]
            a, b = (matrix(module, end / np.linalg.norm(end)) for end in ends)
            derivative = (a - b) / (2 * STEP)
        assert_allclose(derivative, pin.skew(omega) @ matrix(module, q), atol=1e-8)


@pytest.mark.parametrize("module", [three_angles, rotation_vector, quaternion])
def test_coordinates_and_rotation_are_inverse(module) -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        R = pin.exp3(rng.normal(size=3))
        assert_allclose(matrix(module, module.coordinates(R)), R, atol=1e-9)


def test_matrices_agree_with_pinocchio() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        v = rng.normal(size=3)
        assert_allclose(matrix(rotation_vector, v), pin.exp3(v), atol=1e-14)
        q = samples(quaternion, rng)
        assert_allclose(matrix(quaternion, q), pin.Quaternion(q).matrix(), atol=1e-14)
        rho, theta, phi = angles = rng.uniform(-3, 3, 3)
        turned = pin.utils.rotate("z", rho) @ pin.utils.rotate("x", theta) @ pin.utils.rotate("z", phi)
        assert_allclose(matrix(three_angles, angles), turned, atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 0.99e-3, 1.01e-3])
def test_rotation_vector_is_regular_at_zero(angle: float) -> None:
    """The series and the closed form agree with the inverse of Pinocchio's Jacobian of exp3."""
    q, omega = angle * np.array([2.0, -1.0, 2.0]) / 3.0, np.array([0.3, -1.2, 0.7])
    R = pin.exp3(q)
    expected = np.linalg.solve(pin.Jexp3(q), R.T @ omega)
    assert_allclose(rate(rotation_vector, q, omega), expected, rtol=0, atol=1e-12)
    assert_allclose(matrix(rotation_vector, q), R, atol=1e-15)


def test_long_rotation_vectors_are_replaced_by_the_same_rotation() -> None:
    for angle in (3.0, 3.2, 6.0, 9.0, 20.0):
        q = angle * np.array([1.0, 2.0, -2.0]) / 3.0
        before = matrix(rotation_vector, q)
        assert rotation_vector.reparametrise(q) == (angle > math.pi)
        assert np.linalg.norm(q) <= math.pi + 1e-12
        assert_allclose(matrix(rotation_vector, q), before, atol=1e-13)


def test_rates_of_a_rotation_vector_grow_towards_a_full_turn() -> None:
    """The singularity that re-parametrising avoids: 2 pi, not 0."""
    q, omega = np.array([2.0 * math.pi - 1e-6, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    assert np.linalg.norm(rate(rotation_vector, q, omega)) > 1e6


def test_renormalising_keeps_the_direction() -> None:
    q = np.array([0.3, -0.2, 0.5, 0.9]) * 1.1
    direction, norm = q / np.linalg.norm(q), np.linalg.norm(q)
    assert quaternion.renormalise(q) == pytest.approx(abs(norm - 1.0))
    assert_allclose(q, direction, atol=1e-15)


@pytest.mark.feature("000-F041")
@pytest.mark.parametrize("theta", [0.0, math.pi])
def test_three_angles_notice_their_singularity(theta: float) -> None:
    """After the line of nodes has been turned, the fallback is exact for any angular velocity."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        q, omega = np.array([*rng.uniform(-3, 3, 1), theta, *rng.uniform(-3, 3, 1)]), rng.normal(size=3)
        spin = float(rng.normal())
        before, q_dot = matrix(three_angles, q), np.empty(3)
        assert three_angles.determinant(q) < 1e-12
        assert three_angles.rate(q, omega, spin, q_dot)
        assert three_angles.realign(q, omega)
        assert_allclose(matrix(three_angles, q), before, atol=1e-12)
        assert three_angles.rate(q, omega, spin, q_dot)
        derivative = (matrix(three_angles, q + STEP * q_dot) - matrix(three_angles, q - STEP * q_dot)) / (2 * STEP)
        assert_allclose(derivative, pin.skew(omega) @ before, atol=1e-8)
    regular = np.array([0.1, 0.5, 0.2])
    assert not three_angles.realign(regular, omega)
    assert not three_angles.rate(regular, omega, 0.0, q_dot)
