# SPDX-License-Identifier: Apache-2.0
"""Position errors against Pinocchio's difference; servo, damping and limits by hand."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model.tree.articulated_body import ArticulatedInertia, articulated_body
from humanoid_model.tree.joint_kind import FREE_FLYER, PLANAR
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion, move_tree
from humanoid_sim.stepping.joint_drives import drive_efforts, joint_loads, position_errors, rotation_vector
from humanoid_sim.stepping.step_data import JointArrays

DT = 1e-3


def joints_of(nq: int, nv: int) -> JointArrays:
    return JointArrays(
        np.zeros(nq), *(np.zeros(nv) for _ in range(5)), np.zeros(nv), np.full(nv, -np.inf), np.full(nv, np.inf),
        np.zeros(nv, dtype=np.int64), *(np.zeros(nv) for _ in range(4)), np.full(nv, -np.inf), np.full(nv, np.inf),
        np.zeros(nv, dtype=np.int64), np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2)),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_position_errors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 25)
    q, _ = random_state(model, rng)
    target, _ = random_state(model, rng)
    flat = KinematicTree.from_pinocchio(model)
    joints = joints_of(model.nq, model.nv)
    joints.q_target[:] = target
    position_errors(flat, q, joints)
    expected = pin.difference(model, q, target)
    driven = np.array([flat.joints["kind"][flat.dof_joint[k]] not in (FREE_FLYER, PLANAR) for k in range(model.nv)])
    assert_allclose(joints.error[driven], expected[driven], atol=1e-10)
    assert_allclose(joints.error[~driven], 0.0, atol=0.0)


def test_half_turn_and_no_turn() -> None:
    out = np.empty(3)
    rotation_vector(np.array([0.0, 0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0]), out)
    assert_allclose(out, [np.pi, 0.0, 0.0], atol=1e-15)
    rotation_vector(np.array([0.0, 0.6, 0.0, 0.8]), np.array([0.0, -0.6, 0.0, -0.8]), out)
    assert_allclose(out, 0.0, atol=0.0)


def test_loads_and_efforts() -> None:
    """One joint: the implicit servo's torque at the end of the step is the law's, within its limits."""
    dt, v = 1e-3, np.array([0.4])
    joints = joints_of(1, 1)
    joints.stiffness[:], joints.damping[:], joints.passive_damping[:] = 200.0, 10.0, 3.0
    joints.error[:], joints.v_target[:], joints.feedforward[:] = 0.1, 0.2, 1.5
    joint_loads(np.array([0.05]), v, joints, dt)
    assert joints.own_inertia[0] == pytest.approx(0.05 + dt * (3.0 + 10.0) + dt * dt * 200.0)
    mass = 0.7
    v_new = v + dt * joints.loads / (mass + joints.own_inertia)
    assert not drive_efforts(v_new, joints, dt)
    # Newton's law with the torques at the end of the step
    assert joints.efforts[0] == pytest.approx(1.5 + 200.0 * (0.1 - dt * v_new[0]) + 10.0 * (0.2 - v_new[0]))
    total = joints.efforts[0] - 3.0 * v_new[0]
    assert (mass + 0.05) * (v_new[0] - v[0]) / dt == pytest.approx(total)
    joints.highest[:], joints.lowest[:] = 4.0, -1.0
    assert drive_efforts(v_new, joints, dt)
    assert joints.saturated[0] == 1
    joint_loads(np.array([0.05]), v, joints, dt)
    assert joints.loads[0] == pytest.approx(4.0 - 3.0 * 0.4)
    assert joints.own_inertia[0] == pytest.approx(0.05 + dt * 3.0)
    joints.error[:] = -0.1
    assert drive_efforts(v_new, joints, dt)
    assert joints.saturated[0] == -1
    assert joints.efforts[0] == -1.0


@pytest.mark.feature("000-F143")
@pytest.mark.parametrize("seed", range(10))
def test_velocity_obeys_the_servo_law_at_the_end_of_the_step(seed: int) -> None:
    """M (v+ - v) = dt (tau(v+) - b - D v+ + external), tau being the servo's torque for v+, or its limit."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 12)
    q, v = random_state(model, rng)
    nv = model.nv
    flat, motion = KinematicTree.from_pinocchio(model), TreeMotion.of_size(model.njoints, nv)
    move_tree(flat, q, v, motion)
    joints = joints_of(model.nq, nv)
    joints.error[:], joints.v_target[:], joints.feedforward[:] = rng.normal(size=(3, nv))
    joints.stiffness[:], joints.damping[:] = rng.uniform(0.0, 1e4, nv), rng.uniform(0.0, 100.0, nv)
    joints.passive_damping[:] = rng.uniform(0, 1, nv)
    joints.highest[:], joints.lowest[:] = 50.0, -40.0
    joints.saturated[:] = rng.integers(-1, 2, nv)
    assumed = joints.saturated.copy()
    armature = rng.uniform(0.0, 0.1, nv)
    joint_loads(armature, v, joints, DT)
    wrenches = rng.normal(size=(model.njoints, 6))
    acceleration = np.empty(nv)
    articulated = ArticulatedInertia.of_size(model.njoints, nv)
    articulated_body(flat, motion, joints.loads, joints.own_inertia, wrenches, articulated, acceleration)
    v_new = v + DT * acceleration
    drive_efforts(v_new, joints, DT)
    tau = joints.feedforward + joints.stiffness * (joints.error - DT * v_new)
    tau += joints.damping * (joints.v_target - v_new)
    tau = np.select([assumed > 0, assumed < 0], [50.0, -40.0], tau)
    data = model.createData()
    M = np.triu(pin.crba(model, data, q)) + np.diag(armature)
    M = M + np.triu(M, 1).T
    bias = np.array(pin.nonLinearEffects(model, data, q, v))
    external = np.zeros(nv)
    for joint in range(1, model.njoints):
        k = flat.joints["last_dof"][joint]
        while k >= 0:
            external[k] += motion.S[k] @ wrenches[joint]
            k = flat.dof_parent[k]
    assert_allclose(M @ (v_new - v), DT * (tau - bias - joints.passive_damping * v_new + external), atol=1e-8)
