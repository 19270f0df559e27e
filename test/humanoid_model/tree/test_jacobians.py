# SPDX-License-Identifier: Apache-2.0
"""Jacobians of bodies and of the centre of mass against Pinocchio's, for every kind of joint."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model.tree.forward_kinematics import place_all
from humanoid_model.tree.jacobians import body_jacobian, centre_of_mass, centre_of_mass_jacobian
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements


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
