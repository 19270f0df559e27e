# SPDX-License-Identifier: Apache-2.0
"""Compiled forward kinematics against Pinocchio's."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics.solver.forward import advance, body_jacobian, centre_of_mass, place
from humanoid_kinematics.solver.tree_table import is_length, room_for, tree_of
from humanoid_model.errors import RobotError


def every_kind_of_joint(seed):
    """A random tree with each kind of joint."""
    rng = np.random.default_rng(seed)
    slanted = np.array([0.0, 0.6, 0.8])
    kinds = [
        pin.JointModelFreeFlyer(), pin.JointModelRZ(), pin.JointModelPZ(), pin.JointModelRUBZ(),
        pin.JointModelSpherical(), pin.JointModelRevoluteUnaligned(slanted), pin.JointModelPlanar(),
        pin.JointModelHelicalUnaligned(slanted, 0.1), pin.JointModelTranslation(), pin.JointModelPX(),
    ]  # fmt: skip
    model = pin.Model()
    for n, kind in enumerate(kinds):
        parent = int(rng.integers(max(0, n - 1), n + 1))
        joint = model.addJoint(parent, kind, pin.SE3.Random(), f"joint {n}")
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = -1.0, 1.0
    return model, rng


@pytest.mark.feature("002-F062")
@pytest.mark.parametrize("seed", range(4))
def test_placements_jacobians_and_centre_of_mass_are_pinocchio_s(seed):
    pin.seed(seed)
    model, rng = every_kind_of_joint(seed)
    data, tree = model.createData(), tree_of(model)
    placed = room_for(tree)
    q, point = pin.randomConfiguration(model), rng.normal(size=3)
    place(q, tree, placed)
    pin.computeJointJacobians(model, data, q)
    J = np.empty((6, model.nv))
    for body in range(1, model.njoints):
        np.testing.assert_allclose(placed.rotations[body], data.oMi[body].rotation, atol=1e-13)
        np.testing.assert_allclose(placed.origins[body], data.oMi[body].translation, atol=1e-13)
        body_jacobian(body, point, tree, placed, J)
        expected = pin.getJointJacobian(model, data, body, pin.WORLD)
        expected[:3] += np.cross(expected[3:].T, point).T
        np.testing.assert_allclose(J, expected, atol=1e-13)
    G, JG, moments = np.empty(3), np.empty((3, model.nv)), np.empty((model.njoints, 4))
    centre_of_mass(tree, placed, moments, G, JG)
    np.testing.assert_allclose(JG, pin.jacobianCenterOfMass(model, data, q), atol=1e-13)
    np.testing.assert_allclose(G, data.com[0], atol=1e-13)


@pytest.mark.parametrize("size", [1e-9, 1e-4, 1.0])
def test_configurations_advance_as_pinocchio_integrates(size):
    model, rng = every_kind_of_joint(7)
    q, out = pin.randomConfiguration(model), np.empty(model.nq)
    step = size * rng.normal(size=model.nv)
    advance(q, step, tree_of(model), out)
    np.testing.assert_allclose(out, pin.integrate(model, q, step), atol=1e-13)


def test_lengths_are_told_from_angles():
    model, _ = every_kind_of_joint(0)
    lengths = is_length(tree_of(model))
    slides = [3, 0, 1, 0, 0, 0, 2, 0, 3, 1]
    assert [lengths[model.joints[i + 1].idx_v :][:n].sum() for i, n in enumerate(slides)] == slides
    assert lengths.sum() == sum(slides)


def test_a_joint_of_another_kind_is_refused_by_name():
    model = pin.Model()
    composite = pin.JointModelComposite()
    composite.addJoint(pin.JointModelRX())
    composite.addJoint(pin.JointModelRY())
    model.addJoint(0, composite, pin.SE3.Identity(), "cardan")
    with pytest.raises(RobotError, match=r"'cardan'.*Composite"):
        tree_of(model)
