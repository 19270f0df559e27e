# SPDX-License-Identifier: Apache-2.0
"""Drives taken implicitly against a dense solve; locked joints against Pinocchio's matrices."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model.tree.articulated_body import ArticulatedInertia, articulated_body
from humanoid_model.tree.kinematic_tree import FREE_FLYER, PLANAR, KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion, move_tree
from humanoid_sim import Simulation
from humanoid_sim.stepping.joints import drive_efforts, joint_loads, position_errors, rotation_vector, stop_locked
from humanoid_sim.stepping.run_steps import begin
from humanoid_sim.stepping.second_order import SLOW, turning
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


def with_dry_friction(beside: str = "", **options: str) -> Simulation:
    """HRP-2 on its feet, with dry friction in all joints, and arms that rest on limits or weak knees if wanted."""
    simulation = Simulation("stand", DT, **options)
    joints = simulation.stepping.stepper.joints
    joints.dry_friction[6:] = 2.0
    model = simulation.world.model
    for name in {"limits": ("RARM_JOINT0", "LARM_JOINT3"), "weak": ("RLEG_JOINT3", "LLEG_JOINT3")}.get(beside, ()):
        joint = model.joints[model.getJointId(f"hrp2/{name}")]
        k, i = joint.idx_v, joint.idx_q
        if beside == "limits":
            joints.lower[k] = simulation.q[i]
            joints.q_target[i] -= 0.05
        else:
            joints.lowest[k], joints.highest[k] = -8.0, 8.0
    return simulation


@pytest.mark.feature("000-F096")
@pytest.mark.parametrize("seed", range(4))
def test_free_motion_and_efforts_are_those_of_rows_that_stop_the_joints(seed: int) -> None:
    rng = np.random.default_rng(seed)
    simulation = with_dry_friction()
    stepper, model = simulation.stepping.stepper, simulation.world.model
    step, nv = stepper.arrays, model.nv
    v = 0.02 * rng.standard_normal(nv)  # slow: gyroscopic terms stay those of the start
    held = rng.random(nv) < 0.6
    held[:6] = False
    stepper.move(pin.integrate(model, simulation.q, 0.3 * rng.standard_normal(nv)), v)
    locks = stepper.locks
    locks.on[0], locks.held[:], locks.friction[:] = 1, held, rng.standard_normal(nv)
    stop_locked(step, stepper.motion, DT)
    stepper.gather_wrenches()
    stepper.free_motion()
    own = np.where(held, locks.inertia, stepper.joints.own_inertia) - model.armature
    data = model.createData()
    M = pin.crba(model, data, stepper.state.q)
    H = np.triu(M) + np.triu(M, 1).T + np.diag(own)
    efforts = stepper.joints.loads - pin.nonLinearEffects(model, data, stepper.state.q, v)
    E = np.eye(nv)[:, held]
    n = E.shape[1]
    solution = np.linalg.solve(
        np.block([[H, -E], [E.T, np.zeros((n, n))]]), np.concatenate([efforts, -v[held] / DT])
    )  # fmt: skip
    assert_allclose(stepper.state.v_free, v + DT * solution[:nv], atol=1e-11)
    assert_allclose(locks.efforts[held], solution[nv:], rtol=1e-9, atol=1e-8)


@pytest.mark.feature("000-F144")
@pytest.mark.parametrize("beside", ["", "limits", "weak"])
def test_a_pushed_robot_whose_joints_stick_and_slide_moves_as_with_all_rows(beside: str) -> None:
    """As long as nothing turns by more than ``SLOW`` in a step, else mean velocities know the friction or don't."""
    own, plain = with_dry_friction(beside), with_dry_friction(beside, dynamics="pinocchio")
    locked, held = 0, []
    for simulation in (own, plain):
        simulation.apply_wrench("hrp2/CHEST_LINK1", [80.0, 30.0, 0.0], duration=0.03)
    for _ in range(30):
        own.step()
        plain.step()
        assert turning(own.stepping.stepper.arrays) * DT < SLOW
        locked += own.stepping.stepper.locks.on[0]
        held.append(own.stepping.stepper.locks.held[6:].sum())
        assert own.residual <= 1e-9
        assert_allclose(own.v, plain.v, atol=1e-9)
        assert beside == "limits" or np.abs(own.stepping.stepper.state.thrusts).max() <= 2.0 + 1e-9
    assert locked > 25
    assert min(held) < max(held)
    assert_allclose(own.contacts.force.sum(axis=0), plain.contacts.force.sum(axis=0), atol=1e-4)


def test_what_locked_joints_made_of_saturated_servos_is_forgotten_where_all_rows_are_solved() -> None:
    """Weak servos stop a robot whose joints all move; a step tries four sets of saturated ones and takes the last."""
    own, plain = with_dry_friction(), with_dry_friction(dynamics="pinocchio")
    steppers, anew = [simulation.stepping.stepper for simulation in (own, plain)], 0
    for stepper in steppers:
        stepper.joints.lowest[6:], stepper.joints.highest[6:] = -8.0, 8.0
    kicks = 1.5 * np.random.default_rng(2).standard_normal(plain.v.size - 6)
    plain.v = plain.v + np.concatenate([np.zeros(6), kicks])
    for _ in range(12):
        own.q, own.v = plain.q, plain.v
        steppers[0].remember(steppers[1].remembered())
        steppers[0].joints.saturated[:] = steppers[1].joints.saturated
        own.step()
        plain.step()
        anew += steppers[0].locks.on[0] == 0
        assert_allclose(own.v, plain.v, atol=1e-3)
    assert anew > 3


@pytest.mark.feature("000-F144")
def test_penetrations_are_taken_back_as_with_all_rows() -> None:
    """Dry friction doesn't act on that displacement: the joints are let go of."""
    runs = with_dry_friction(), with_dry_friction(dynamics="pinocchio")
    for simulation in runs:
        q = simulation.q.copy()
        q[2] -= 2e-3
        simulation.q = q
        simulation.apply_wrench("hrp2/CHEST_LINK1", [80.0, 0.0, 0.0], duration=0.02)
        simulation.run(0.01)
    assert_allclose(runs[0].q, runs[1].q, atol=1e-9)
    assert runs[0].q[2] > q[2] + 1e-5


def test_the_contact_problem_is_that_of_joints_let_go_of_under_their_friction() -> None:
    simulation = with_dry_friction()
    simulation.apply_wrench("hrp2/CHEST_LINK1", [80.0, 30.0, 0.0], duration=0.03)
    simulation.run(0.01)
    assert simulation.stepping.stepper.locks.on[0] == 1
    diagonal = simulation.stepping.stepper.blocks.diagonal.copy()
    problem, contacts = simulation.contact_problem, simulation.contacts
    assert problem is not None
    forces = simulation.stepping.stepper.points.forces[: len(contacts)]
    velocity = problem.W @ forces.reshape(-1) + problem.v_free
    pressed = contacts.normal_force > 1.0
    assert_allclose(velocity.reshape(-1, 3)[pressed, 0], 0.0, atol=1e-9)
    assert_allclose(simulation.stepping.stepper.blocks.diagonal, diagonal, rtol=0)
    plain = with_dry_friction(dynamics="pinocchio")
    plain.apply_wrench("hrp2/CHEST_LINK1", [80.0, 30.0, 0.0], duration=0.03)
    plain.run(0.01)
    assert plain.contact_problem is not None
    assert_allclose(problem.W, plain.contact_problem.W, rtol=1e-6, atol=1e-12)


def test_nothing_is_locked_where_loops_or_torques_of_contacts_act() -> None:
    simulation = with_dry_friction()
    step = simulation.stepping.stepper.arrays
    begin(step, simulation.q, simulation.v, DT, True)
    assert simulation.stepping.stepper.locks.on[0] == 1
    simulation.stepping.stepper._pairs.has_torques[0] = 1
    begin(step, simulation.q, simulation.v, DT, True)
    assert simulation.stepping.stepper.locks.on[0] == 0
