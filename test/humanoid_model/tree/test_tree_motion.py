# SPDX-License-Identifier: Apache-2.0
"""Joint axes, twists and curvatures in the world frame against Pinocchio on random trees."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion, move_tree


@pytest.mark.feature("000-F037")
@pytest.mark.parametrize("seed", range(8))
def test_motion_of_the_bodies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 15)
    q, v = random_state(model, rng)
    motion = TreeMotion.of_size(model.njoints, model.nv)
    move_tree(KinematicTree.from_pinocchio(model), q, v, motion)
    data = model.createData()
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    J = pin.computeJointJacobians(model, data, q)
    assert_allclose(motion.S, J.T, atol=1e-11)
    for joint in range(1, model.njoints):
        assert_allclose(motion.rotations[joint], data.oMi[joint].rotation, atol=1e-12)
        assert_allclose(motion.origins[joint], data.oMi[joint].translation, atol=1e-12)
        twist = data.oMi[joint].act(data.v[joint]).vector
        assert_allclose(motion.twists[joint], twist, atol=1e-10)
        acceleration = data.oMi[joint].act(data.a[joint]).vector
        assert_allclose(motion.curvatures[joint], acceleration, atol=1e-9 * (1.0 + np.abs(acceleration).max()))
