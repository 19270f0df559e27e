# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts.potentials.attractors import Attractor, Repulsor, descend


def slope(potential, point, h=1e-6):
    return np.array([(potential(point + h * e) - potential(point - h * e)) / (2 * h) for e in np.eye(len(point))])


@pytest.mark.feature("001-F152")
@pytest.mark.parametrize("switch", [0.0, 0.7, math.inf])
def test_forces_are_slopes(switch):
    field, rng = Attractor([1.0, -2.0, 0.5], switch, 3.0), np.random.default_rng(1)
    for point in rng.normal(size=(10, 3)):
        assert field.force(point) == pytest.approx(-slope(field.value, point), abs=1e-6)


@pytest.mark.feature("001-F152")
def test_the_mixed_attractor_joins_smoothly():
    field = Attractor([0.0], 0.8, 3.0)
    for side in (-1e-9, 1e-9):
        assert field.value([0.8 + side]) == pytest.approx(0.5 * 3.0 * 0.8**2)
        assert field.force([0.8 + side]) == pytest.approx([-3.0 * 0.8])
    assert field.value([0.0]) == 0.0


@pytest.mark.feature("001-F152")
def test_the_limits_of_the_switch_are_the_quadratic_and_the_linear_attractor():
    assert Attractor([0, 0], math.inf, 2.0).value([3, 4]) == pytest.approx(25.0)
    assert Attractor([0, 0], 0.0, 2.0).value([3, 4]) == pytest.approx(10.0)
    assert not Attractor([0, 0], 0.0).force([0, 0]).any()


def ball(point):
    away = point - np.array([2.0, 0.0])
    far = np.linalg.norm(away)
    return far - 0.5, away / far


@pytest.mark.feature("001-F153")
def test_the_repulsor_rises_towards_the_obstacle_and_joins_zero_smoothly():
    field = Repulsor(ball, 1.0, 2.0)
    assert field.value([2.0, 0.75]) == pytest.approx(0.5 * 2.0 * (4 - 1) ** 2)
    assert field.value([2.0, 1.5 - 1e-9]) == pytest.approx(0.0, abs=1e-12)
    assert field.value([2.0, 1.6]) == 0.0
    assert not field.force([2.0, 1.6]).any()
    assert field.value([2.0, 0.1]) == math.inf
    for point in ([2.0, 0.9], [1.1, 0.3]):
        assert field.force(point) == pytest.approx(-slope(field.value, np.array(point)), rel=1e-6)


@pytest.mark.feature("001-F151")
def test_descent_reaches_the_goal_past_an_obstacle_beside_its_way_and_stops_before_one_in_it():
    goal, obstacle = Attractor([4.0, 0.0]), Repulsor(ball, 0.6, 0.2)

    def force(point):
        return goal.force(point) + obstacle.force(point)

    assert np.linalg.norm(descend(force, [0.0, 0.9], 0.02, 600)[-1] - [4, 0]) < 0.01
    trapped = descend(force, [0.0, 0.0], 0.02, 600)[-1]
    assert trapped[0] < 1.5
    assert np.linalg.norm(force(trapped)) < 1e-3


def test_bad_numbers_are_named():
    with pytest.raises(InputError, match="goal of the attractor"):
        Attractor([math.nan])
    with pytest.raises(InputError, match="switch of the attractor: is -1"):
        Attractor([0], -1)
    with pytest.raises(InputError, match="reach of the repulsor: is 0"):
        Repulsor(ball, 0)
