# SPDX-License-Identifier: Apache-2.0
"""Strict priorities against null-space projections and against a sequence of programs of another solver."""

from __future__ import annotations

import dataclasses

import casadi
import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.strict_priorities import solve_in_order
from humanoid_control.whole_body_control import BodyGains, WholeBodyControl
from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.whole_body_dynamics import WholeBodyProgram

BIP = load_robot("bip")
STANDING = BIP.postures["standing"]
NV = BIP.model.nv
IN_ORDER = (("hold",), ("centre",), ("swing",))


def on_left_sole(gains, centre, swing):
    """A body on a sole whose centre of mass and other sole are accelerated, (3,) and (6,)."""
    body = WholeBodyControl(BIP, gains)
    body.look(STANDING, np.zeros(NV))
    body.hold("left_sole", body.soles["left_sole"].corners)
    body.move_centre(np.array(centre))
    body.reach("right_sole", body.sole("right_sole"), np.zeros(6), np.array(swing))
    body.orient_base(body.data.oMi[BIP.base_joint].rotation)
    body.keep_posture(STANDING)
    body.solve()
    assert body.solved
    return body


def centre_acceleration(body):
    data = BIP.model.createData()
    pin.centerOfMass(BIP.model, data, body.q, body.v, body.accelerations)
    return np.array(data.acom[0])


def sole_acceleration(body):
    data, sole = BIP.model.createData(), body.soles["right_sole"]
    pin.forwardKinematics(BIP.model, data, body.q, body.v, body.accelerations)
    lever = data.oMi[sole.joint].rotation @ sole.placement.translation
    own = pin.getClassicalAcceleration(BIP.model, data, sole.joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return np.concatenate([own.linear + np.cross(own.angular, lever), own.angular])


def a_program(seed, bounded):
    """The program of a standing body and three random tasks, which together ask for more than there is."""
    rng = np.random.default_rng(seed)
    programs: list[WholeBodyProgram] = []
    solve = WholeBodyProgram.solve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WholeBodyProgram, "solve", lambda self: programs.append(self) or solve(self))
        on_left_sole(None, (0.1, 0.0, 0.0), np.zeros(6))
    bounds = (3.0 if bounded else np.inf) * np.outer([-1.0, 1.0], np.ones(NV))
    sizes = (6, 8, 12)
    return dataclasses.replace(programs[0], bounds=bounds), [
        (rng.normal(size=(k, NV)), (20.0 if bounded else 1e-3) * rng.normal(size=k)) for k in sizes
    ]


@pytest.mark.feature("000-F162")
@pytest.mark.parametrize("seed", range(3))
def test_without_active_limits_it_is_what_null_space_projections_give(seed):
    """Siciliano and Slotine's recursion over all of x, the equations of the base its first task."""
    program, levels = a_program(seed, bounded=False)
    n, rows = len(program.gradient), program.rows[:6]
    program = dataclasses.replace(program, lower=np.where(np.arange(len(program.lower)) < 6, program.lower, -1e30),
                                  upper=np.where(np.arange(len(program.upper)) < 6, program.upper, 1e30))  # fmt: skip
    x, N = np.linalg.pinv(rows) @ program.upper[:6], np.eye(n) - np.linalg.pinv(rows) @ rows
    for J, target in levels:
        A = np.hstack([J, np.zeros((len(J), n - NV))])
        step = np.linalg.pinv(A @ N, rcond=1e-8)
        x = x + step @ (target - A @ x)
        N = N @ (np.eye(n) - step @ (A @ N))
    ours = solve_in_order(program, levels)
    for J, _ in levels:
        np.testing.assert_allclose(J @ ours[:NV], J @ x[:NV], atol=1e-4)
    np.testing.assert_allclose(rows @ ours, program.upper[:6], atol=1e-6)


def interior_point(program, H, g, equal, value):
    """Least of an objective within rows and bounds of a program, and equations besides."""
    n = len(g)
    x = casadi.MX.sym("x", n)
    bounded = np.flatnonzero(np.isfinite(program.bounds).all(axis=0))
    rows = np.vstack([program.rows, np.eye(n)[bounded], equal])
    lower = np.concatenate([program.lower, program.bounds[0, bounded], value])
    upper = np.concatenate([program.upper, program.bounds[1, bounded], value])
    cost = 0.5 * casadi.bilin(casadi.DM(H), x, x) + casadi.dot(casadi.DM(g), x)
    settings = {"ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9, "print_time": 0, "error_on_fail": 1}
    solver = casadi.nlpsol("oracle", "ipopt", {"x": x, "f": cost, "g": casadi.DM(rows) @ x}, settings)
    return np.array(solver(lbg=lower, ubg=upper)["x"]).ravel()


@pytest.mark.feature("000-F162")
@pytest.mark.parametrize("seed", range(3))
def test_at_its_limits_it_is_what_one_program_after_the_other_gives(seed):
    """Each level by an interior-point method, the errors of the levels before held by equations."""
    program, levels = a_program(seed, bounded=True)
    n = len(program.gradient)
    equal, value, errors = np.zeros((0, n)), np.zeros(0), []
    for J, target in levels:
        A = np.hstack([J, np.zeros((len(J), n - NV))])
        x = interior_point(program, A.T @ A + 1e-9 * np.eye(n), -A.T @ target, equal, value)
        errors.append(np.linalg.norm(A @ x - target))
        equal, value = np.vstack([equal, A]), np.concatenate([value, A @ x])
    ours = solve_in_order(program, levels)
    assert errors[1] > 1.0  # otherwise no limit is active
    for (J, target), error in zip(levels, errors, strict=True):
        assert np.linalg.norm(J @ ours[:NV] - target) == pytest.approx(error, rel=1e-3, abs=1e-4)
    assert np.abs(ours[:NV]).max() < 3.0 + 1e-3


@pytest.mark.feature("000-F162")
def test_what_comes_later_changes_nothing_of_what_comes_first():
    """A foot that is to move as fast as can be takes the centre of mass along where both are only weighed."""
    centre, mild, wild = (0.3, -0.2, 0.0), np.zeros(6), np.array([40.0, 20.0, 60.0, 0.0, 30.0, 0.0])
    strict = [on_left_sole(BodyGains(priorities=IN_ORDER), centre, swing) for swing in (mild, wild)]
    np.testing.assert_allclose(*map(centre_acceleration, strict), atol=1e-3)
    weighted = [on_left_sole(BodyGains(swing_weight=100.0), centre, swing) for swing in (mild, wild)]
    assert np.abs(np.subtract(*map(centre_acceleration, weighted))).max() > 0.1
    assert np.linalg.norm(np.subtract(*map(sole_acceleration, strict))) > 1.0


@pytest.mark.feature("000-F162")
def test_a_task_that_comes_first_is_met_as_the_equations_let_it_be():
    body = on_left_sole(BodyGains(priorities=(("swing",), ("hold",))), (0.0, 0.0, 0.0), (2.0, 1.0, 3.0, 0.5, 0.2, 0.1))
    np.testing.assert_allclose(sole_acceleration(body), (2.0, 1.0, 3.0, 0.5, 0.2, 0.1), atol=1e-3)


@pytest.mark.parametrize("priorities", [(("hold",), ("posture",)), (("hold", "centre"), ("hold",))])
def test_unknown_tasks_and_tasks_on_two_levels_are_refused(priorities):
    with pytest.raises(InputError, match="priorities"):
        BodyGains(priorities=priorities)
