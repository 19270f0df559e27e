# SPDX-License-Identifier: Apache-2.0
import ast

import numpy as np
import pytest

from humanoid_model.errors import RobotError
from humanoid_studies.script.joint import Joint


def joint(kind: str = "continuous", axis: str = "0 0 1") -> Joint:
    return Joint(["j", kind, "a", "b", "4 1 5", "0 0 0", axis])


def test_record_becomes_source_text():
    assert joint().xyz == "[4.0, 1.0, 5.0]"
    assert joint().axis == "[0.0, 0.0, 1.0]"
    assert joint().is_shifted
    assert not joint().is_turned


def test_axis_becomes_a_unit_one():
    np.testing.assert_allclose(ast.literal_eval(joint(axis="0 3 -4").axis), [0, 0.6, -0.8], rtol=1e-15)


def test_unit_axis_stays_as_written():
    assert joint(axis="0 0.6 0.8").axis == "[0.0, 0.6, 0.8]"


@pytest.mark.parametrize(
    ("kind", "moves", "turns", "unit"),
    [
        ("revolute", True, True, "rad"),
        ("continuous", True, True, "rad"),
        ("prismatic", True, False, "m"),
        ("fixed", False, False, ""),
    ],
)
def test_types(kind, moves, turns, unit):
    assert (joint(kind).moves, joint(kind).turns, joint(kind).unit) == (moves, turns, unit)


def test_fixed_joint_needs_no_axis():
    assert joint("fixed", "0 0 0").axis == ""


def test_unknown_type_is_refused_by_the_joint_s_name():
    with pytest.raises(RobotError, match="joint 'j': unknown joint type 'screw'"):
        joint("screw")


def test_zero_axis_is_refused():
    with pytest.raises(RobotError, match="joint 'j': axis is zero"):
        joint(axis="0 0 0")
