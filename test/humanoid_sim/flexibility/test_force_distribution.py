# SPDX-License-Identifier: Apache-2.0
"""Forces at points of triangles, shared among their nodes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from humanoid_model.errors import InputError
from humanoid_sim.flexibility.force_distribution import barycentric_weights, distribution_matrix


@pytest.mark.feature("000-F134")
def test_sum_and_moment_are_kept() -> None:
    rng = np.random.default_rng(0)
    triangles = rng.normal(size=(50, 3, 3))
    weights = rng.dirichlet(np.ones(3), size=50)
    points = np.einsum("ij,ijk->ik", weights, triangles)
    found = barycentric_weights(triangles, points)
    np.testing.assert_allclose(found, weights, atol=1e-12)
    forces = rng.normal(size=(50, 3))
    on_nodes = found[:, :, None] * forces[:, None, :]
    np.testing.assert_allclose(on_nodes.sum(axis=1), forces, atol=1e-14)
    np.testing.assert_allclose(np.cross(triangles, on_nodes).sum(axis=1), np.cross(points, forces), atol=1e-12)


def test_triangles_whose_plane_holds_the_origin() -> None:
    """The inverse of thesis equation (4.25) does not exist there."""
    triangle = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [-0.1, -0.1, 0.0]])
    assert np.linalg.det(triangle) == 0.0
    weights = barycentric_weights([triangle], [[0.01, -0.02, 0.0]])[0]
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights @ triangle, [0.01, -0.02, 0.0], atol=1e-15)


def test_closest_points_by_minimisation() -> None:
    """Points beside and over the triangle: faces, edges and corners all occur."""
    rng = np.random.default_rng(1)
    triangles, points = rng.normal(size=(60, 3, 3)), 2.0 * rng.normal(size=(60, 3))
    weights = barycentric_weights(triangles, points)
    assert weights.min() > -1e-15
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-14)
    assert {int((row > 1e-12).sum()) for row in weights} == {1, 2, 3}
    for corners, x, row in zip(triangles, points, weights, strict=True):
        best = minimize(
            lambda w, c=corners, x=x: np.sum((w @ c - x) ** 2),
            np.full(3, 1 / 3),
            bounds=[(0.0, 1.0)] * 3,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0},
        )
        assert np.linalg.norm(row @ corners - x) == pytest.approx(np.sqrt(best.fun), abs=1e-4)


@pytest.mark.feature("000-F134")
def test_two_contacts_that_share_an_edge() -> None:
    """Thesis equation (4.29): nodes 1, 2, 3 for the first point and 1, 2, 4 for the second."""
    d = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    P = distribution_matrix(np.array([[0, 1, 2], [0, 1, 3]]), d, 4)
    expected = np.kron([[0.2, 0.3, 0.5, 0.0], [0.6, 0.3, 0.0, 0.1]], np.eye(3))
    np.testing.assert_array_equal(P, expected)
    forces = np.arange(6.0)
    np.testing.assert_allclose((P.T @ forces).reshape(4, 3).sum(axis=0), forces.reshape(2, 3).sum(axis=0))


@pytest.mark.parametrize(
    ("triangles", "points", "message"),
    [
        (np.zeros((1, 3, 3)), np.zeros((1, 3)), "triangle 0 has no area"),
        (np.array([[[0, 0, 0], [1, 1, 1], [2, 2, 2.0]]]), np.zeros((1, 3)), "triangle 0 has no area"),
        (np.full((1, 3, 3), np.nan), np.zeros((1, 3)), "not finite"),
        (np.zeros((2, 3, 3)), np.zeros((1, 3)), "have shape"),
    ],
)
def test_bad_triangles(triangles: np.ndarray, points: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        barycentric_weights(triangles, points)
