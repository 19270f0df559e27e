# SPDX-License-Identifier: Apache-2.0
"""Joint axes, twists and curvatures in the world frame against Pinocchio on random trees."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import (
    TreeMotion,
    composite_inertias,
    kinetic_energy,
    mass_matrix,
    move_tree,
    moved_inertias,
    potential_energy,
)


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


def pinocchios(model: pin.Model, q: np.ndarray) -> np.ndarray:
    M = np.triu(pin.crba(model, model.createData(), q))
    return M + np.triu(M, 1).T


@pytest.mark.feature("000-F034")
@pytest.mark.parametrize("size", [1, 2, 5, 20, 50])
@pytest.mark.parametrize("seed", range(3))
def test_random_trees(size: int, seed: int) -> None:
    """Joints of 1, 2, 3 and 6 degrees of freedom, rotors; symmetric to the last bit and positive definite."""
    rng = np.random.default_rng(100 * size + seed)
    model = random_tree(rng, size)
    model.armature = rng.uniform(0.0, 0.5, model.nv)
    q, _ = random_state(model, rng)
    M = mass_matrix(KinematicTree.from_pinocchio(model), q)
    expected = pinocchios(model, q)
    assert_allclose(M, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


@pytest.mark.parametrize("name", ["hrp2", "bip"])
def test_robots(name: str) -> None:
    """The quadratic form is twice the kinetic energy, summed body by body, and that of the rotors."""
    model = load_robot(name).model
    rng = np.random.default_rng(1)
    flat = KinematicTree.from_pinocchio(model)
    for _ in range(5):
        q, v = random_state(model, rng)
        M = mass_matrix(flat, q)
        data = model.createData()
        pin.forwardKinematics(model, data, q, v)
        bodies = sum(model.inertias[j].vtiv(data.v[j]) for j in range(1, model.njoints))
        rotors = v @ (np.array(model.armature) * v)
        assert v @ M @ v == pytest.approx(bodies + rotors, rel=1e-11)
        assert_allclose(M, pinocchios(model, q), rtol=0.0, atol=1e-11 * np.abs(M).max())


def test_coordinates_on_different_branches_have_nothing_in_common() -> None:
    """Two trees, and two branches of one: exact zeros."""
    model = load_robot("hrp2").model
    M = mass_matrix(KinematicTree.from_pinocchio(model), pin.neutral(model))
    arms = [model.joints[model.getJointId(name)].idx_v for name in ("RARM_JOINT0", "LARM_JOINT0")]
    assert M[arms[0], arms[1]] == 0.0
    assert M[arms[0], arms[0]] > 0.0


def test_the_whole_tree_is_a_subtree_of_its_root() -> None:
    """The composite inertia of a floating base holds the robot's mass."""
    robot = load_robot("hrp2")
    flat = KinematicTree.from_pinocchio(robot.model)
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, pin.neutral(robot.model))
    R = np.array([placement.rotation for placement in data.oMi])
    p = np.array([placement.translation for placement in data.oMi])
    inertias = np.empty((robot.model.njoints, 6, 6))
    composite_inertias(flat, R, p, inertias)
    total = pin.computeTotalMass(robot.model)
    assert_allclose(inertias[1][:3, :3], total * np.eye(3), rtol=1e-12)
    lever = pin.centerOfMass(robot.model, data, pin.neutral(robot.model))
    assert_allclose(inertias[1][3:, :3], total * pin.skew(lever), atol=1e-9)
    assert_allclose(inertias[0], 0.0, atol=0.0)
