# SPDX-License-Identifier: Apache-2.0
"""The fused calls against dense algebra: all joints of a tree feel a contact, not only its own branch."""

import numpy as np
import pinocchio as pin
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_sim.dynamics.contact_step import displace, first_not_finite
from humanoid_sim.dynamics.delassus import contact_jacobian
from humanoid_sim.dynamics.flat_model import FlatModel
from humanoid_sim.dynamics.ltl import factorize


def test_contact_forces_move_every_joint_of_the_tree() -> None:
    """Specification 000 F167: dt M^-1 J^T f to 1e-10 of its size, joints outside the contact's branch included."""
    rng = np.random.default_rng(7)
    others_moved = 0
    for _ in range(10):
        model = random_tree(rng, 20)
        q, v = random_state(model, rng)
        data = model.createData()
        M = np.array(pin.crba(model, data, q, pin.Convention.WORLD))
        M = np.triu(M) + np.triu(M, 1).T
        flat = FlatModel.from_pinocchio(model)
        m, nv, dt = 4, model.nv, 1e-3
        joints = rng.integers(1, model.njoints, m)
        positions, normals = rng.normal(size=(m, 3)), np.tile([0.0, 0.0, 1.0], (m, 1))
        frames, rows = np.empty((m, 3, 3)), np.zeros((m, 3, nv))
        support, size = np.zeros((m, nv), dtype=np.int64), np.zeros(m, dtype=np.int64)
        contact_jacobian(
            joints, np.zeros(m, dtype=np.int64), positions, normals, flat.last_dof, flat.dof_parent, data.J,
            frames, rows, support, size,
        )  # fmt: skip
        forces = rng.normal(size=3 * m)
        expected = v + dt * np.linalg.solve(M, rows.reshape(3 * m, nv).T @ forces)
        factorize(M, flat.dof_parent)
        moved = v.copy()
        displace(M, flat.dof_parent, rows, support, size, forces, dt, moved)
        assert_allclose(moved - v, expected - v, atol=1e-10 * np.abs(expected - v).max())
        branch = np.unique(np.concatenate([support[i, : size[i]] for i in range(m)]))
        outside = np.setdiff1d(np.arange(nv), branch)
        others_moved += np.count_nonzero((moved - v)[outside])
    assert others_moved > 20


def test_first_not_finite() -> None:
    v = np.zeros(4)
    assert first_not_finite(v) == -1
    v[2] = np.nan
    assert first_not_finite(v) == 2
    v[1] = -np.inf
    assert first_not_finite(v) == 1
