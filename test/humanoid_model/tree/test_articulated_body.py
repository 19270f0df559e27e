# SPDX-License-Identifier: Apache-2.0
"""The articulated-body recursion against Pinocchio's, on random trees of joints of 1, 2, 3 and 6 degrees of freedom."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.tree.articulated_body import (
    ArticulatedInertia,
    articulated_body,
    biased_acceleration,
    force_response,
)
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion, body_twists, move_tree


def prepared(model: pin.Model, q: np.ndarray, v: np.ndarray) -> tuple[KinematicTree, TreeMotion, ArticulatedInertia]:
    flat = KinematicTree.from_pinocchio(model)
    motion = TreeMotion.of_size(model.njoints, model.nv)
    move_tree(flat, q, v, motion)
    return flat, motion, ArticulatedInertia.of_size(model.njoints, model.nv)


def external(model: pin.Model, data: pin.Data, wrenches: np.ndarray) -> pin.StdVec_Force:
    """World wrenches as Pinocchio takes them, in the joint frames; ``data`` holds the placements."""
    forces = pin.StdVec_Force()
    for joint in range(model.njoints):
        forces.append(data.oMi[joint].actInv(pin.Force(wrenches[joint])))
    return forces


@pytest.mark.feature("000-F031", "000-F032", "000-F037", "000-F038")
@pytest.mark.parametrize("size", [1, 2, 5, 10, 20, 35, 50])
@pytest.mark.parametrize("seed", range(4))
def test_forward_dynamics(size: int, seed: int) -> None:
    rng = np.random.default_rng(100 * size + seed)
    model = random_tree(rng, size)
    q, v = random_state(model, rng)
    tau, armature = rng.normal(size=model.nv), rng.uniform(0.0, 0.5, model.nv)
    flat, motion, articulated = prepared(model, q, v)
    data = model.createData()
    pin.forwardKinematics(model, data, q, v)
    wrenches = rng.normal(size=(model.njoints, 6))
    acceleration = np.empty(model.nv)
    articulated_body(flat, motion, tau, armature, wrenches, articulated, acceleration)
    model.armature = armature
    expected = pin.aba(model, data, q, v, tau, external(model, data, wrenches))
    assert_allclose(acceleration, expected, rtol=0.0, atol=1e-10 * max(np.abs(expected).max(), 1.0))
    again = pin.rnea(model, data, q, v, acceleration, external(model, data, wrenches))
    assert_allclose(again, tau, atol=1e-9 * max(np.abs(expected).max(), 1.0))


@pytest.mark.parametrize("seed", range(4))
def test_another_velocity_needs_no_inertias_anew(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 20)
    q, v = random_state(model, rng)
    other = random_state(model, rng)[1]
    tau, wrenches = rng.normal(size=model.nv), rng.normal(size=(model.njoints, 6))
    armature = rng.uniform(0.0, 0.5, model.nv)  # without, the inertia's condition costs digits
    flat, motion, articulated = prepared(model, q, v)
    acceleration = np.empty(model.nv)
    articulated_body(flat, motion, tau, armature, wrenches, articulated, acceleration)
    body_twists(flat, other, motion)
    biased_acceleration(flat, motion, tau, wrenches, articulated, acceleration)
    data = model.createData()
    pin.forwardKinematics(model, data, q, other)
    model.armature = armature
    expected = pin.aba(model, data, q, other, tau, external(model, data, wrenches))
    assert_allclose(acceleration, expected, rtol=0.0, atol=1e-10 * max(np.abs(expected).max(), 1.0))


@pytest.mark.feature("000-F096", "000-F167")
@pytest.mark.parametrize("seed", range(8))
def test_response_reaches_every_coordinate(seed: int) -> None:
    """Also those of branches on which nothing pushes: the arms of a standing robot (F167)."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 20)
    q, v = random_state(model, rng)
    flat, motion, articulated = prepared(model, q, v)
    own = rng.uniform(0.0, 0.5, model.nv)
    none = np.zeros((model.njoints, 6))
    acceleration = np.empty(model.nv)
    articulated_body(flat, motion, np.zeros(model.nv), own, none, articulated, acceleration)
    wrenches, efforts = none.copy(), np.zeros(model.nv)
    pushed = int(rng.integers(1, model.njoints))
    wrenches[pushed] = rng.normal(size=6)
    efforts[int(rng.integers(model.nv))] = rng.normal()
    change = np.empty(model.nv)
    force_response(flat, motion.S, articulated, wrenches, efforts, change)
    data = model.createData()
    M = np.array(pin.crba(model, data, q, pin.Convention.WORLD))
    M = np.triu(M) + np.triu(M, 1).T + np.diag(own)
    J = pin.computeJointJacobians(model, data, q)
    support = np.zeros(model.nv)
    k = flat.joints["last_dof"][pushed]
    while k >= 0:
        support[k] = 1.0
        k = flat.dof_parent[k]
    expected = np.linalg.solve(M, (J * support).T @ wrenches[pushed] + efforts)
    assert_allclose(change, expected, atol=1e-10 * max(np.abs(expected).max(), 1.0))


def test_a_standing_humanoid_far_from_the_origin() -> None:
    robot = load_robot("hrp2")
    model = robot.model
    q = robot.postures["half_sitting"].copy()
    q[:2] += [100.0, -50.0]
    v = np.random.default_rng(0).normal(size=model.nv)
    flat, motion, articulated = prepared(model, q, v)
    acceleration = np.empty(model.nv)
    articulated_body(
        flat, motion, np.zeros(model.nv), np.array(model.armature), np.zeros((model.njoints, 6)), articulated,
        acceleration
    )
    expected = pin.aba(model, model.createData(), q, v, np.zeros(model.nv))
    assert_allclose(acceleration, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.feature("000-F033")
def test_spinning_top_precesses_as_euler_says() -> None:
    """Torque-free top: in body axes :math:`I\\dot\\omega = -\\omega \\times I\\omega` (thesis equations 2.4-2.7)."""
    model = pin.Model()
    inertia = np.array([0.2, 0.3, 0.45])
    model.appendBodyToJoint(
        model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "top"),
        pin.Inertia(2.0, np.zeros(3), np.diag(inertia)),
        pin.SE3.Identity(),
    )
    q = pin.integrate(model, pin.neutral(model), np.array([0.3, -0.7, 1.1]))
    omega = np.array([1.0, -2.0, 3.0])
    flat, motion, articulated = prepared(model, q, omega)
    acceleration = np.empty(3)
    articulated_body(flat, motion, np.zeros(3), np.zeros(3), np.zeros((2, 6)), articulated, acceleration)
    assert_allclose(acceleration, -np.cross(omega, inertia * omega) / inertia, atol=1e-12)
