# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from humanoid_model.checks import check_array, check_direction, check_known, check_number, check_positive
from humanoid_model.errors import InputError


def test_what_is_right_comes_back_as_numbers():
    assert check_number(0, "a") == 0.0
    assert check_number(-2, "a", lower=-math.inf) == -2.0
    assert check_positive(3, "a") == 3.0
    assert np.array_equal(check_array([1, 2, 3], "a"), [1.0, 2.0, 3.0])
    assert np.allclose(check_direction([0, 3, 4], "a"), [0.0, 0.6, 0.8])
    check_known("a", {"a": 1}, "field", "joint")


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (lambda: check_number(-1, "margin"), "margin: is -1. Give a finite number of at least 0"),
        (lambda: check_number(2, "share", upper=1.0), "share: is 2. Give a finite number from 0 to 1"),
        (lambda: check_number(math.nan, "x", lower=-math.inf), "x: is nan. Give a finite number\\.?$"),
        (lambda: check_positive(0.0, "R", "length in metres"), "R: is 0.0. Give a positive length in metres"),
        (lambda: check_positive(math.inf, "R"), "R: is inf. Give a positive number"),
        (lambda: check_array([1, 2], "gravity"), r"gravity: is \[1.0, 2.0\]. Give 3 finite numbers"),
        (lambda: check_array([[1, math.inf]], "A", (1, 2)), "A: is .*inf.* Give 1 x 2 finite numbers"),
        (lambda: check_direction([0, 0, 0], "axis"), "axis: is .* which has no direction"),
        (lambda: check_known("c", ("a", "b"), "limb", "joint"), "limb: there is no joint 'c'. Known are: a, b"),
    ],
)
def test_what_is_wrong_is_told_with_its_value_and_what_would_be_right(check, said):
    with pytest.raises(InputError, match=said):
        check()
