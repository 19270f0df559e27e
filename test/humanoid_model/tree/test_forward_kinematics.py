# SPDX-License-Identifier: Apache-2.0
"""Placements and motions of random trees against Pinocchio's, for every kind of joint."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.tree.forward_kinematics import place_all, place_chain
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements


@pytest.mark.parametrize("seed", range(20))
def test_placements_and_subspaces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(1, 40)))
    q, _ = random_state(model, rng)
    tree, placed = KinematicTree.from_pinocchio(model), Placements.of_size(model.njoints, model.nv)
    place_all(tree, q, placed)
    data = model.createData()
    J = pin.computeJointJacobians(model, data, q)
    assert_allclose(placed.S, J.T, atol=1e-11)
    for j in range(model.njoints):
        assert_allclose(placed.rotations[j], data.oMi[j].rotation, atol=1e-12)
        assert_allclose(placed.origins[j], data.oMi[j].translation, atol=1e-12)


def test_a_world_that_is_elsewhere_carries_all() -> None:
    rng = np.random.default_rng(0)
    model = random_tree(rng, 15)
    q, _ = random_state(model, rng)
    tree, placed = KinematicTree.from_pinocchio(model), Placements.of_size(model.njoints, model.nv)
    elsewhere = pin.SE3.Random()
    placed.rotations[0], placed.origins[0] = elsewhere.rotation, elsewhere.translation
    place_all(tree, q, placed)
    data = model.createData()
    J = pin.computeJointJacobians(model, data, q)
    assert_allclose(placed.S, (elsewhere.action @ J).T, atol=1e-11)
    assert_allclose(placed.origins[-1], elsewhere.act(data.oMi[model.njoints - 1].translation), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_is_placed_alone_and_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 25)
    q, _ = random_state(model, rng)
    tree = KinematicTree.from_pinocchio(model)
    whole, part = (Placements.of_size(model.njoints, model.nv) for _ in range(2))
    place_all(tree, q, whole)
    known = np.zeros(model.njoints, dtype=bool)
    known[0] = True
    above = [j for j in list(model.supports[model.njoints - 1]) if j > 0]
    assert place_chain(tree, model.njoints - 1, known, q, part) == len(above)
    assert_array_equal(np.flatnonzero(known[1:]) + 1, above)
    assert_array_equal(part.rotations[known], whole.rotations[known])
    assert_array_equal(part.origins[known], whole.origins[known])
    assert place_chain(tree, model.njoints - 1, known, q, part) == 0
