# SPDX-License-Identifier: Apache-2.0
"""The foot's triangle against the table of specification 003 section 3.4.1."""

import math

import pytest

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.models.foot_triangle import FootTriangle


@pytest.mark.feature("003-F029")
def test_default_foot():
    foot = FootTriangle(0.188, 0.29, 0.10)
    assert math.degrees(foot.toe_angle) == pytest.approx(32.1349, abs=5e-5)
    assert math.degrees(foot.heel_angle) == pytest.approx(37.3984, abs=5e-5)
    assert math.degrees(foot.ankle_angle) == pytest.approx(110.4666, abs=5e-5)
    assert foot.ankle_heel == pytest.approx(0.16465, abs=5e-6)
    assert foot.toe_ahead == pytest.approx(0.15920, abs=5e-6)
    assert foot.mass_ahead_of_heel(0.143 + 0.042j) == pytest.approx(0.14657, abs=5e-6)
    cosine = (foot.ankle_heel**2 + 0.29**2 - 0.188**2) / (2.0 * 0.29 * foot.ankle_heel)  # (III.20b)
    assert foot.heel_angle == pytest.approx(math.acos(cosine))
    again = FootTriangle.from_sides(0.188, foot.ankle_heel, 0.10)
    assert again.length == pytest.approx(0.29)


@pytest.mark.parametrize(
    "values", [(0.0, 0.29, 0.1), (0.188, math.inf, 0.1), (0.188, 0.29, -0.1), (0.188, 0.29, 0.188)]
)
def test_no_foot(values):
    with pytest.raises(InputError, match="foot"):
        FootTriangle(*values)


def test_no_foot_by_sides():
    with pytest.raises(InputError, match="ankle_heel"):
        FootTriangle.from_sides(0.188, 0.1, 0.1)
    with pytest.raises(InputError, match="ankle_height"):
        FootTriangle.from_sides(0.188, 0.3, 0.2)
