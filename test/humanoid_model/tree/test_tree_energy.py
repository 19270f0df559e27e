# SPDX-License-Identifier: Apache-2.0
"""Energy and moved inertia of random trees are those that Pinocchio's mass matrix tells."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree

from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_energy import kinetic_energy, moved_inertias, potential_energy
from humanoid_model.tree.tree_motion import TreeMotion, move_tree


@pytest.mark.parametrize("seed", range(5))
def test_energy_and_inertia(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 15)
    model.armature = rng.uniform(0.0, 0.3, model.nv)
    model.gravity.linear = np.array([0.4, -0.3, -9.6])
    q, v = random_state(model, rng)
    flat, motion = KinematicTree.from_pinocchio(model), TreeMotion.of_size(model.njoints, model.nv)
    move_tree(flat, q, v, motion)

    data = model.createData()
    upper = np.triu(pin.crba(model, data, q, pin.Convention.WORLD))
    M = upper + np.triu(upper, 1).T
    assert kinetic_energy(flat, motion, v) == pytest.approx(0.5 * v @ M @ v, rel=1e-12)
    potential = pin.computePotentialEnergy(model, data, q)
    assert potential_energy(flat, motion) == pytest.approx(potential, rel=1e-12)
    np.testing.assert_allclose(moved_inertias(flat, motion), np.diag(M), rtol=1e-11)
