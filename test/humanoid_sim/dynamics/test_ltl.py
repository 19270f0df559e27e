# SPDX-License-Identifier: Apache-2.0
"""The factorisation against numpy on the inertias of random trees."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_sim.dynamics.flat_model import FlatModel
from humanoid_sim.dynamics.ltl import factorize, solve


@pytest.mark.parametrize("seed", range(10))
def test_factor_and_solve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(1, 30)))
    q, _ = random_state(model, rng)
    M = np.array(pin.crba(model, model.createData(), q))
    M = np.triu(M) + np.triu(M, 1).T
    parents = FlatModel.from_pinocchio(model).dof_parent
    factor = M.copy()
    factorize(factor, parents)
    L = np.tril(factor, -1) + np.eye(model.nv)
    ancestors = np.zeros_like(M, dtype=bool)
    for k in range(model.nv):
        j = k
        while j >= 0:
            ancestors[k, j] = True
            j = parents[j]
    L[~ancestors] = 0.0
    assert_allclose(L.T @ np.diag(np.diag(factor)) @ L, M, atol=1e-10 * np.abs(M).max())
    b = rng.normal(size=model.nv)
    x = b.copy()
    solve(factor, parents, x)
    assert_allclose(M @ x, b, atol=1e-8)
