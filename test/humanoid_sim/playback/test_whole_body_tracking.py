# SPDX-License-Identifier: Apache-2.0
"""The stabiliser on a robot that stands: pushes, limits, the plan that it is given."""

from __future__ import annotations

import dataclasses
import math

import casadi
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot
from humanoid_model.contact import Contact, Surface
from humanoid_model.errors import InputError
from humanoid_model.inverse_dynamics_program import WholeBodyProgram
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_sim import Simulation
from humanoid_sim.playback import TrackingGains, WholeBodyTracking

BIP = load_robot("bip")
STANDING = BIP.postures["standing"]
STILL = np.zeros((2, BIP.model.nv))
BACK = [-350.0, 0.0, 0.0]


GROUND = Surface("ground", "ground", pin.SE3.Identity())


def span(foot: str, start: float, end: float, part: str = "sole") -> ContactSpan:
    return ContactSpan(Contact(BIP.contacts[foot], GROUND, 0.0, 0.0, 0.0), start, end, part)


BOTH = [span("right_sole", 0.0, 1.0), span("left_sole", 0.0, 1.0)]


def standing() -> WholeBodyTrajectory:
    return WholeBodyTrajectory(BIP, [0.0, 1.0], [STANDING, STANDING], STILL, STILL, BOTH)


def stabilised(gains: TrackingGains | None = None) -> Simulation:
    simulation = Simulation("bip_stand")
    simulation.add_module(WholeBodyTracking("bip", standing(), gains))
    return simulation


def height(simulation: Simulation) -> float:
    return float(simulation.robots["bip"].placement_world_base.translation[2])


def test_it_stands_where_it_stood() -> None:
    simulation = stabilised()
    simulation.run(0.4)
    assert simulation.contacts.force[:, 2].sum() == pytest.approx(BIP.total_mass * 9.81, rel=1e-3)
    assert np.abs(simulation.robots["bip"].q - STANDING).max() < 2e-3


def test_a_push_that_topples_stiff_servos_is_taken_up() -> None:
    servos = Simulation("bip_stand")
    servos.apply_wrench("bip/trunk", BACK, duration=0.1)
    while servos.time < 2.0 and height(servos) > 0.6:
        servos.step()
    assert height(servos) < 0.6

    simulation = stabilised()
    bip = simulation.robots["bip"]
    simulation.apply_wrench("bip/trunk", BACK, duration=0.1)
    limits = BIP.limits.effort[[BIP.index_v(name) for name in bip.joint_names]]
    moved, most = 0.0, 0.0

    def watch(simulation: Simulation) -> None:
        nonlocal moved, most
        moved = max(moved, abs(bip.placement_world_base.translation[0] - STANDING[0]))
        most = max(most, float((np.abs(bip.joint_efforts) / limits).max()))

    simulation.run(2.5, watch)
    assert moved > 0.02  # it gives way
    assert most <= 1.0 + 1e-9
    assert np.abs(bip.q - STANDING).max() < 5e-3
    assert np.abs(bip.v).max() < 0.02


def corner_jacobian(q: np.ndarray) -> np.ndarray:
    """(24, nv) of all corners of both soles, right one first, in the world's axes."""
    data, rows = BIP.model.createData(), []
    pin.computeJointJacobians(BIP.model, data, q)
    for sole in ("right_sole", "left_sole"):
        contact = BIP.contacts[sole]
        link = BIP.parts.links[contact.link]
        J = pin.getJointJacobian(BIP.model, data, link.joint_id, pin.LOCAL_WORLD_ALIGNED)
        for vertex in contact.vertices_link:
            lever = data.oMi[link.joint_id].rotation @ link.placement_joint_link.act(vertex)
            rows.append(J[:3] - pin.skew(lever) @ J[3:])
    return np.vstack(rows)


def best_answer(program: WholeBodyProgram, rows: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The program's objective within given rows, by an interior-point method."""
    unit = 1.0 / np.sqrt(np.diag(program.hessian))
    z = casadi.MX.sym("z", len(unit))
    H, A = casadi.DM(program.hessian * np.outer(unit, unit)), casadi.DM(rows * unit)
    cost = 0.5 * casadi.bilin(H, z, z) + casadi.dot(casadi.DM(program.gradient * unit), z)
    settings = {"ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9, "print_time": 0, "error_on_fail": 1}
    solver = casadi.nlpsol("oracle", "ipopt", {"x": z, "f": 1e-3 * cost, "g": A @ z}, settings)
    return np.array(solver(lbg=lower, ubg=upper)["x"]).ravel() * unit


@pytest.mark.parametrize(("push", "time"), [((-900.0, -360.0, 0.0), 0.12), ((0.0, 900.0, 0.0), 0.06)])
def test_efforts_at_their_limits_are_the_best_that_these_allow(
    monkeypatch: pytest.MonkeyPatch, push: tuple[float, float, float], time: float
) -> None:
    """Beyond the limits of its joints the body moves otherwise: clipped torques belong to no motion that was chosen."""
    programs: list[WholeBodyProgram] = []
    solve = WholeBodyProgram.solve
    monkeypatch.setattr(WholeBodyProgram, "solve", lambda self: programs.append(self) or solve(self))
    simulation = stabilised(TrackingGains(centre=12.0, trunk=25.0))
    bip = simulation.robots["bip"]
    simulation.apply_wrench("bip/trunk", push, duration=0.1)
    simulation.run(time)
    q, v = bip.q.copy(), bip.v.copy()
    simulation.step()
    program, told = programs[-1], np.array(bip.joint_efforts)

    columns = [BIP.index_v(name) for name in bip.joint_names]
    limits, nv = BIP.limits.effort[columns], BIP.model.nv
    M = pin.crba(BIP.model, BIP.model.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    bias = pin.nonLinearEffects(BIP.model, BIP.model.createData(), q, v)
    J = corner_jacobian(q)
    dynamics = np.hstack([M, -J.T])
    pyramid = np.array([[1.0, 0.0, -1.0], [-1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [0.0, -1.0, -1.0], [0.0, 0.0, -1.0]])
    pyramid[:4, 2] *= 0.6 / math.sqrt(2.0)
    pyramids = np.hstack([np.zeros((40, nv)), np.kron(np.eye(8), pyramid)])
    rows = np.vstack([dynamics[:6], pyramids, dynamics[columns]])
    own, none = bias[columns], np.zeros(40)
    lower = np.concatenate([-bias[:6], none - np.inf, -limits - own])
    upper = np.concatenate([-bias[:6], none, limits - own])
    free = best_answer(program, rows[:46], lower[:46], upper[:46])
    x = best_answer(program, rows, lower, upper)

    unlimited = dynamics[columns] @ free + own
    efforts = dynamics[columns] @ x + own
    assert (np.abs(unlimited) / limits).max() > 1.1
    at_limit = np.abs(efforts) > limits * (1.0 - 1e-6)
    assert at_limit.any()
    np.testing.assert_allclose(told, efforts, atol=1e-3 * np.abs(efforts).max())
    clipped = np.clip(unlimited, -limits, limits)
    assert np.abs(told - clipped)[~at_limit].max() > 5.0  # other joints do something else
    # The accelerations are those of the body under these efforts and contact forces, told by another algorithm.
    whole = np.zeros(nv)
    whole[columns] = told
    loads = pin.rnea(BIP.model, BIP.model.createData(), q, v, x[:nv]) - J.T @ x[nv:]
    np.testing.assert_allclose(loads, whole, atol=1e-3 * np.abs(efforts).max())
    # Momentum: what soles press beyond the weight accelerates the centre of mass.
    data = BIP.model.createData()
    pin.centerOfMass(BIP.model, data, q, v, x[:nv])
    pressed = x[nv:].reshape(-1, 3).sum(axis=0) + BIP.total_mass * BIP.model.gravity.linear
    np.testing.assert_allclose(pressed, BIP.total_mass * data.acom[0], atol=1e-6 * BIP.total_mass * 9.81)


def test_it_goes_on_bit_for_bit_from_a_saved_state() -> None:
    simulation = stabilised()
    simulation.apply_wrench("bip/trunk", [0.0, 150.0, 0.0], duration=0.1)
    simulation.run(0.1)
    saved = simulation.save_state()
    simulation.run(0.1)
    q = simulation.q.copy()
    simulation.restore_state(saved)
    simulation.run(0.1)
    np.testing.assert_array_equal(simulation.q, q)


def test_servos_hold_the_robot_when_it_is_taken_away() -> None:
    simulation = stabilised()
    simulation.run(0.05)
    simulation.remove_module("whole_body_tracking/bip")
    simulation.run(0.3)
    assert np.abs(simulation.robots["bip"].q - STANDING).max() < 2e-3


def test_bad_gains_and_robots_are_refused() -> None:
    with pytest.raises(InputError, match=r"gains\.centre"):
        TrackingGains(centre=-1.0)
    with pytest.raises(InputError, match=r"gains\.weights"):
        TrackingGains(weights=(1.0, 1.0, 1.0, 1.0, 0.0))
    with pytest.raises(InputError, match="no robot 'bop'"):
        Simulation("bip_stand").add_module(WholeBodyTracking("bop", standing()))
    with pytest.raises(InputError, match="robot of the motion"):
        Simulation("stand").add_module(WholeBodyTracking("hrp2", standing()))


def test_a_contact_that_is_no_sole_is_refused() -> None:
    pelvis = dataclasses.replace(BIP.contacts["left_sole"], name="pelvis")
    contact = ContactSpan(Contact(pelvis, GROUND, 0.0, 0.0, 0.0), 0.0, 1.0)
    motion = WholeBodyTrajectory(BIP, [0.0, 1.0], [STANDING, STANDING], STILL, STILL, [contact])
    with pytest.raises(InputError, match="no sole"):
        Simulation("bip_stand").add_module(WholeBodyTracking("bip", motion))
