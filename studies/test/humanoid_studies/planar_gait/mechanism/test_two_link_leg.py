# SPDX-License-Identifier: Apache-2.0
"""Two-link legs in closed form: they span what they should, bend where they should, and say what they can't."""

import cmath
import math
import re

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.two_link_leg import leg_angles, leg_rates


def random_legs(count=200):
    rng = np.random.default_rng(1)
    for _ in range(count):
        first, second = rng.uniform(0.2, 0.6, 2)
        reach = rng.uniform(abs(first - second) + 0.01, first + second - 0.001)
        yield cmath.rect(reach, rng.uniform(-math.pi, math.pi)), first, second, int(rng.choice([-1, 1]))


@pytest.mark.feature("003-F046")
def test_spans_and_bends():  # F-046
    for span, first, second, sign in random_legs():
        q_a, q_b = leg_angles(span, first, second, sign)
        assert cmath.rect(first, q_a) + cmath.rect(second, q_b) == pytest.approx(span, abs=1e-13)
        assert math.copysign(1, q_b - q_a) == sign
        assert abs(q_b - q_a) < math.pi


def test_rates_move_the_end():
    step = 1e-6
    for span, first, second, sign in random_legs(30):
        speed = complex(*np.random.default_rng(2).normal(size=2))
        rates = leg_rates(*leg_angles(span, first, second, sign), first, second, speed)
        ahead = leg_angles(span + step * speed, first, second, sign)
        behind = leg_angles(span - step * speed, first, second, sign)
        for rate, one, other in zip(rates, ahead, behind, strict=True):
            difference = (one - other + math.pi) % (2 * math.pi) - math.pi
            assert rate == pytest.approx(difference / (2 * step), abs=1e-4 * max(1.0, abs(rate)))


@pytest.mark.feature("003-F047")
def test_end_straight_above_is_nothing_special():  # F-047, erratum ER-08
    q_a, q_b = leg_angles(0.7j, 0.4, 0.4, 1)
    assert cmath.rect(0.4, q_a) + cmath.rect(0.4, q_b) == pytest.approx(0.7j, abs=1e-15)
    assert q_b > math.pi / 2 > q_a


@pytest.mark.feature("003-F047")
@pytest.mark.parametrize(
    ("span", "lengths", "message"),
    [
        (0.9j, (0.4, 0.4), "rear leg: has to span 0.9000 m and is 0.8000 m long. Bring its ends 0.1000 m nearer"),
        (0.1j, (0.4, 0.2), "rear leg: has to span 0.1000 m and can't be shorter than 0.2000 m. Take its ends apart"),
        (0.0, (0.4, 0.4), "rear leg: has to span 0.0000 m"),
        (0.8, (0.4, 0.4), "rear leg: is straight when it spans 0.800000 m"),
        (0.2, (0.4, 0.2), "rear leg: is straight when it spans 0.200000 m"),
        (complex("nan"), (0.4, 0.4), "rear leg: span"),
        (0.5, (0.4, 0.0), "rear leg: span (0.5+0j), lengths 0.4 and 0"),
    ],
)
def test_what_no_leg_spans(span, lengths, message):
    with pytest.raises(InputError, match=re.escape(message)):
        leg_angles(complex(span), *lengths, 1, "rear leg")


def test_rates_of_a_straight_leg():
    with pytest.raises(InputError, match="straight"):
        leg_rates(1.0, 1.0, 0.4, 0.4, 1.0)
