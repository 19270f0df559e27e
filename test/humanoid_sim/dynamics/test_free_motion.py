# SPDX-License-Identifier: Apache-2.0
"""The implicit servo step against its definition, solved densely; saturation; external wrenches."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_sim.dynamics.flat_model import FlatModel
from humanoid_sim.dynamics.free_motion import add_wrench, free_motion, servo_efforts

DT = 1e-3


@pytest.mark.parametrize("seed", range(10))
def test_velocity_obeys_the_servo_law_at_the_end_of_the_step(seed: int) -> None:
    """M (v+ - v) = dt (tau(v+) - b - D v+ + external), tau being the servo's torque for v+, or its limit."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 12)
    q, v = random_state(model, rng)
    data = model.createData()
    M = np.array(pin.crba(model, data, q))
    M = np.triu(M) + np.triu(M, 1).T
    bias = np.array(pin.nonLinearEffects(model, data, q, v))
    nv = model.nv
    error, v_target, feedforward, external = rng.normal(size=(4, nv))
    stiffness, damping, passive = rng.uniform(0.0, 1e4, nv), rng.uniform(0.0, 100.0, nv), rng.uniform(0, 1, nv)
    limit = np.full(nv, 50.0)
    saturated = rng.integers(-1, 2, nv)
    factor, v_new = np.empty((nv, nv)), np.empty(nv)
    free_motion(
        M, bias, external, v, error, v_target, stiffness, damping, passive, feedforward, limit, saturated,
        FlatModel.from_pinocchio(model).dof_parent, DT, factor, v_new,
    )  # fmt: skip
    tau = feedforward + stiffness * (error - DT * v_new) + damping * (v_target - v_new)
    tau = np.where(saturated == 0, tau, saturated * limit)
    assert_allclose(M @ (v_new - v), DT * (tau - bias - passive * v_new + external), atol=1e-8)


def test_servo_efforts_stop_at_the_limit_and_tell() -> None:
    zeros, ones = np.zeros(3), np.ones(3)
    error, efforts = np.array([0.1, 5.0, -5.0]), np.empty(3)
    saturated = np.zeros(3, dtype=np.int64)
    arguments = (zeros, error, zeros, 10.0 * ones, ones, zeros, 20.0 * ones, DT, saturated, efforts)
    assert servo_efforts(*arguments)
    assert_allclose(efforts, [1.0, 20.0, -20.0])
    assert saturated.tolist() == [0, 1, -1]
    assert not servo_efforts(*arguments)


def test_wrench_is_the_transposed_jacobian() -> None:
    rng = np.random.default_rng(4)
    model = random_tree(rng, 15)
    q, _ = random_state(model, rng)
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    flat = FlatModel.from_pinocchio(model)
    for joint in range(1, model.njoints):
        wrench = rng.normal(size=6)
        efforts = np.zeros(model.nv)
        add_wrench(int(flat.last_dof[joint]), flat.dof_parent, data.J, wrench[:3], wrench[3:], efforts)
        J = pin.getJointJacobian(model, data, joint, pin.WORLD)
        assert_allclose(efforts, J.T @ wrench, atol=1e-11)
