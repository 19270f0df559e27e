# SPDX-License-Identifier: Apache-2.0
"""The state equation of phases: affine controls, power balance (U-08), redundancy (U-19), and what is refused."""

import math
import re

import numpy as np
import pytest
from fixtures.gait_models import MODELS, RABBIT
from fixtures.gait_oracles import ORACLES, samples

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import (
    AngleClosure,
    CutContact,
    CutForce,
    Joint,
    PointClosure,
    Torque,
)

CASES = ["5bar_A", "rabbit_dsp", "rabbit_ssp_5torques", "bip_dsp_cyclic", "bip_ssp_cyclic"]


@pytest.mark.feature("003-F013")
@pytest.mark.parametrize("case", CASES)
def test_affine_in_the_controls(case):  # F-013
    model = MODELS[case]
    rng = np.random.default_rng(1)
    x, u = rng.normal(size=2 * model.n), rng.normal(size=model.control_count)
    drift = model.state_rate(x, np.zeros(model.control_count))
    B = np.array(
        [model.state_rate(x, unit) - drift for unit in np.eye(model.control_count)]
    ).T  # exact differences, for the rate is affine
    np.testing.assert_allclose(B[: model.n], 0.0, atol=1e-14)
    np.testing.assert_allclose(B[model.n :], model.control_matrix(x[: model.n]), atol=1e-11)
    np.testing.assert_allclose(model.state_rate(x, u), drift + B @ u, atol=1e-11)


@pytest.mark.feature("003-F013", "003-F016")
@pytest.mark.parametrize("case", CASES)
def test_power_balance(case):  # U-08
    model = MODELS[case].replace(
        joints=tuple(
            Joint(joint.name, joint.child, joint.parent, damping=1.0 + index)
            for index, joint in enumerate(MODELS[case].joints)
        )
    )
    rng = np.random.default_rng(2)
    q, v, u = rng.uniform(-3, 3, model.n), rng.normal(size=model.n), rng.normal(size=model.control_count)
    p = model.tree.momentum(q, v)
    rate = model.state_rate(np.concatenate([q, p]), u)
    # dH/dt from Hamilton's own gradients: H_p = v, H_q = minus the free momentum rate.
    power = v @ rate[model.n :] - model.tree.momentum_rate(q, v) @ rate[: model.n]
    n_a = model.torque_count
    forces = sum(
        value * (force.direction.conjugate() * complex(*(model.points[force.point].jacobian(q) @ v))).real
        for value, force in zip(u[n_a:], model.cut_forces, strict=True)
    )
    dissipated = sum(joint.damping * rate**2 for joint, rate in zip(model.joints, model.joint_rates(v), strict=True))
    assert power == pytest.approx(u[:n_a] @ model.torque_rates(v) + forces - dissipated, abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_reference_controls_follow_from_reference_costates(case):  # F-082: u = W^-1 B^T w_p at the start
    model, oracle = MODELS[case], ORACLES[case]
    q, _, u = samples(case)
    weights = np.full(model.control_count, 1e-4)
    weights[model.torque_count :] = {"5bar_A": 1e-5, "rabbit_dsp": 1e-5, "bip_dsp_cyclic": 1e-6}.get(case, 1.0)
    found = model.control_matrix(q[0]).T @ np.array(oracle["w0"])[model.n :] / weights
    if case == "bip_dsp_cyclic":
        assert found[7] < 6.0 == u[0, 7]  # the toe's force is at its bound
        found[7] = 6.0
    np.testing.assert_allclose(found, u[0], rtol=1e-6)
    if model.control_count > model.n:  # U-19: no effort is spent on what moves nothing
        kernel = np.linalg.svd(model.control_matrix(q[0]))[2][model.n :]
        if case != "bip_dsp_cyclic":
            np.testing.assert_allclose(kernel @ (weights * u[0]), 0.0, atol=1e-9)


@pytest.mark.parametrize("case", list(ORACLES))
def test_reference_solutions_obey_the_state_equation(case):
    """The rise of the state between samples is the integral of its rate, to what eleven samples can tell."""
    model = MODELS[case]
    q, p, u = samples(case)
    step = ORACLES[case]["T"] / 10.0
    rate = model.state_rate(np.hstack([q, p]), u)
    x = np.hstack([q, p])
    rise = x[2:] - x[:-2]
    integral = step / 3.0 * (rate[:-2] + 4.0 * rate[1:-1] + rate[2:])
    error = np.abs(rise - integral)
    for block in (slice(None, model.n), slice(model.n, None)):  # angles, momenta
        assert error[:, block].max() < 0.03 * np.abs(x[:, block] - x[0, block]).max()


def test_closures_and_angles():
    model = MODELS["bip_dsp_cyclic"]
    q, _, _ = samples("bip_dsp_cyclic")
    gap = np.linalg.norm(model.closure(q), axis=1)
    assert 1e3 * gap.max() <= ORACLES["bip_dsp_cyclic"]["gap_mm"] + 1e-9
    assert 1e3 * gap.max() > 0.8 * ORACLES["bip_dsp_cyclic"]["gap_mm"]
    np.testing.assert_allclose(np.rad2deg(model.slap(q)[:, 0]), ORACLES["bip_dsp_cyclic"]["delta_deg"], atol=1e-6)
    for k in range(model.n):
        shift = 1e-6 * np.eye(model.n)[k]
        difference = (model.closure(q[3] + shift) - model.closure(q[3] - shift)) / 2e-6
        np.testing.assert_allclose(model.closure_jacobian(q[3])[:, k], difference, atol=1e-9)
        second = (model.closure_jacobian(q[3] + shift) - model.closure_jacobian(q[3] - shift))[:, k] / 2e-6
        np.testing.assert_allclose(model.closure_hessian(q[3])[:, k], second, atol=1e-9)
    assert model.closure_hessian(q).shape == (11, 2, 7)
    np.testing.assert_allclose(
        np.abs(model.torque_rates(model.tree.velocity(q, samples("bip_dsp_cyclic")[1]))).max(axis=0),
        ORACLES["bip_dsp_cyclic"]["relvel_absmax"],
        rtol=0.1,
    )
    within = (model.joint_angles(q) > model.joint_lower) & (model.joint_angles(q) < model.joint_upper)
    assert within.all()


def test_bounds_by_name():
    model = MODELS["bip_dsp_cyclic"].with_bounds(C12=(-150.0, 160.0), F_B2=(6.0, math.inf))
    assert model.control_lower[0] == -150.0
    assert model.control_upper[0] == 160.0
    assert model.control_lower[7] == 6.0
    with pytest.raises(InputError, match="unknown name 'C99'"):
        model.with_bounds(C99=(0.0, 1.0))
    with pytest.raises(InputError, match=re.escape("C12: bounds 2.0 and 1.0 cross")):
        model.with_bounds(C12=(2.0, 1.0))
    with pytest.raises(InputError, match=re.escape("C12: bounds nan and 1.0 cross")):
        model.with_bounds(C12=(math.nan, 1.0))


TIP = RABBIT.double_support(0.45)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"torques": (Torque("C", "rear_shank", "leg"),)}, "unknown coordinate 'leg'"),
        ({"torques": (Torque("C", "trunk", None), Torque("C", "trunk", None))}, "two of the name 'C'"),
        ({"cut_forces": (CutForce("F", "tip", 1j),)}, "unknown name 'tip'"),
        ({"cut_forces": (CutForce("F_O5y", "front_tip", 2j), TIP.cut_forces[1])}, "direction 2j is not of length 1"),
        ({"point_closures": (PointClosure("front_tip", complex("nan")),)}, "front_tip: target"),
        ({"angle_closures": (AngleClosure("trunk", math.inf),)}, "trunk: target inf"),
        ({"clearance_points": ("toe",)}, "unknown name 'toe'"),
        ({"joints": (Joint("j", "trunk", None, 1.0, 0.0),)}, "j: bounds 1.0 and 0.0 cross"),
        ({"joints": (Joint("j", "trunk", None, rate_limit=0.0),)}, "j.rate_limit: is 0.0"),
        ({"joints": (Joint("j", "trunk", None, damping=-1.0),)}, "j.damping: is -1.0"),
        ({"contacts": (CutContact("c", ("F_O5y",), "F_O5x", -0.1),)}, "c.friction: is -0.1"),
        ({"contacts": (CutContact("c", ("F_B1",), "F_O5x"),)}, "unknown name 'F_B1'"),
    ],
)
def test_no_phase(changes, message):
    with pytest.raises(InputError, match=re.escape(message)):
        TIP.replace(**changes)


def test_singular_efforts_are_named():
    with pytest.raises(InputError, match="efforts have rank 5, not 6"):
        MODELS["bip_ssp_cyclic"].replace(
            torques=(*MODELS["bip_ssp_cyclic"].torques[:5], Torque("again", "stance_shank", None))
        ).redundancy(np.zeros(6))
