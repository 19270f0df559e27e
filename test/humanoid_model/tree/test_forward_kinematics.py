# SPDX-License-Identifier: Apache-2.0
"""Placements and motions of random trees against Pinocchio's, for every kind of joint."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.tree.forward_kinematics import (
    body_jacobian,
    centre_of_mass,
    centre_of_mass_jacobian,
    integrate,
    place_all,
    place_chain,
)
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


@pytest.mark.feature("002-F062")
@pytest.mark.parametrize("seed", range(5))
def test_bodies_and_centre_of_mass(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 20)
    q, _ = random_state(model, rng)
    data, tree, placed = model.createData(), KinematicTree.from_pinocchio(model), Placements.of_size(21, model.nv)
    place_all(tree, q, placed)
    pin.computeJointJacobians(model, data, q)
    point = rng.normal(size=3)
    for body in range(1, model.njoints):
        J = np.zeros((6, model.nv))
        body_jacobian(tree, body, point, placed, J)
        expected = pin.getJointJacobian(model, data, body, pin.WORLD)
        expected[:3] += np.cross(expected[3:].T, point).T
        assert_allclose(J, expected, atol=1e-11)
    G, moments, by_q = np.empty(3), np.empty((model.njoints, 4)), np.empty((3, model.nv))
    centre_of_mass(tree, placed, moments, G)
    centre_of_mass_jacobian(tree, placed, moments, by_q)
    assert_allclose(by_q, pin.jacobianCenterOfMass(model, data, q), atol=1e-12)
    assert_allclose(G, data.com[0], atol=1e-12)


def test_nothing_has_no_centre_of_mass() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "hinge")
    tree, placed = KinematicTree.from_pinocchio(model), Placements.of_size(2, 1)
    G, moments, J = np.ones(3), np.empty((2, 4)), np.ones((3, 1))
    centre_of_mass(tree, placed, moments, G)
    centre_of_mass_jacobian(tree, placed, moments, J)
    assert not G.any()
    assert not J.any()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dt", [1.0, 1e-2, 1e-5, 0.0])
def test_against_pinocchio(seed: int, dt: float) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 30)
    q, v = random_state(model, rng)
    out = np.empty(model.nq)
    integrate(KinematicTree.from_pinocchio(model), q, v, dt, out)
    expected = pin.integrate(model, q, dt * v)
    # a quaternion and its opposite are the same rotation
    assert_allclose(pin.difference(model, expected, out), 0.0, atol=1e-11)
    assert pin.isNormalized(model, out, 1e-14)


def test_unit_length_is_kept() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    flat = KinematicTree.from_pinocchio(model)
    q, v = pin.neutral(model), np.array([3.0, -2.0, 1.0])
    for _ in range(10000):
        out = np.empty(4)
        integrate(flat, q, v, 1e-3, out)
        q = out
    assert abs(np.linalg.norm(q) - 1.0) < 1e-15
