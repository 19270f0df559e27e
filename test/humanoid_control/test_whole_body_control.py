# SPDX-License-Identifier: Apache-2.0
"""Whole-body control against Pinocchio's inverse dynamics: tasks are met, forces stay in their cones."""

from __future__ import annotations

import dataclasses

import casadi
import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.whole_body_control import BodyGains, WholeBodyControl
from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.whole_body_dynamics import WholeBodyProgram

BIP = load_robot("bip")
STANDING = BIP.postures["standing"]
HRP2 = load_robot("hrp2")
HALF_SITTING = HRP2.postures["half_sitting"]


def moving(seed):
    rng = np.random.default_rng(seed)
    return STANDING, 0.05 * rng.normal(size=BIP.model.nv)


def standing_body(q, v, centre):
    body = WholeBodyControl(BIP)
    body.look(q, v)
    for name in body.soles:
        body.hold(name, body.soles[name].corners)
    body.move_centre(np.array(centre))
    body.orient_base(body.data.oMi[BIP.base_joint].rotation)
    body.keep_posture(STANDING)
    return body


def joint_forces(body, places, forces):
    """Forces at corners of both soles as Pinocchio's external forces."""
    external = pin.StdVec_Force(BIP.model.njoints, pin.Force.Zero())
    k = 0
    for sole in places:
        joint, total = body.soles[sole].joint, pin.Force.Zero()
        placement = body.data.oMi[joint]
        for corner in body.soles[sole].corners:
            force = placement.rotation.T @ forces[k]
            total += pin.Force(force, np.cross(corner, force))
            k += 1
        external[joint] = total
    return external


@pytest.mark.parametrize("seed", range(3))
def test_efforts_accelerations_and_forces_obey_the_dynamics(seed):
    q, v = moving(seed)
    body = standing_body(q, v, (0.3, -0.2, 0.0))
    efforts = body.solve()
    assert body.solved
    needed = pin.rnea(
        BIP.model, BIP.model.createData(), q, v, body.accelerations, joint_forces(body, body.soles, body.forces)
    )
    np.testing.assert_allclose(needed[:6], 0.0, atol=1e-5)
    np.testing.assert_allclose(needed[body.columns], efforts, atol=1e-5)
    assert (body.forces[:, 2] >= -1e-7).all()
    assert (np.abs(body.forces[:, :2]) <= 0.6 * body.forces[:, 2:] / np.sqrt(2.0) + 1e-6).all()


def test_the_centre_of_mass_gets_the_acceleration_that_is_asked_for():
    body = standing_body(STANDING, np.zeros(BIP.model.nv), (0.2, 0.1, 0.0))
    body.solve()
    data = BIP.model.createData()
    pin.centerOfMass(BIP.model, data, STANDING, np.zeros(BIP.model.nv), body.accelerations)
    np.testing.assert_allclose(data.acom[0], [0.2, 0.1, 0.0], atol=0.02)


def test_a_sole_in_the_air_gets_the_acceleration_of_its_way():
    q, v = moving(7)
    body = WholeBodyControl(BIP, dataclasses.replace(BodyGains(), swing=1e-3, swing_weight=1e4))
    body.look(q, v)
    body.hold("left_sole", body.soles["left_sole"].corners)
    wanted = np.array([1.0, -0.5, 2.0, 0.3, 0.2, -0.1])
    body.reach("right_sole", body.sole("right_sole"), np.zeros(6), wanted)
    body.keep_posture(STANDING)
    body.solve()
    h = 1e-6

    def twist(v_of, q_of):
        data = BIP.model.createData()
        pin.forwardKinematics(BIP.model, data, q_of, v_of)
        sole = body.soles["right_sole"]
        placed = data.oMi[sole.joint] * sole.placement
        spatial = sole.placement.actInv(data.v[sole.joint])
        return np.concatenate([placed.rotation @ spatial.linear, placed.rotation @ spatial.angular])

    later = twist(v + h * body.accelerations, pin.integrate(BIP.model, q, h * v))
    np.testing.assert_allclose((later - twist(v, q)) / h, wanted, atol=2e-2)


def test_a_fixed_base_and_bad_gains_are_refused():
    with pytest.raises(InputError, match="fixed base"):
        WholeBodyControl(load_robot("five_bar"))
    with pytest.raises(InputError, match="friction"):
        BodyGains(friction=0.0)


def test_angular_momentum_fades_at_its_rate():
    q, v = moving(5)
    body = WholeBodyControl(BIP, dataclasses.replace(BodyGains(), spin_weight=1e5))
    body.look(q, v)
    for name in body.soles:
        body.hold(name, body.soles[name].corners)
    body.calm()
    body.keep_posture(STANDING)
    body.solve()
    data = BIP.model.createData()
    pin.computeCentroidalMomentumTimeVariation(BIP.model, data, q, v, body.accelerations)
    assert np.linalg.norm(data.hg.angular) > 0.05
    np.testing.assert_allclose(data.dhg.angular, -5.0 * np.array(data.hg.angular), atol=0.02)


def test_the_base_turns_towards_its_attitude():
    q, v = moving(6)
    body = WholeBodyControl(BIP, dataclasses.replace(BodyGains(), trunk_weight=1e5))
    body.look(q, v)
    for name in body.soles:
        body.hold(name, body.soles[name].corners)
    goal = body.data.oMi[BIP.base_joint].rotation @ pin.exp3(np.array([0.02, -0.01, 0.03]))
    body.orient_base(goal)
    body.keep_posture(STANDING)
    body.solve()
    wanted = 100.0 * np.array([0.02, -0.01, 0.03]) - 20.0 * v[3:6]
    np.testing.assert_allclose(body.accelerations[3:6], wanted, atol=0.02)


def two_soles(axes=None, forces=(None, None), centre=(0.0, 0.0, 0.0), gains=None):
    body = WholeBodyControl(BIP, gains)
    body.look(STANDING, np.zeros(BIP.model.nv))
    for name, force in zip(body.soles, forces, strict=True):
        body.hold(name, body.soles[name].corners, axes, force)
    body.move_centre(np.array(centre))
    body.keep_posture(STANDING)
    return body, body.solve()


def test_forces_are_in_the_axes_in_which_a_sole_is_held_and_within_their_pyramids():
    """Axes that lean: the same dynamics, cones about another normal."""
    axes = pin.rpy.rpyToMatrix(0.3, -0.2, 0.8)
    body, efforts = two_soles(axes, centre=(1.0, 0.5, 0.0))
    world = body.forces @ axes.T
    needed = pin.rnea(
        BIP.model, BIP.model.createData(), STANDING, np.zeros(BIP.model.nv), body.accelerations,
        joint_forces(body, body.soles, world),
    )  # fmt: skip
    np.testing.assert_allclose(needed[:6], 0.0, atol=1e-5)
    np.testing.assert_allclose(needed[body.columns], efforts, atol=1e-5)
    assert (np.abs(body.forces[:, :2]) <= 0.6 * body.forces[:, 2:] / np.sqrt(2.0) + 1e-6).all()


def test_the_load_goes_where_it_is_wanted_as_far_as_the_motion_lets_it():
    weight, gains = 9.81 * BIP.total_mass, dataclasses.replace(BodyGains(), force_weight=1e-3)
    even, _ = two_soles(gains=gains)
    wanted = np.array([0.0, 0.0, 0.6 * weight]), np.array([0.0, 0.0, 0.4 * weight])
    split, _ = two_soles(forces=wanted, gains=gains)
    first, second = (body.forces[: len(body.forces) // 2, 2].sum() for body in (even, split))
    assert first == pytest.approx(0.5 * weight, rel=0.05)
    assert second > first + 0.05 * weight


def test_a_hand_that_bears_on_a_line_keeps_its_attitude():
    names = ["left_sole", "left_hand_fingers"]
    body = WholeBodyControl(HRP2, dataclasses.replace(BodyGains(), swing_weight=1e4), names)
    assert list(body.soles) == names
    body.look(HRP2.postures["half_sitting"], np.zeros(HRP2.model.nv))
    hand = body.soles["left_hand_fingers"]
    body.hold("left_sole", body.soles["left_sole"].corners)
    turn = np.array([0.05, -0.02, 0.03])
    line = hand.corners[:2].mean(axis=0) + np.array([[-0.01, 0.0, 0.0], [0.01, 0.0, 0.0]])
    body.hold("left_hand_fingers", line, attitude=pin.exp3(turn) @ body.sole("left_hand_fingers").rotation)
    body.keep_posture(HRP2.postures["half_sitting"])
    body.solve()
    data = HRP2.model.createData()
    pin.forwardKinematics(HRP2.model, data, body.q, body.v, body.accelerations)
    change = pin.getAcceleration(HRP2.model, data, hand.joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).angular
    along = data.oMi[hand.joint].rotation[:, 0]  # about the line nothing else keeps it from turning
    assert along @ change == pytest.approx(625.0 * (along @ turn), rel=0.1)


def programs_of(make):
    """The program that a body solves."""
    programs: list[WholeBodyProgram] = []
    solve = WholeBodyProgram.solve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WholeBodyProgram, "solve", lambda self: programs.append(self) or solve(self))
        make().solve()
    return programs[0]


def best_answer(program: WholeBodyProgram, rows: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The program's objective within given rows and its bounds, by an interior-point method."""
    bounded = np.flatnonzero(np.isfinite(program.bounds).all(axis=0))
    rows = np.vstack([rows, np.eye(rows.shape[1])[bounded]])
    lower, upper = (np.concatenate(pair) for pair in zip((lower, upper), program.bounds[:, bounded], strict=True))
    unit = 1.0 / np.sqrt(np.diag(program.hessian))
    z = casadi.MX.sym("z", len(unit))
    H, A = casadi.DM(program.hessian * np.outer(unit, unit)), casadi.DM(rows * unit)
    cost = 0.5 * casadi.bilin(H, z, z) + casadi.dot(casadi.DM(program.gradient * unit), z)
    settings = {"ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9, "print_time": 0, "error_on_fail": 1}
    solver = casadi.nlpsol("oracle", "ipopt", {"x": z, "f": 1e-3 * cost, "g": A @ z}, settings)
    return np.array(solver(lbg=lower, ubg=upper)["x"]).ravel() * unit


@pytest.mark.parametrize("wanted", [(-25.0, -10.0, 0.0), (0.0, 14.0, 6.0)])
def test_efforts_at_their_limits_are_the_best_that_these_allow(wanted):
    """Beyond the limits of its joints the body moves otherwise: clipped efforts belong to no motion that was chosen."""
    body = standing_body(*moving(3), wanted)
    program = programs_of(lambda: body)
    efforts = body.solve()
    limits = BIP.limits.effort[body.columns]
    assert (np.abs(efforts) <= limits).all()
    assert (np.abs(efforts) > limits * (1.0 - 1e-9)).any()
    best = best_answer(program, program.rows, program.lower, program.upper)

    def cost(x):
        return 0.5 * x @ program.hessian @ x + program.gradient @ x

    ours = np.concatenate([body.accelerations, body.forces.ravel()])
    assert cost(ours) == pytest.approx(cost(best), rel=1e-6)
    np.testing.assert_allclose(efforts, program.efforts(best), atol=1e-3 * limits.max())
    free = [row for row in range(len(program.upper)) if not 6 <= row < 6 + len(limits)]
    unlimited = best_answer(program, program.rows[free], program.lower[free], program.upper[free])
    assert cost(unlimited) < cost(ours) - 1e-5 * abs(cost(ours))
    assert (np.abs(program.efforts(unlimited)) > 1.05 * limits).any()


def lead(wanted, gains, time, v=None, dt=2e-3):
    """Positions and velocities of HRP-2 on its soles, its driven joints led to where they can't go."""
    body = WholeBodyControl(HRP2, gains)
    q, v = HALF_SITTING, np.zeros(HRP2.model.nv) if v is None else v
    qs, vs = [], []
    for _ in range(round(time / dt)):
        body.look(q, v)
        for name in body.soles:
            body.hold(name, body.soles[name].corners)
        body.move_centre(-10.0 * body.centre_velocity)
        body.keep_posture(wanted)
        efforts = body.solve()
        assert body.solved
        assert (np.abs(efforts) <= HRP2.limits.effort[body.columns]).all()
        v = v + dt * body.accelerations
        q = pin.integrate(HRP2.model, q, dt * v)
        qs.append(q)
        vs.append(v)
    return body, np.array(qs), np.array(vs)


@pytest.mark.parametrize("seed", range(3))
def test_joints_come_to_the_ends_of_their_ranges_and_no_further(seed):
    rng = np.random.default_rng(seed)
    wanted = HALF_SITTING.copy()
    ends = HRP2.limits.lower, HRP2.limits.upper
    arms = [HRP2.index_q(name) for name in HRP2.joint_names if "ARM" in name and name in HRP2.actuators]
    for i in arms:
        wanted[i] = ends[rng.integers(2)][i] * 2.0 + rng.choice([-1.0, 1.0])
    body, qs, _ = lead(wanted, None, 0.8)
    places = [HRP2.index_q(name) for name in body.joint_names]
    beyond = np.maximum(HRP2.limits.lower - qs, qs - HRP2.limits.upper)[:, places]
    assert beyond.max() < 1e-4
    outside = np.maximum(HRP2.limits.lower - wanted, wanted - HRP2.limits.upper)[places] > 0.3
    assert outside.sum() > 3
    assert (beyond[-1, outside] > -0.01).sum() > 3


def test_joints_are_no_faster_than_their_limits():
    wanted = HALF_SITTING.copy()
    wanted[HRP2.index_q("RARM_JOINT0")] = -2.5
    _, _, vs = lead(wanted, dataclasses.replace(BodyGains(), joint=60.0, joint_weight=10.0), 0.3)
    fastest, limit = np.abs(vs[:, HRP2.index_v("RARM_JOINT0")]).max(), 4.36332
    assert 0.9 * limit < fastest < limit + 1e-3


def test_what_is_beyond_its_range_or_too_fast_for_it_comes_back():
    """Bounds that nothing can keep to leave an answer; here a joint runs into its end at its greatest speed."""
    i, k = HRP2.index_q("RARM_JOINT3"), HRP2.index_v("RARM_JOINT3")
    v = np.zeros(HRP2.model.nv)
    v[k] = HRP2.limits.velocity[k]
    _, qs, _ = lead(HALF_SITTING, None, 0.5, v)
    beyond = qs[:, i] - HRP2.limits.upper[i]
    assert beyond[-1] < 0.0
    assert beyond.max() < 0.5


def test_bounds_of_accelerations_are_met_where_the_rows_let_them_and_cost_least():
    program = programs_of(lambda: standing_body(STANDING, np.zeros(BIP.model.nv), (2.0, 1.0, 0.0)))
    tight = dataclasses.replace(program, bounds=np.clip(program.bounds, -4.0, 4.0))
    x, best = tight.solve(), best_answer(tight, tight.rows, tight.lower, tight.upper)
    free = program.solve()
    assert np.abs(free[6 : BIP.model.nv]).max() > 5.0
    assert np.abs(x[6 : BIP.model.nv]).max() < 4.0 + 1e-3

    def cost(x):
        return 0.5 * x @ program.hessian @ x + program.gradient @ x

    assert cost(x) == pytest.approx(cost(best), rel=1e-4)
    none = dataclasses.replace(program, bounds=np.outer([500.0, 600.0], np.ones(BIP.model.nv)))
    hard = slice(len(none.upper) - none.lines)
    reached = (none.rows @ none.solve())[hard]
    assert (reached <= none.upper[hard] + 1e-5).all()
    assert (reached >= none.lower[hard] - 1e-5).all()


def test_without_an_answer_the_one_before_stays_and_it_is_said(monkeypatch):
    body = standing_body(STANDING, np.zeros(BIP.model.nv), (0.2, 0.1, 0.0))
    efforts = body.solve().copy()
    assert body.solved
    assert np.abs(efforts).max() > 10.0
    with monkeypatch.context() as patch:
        patch.setattr("humanoid_model.whole_body_dynamics._ITERATIONS", 1)
        body.move_centre(np.array([-20.0, 10.0, 0.0]))
        np.testing.assert_array_equal(body.solve(), efforts)
        assert not body.solved
    assert np.abs(body.solve() - efforts).max() > 1.0
    assert body.solved
    body.look(STANDING, np.full(BIP.model.nv, 1e200))
    body.keep_posture(STANDING)
    assert np.isfinite(body.solve()).all()
    assert not body.solved
    body.reset()
    body.look(STANDING, np.full(BIP.model.nv, 1e200))
    np.testing.assert_array_equal(body.solve(), 0.0)
