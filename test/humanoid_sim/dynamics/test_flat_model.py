# SPDX-License-Identifier: Apache-2.0
"""Placements, twists and curvatures of the flat model against Pinocchio on random trees."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model.errors import RobotError
from humanoid_sim.dynamics.flat_model import FlatModel, joint_placements


@pytest.mark.parametrize("seed", range(20))
def test_placements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(1, 40)))
    q, _ = random_state(model, rng)
    R, p = np.empty((model.njoints, 3, 3)), np.empty((model.njoints, 3))
    joint_placements(FlatModel.from_pinocchio(model), q, R, p)
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    for j in range(model.njoints):
        assert_allclose(R[j], data.oMi[j].rotation, atol=1e-12)
        assert_allclose(p[j], data.oMi[j].translation, atol=1e-12)


def test_trees_are_told_apart() -> None:
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "first")
    model.addJoint(first, pin.JointModelSpherical(), pin.SE3.Identity(), "turn")
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "second")
    assert FlatModel.from_pinocchio(model).trees.tolist() == [-1, 0, 0, 1]


def test_unknown_joint_kind_is_refused() -> None:
    model = pin.Model()
    joint = pin.JointModelComposite()
    joint.addJoint(pin.JointModelRX())
    joint.addJoint(pin.JointModelRY())
    model.addJoint(0, joint, pin.SE3.Identity(), "universal")
    with pytest.raises(RobotError, match="no joint of kind 'Composite'"):
        FlatModel.from_pinocchio(model)
