# SPDX-License-Identifier: Apache-2.0
"""RABBIT against the numbers and printed equations of specification 003 sections 2.9 and 3.3."""

import re

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_studies.planar_gait.models.rabbit import load_rabbit

pytestmark = pytest.mark.feature("003-F023")

RABBIT = load_rabbit()
DOUBLE = RABBIT.double_support(0.45)


def test_constants():  # U-17, U-18
    tree = DOUBLE.tree
    assert tree.mass == 40.0
    E = tree.inertia.real
    np.testing.assert_allclose(E.diagonal(), [6.1749, 5.2513, 0.762, 0.1, 2.22], atol=5e-5)
    np.testing.assert_allclose(E[0, 1:], [5.4446, 0.9554, 0.1626, 1.6], atol=5e-5)
    np.testing.assert_allclose(E[1, 2:], [0.9554, 0.1626, 1.6], atol=5e-5)
    np.testing.assert_allclose(E[2, 3:], [0.1626, 0.0], atol=5e-5)
    assert E[3, 4] == 0.0
    np.testing.assert_allclose(9.81 * tree.moments, [152.973, 133.530, 23.430, 3.987, 39.240], atol=5e-4)


@pytest.mark.feature("003-F018")
def test_mass_matrix_and_potential_of_iii_8_and_iii_12():  # U-01, typed from the specification
    m1, m2, m3, m4, m5 = 3.2, 6.8, 6.8, 3.2, 20.0
    r1 = r2 = r3 = r4 = 0.4
    a1, a2, a3, a4, a5 = 0.273, 0.237, 0.163, 0.127, 0.2
    I1 = 0.1 - 3.2 * 0.127**2 + m1 * a1**2
    I2 = 0.25 - 6.8 * 0.163**2 + m2 * a2**2
    E = np.zeros((5, 5))
    E[0, 1] = r1 * (m2 * a2 + (m3 + m4 + m5) * r2)
    E[0, 2] = r1 * (m3 * a3 + m4 * r3)
    E[0, 3] = r1 * m4 * a4
    E[0, 4] = r1 * m5 * a5
    E[1, 2] = r2 * (m3 * a3 + m4 * r3)
    E[1, 3] = r2 * m4 * a4
    E[1, 4] = r2 * m5 * a5
    E[2, 3] = r3 * m4 * a4
    E += E.T
    E += np.diag([I1 + (m2 + m3 + m4 + m5) * r1**2, I2 + (m3 + m4 + m5) * r2**2, 0.25 + m4 * r3**2, 0.1, 2.22])
    V = 9.81 * np.array(
        [m1 * a1 + (m2 + m3 + m4 + m5) * r1, m2 * a2 + (m3 + m4 + m5) * r2, m3 * a3 + m4 * r3, m4 * a4, m5 * a5]
    )
    q = np.random.default_rng(1).uniform(-3.0, 3.0, 5)
    np.testing.assert_allclose(DOUBLE.tree.mass_matrix(q), E * np.cos(q[:, None] - q[None, :]), atol=1e-12)
    np.testing.assert_allclose(DOUBLE.tree.potential_gradient(q), V * np.cos(q), atol=1e-12)
    assert DOUBLE.tree.potential(q) == pytest.approx(V @ np.sin(q), abs=1e-12)
    assert r4 == RABBIT.front_shank.length


@pytest.mark.feature("003-F021")
def test_controls_of_iii_10_and_iii_11():
    assert DOUBLE.control_names == ("C12", "C25", "C53", "C34", "F_O5y", "F_O5x")
    q = np.array([0.9, 1.8, -0.9, -1.5, 1.5])
    C12, C25, C53, C34, Fy, Fx = u = np.array([3.0, -5.0, 7.0, 11.0, 130.0, -17.0])
    Q = np.array([-C12, C12 - C25, C53 - C34, C34, C25 - C53])
    Q[:4] += 0.4 * np.cos(q[:4]) * Fy - 0.4 * np.sin(q[:4]) * Fx
    np.testing.assert_allclose(DOUBLE.control_matrix(q) @ u, Q, atol=1e-12)
    gap = [-0.45 + 0.4 * np.cos(q[:4]).sum(), 0.4 * np.sin(q[:4]).sum()]  # (III.14)
    np.testing.assert_allclose(DOUBLE.closure(q), gap, atol=1e-15)


def test_single_support_has_four_torques_or_five():
    four, five = RABBIT.single_support(), RABBIT.single_support(ankle_torque=True)
    assert four.control_names == ("C12", "C25", "C53", "C34")
    assert five.control_names == ("C12", "C25", "C53", "C34", "C01")
    q = np.array([1.4, 2.2, -1.5, -2.3, 1.5])
    assert four.redundancy(q) == -1
    assert five.redundancy(q) == 0
    assert DOUBLE.redundancy(q) == 1
    np.testing.assert_array_equal(five.control_matrix(q)[:, 4], [1.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(four.tree.mass_matrix(q), DOUBLE.tree.mass_matrix(q), atol=1e-14)
    assert four.closure(q).shape == (0,)


def test_printed_values_on_the_chains_axes(tmp_path):
    text = (
        find_resource("config/gait/rabbit.yaml").read_text().replace("measured_from: proximal", "measured_from: axis")
    )
    path = tmp_path / "rabbit.yaml"
    path.write_text(text)
    printed = load_rabbit(path)
    assert printed.rear_shank.centre == 0.127
    assert printed.rear_thigh.inertia == 0.25
    assert RABBIT.rear_shank.centre == pytest.approx(0.273)
    assert RABBIT.rear_shank.inertia == pytest.approx(0.2869, abs=5e-5)
    assert RABBIT.rear_thigh.inertia == pytest.approx(0.4513, abs=5e-5)


def test_trunk_mass_is_a_parameter():
    lighter = RABBIT.with_trunk_mass(10.0)
    assert lighter.double_support(0.45).tree.mass == 30.0
    assert lighter.trunk.inertia == pytest.approx(1.11)
    with pytest.raises(InputError, match="mass: is 0"):
        RABBIT.with_trunk_mass(0.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("measured_from: proximal", "measured_from: distal", "measured_from: is 'distal'. Use one of proximal, axis"),
        ("length: 0.625, ", "", "segments.trunk: 'length' is missing"),
        ("knee: [0, 2.5]", "knee: [2.5, 0]", "ranges.knee: is [2.5, 0]"),
        ("{knee: 0, hip: 0}", "{knee: -1, hip: 0}", "damping.knee: is -1"),
        ("{knee: 0, hip: 0}", "{toe: 1}", "damping.toe: unknown key"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    text = find_resource("config/gait/rabbit.yaml").read_text()
    assert old in text
    path = tmp_path / "bad.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=re.escape(message)):
        load_rabbit(path)
