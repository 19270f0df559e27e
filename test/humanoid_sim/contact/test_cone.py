# SPDX-License-Identifier: Apache-2.0
"""Projection on the Coulomb cone against an optimiser, and the residuals at known points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from humanoid_sim.contact.cone import contact_residuals, project_on_cone


@pytest.mark.parametrize("seed", range(10))
def test_projection_is_the_nearest_point_of_the_cone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=3)
    mu = rng.uniform(0.1, 1.5)
    projected = np.array(project_on_cone(x[0], x[1], x[2], mu))
    found = minimize(
        lambda y: 0.5 * np.sum((y - x) ** 2),
        np.array([1.0, 0.0, 0.0]),
        jac=lambda y: y - x,
        constraints={"type": "ineq", "fun": lambda y: mu * y[0] - np.sqrt(y[1] ** 2 + y[2] ** 2 + 1e-18)},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert np.linalg.norm(projected - x) <= np.linalg.norm(found.x - x) + 1e-6
    assert np.hypot(projected[1], projected[2]) <= mu * projected[0] + 1e-12
    # Moreau: what was removed is orthogonal to the projection and in the polar cone.
    assert_allclose((x - projected) @ projected, 0.0, atol=1e-12)


@pytest.mark.feature("000-F055")
def test_without_friction_the_cone_is_a_ray() -> None:
    assert project_on_cone(-1.0, 0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
    assert project_on_cone(-1.0, 0.5, 0.0, 0.0) == (0.0, 0.0, 0.0)
    assert project_on_cone(2.0, 0.5, 0.0, 0.0) == (2.0, 0.0, 0.0)
    v, out = np.empty(3), np.empty(5)
    contact_residuals(np.eye(3), np.array([0.3, 0.0, 0.0]), np.zeros(1), np.zeros(3), v, out)  # parts straight up
    assert_allclose(out, 0.0, atol=0.0)


def test_residuals_name_what_is_wrong() -> None:
    """A force that is too large, one outside its cone, one that doesn't oppose the slip."""
    W, mu = np.eye(3), np.array([0.5])
    v, out = np.empty(3), np.empty(5)
    contact_residuals(W, np.array([-1.0, 0.0, 0.0]), mu, np.array([1.0, 0.0, 0.0]), v, out)
    assert_allclose(out, 0.0, atol=0.0)
    contact_residuals(W, np.array([-1.0, 0.0, 0.0]), mu, np.array([2.0, 0.0, 0.0]), v, out)
    assert out[1] == pytest.approx(2.0)
    assert out[0] > 0.1
    contact_residuals(W, np.array([-1.0, -0.6, 0.0]), mu, np.array([1.0, 0.6, 0.0]), v, out)
    assert out[2] == pytest.approx(0.1)
    assert out[0] > 0.01
    contact_residuals(W, np.array([-1.0, 2.0, 0.0]), mu, np.array([1.0, 0.0, 0.0]), v, out)
    assert out[3] == pytest.approx(1.0)
    assert out[0] > 0.1
    contact_residuals(W, np.array([-1.0, 0.0, 0.0]), mu, np.zeros(3), v, out)
    assert out[4] == pytest.approx(1.0)
    assert out[0] > 0.1
