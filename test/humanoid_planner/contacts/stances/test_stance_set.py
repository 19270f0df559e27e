# SPDX-License-Identifier: Apache-2.0
import itertools
import math

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts.stances.planned_stance import Hold, PlannedStance
from humanoid_planner.contacts.stances.stance_set import StanceMetric, StanceSet


def stance(*holds):
    return PlannedStance(tuple(Hold(*hold) for hold in holds))


def at(x, y=0.0, theta=0.0):
    return stance((1, x, y, theta))


@pytest.mark.feature("001-F167")
def test_the_worked_example_of_the_order():
    a, b, c = stance((1, 0, 0, 0)), stance((1, 0, 0, 0), (2, 0, 0, 0)), stance((1, 0, 0, 0), (7, 0, 0, 0))
    metric = StanceMetric()
    assert metric.precedes(a, b)
    assert metric.precedes(b, c)
    assert metric.precedes(a, c)
    assert not metric.precedes(c, b)


def random_stances(rng, count):
    found = []
    for _ in range(count):
        couples = rng.choice(4, size=rng.integers(1, 4), replace=False)
        found.append(PlannedStance(tuple(Hold(int(c), *rng.integers(-2, 3, 3) * 0.5) for c in couples)))
    return found


@pytest.mark.feature("001-F167")
def test_of_two_stances_that_differ_exactly_one_comes_first():
    metric = StanceMetric(tolerance=0.01)
    stances = random_stances(np.random.default_rng(0), 60)
    for a, b in itertools.product(stances, repeat=2):
        assert metric.precedes(a, b) + metric.precedes(b, a) == (not metric.equal(a, b))
    for a, b, c in itertools.product(stances[:25], repeat=3):
        assert metric.precedes(a, c) or not (metric.precedes(a, b) and metric.precedes(b, c))


@pytest.mark.feature("001-F167")
def test_equality_has_a_tolerance_and_is_not_transitive():
    metric = StanceMetric(tolerance=1.0)
    assert metric.equal(at(0), at(0.9))
    assert metric.equal(at(0.9), at(1.8))
    assert not metric.equal(at(0), at(1.8))


def test_angles_count_by_the_metric_and_wrap():
    metric = StanceMetric(tolerance=0.03, radian=0.1)
    assert metric.distance(at(0, 0, 0), at(0, 0, 0.2)) == pytest.approx(0.02)
    assert metric.distance(at(0, 0, math.pi - 0.1), at(0, 0, -math.pi + 0.1)) == pytest.approx(0.02)
    assert metric.equal(at(0, 0, 0.0), at(0, 0, 2 * math.pi))


@pytest.mark.feature("001-F167")
def test_the_set_takes_what_an_exhaustive_comparison_takes():
    rng, metric = np.random.default_rng(1), StanceMetric(tolerance=0.1, radian=0.3)
    known, taken = StanceSet(metric), []
    for _ in range(400):
        new = stance(*((c, *rng.uniform(0, 0.5, 2), rng.uniform(-math.pi, math.pi)) for c in range(rng.integers(1, 3))))
        expected = all(metric.distance(new, other) > 0.1 for other in taken)
        assert (new in known) is not expected
        assert known.add(new) is expected
        taken += [new] if expected else []
    assert len(known) == len(taken) == len(known.stances())


@pytest.mark.feature("001-F168")
def test_a_larger_tolerance_leaves_fewer_stances():
    places = np.random.default_rng(2).uniform(0, 1, (300, 2))
    sizes = []
    for tolerance in (0.01, 0.1, 0.3):
        known = StanceSet(StanceMetric(tolerance))
        for x, y in places:
            known.add(at(x, y))
        sizes.append(len(known))
    assert sizes[0] > sizes[1] > sizes[2]


def test_bad_tolerances_are_named():
    with pytest.raises(InputError, match="tolerance of stances: is 0"):
        StanceMetric(0)
