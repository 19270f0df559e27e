# SPDX-License-Identifier: Apache-2.0
"""What is read off a Pinocchio model: kinds and axes, topology, lengths and angles."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_tree

from humanoid_model.errors import RobotError
from humanoid_model.tree.kinematic_tree import HELICAL, UNBOUNDED, KinematicTree, joint_motion


def test_trees_are_told_apart() -> None:
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "first")
    model.addJoint(first, pin.JointModelSpherical(), pin.SE3.Identity(), "turn")
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "second")
    tree = KinematicTree.from_pinocchio(model)
    assert tree.trees.tolist() == [-1, 0, 0, 1]
    assert tree.chain(2) == [0, 1, 2, 3, 4, 5]
    assert tree.chain(3) == [6]


@pytest.mark.parametrize("seed", range(5))
def test_chains_are_pinocchios_supports(seed: int) -> None:
    model = random_tree(np.random.default_rng(seed), 20)
    tree = KinematicTree.from_pinocchio(model)
    for j in range(1, model.njoints):
        joints = [model.joints[i] for i in list(model.supports[j]) if i > 0]
        assert tree.chain(j) == [k for joint in joints for k in range(joint.idx_v, joint.idx_v + joint.nv)]


@pytest.mark.parametrize("seed", range(3))
def test_lengths_are_told_from_angles(seed: int) -> None:
    """A length is a coordinate whose motion turns nothing."""
    model = random_tree(np.random.default_rng(seed), 30)
    J = pin.computeJointJacobians(model, model.createData(), pin.neutral(model))
    np.testing.assert_array_equal(KinematicTree.from_pinocchio(model).is_length(), ~J[3:].any(axis=0))


def test_a_skew_axis_and_a_pitch_are_read() -> None:
    model, axis = pin.Model(), np.array([0.0, 0.6, 0.8])
    model.addJoint(0, pin.JointModelHelicalUnaligned(axis, 0.1), pin.SE3.Identity(), "screw")
    model.addJoint(1, pin.JointModelRUBX(), pin.SE3.Identity(), "wheel")
    screw, wheel = joint_motion(model, 1), joint_motion(model, 2)
    assert (screw.kind, wheel.kind) == (HELICAL, UNBOUNDED)
    np.testing.assert_allclose(screw.axis, axis, atol=1e-15)
    assert screw.pitch == pytest.approx(0.1)
    np.testing.assert_array_equal(wheel.axis, [1.0, 0.0, 0.0])


def test_a_joint_of_another_kind_is_refused_by_name() -> None:
    model, composite = pin.Model(), pin.JointModelComposite()
    composite.addJoint(pin.JointModelRX())
    composite.addJoint(pin.JointModelRY())
    model.addJoint(0, composite, pin.SE3.Identity(), "cardan")
    with pytest.raises(RobotError, match=r"'cardan'.*Composite"):
        KinematicTree.from_pinocchio(model)
