# SPDX-License-Identifier: Apache-2.0
"""BIP's two planar models against the numbers and printed equations of specification 003 (2.10, 2.11, 3.4, B, C)."""

import cmath
import dataclasses
import re

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_studies.planar_gait.models.bip import SEGMENTS, load_bip
from humanoid_studies.planar_gait.models.foot_triangle import FootTriangle

BIP = load_bip()
DOUBLE, SINGLE = BIP.double_support(0.5), BIP.single_support()


def from_text(tmp_path, *changes):
    text = find_resource("config/gait/bip.yaml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "bip.yaml"
    path.write_text(text)
    return load_bip(path)


@pytest.mark.feature("003-F026", "003-F030")
def test_constants():  # U-17, U-18: section 3.4.4
    tree = DOUBLE.tree
    assert tree.mass == pytest.approx(104.81, abs=1e-12)
    E = tree.inertia.real
    np.testing.assert_allclose(E.diagonal(), [3.72170, 16.88812, 15.67583, 2.44045, 1.11335, 0.07, 18.99], atol=6e-6)
    np.testing.assert_allclose(E[0, 1:], [7.7238, 7.0996, 0.9792, 0.3550, 0.0104, 4.8596], atol=5e-5)
    np.testing.assert_allclose(E[1, 2:], [15.4831, 2.1355, 0.7741, 0.0227, 10.5981], atol=5e-5)
    np.testing.assert_allclose(E[2, 3:], [2.1355, 0.7741, 0.0227, 10.5981], atol=5e-5)
    np.testing.assert_allclose(E[3, 4:], [0.7741, 0.0227, 0.0], atol=5e-5)
    np.testing.assert_allclose(E[4, 5:], [0.0227, 0.0], atol=5e-5)
    V = 9.81 * tree.moments
    np.testing.assert_allclose(V.real, [192.266, 403.034, 370.461, 51.095, 18.522, 0.542, 253.579], atol=5e-4)
    np.testing.assert_allclose(V.imag[[0, 5]], [0.964, 1.305], atol=5e-4)
    single = SINGLE.tree
    np.testing.assert_allclose(single.inertia.real[:4, 4], 0.0432, atol=5e-5)
    assert 9.81 * single.moments[4] == pytest.approx(1.033 - 0.964j, abs=5e-4)
    np.testing.assert_allclose(single.moments[[0, 1, 2, 3, 5]], tree.moments[[1, 2, 3, 4, 6]], atol=1e-12)
    centrals = [BIP.segments[name].central_inertia for name in SEGMENTS]
    np.testing.assert_allclose(centrals, [0.0480, 0.2785, 0.6285, 0.7407, 0.5740, 0.0611, 8.827], atol=5e-4)


def printed(q, foot=BIP.foot):
    """M and Q of (III.19), Annexes B and C, with the offsets b of the feet alone: typed from the specification."""
    r1 = r7 = 0.188
    r2 = r3 = r4 = r5 = 0.41
    r6, alpha = foot.ankle_heel, foot.ankle_angle
    m1, m2, m3, m4, m5, m6, m7 = 2.34, 6.11, 10.9, 10.9, 6.11, 2.34, 66.11
    a1, a2, a3, a4, a5, a7 = 0.143, 0.258, 0.25, 0.16, 0.152, 0.391
    rotated = (0.045 - 0.042j) * cmath.exp(1j * alpha)
    a6, b6, b1 = rotated.real, rotated.imag, 0.042
    s = {7: m7, 6: m6, 5: m5 + m6, 4: m4 + m5 + m6}
    s3, s2 = m3 + s[4] + m7, m2 + m3 + s[4] + m7
    r = np.array([r1, r2, r3, r4, r5])
    c = np.array(
        [m1 * a1 + s2 * r1, m2 * a2 + s3 * r2, m3 * a3 + (s[4] + m7) * r3, m4 * a4 + s[5] * r4, m5 * a5 + m6 * r5]
    )
    C, S = np.cos(q), np.sin(q)
    M = np.zeros((7, 7))
    for i in range(5):
        for j in range(i + 1, 5):
            M[i, j] = r[i] * c[j] * np.cos(q[j] - q[i])
        M[i, 5] = r[i] * m6 * (a6 * np.cos(q[5] - q[i]) - b6 * np.sin(q[5] - q[i]))
        if i < 3:
            M[i, 6] = r[i] * m7 * a7 * np.cos(q[6] - q[i])
    M += M.T
    tails = [s2, s3, s[4] + m7, s[5], m6]
    M += np.diag(
        [
            *(moment + m * x**2 for moment, m, x in zip([0.1, 0.69, 1.31, 1.02, 0.72], tails, r, strict=True)),
            0.07,
            18.99,
        ]
    )
    g = 9.81
    gravity = np.array([*(g * c * C[:5]), g * m6 * (a6 * C[5] - b6 * S[5]), g * m7 * a7 * C[6]])
    gravity[0] -= g * m1 * b1 * S[0]

    def efforts(u):
        u1, u2, u3, u4, u5, u6, u7, u8, u9 = u
        Q = np.array([-u1, u1 - u2, u2 - u3, u4 - u5, u5 - u6, u6, u3 - u4])
        Q[:5] += r * C[:5] * (u7 + u8) - r * S[:5] * u9
        Q[5] += r6 * C[5] * u7 + r7 * np.cos(q[5] + alpha) * u8 - r6 * S[5] * u9
        return Q

    return M, gravity, efforts


@pytest.mark.feature("003-F018", "003-F021", "003-F025")
def test_printed_equations_with_the_thesis_offsets(tmp_path):  # U-01
    model = from_text(tmp_path, ("offsets: full", "offsets: thesis")).double_support(0.5)
    rng = np.random.default_rng(2)
    q, u = rng.uniform(-3.0, 3.0, 7), rng.normal(size=9)
    M, gravity, efforts = printed(q)
    np.testing.assert_allclose(model.tree.mass_matrix(q), M, atol=1e-12)
    np.testing.assert_allclose(model.tree.potential_gradient(q), gravity, atol=1e-12)
    assert model.control_names == ("C12", "C23", "C37", "C74", "C45", "C56", "F_B1", "F_B2", "F_B12")
    np.testing.assert_allclose(model.control_matrix(q) @ u, efforts(u), atol=1e-12)
    np.testing.assert_allclose(DOUBLE.control_matrix(q) @ u, efforts(u), atol=1e-12)


@pytest.mark.feature("003-F028")
def test_no_torque_at_the_toe():
    np.testing.assert_array_equal(
        DOUBLE.torque_matrix[0], [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    )  # the ankle's reaction alone
    assert DOUBLE.torque_count == 6


@pytest.mark.feature("003-F021", "003-F032")
def test_efforts_are_transposed_jacobians():  # F-032
    q = np.random.default_rng(3).uniform(-3.0, 3.0, 7)
    heel, toe = DOUBLE.points["front_heel"].jacobian(q), DOUBLE.points["front_toe"].jacobian(q)
    np.testing.assert_allclose(DOUBLE.control_matrix(q)[:, 6:].T, [heel[1], toe[1], heel[0]], atol=1e-14)


@pytest.mark.feature("003-F027")
def test_single_support_is_double_support_with_a_frozen_rear_foot():  # F-027
    rng = np.random.default_rng(4)
    q, v = rng.uniform(-3.0, 3.0, 7), np.concatenate([[0.0], rng.normal(size=6)])
    alpha = BIP.foot.ankle_angle
    single = q[1:].copy()
    single[4] += alpha  # the swing foot's axis goes to the toe
    np.testing.assert_allclose(SINGLE.tree.mass_matrix(single), DOUBLE.tree.mass_matrix(q)[1:, 1:], atol=1e-12)
    np.testing.assert_allclose(
        SINGLE.tree.momentum_rate(single, v[1:]), DOUBLE.tree.momentum_rate(q, v)[1:], atol=1e-12
    )
    u = rng.normal(size=6)  # the stance ankle C01 is the rear ankle C12
    np.testing.assert_allclose(SINGLE.control_matrix(single) @ u, (DOUBLE.control_matrix(q)[:, :6] @ u)[1:], atol=1e-12)


@pytest.mark.feature("003-F029")
def test_feet_lie_on_the_ground():  # F-029
    foot = BIP.foot
    q = np.zeros(7)
    q[0], q[5] = np.pi - foot.toe_angle, foot.heel_angle - np.pi
    rear = [DOUBLE.points[name].position(q) for name in ("rear_toe", "rear_heel", "rear_ankle")]
    np.testing.assert_allclose(rear, [[0.0, 0.0], [-0.29, 0.0], [-foot.toe_ahead, 0.10]], atol=1e-15)
    ankle = DOUBLE.points["front_ankle"].position(q)
    np.testing.assert_allclose(DOUBLE.points["front_heel"].position(q) - ankle, [-foot.heel_behind, -0.1], atol=1e-15)
    np.testing.assert_allclose(DOUBLE.points["front_toe"].position(q) - ankle, [foot.toe_ahead, -0.1], atol=1e-15)
    np.testing.assert_allclose(DOUBLE.slap(q), [0.0], atol=1e-15)
    q = np.zeros(6)
    q[4] = -foot.toe_angle
    swing = [SINGLE.points[name].position(q) for name in ("swing_ankle", "swing_heel", "swing_toe")]
    np.testing.assert_allclose(np.array(swing[1]) - swing[0], [-foot.heel_behind, -0.1], atol=1e-15)
    np.testing.assert_allclose(np.array(swing[2]) - swing[0], [foot.toe_ahead, -0.1], atol=1e-15)
    np.testing.assert_allclose(SINGLE.points["stance_ankle"].position(q), [-foot.toe_ahead, 0.1], atol=1e-15)


@pytest.mark.feature("003-F002")
def test_redundancy():  # F-002
    q = np.array([2.4, 1.0, 1.6, -0.9, -1.6, -2.4, 1.57])
    assert DOUBLE.redundancy(q) == 2
    assert SINGLE.redundancy(q[1:]) == 0
    heel_only = BIP.double_support(0.5, toe_force=False)  # F-035
    assert heel_only.control_names[6:] == ("F_B1", "F_B12")
    assert heel_only.contacts[0].normal == ("F_B1",)
    assert heel_only.redundancy(q) == 1
    mechanism = BIP.mechanism(0.5)
    assert mechanism.kind == "unilateral"
    assert mechanism.mobility() == 5
    assert mechanism.overactuation() == 1


def test_rotors_add_to_the_joints_of_both_legs(tmp_path):
    """Kinetic energy I (relative rate)² / 2 of each joint, from a file that has them beside the segments."""
    text = find_resource("config/gait/bip.yaml").read_text()
    path = tmp_path / "bip.yaml"
    path.write_text(text + "\nrotors: {ankle: 0.3, knee: 0.2, hip: 0.1}\n")
    bip, rng = load_bip(path), np.random.default_rng(3)
    heavy, plainer = ([robot.double_support(0.5), robot.single_support()] for robot in (bip, load_bip()))
    for model, plain in zip(heavy, plainer, strict=True):
        q, v = rng.normal(size=model.n), rng.normal(size=model.n)
        rotor = {"ankle": 0.3, "knee": 0.2, "hip": 0.1}
        inertia = np.array([rotor[name.split("_")[1]] for name in model.joint_names])
        expected = plain.tree.momentum(q, v) @ v + inertia @ model.joint_rates(v) ** 2
        assert model.tree.momentum(q, v) @ v == pytest.approx(expected, rel=1e-12)
    path.write_text(text + "\nrotors: {ankle: -0.3}\n")
    with pytest.raises(InputError, match=r"rotors\.ankle: is -0\.3"):
        load_bip(path)


@pytest.mark.feature("003-F016")
def test_damping_is_the_one_of_annex_c(tmp_path):  # F-016
    model = from_text(tmp_path, ("{ankle: 0, knee: 0, hip: 0}", "{ankle: 2, knee: 3, hip: 5}")).double_support(0.5)
    F = np.random.default_rng(5).normal(size=7)
    CVC, CVG, CVH = 2.0, 3.0, 5.0
    Q = np.array(
        [
            CVC * (F[1] - F[0]),
            -CVC * (F[1] - F[0]) + CVG * (F[2] - F[1]),
            -CVG * (F[2] - F[1]) + CVH * (F[6] - F[2]),
            -CVH * (F[3] - F[6]) + CVG * (F[4] - F[3]),
            -CVG * (F[4] - F[3]) + CVC * (F[5] - F[4]),
            -CVC * (F[5] - F[4]),
            -CVH * (F[6] - F[2]) + CVH * (F[3] - F[6]),
        ]
    )
    np.testing.assert_allclose(-model.damping @ F, Q, atol=1e-14)
    assert Q.sum() == pytest.approx(0.0, abs=1e-14)  # internal torques
    assert F @ Q <= 0.0


def test_trunk_mass_and_foot_are_parameters():
    lighter = BIP.with_trunk_mass(40.0)
    assert lighter.mass == pytest.approx(104.81 - 26.11)
    assert lighter.segments["trunk"].inertia == pytest.approx(18.99 * 40.0 / 66.11)
    published = BIP.with_foot(FootTriangle(0.189, 0.29, 0.083))
    assert published.double_support(0.5).slap(np.zeros(7))[0] == pytest.approx(np.pi - published.foot.heel_angle)
    assert dataclasses.replace(BIP, gravity=0.0).double_support(0.5).tree.potential(np.ones(7)) == 0.0


def test_literal_side_of_table_iii_3(tmp_path):
    literal = from_text(tmp_path, ("length: 0.29,", "ankle_heel: 0.29,"))
    assert literal.foot.ankle_heel == pytest.approx(0.29)
    assert literal.foot.length == pytest.approx(0.431, abs=5e-4)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "length: 0.29, ankle_height: 0.10",
            "length: 0.29, ankle_height: 0.2",
            "foot: foot.ankle_height: is 0.2, not below",
        ),
        ("length: 0.29, ankle_height: 0.10", "length: 0.1, ankle_height: 0.1", "foot: foot.length: is 0.1, not above"),
        ("length: 0.29, ankle_height: 0.10", "ankle_height: 0.10", "has both or none of length and ankle_heel"),
        ("length: 0.29,", "ankle_heel: 0.05,", "foot: foot.ankle_heel: is 0.05, not above ankle_height"),
        ("ankle_height: 0.10", "ankle_height: .nan", "foot.ankle_height: is .nan"),
        ("offsets: full", "offsets: some", "offsets: is 'some'"),
        ("  trunk: {length: 0.66, mass: 66.11, centre: [0.391, 0.029], inertia: 18.99}\n", "", "'trunk' is missing"),
        ("inertia: 18.99", "inertia: 1.0", "segments.trunk.inertia: is 1, less than"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    with pytest.raises(InputError, match=re.escape(message)):
        from_text(tmp_path, (old, new))


def test_unknown_file():
    with pytest.raises(InputError, match="can't be read"):
        load_bip("nowhere.yaml")
