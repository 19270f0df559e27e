# SPDX-License-Identifier: Apache-2.0
"""Which matrices can be a body's inertia: those of clouds of point masses, and none else."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_model.inertia import inertia_problem, is_positive, spatial_inertia


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(1e-4, 1e3))
def test_inertia_of_any_point_masses_is_accepted(seed: int, points: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(points, 3)) * size
    masses = rng.uniform(0.1, 10, points)
    inertia = sum(
        mass * (point @ point * np.eye(3) - np.outer(point, point))
        for mass, point in zip(masses, positions, strict=True)
    )
    assert inertia_problem(np.asarray(inertia)) is None


@given(st.integers(0, 2**32 - 1), st.floats(1.03, 5.0))
def test_a_moment_above_the_sum_of_the_others_is_refused(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    small, middle = np.sort(rng.uniform(0.1, 1.0, 2))
    turn = pin.Quaternion(*rng.normal(size=4)).normalized().matrix()
    inertia = turn @ np.diag([small, middle, factor * (small + middle)]) @ turn.T
    assert "triangle inequality" in str(inertia_problem(inertia))


@pytest.mark.parametrize("moments", [(-0.1, 1.0, 1.0), (-1.0, -1.0, -1.0), (-0.03, 0.5, 1.0)])
def test_negative_moments_are_refused(moments: tuple[float, ...]) -> None:
    assert "not positive" in str(inertia_problem(np.diag(moments)))


def test_products_of_inertia_count() -> None:
    assert inertia_problem(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.2], [0.0, 1.2, 1.0]])) is not None


def test_rounded_values_pass() -> None:
    """A thin plate published with two digits misses the equality by rounding."""
    assert inertia_problem(np.diag([0.011, 0.011, 0.0223])) is None
    assert inertia_problem(np.zeros((3, 3))) is None


def test_what_dynamics_can_be_computed_with_is_positive() -> None:
    assert is_positive(np.diag([0.1, 0.1, 5.0]))
    assert is_positive(np.diag([-1e-22, 1e-22, 3e-6]))
    assert not is_positive(np.diag([-0.1, 1.0, 1.0]))


def test_spatial_inertia_takes_the_numbers_as_they_are() -> None:
    body = spatial_inertia(2.0, np.array([0.1, 0.2, 0.3]), np.diag([-1e-20, 1.0, 2.0]))
    assert body.mass == 2.0
    np.testing.assert_array_equal(body.lever, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(np.diag(body.inertia), [-1e-20, 1.0, 2.0])
    normal = pin.Inertia.Random()
    assert spatial_inertia(normal.mass, normal.lever, normal.inertia).isApprox(normal)
