# SPDX-License-Identifier: Apache-2.0
"""The five-bar mechanism against the numbers of specification 003 sections 3.2 and 4.1."""

import re

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_studies.planar_gait.models.five_bar import load_five_bar

pytestmark = pytest.mark.feature("003-F022")

FIVE_BAR = load_five_bar()


@pytest.mark.feature("003-F018")
def test_constants():  # U-17, U-18
    tree = FIVE_BAR.phase().tree
    assert tree.mass == 13.0
    expected = [
        [1.867, 1.60, 0.48, 0.16],
        [1.60, 1.547, 0.48, 0.16],
        [0.48, 0.48, 0.427, 0.16],
        [0.16, 0.16, 0.16, 0.107],
    ]
    np.testing.assert_allclose(tree.inertia, expected, atol=1e-12)
    np.testing.assert_allclose(9.81 * tree.moments, [47.088, 39.24, 11.772, 3.924], atol=1e-12)


def test_end_configurations_of_case_a():
    start = np.rad2deg(FIVE_BAR.posture(0.1 + 0.6j))
    np.testing.assert_allclose(start, [121.04, 40.03, -30.42, -96.45], atol=0.005)
    np.testing.assert_allclose(np.rad2deg(FIVE_BAR.posture(0.3 + 0.6j)), [96.45, 30.42, -40.03, -121.04], atol=0.005)
    model = FIVE_BAR.phase()
    np.testing.assert_allclose(model.closure(np.deg2rad(start)), 0.0, atol=1e-15)
    np.testing.assert_allclose(model.points["apex"].position(np.deg2rad(start)), [0.1, 0.6], atol=1e-15)


def test_controls_enter_as_equation_iii_5_says():
    model = FIVE_BAR.phase()
    assert model.control_names == ("C1", "C2", "C3", "C4", "C5", "F_O5y", "F_O5x")
    q = np.array([1.9, 0.7, -0.4, -1.6])
    expected = np.zeros((4, 7))
    for i in range(4):
        expected[i, i], expected[i, i + 1] = 1.0, -1.0
        expected[i, 5], expected[i, 6] = 0.4 * np.cos(q[i]), -0.4 * np.sin(q[i])
    np.testing.assert_allclose(model.control_matrix(q), expected, atol=1e-15)
    opening = np.array([-0.4 + 0.4 * np.cos(q).sum(), 0.4 * np.sin(q).sum()])  # (III.6)
    np.testing.assert_allclose(model.closure(q), opening, atol=1e-15)


def test_out_of_reach():
    with pytest.raises(InputError, match=re.escape("right bars: has to span 1.0770 m and is 0.8000 m long")):
        FIVE_BAR.posture(-0.6 + 0.4j)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("base: 0.4", "base: 0", "base: is 0. Give more than 0"),
        ("load: 5.0", "load: .nan", "load: is .nan. Give a finite number"),
        ("inertia: 0.107", "inertia: 0.01", "bars[0].inertia: is 0.01, less than m (a² + b²) = 0.08"),
        ("mass: 2.0", "mass: -2", "bars[0].mass: is -2"),
        ("model: five_bar", "model: bip", "model: is 'bip'. Use one of five_bar"),
        ("damping: [0, 0, 0, 0, 0]", "damping: [0]", "damping: holds 1 values"),
        ("load: 5.0", "weight: 5.0", "weight: unknown key"),
        ("load: 5.0", "", "'load' is missing"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    text = find_resource("config/gait/five_bar.yaml").read_text()
    assert old in text
    path = tmp_path / "bad.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=re.escape(message)):
        load_five_bar(path)
