# SPDX-License-Identifier: Apache-2.0
"""Placements, twists and curvatures of the flat model against Pinocchio on random trees."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model.errors import RobotError
from humanoid_sim.dynamics.flat_model import (
    FlatModel,
    joint_curvatures,
    joint_placements,
    joint_twists,
)


@pytest.mark.parametrize("seed", range(20))
def test_placements_twists_and_curvatures(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(1, 40)))
    q, v = random_state(model, rng)
    flat = FlatModel.from_pinocchio(model)
    R, p = np.empty((model.njoints, 3, 3)), np.empty((model.njoints, 3))
    joint_placements(
        flat.kinds, flat.parents, flat.idx_q, flat.axes, flat.rotations, flat.translations, q, R, p
    )
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    twists = np.empty((model.njoints, 6))
    joint_twists(flat.parents, flat.last_dof, flat.dof_parent, data.J, v, twists)
    curvatures = np.empty((model.njoints, 6))
    joint_curvatures(flat.parents, flat.last_dof, flat.dof_parent, data.J, v, twists, curvatures)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    for j in range(model.njoints):
        assert_allclose(R[j], data.oMi[j].rotation, atol=1e-12)
        assert_allclose(p[j], data.oMi[j].translation, atol=1e-12)
        assert_allclose(twists[j], data.oMi[j].act(data.v[j]).vector, atol=1e-11)
        expected = data.oMi[j].act(data.a[j]).vector
        assert_allclose(curvatures[j], expected, atol=1e-10 * max(1.0, np.abs(expected).max()))


def test_unknown_joint_kind_is_refused() -> None:
    model = pin.Model()
    joint = pin.JointModelComposite()
    joint.addJoint(pin.JointModelRX())
    joint.addJoint(pin.JointModelRY())
    model.addJoint(0, joint, pin.SE3.Identity(), "universal")
    with pytest.raises(RobotError, match="no joint of kind 'Composite'"):
        FlatModel.from_pinocchio(model)
