# SPDX-License-Identifier: Apache-2.0
"""B-splines against Bernstein polynomials, finite differences and their own definition (F091)."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.posture.motion.trajectory_program import SplineBasis


def _cox_de_boor(knots: NDArray[np.float64], i: int, degree: int, t: float) -> float:
    """Recursive definition; at the last knot the last span is closed."""
    if degree == 0:
        last = t == knots[-1] and knots[i + 1] == t and knots[i] < t
        return 1.0 if knots[i] <= t < knots[i + 1] or last else 0.0
    value = 0.0
    if knots[i + degree] > knots[i]:
        value += (t - knots[i]) / (knots[i + degree] - knots[i]) * _cox_de_boor(knots, i, degree - 1, t)
    if knots[i + degree + 1] > knots[i + 1]:
        weight = (knots[i + degree + 1] - t) / (knots[i + degree + 1] - knots[i + 1])
        value += weight * _cox_de_boor(knots, i + 1, degree - 1, t)
    return value


@pytest.mark.parametrize("degree", [3, 5])
def test_single_span_is_bernstein(degree: int) -> None:
    basis = SplineBasis(degree + 1, degree=degree, start=-1.0, end=3.0)
    t = np.linspace(-1.0, 3.0, 13)
    s = (t + 1.0) / 4.0
    bernstein = [math.comb(degree, i) * s**i * (1 - s) ** (degree - i) for i in range(degree + 1)]
    assert_allclose(basis.matrix(t), np.transpose(bernstein), atol=1e-14)


@pytest.mark.parametrize("degree", [3, 5])
def test_definition(degree: int) -> None:
    basis = SplineBasis(degree + 4, degree=degree, end=2.0)
    t = np.array([0.0, 0.1, 0.5, 0.77, 1.0, 1.5, 1.99, 2.0])
    expected = [[_cox_de_boor(basis.knots, i, degree, instant) for i in range(basis.count)] for instant in t]
    B = basis.matrix(t)
    assert_allclose(B, expected, atol=1e-14)
    assert_allclose(B.sum(axis=1), 1.0, atol=1e-14)
    assert ((B != 0).sum(axis=1) <= degree + 1).all()
    assert_allclose(B[[0, -1]], np.eye(basis.count)[[0, -1]], atol=1e-14)


@pytest.mark.feature("001-F091")
@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("derivative", [1, 2, 3])
def test_derivatives(degree: int, derivative: int) -> None:
    basis = SplineBasis(degree + 5, degree=degree, start=0.5, end=2.5)
    t, h = np.array([0.61, 0.93, 1.37, 2.03, 2.44]), 1e-5
    slope = (basis.matrix(t + h, derivative - 1) - basis.matrix(t - h, derivative - 1)) / (2 * h)
    B = basis.matrix(t, derivative)
    assert_allclose(B, slope, rtol=1e-6, atol=1e-6 * np.abs(B).max())
    assert not basis.matrix(t, degree + 1).any()


@pytest.mark.feature("001-F091")
@pytest.mark.parametrize("degree", [3, 5])
def test_class_of_continuity(degree: int) -> None:
    """Derivatives up to degree - 1 have no jump at the knots inside; the next one has."""
    rng = np.random.default_rng(degree)
    basis = SplineBasis(degree + 6, degree=degree)
    points = rng.normal(size=basis.count)
    inner = np.unique(basis.knots)[1:-1]
    assert len(inner) == 5
    h = 1e-9
    for derivative in range(degree + 1):
        jump = np.abs((basis.matrix(inner + h, derivative) - basis.matrix(inner - h, derivative)) @ points)
        scale = np.abs(basis.matrix(inner, derivative) @ points).max()
        if derivative < degree:
            assert (jump < 1e-5 * scale).all()
        else:
            assert (jump > 1e-2 * scale).any()


@pytest.mark.parametrize("degree", [3, 5])
def test_gram(degree: int) -> None:
    """Against the trapezoidal rule on a fine grid."""
    basis = SplineBasis(degree + 4, degree=degree, start=1.0, end=2.0)
    t = np.linspace(1.0, 2.0, 40_001)
    weights = np.full(len(t), t[1] - t[0])
    weights[[0, -1]] *= 0.5
    for derivative in (0, 2):
        B = basis.matrix(t, derivative)
        G = basis.gram(derivative)
        assert_allclose(G, B.T @ (weights[:, None] * B), rtol=1e-6, atol=1e-7 * np.abs(G).max())


def test_bad_splines() -> None:
    with pytest.raises(InputError, match="degree 4"):
        SplineBasis(8, degree=4)
    with pytest.raises(InputError, match="5 control points"):
        SplineBasis(5)
    with pytest.raises(InputError, match="instants from 1"):
        SplineBasis(8, start=1.0, end=1.0)
    basis = SplineBasis(8)
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="instant"):
            basis.matrix([0.5, bad])
    with pytest.raises(InputError, match="derivative -1"):
        basis.matrix([0.5], -1)
