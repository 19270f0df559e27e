# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts.potentials import Attractor
from humanoid_studies.potential_field.descent import Repulsor, descend


def slope(potential, point, h=1e-6):
    return np.array([(potential(point + h * e) - potential(point - h * e)) / (2 * h) for e in np.eye(len(point))])


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
    with pytest.raises(InputError, match="reach of the repulsor: is 0"):
        Repulsor(ball, 0)
