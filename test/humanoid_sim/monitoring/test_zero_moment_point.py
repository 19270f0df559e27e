# SPDX-License-Identifier: Apache-2.0
"""Points of pressure against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_model.whole_body_dynamics import zero_moment_point
from humanoid_sim.monitoring.zero_moment_point import capture_point, centre_of_pressure, inertial_zero_moment_point

UP = np.array([0.0, 0.0, 1.0])
GRAVITY = np.array([0.0, 0.0, -9.8])


def test_no_moment_across_the_vertical_is_left() -> None:
    """The definition, for contacts at different heights, friction, and a tilted gravity."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        up = rng.normal(size=3)
        up /= np.linalg.norm(up)
        positions, forces = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)) + 10.0 * up
        point = zero_moment_point(positions, forces, up, 0.3)
        moment = np.cross(positions - point, forces).sum(axis=0)
        assert_allclose(moment - (moment @ up) * up, 0.0, atol=1e-12)
        assert point @ up == pytest.approx(0.3)
        weights = forces @ up
        middle = zero_moment_point(positions, forces, up)
        assert_allclose(middle - point, (middle @ up - 0.3) * forces.sum(axis=0) / weights.sum(), atol=1e-12)
        assert middle @ up == pytest.approx(weights @ (positions @ up) / weights.sum())


def test_on_flat_ground_it_is_the_centre_of_pressure() -> None:
    """Friction has no moment about a point of its own plane."""
    rng = np.random.default_rng(1)
    positions = np.column_stack([rng.normal(size=(6, 2)), np.full(6, 0.2)])
    forces = np.column_stack([rng.normal(size=(6, 2)), rng.uniform(0.0, 50.0, 6)])
    expected = centre_of_pressure(positions, forces[:, 2])
    assert_allclose(zero_moment_point(positions, forces, UP, 0.2), expected, atol=1e-12)
    two = centre_of_pressure(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.array([30.0, 10.0]))
    assert_allclose(two, [0.25, 0.0, 0.0])


def test_nothing_that_carries_has_no_point() -> None:
    assert np.isnan(zero_moment_point(np.zeros((0, 3)), np.zeros((0, 3)), UP, 0.0)).all()
    assert np.isnan(zero_moment_point(np.zeros((1, 3)), -UP[None], UP, 0.0)).all()
    assert np.isnan(centre_of_pressure(np.zeros((2, 3)), np.zeros(2))).all()
    falling = inertial_zero_moment_point(UP, 50.0 * GRAVITY, np.zeros(3), 50.0, GRAVITY, 0.0)
    assert np.isnan(falling).all()


def test_cart_on_a_table() -> None:
    """At height z the zero-moment point is x - z a/g; a body that begins to pitch moves it back."""
    m, z, a = 58.0, 0.8, 1.5
    point = inertial_zero_moment_point(
        np.array([0.1, 0.2, z]), m * np.array([a, 0.0, 0.0]), np.zeros(3), m, GRAVITY, 0.0
    )
    assert_allclose(point, [0.1 - z * a / 9.8, 0.2, 0.0], atol=1e-12)
    point = inertial_zero_moment_point(
        np.array([0.1, 0.2, z]), np.zeros(3), np.array([0.0, 12.0, 0.0]), m, GRAVITY, 0.0
    )
    assert_allclose(point, [0.1 - 12.0 / (m * 9.8), 0.2, 0.0], atol=1e-12)


def test_a_pendulum_stepped_to_its_capture_point_comes_to_rest() -> None:
    """The linear inverted pendulum x'' = g/z (x - p) about the capture point, in closed form: x tends to p."""
    com, velocity = np.array([0.0, 0.0, 0.9]), np.array([0.4, -0.2, 0.0])
    point = capture_point(com, velocity, GRAVITY, 0.1)
    omega = math.sqrt(9.8 / 0.8)
    for axis in (0, 1):
        growing = (com[axis] - point[axis]) + velocity[axis] / omega  # of exp(omega t)
        assert growing == pytest.approx(0.0, abs=1e-15)
    assert point[2] == pytest.approx(0.1)
    assert np.isnan(capture_point(com, velocity, GRAVITY, 1.0)).all()
    with pytest.raises(InputError, match="gravity is zero"):
        capture_point(com, velocity, np.zeros(3), 0.0)
