# SPDX-License-Identifier: Apache-2.0
"""Contact Jacobian and Delassus operator against J M^-1 J^T with Pinocchio's Jacobians."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_sim.dynamics.delassus import (
    add_generalized_forces,
    contact_jacobian,
    contact_velocities,
    delassus,
    tangents,
)
from humanoid_sim.dynamics.flat_model import FlatModel
from humanoid_sim.dynamics.ltl import factorize


def test_tangents_complete_a_right_handed_frame() -> None:
    rng = np.random.default_rng(0)
    normals = [*rng.normal(size=(50, 3)), *np.eye(3), *-np.eye(3)]
    for n in normals:
        n = n / np.linalg.norm(n)
        t1, t2 = np.empty(3), np.empty(3)
        tangents(n, t1, t2)
        frame = np.array([n, t1, t2])
        assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(frame) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(20))
def test_against_dense_operator(seed: int) -> None:
    """Contacts between random links and the world, and between links of one tree."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(3, 25)))
    q, v = random_state(model, rng)
    data = model.createData()
    M = np.array(pin.crba(model, data, q, pin.Convention.WORLD))
    M = np.triu(M) + np.triu(M, 1).T
    flat = FlatModel.from_pinocchio(model)
    m, nv, dt = int(rng.integers(1, 9)), model.nv, 1e-3
    a = rng.integers(1, model.njoints, m)
    b = np.where(rng.random(m) < 0.5, 0, rng.integers(1, model.njoints, m))
    b[b == a] = 0
    positions = rng.normal(size=(m, 3))
    normals = rng.normal(size=(m, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    frames, rows = np.empty((m, 3, 3)), np.full((m, 3, nv), np.nan)
    support, size = np.zeros((m, nv), dtype=np.int64), np.zeros(m, dtype=np.int64)
    contact_jacobian(
        a, b, positions, normals, flat.last_dof, flat.dof_parent, data.J, frames, rows, support, size
    )
    dense = np.zeros((m, 3, nv))
    for i in range(m):
        for sign, joint in ((1.0, a[i]), (-1.0, b[i])):
            if joint > 0:
                J = pin.getJointJacobian(model, data, int(joint), pin.WORLD)
                point = J[:3] - pin.skew(positions[i]) @ J[3:]
                dense[i] += sign * frames[i] @ point
        own = sorted(support[i, : size[i]])
        assert list(support[i, : size[i]]) == own[::-1]
        assert_allclose(rows[i][:, own], dense[i][:, own], atol=1e-11)
        others = np.setdiff1d(np.arange(nv), own)
        assert_allclose(dense[i][:, others], 0.0, atol=0.0)
    factor = M.copy()
    factorize(factor, flat.dof_parent)
    W = np.empty((3 * m, 3 * m))
    delassus(
        factor, flat.dof_parent, rows, support, size, dt, np.empty((m, 3, nv)), np.zeros(nv, dtype=np.int64), W
    )
    J = dense.reshape(3 * m, nv)
    expected = dt * J @ np.linalg.solve(M, J.T)
    assert_allclose(W, expected, atol=1e-10 * np.abs(expected).max())
    out = np.empty(3 * m)
    contact_velocities(rows, support, size, v, out)
    assert_allclose(out, J @ v, atol=1e-10)
    f, tau = rng.normal(size=3 * m), np.zeros(nv)
    add_generalized_forces(rows, support, size, f, 2.0, tau)
    assert_allclose(tau, 2.0 * J.T @ f, atol=1e-10)
