# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from humanoid_codegen.expression.graph import Operation
from humanoid_codegen.report.closed_form import (
    ELEMENTARY,
    Effort,
    NoClosedFormError,
    TrigonometricPolynomial,
)

sin, cos, root = (ELEMENTARY[o] for o in (Operation.SINE, Operation.COSINE, Operation.SQUARE_ROOT))


@pytest.fixture
def unknowns():
    effort = Effort(10_000)
    return [TrigonometricPolynomial.unknown(k, effort) for k in range(3)]


def test_square_of_sine_and_square_of_cosine_make_one(unknowns):
    x, _, _ = unknowns
    total = sin(x) * sin(x) + cos(x) * cos(x)
    assert total.terms == {((), ()): pytest.approx(1.0)}


def test_both_sides_of_the_addition_theorem_have_the_same_terms(unknowns):
    x, y, _ = unknowns
    difference = cos(x + y) - (cos(x) * cos(y) - sin(x) * sin(y))
    assert difference.terms == {}


def test_constants_inside_an_angle_come_out(unknowns):
    x, _, _ = unknowns
    difference = sin(2.0 * x + 0.3) - (math.cos(0.3) * sin(x + x) + math.sin(0.3) * cos(x * 2.0))
    assert all(abs(value) < 1e-15 for value in difference.terms.values())


def test_unknowns_multiply_and_divide_by_numbers(unknowns):
    x, y, _ = unknowns
    value = (3.0 - x) * (x + y) / 2.0
    assert value.terms == {
        (((0, 1),), ()): 1.5,
        (((1, 1),), ()): 1.5,
        (((0, 2),), ()): -0.5,
        (((0, 1), (1, 1)), ()): -0.5,
    }


def test_coefficient_and_part_sort_by_unknowns(unknowns):
    x, y, z = unknowns
    value = cos(x) * y + 2.0 * y * z + z * z + 5.0
    assert value.coefficient(1).terms == (cos(x) + 2.0 * z).terms
    assert value.part([1, 2], 2).terms == (2.0 * y * z + z * z).terms
    assert value.part([1, 2], 0).terms == {((), ()): 5.0}


def test_quotients_roots_and_bent_angles_have_no_closed_form(unknowns):
    x, y, _ = unknowns
    for attempt in (lambda: x / y, lambda: 1.0 / cos(x), lambda: root(x), lambda: sin(x * y), lambda: cos(sin(x))):
        with pytest.raises(NoClosedFormError):
            attempt()


def test_work_is_bounded():
    effort = Effort(1000)
    value = TrigonometricPolynomial.unknown(0, effort)
    for k in range(1, 9):
        value = value * cos(TrigonometricPolynomial.unknown(k, effort))
    with pytest.raises(NoClosedFormError):
        value * cos(TrigonometricPolynomial.unknown(9, effort))
