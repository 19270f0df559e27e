# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.maximiser import Maximiser

W = np.array([1e-4, 2e-4, 1e-6, 1e-6])
LOWER = np.array([-30.0, -np.inf, 6.0, -np.inf])
UPPER = np.array([20.0, np.inf, np.inf, np.inf])


def value(u, y):
    return u @ y - 0.5 * (W * u**2).sum(axis=-1)


@pytest.mark.feature("003-F083")
def test_box_is_clipped_and_best():
    rng = np.random.default_rng(0)
    maximiser = Maximiser(W, LOWER, UPPER)
    y = rng.normal(size=(20, 4)) * 40.0 * W
    u, free = maximiser.in_box(y)
    np.testing.assert_array_equal(u, np.clip(y / W, LOWER, UPPER))
    assert free.any()
    assert not free.all()
    for k in range(20):
        others = np.clip(u[k] + 10.0 * rng.normal(size=(200, 4)), LOWER, UPPER)
        assert (value(others, y[k]) <= value(u[k], y[k]) + 1e-15).all()


def test_polytope_is_what_a_general_solver_finds():
    rng = np.random.default_rng(1)
    maximiser = Maximiser(W, LOWER, UPPER)
    friction = 0.3
    C = np.tile(np.array([[0.0, 0.0, friction, 1.0], [0.0, 0.0, friction, -1.0], [1.0, 1.0, 0.0, 0.0]]), (12, 1, 1))
    c = np.tile(np.array([0.0, 0.0, 5.0]), (12, 1))
    y = rng.normal(size=(12, 4)) * 60.0 * W
    u, mu, active, free, feasible = maximiser.with_rows(y, C, c)
    assert feasible.all()
    assert active.any(axis=0).all()
    assert (mu >= 0.0).all()
    assert (np.einsum("krn,kn->kr", C, u) + c >= -1e-7).all()
    # Stationarity: W u = y + C^T mu wherever a control isn't held by its own bound.
    rest = W * u - y - np.einsum("krn,kr->kn", C, mu)
    np.testing.assert_allclose(rest[free], 0.0, atol=1e-12)
    for k in range(12):
        found = minimize(
            lambda z, y=y[k]: -value(z, y) * 1e3,
            np.array([0.0, 0.0, 50.0, 0.0]),
            jac=lambda z, y=y[k]: -(y - W * z) * 1e3,
            method="SLSQP",
            bounds=list(zip(LOWER, UPPER, strict=True)),
            constraints=[LinearConstraint(C[k], lb=-c[k])],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert value(u[k], y[k]) >= value(found.x, y[k]) - 1e-9
        for _ in range(100):
            other = np.clip(u[k] + 5.0 * rng.normal(size=4), LOWER, UPPER)
            if (C[k] @ other + c[k] >= 0.0).all():
                assert value(other, y[k]) <= value(u[k], y[k]) + 1e-12


def test_equality_rows_hold():
    maximiser = Maximiser(W, np.full(4, -np.inf), np.full(4, np.inf), equalities=1)
    C = np.array([[[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]])
    c = np.array([[-7.0, 100.0]])
    u, mu, active, _, feasible = maximiser.with_rows(np.zeros((1, 4)), C, c)
    assert feasible.all()
    # W u = C^T mu with u_1 + u_2 = 7: shares in inverse proportion to the weights.
    np.testing.assert_allclose(u[0], [14.0 / 3.0, 7.0 / 3.0, 0.0, 0.0], atol=1e-8)
    assert mu[0, 0] == pytest.approx(1e-4 * 14.0 / 3.0)
    assert active.tolist() == [[True, False]]


def test_contradicting_rows_are_reported():
    maximiser = Maximiser(W, np.full(4, -np.inf), np.full(4, np.inf))
    C = np.array([[[1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]]])
    feasible = maximiser.with_rows(np.zeros((1, 4)), C, np.array([[-1.0, -1.0]]))[-1]
    assert not feasible[0]


@pytest.mark.parametrize("weights", [np.array([1.0, 0.0]), np.array([1.0, np.nan]), np.array([1.0, -1.0])])
def test_weights_have_to_be_positive(weights):
    with pytest.raises(InputError, match="weight above 0"):
        Maximiser(weights, np.zeros(2), np.ones(2))


def test_crossing_bounds_are_refused():
    with pytest.raises(InputError, match="cross"):
        Maximiser(np.ones(2), np.array([0.0, 2.0]), np.array([1.0, 1.0]))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_many_nodes_give_what_each_gives_alone(count):
    """Bounds and rows together at several nodes, no bound of them zero: each keeps them, and is its own optimum.

    One row beside bounds came to DAQP in an order of memory that it doesn't read.
    """
    rng = np.random.default_rng(3)
    maximiser = Maximiser(W, np.array([-np.inf, 6.0, 0.5, -np.inf]), np.full(4, np.inf))
    y = W * rng.normal(size=(9, 4)) * 10.0
    C, c = rng.normal(size=(9, count, 4)), rng.normal(size=(9, count)) - 5.0
    together = maximiser.with_rows(y, C, c)
    assert together[-1].all()
    u = together[0]
    assert (np.einsum("krn,kn->kr", C, u) + c).min() > -1e-8
    assert u[:, 1].min() >= 6.0 - 1e-8
    assert u[:, 2].min() >= 0.5 - 1e-8
    for k in range(9):
        alone = maximiser.with_rows(y[k : k + 1], C[k : k + 1], c[k : k + 1])
        for all_nodes, one in zip(together, alone, strict=True):
            np.testing.assert_allclose(all_nodes[k], one[0], atol=1e-9)
