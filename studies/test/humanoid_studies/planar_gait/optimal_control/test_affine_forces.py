# SPDX-License-Identifier: Apache-2.0
"""Contact forces: the printed equations, the rate of momentum, statics (U-15, U-16, F-036 to F-039)."""

import numpy as np
import pytest
from fixtures.gait_models import BIP, MODELS
from fixtures.gait_oracles import ORACLES, samples

from humanoid_studies.planar_gait.optimal_control.affine_forces import affine_rows, ground_force
from humanoid_studies.planar_gait.optimal_control.control_rows import cut_foot, evaluate_rows, root_point
from humanoid_studies.planar_gait.optimal_control.stance_foot import flat_foot, stance_forces

CASES = ["rabbit_dsp", "rabbit_ssp_5torques", "bip_dsp_cyclic", "bip_ssp_cyclic"]


def random_motion(model, seed=1):
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, model.n), rng.normal(size=model.n), 50.0 * rng.normal(size=model.control_count)


@pytest.mark.feature("003-F037")
@pytest.mark.parametrize("case", CASES)
def test_total_force_is_the_rate_of_momentum(case):  # U-15
    model = MODELS[case]
    q, v, u = random_motion(model)
    D, V = ground_force(model, q, v)
    step = 1e-6

    def momentum(state):
        rates = model.tree.velocity(state[: model.n], state[model.n :])
        return model.tree.mass * model.tree.centre.jacobian(state[: model.n]) @ rates

    x = model.state(q, v)
    rate = model.state_rate(x, u)
    change = (momentum(x + step * rate) - momentum(x - step * rate)) / (2.0 * step)
    np.testing.assert_allclose(D @ u + V, change + np.array([0.0, model.tree.mass * 9.81]), rtol=1e-5)


@pytest.mark.feature("003-F036")
@pytest.mark.parametrize("case", CASES)
def test_rows_are_affine_and_equal_to_a_direct_evaluation(case):  # F-036
    model = MODELS[case]
    q, v, u = (np.array([a, b]) for a, b in zip(random_motion(model), random_motion(model, 2), strict=True))
    forces = stance_forces(BIP, model) if case == "bip_ssp_cyclic" else root_point(model)
    rows = (*forces.normal, forces.tangential, *forces.friction(0.5))
    D, V = affine_rows(model, rows, q, v)
    direct = evaluate_rows(model, rows, q, v, u)
    np.testing.assert_allclose((D @ u[..., None])[..., 0] + V, direct, atol=1e-8)
    for one in range(2):
        alone = affine_rows(model, rows, q[one], v[one])
        np.testing.assert_allclose(alone[0], D[one], atol=1e-10)
        np.testing.assert_allclose(alone[1], V[one], atol=1e-8)


@pytest.mark.feature("003-F037")
def test_rear_foot_of_five_links():  # (III.17), (III.18), F-037
    model = MODELS["rabbit_dsp"]
    q, v, u = random_motion(model)
    a = model.acceleration(q, v, u)
    m1, m2, m3, m4, m5, r = 3.2, 6.8, 6.8, 3.2, 20.0, 0.4
    CG = [
        m1 * 0.273 + (m2 + m3 + m4 + m5) * r,
        m2 * 0.237 + (m3 + m4 + m5) * r,
        m3 * 0.163 + m4 * r,
        m4 * 0.127,
        m5 * 0.2,
    ]
    XE = -a * np.sin(q) - v**2 * np.cos(q)
    YE = a * np.cos(q) - v**2 * np.sin(q)
    expected = [40.0 * 9.81 + CG @ YE - u[4], CG @ XE - u[5]]
    rows = root_point(model)
    D, V = affine_rows(model, (*rows.normal, rows.tangential), q, v)
    np.testing.assert_allclose(D @ u + V, expected, rtol=1e-10)


@pytest.mark.feature("003-F038")
def test_rear_toe_of_seven_links():  # (III.23), F-038
    model = MODELS["bip_dsp_cyclic"]
    q, v, u = random_motion(model)
    a = model.acceleration(q, v, u)
    total = np.zeros(2)
    for body in model.tree.bodies:
        centre = model.tree.point(body.name, body.centre)
        total += body.mass * (centre.jacobian(q) @ a + centre.bias(q, v))
    rows = root_point(model)
    D, V = affine_rows(model, (*rows.normal, rows.tangential), q, v)
    np.testing.assert_allclose(D @ u + V, [total[1] + 104.81 * 9.81 - u[6] - u[7], total[0] - u[8]], rtol=1e-10)


@pytest.mark.feature("003-F026", "003-F039")
def test_stance_foot():  # (III.22), Annex D with its own signs, F-039
    model = MODELS["bip_ssp_cyclic"]
    q, v, u = random_motion(model)
    a = model.acceleration(q, v, u)
    foot = flat_foot(BIP)
    nu = model.tree.moments  # CG(i) + i CG(7) on the foot, and the offsets b that Annex D drops
    along = (nu * np.exp(1j * q) * (1j * a - v**2)).sum()
    R10 = -along - 1j * 102.47 * 9.81
    length, b, height, c, m0 = foot.length, foot.ankle_to_toe, foot.ankle_height, foot.heel_to_centre, foot.mass
    toe = (u[0] - (length - b) * R10.imag + height * R10.real + c * m0 * 9.81) / length
    heel = m0 * 9.81 - R10.imag - toe
    rows = stance_forces(BIP, model)
    D, V = affine_rows(model, (*rows.normal, rows.tangential), q, v)
    np.testing.assert_allclose(D @ u + V, [heel, toe, -R10.real], rtol=1e-9)
    assert foot.heel_to_centre == pytest.approx(0.14657, abs=5e-6)
    # Moments about the ankle on the foot: ground forces, its weight and the torque of the shank, -C01, balance.
    moment = heel * -(length - b) + toe * b + (-R10.real) * height - m0 * 9.81 * (c - (length - b)) - u[0]
    assert moment == pytest.approx(0.0, abs=1e-8)


def test_printed_constants_of_annex_d():
    model = MODELS["bip_ssp_cyclic"]
    m, a, r = [6.11, 10.9, 10.9, 6.11, 2.34, 66.11], [0.258, 0.25, 0.16, 0.152, 0.045, 0.391], 0.41
    CG = [m[0] * a[0] + sum(m[1:]) * r, m[1] * a[1] + sum(m[2:]) * r, m[2] * a[2] + (m[3] + m[4]) * r]
    CG += [m[3] * a[3] + m[4] * r, m[4] * a[4], m[5] * a[5]]
    np.testing.assert_allclose(model.tree.moments.real, CG, rtol=1e-12)
    assert model.tree.moments[4].imag == pytest.approx(2.34 * -0.042)  # CG(7)


@pytest.mark.feature("003-F038")
def test_static_double_support_carries_the_weight():  # U-16
    model = MODELS["bip_dsp_cyclic"]
    q = samples("bip_dsp_cyclic")[0][4]
    # Controls that hold still: p' = 0, a solution of least squares of six torques and three forces.
    u = np.linalg.pinv(model.control_matrix(q)) @ model.tree.potential_gradient(q)
    assert np.abs(model.acceleration(q, np.zeros(7), u)).max() < 1e-9
    rows = root_point(model)
    D, V = affine_rows(model, (*rows.normal, rows.tangential), q, np.zeros(7))
    normal, tangential = D @ u + V
    assert normal + u[6] + u[7] == pytest.approx(104.81 * 9.81, abs=1e-9)
    assert tangential + u[8] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.feature("003-F039")
@pytest.mark.parametrize(
    ("case", "keys"),
    [
        ("rabbit_dsp", {"R1y": 0, "R1x": 1}),
        ("bip_dsp_cyclic", {"NA2": 0, "TA2": 1}),
        ("bip_dsp_brake", {"NA2": 0, "TA2": 1}),
        ("rabbit_ssp_5torques", {"R_y": 0, "R1x": 1}),
        ("bip_ssp_cyclic", {"NB1": 0, "NB2": 1, "R1x": 2}),
        ("bip_ssp_start", {"NB1": 0, "NB2": 1, "R1x": 2}),
        ("bip_ssp_stop", {"NB1": 0, "NB2": 1, "R1x": 2}),
    ],
)
def test_ranges_of_the_reference_solutions(case, keys):
    model = MODELS[case]
    q, p, u = samples(case)
    rows = stance_forces(BIP, model) if case.startswith("bip_ssp") else root_point(model)
    D, V = affine_rows(model, (*rows.normal, rows.tangential), q, model.tree.velocity(q, p))
    forces = (D @ u[..., None])[..., 0] + V
    for key, column in keys.items():
        low, high = sorted(ORACLES[case][key])
        found = forces[:, column]
        reach = max(abs(low), abs(high))
        assert found.min() >= low - 1e-3 * reach, key
        assert found.max() <= high + 1e-3 * reach, key
        assert found.max() - found.min() > 0.8 * (high - low), key  # eleven samples nearly meet the extremes


@pytest.mark.feature("003-F032")
def test_front_foot_is_the_controls():  # F-032
    model = MODELS["bip_dsp_cyclic"]
    q, v, u = random_motion(model)
    rows = cut_foot(model, "front_foot")
    D, V = affine_rows(model, (*rows.normal, rows.tangential), q, v)
    np.testing.assert_allclose(D @ u + V, u[6:], atol=1e-12)
