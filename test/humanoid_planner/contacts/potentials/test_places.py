# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_planner.contacts.potentials.attractors import Attractor
from humanoid_planner.contacts.potentials.places import CentreOfMassAttractor, PointAlongGuide, PointAttractor
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.state import ForceModel, PostureState

HAND = "LARM_LINK6"


@pytest.fixture(scope="module")
def kinematics():
    return RobotKinematics(load_robot("hrp2"))


def at(kinematics, x):
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    state.set(x)
    return state


def guide(kinematics):
    """Forward, then to the left, crouching."""
    standing, low = (kinematics.robot.postures[name].copy() for name in ("half_sitting", "squat"))
    ahead = standing.copy()
    ahead[0] += 1.0
    low[:2] = [1.0, 0.8]
    return [standing, ahead, low]


def criteria(kinematics):
    return {
        "centre of mass": CentreOfMassAttractor(Attractor([1.0, 0.2, 0.9], 0.5)),
        "hand": PointAttractor(Attractor([1.0, 0.2, 0.9], 0.0), HAND, [0.0, 0.1, 0.0]),
        "hand along a guide": PointAlongGuide(kinematics, guide(kinematics), HAND, progress=0.7, switch=0.2),
    }


@pytest.mark.feature("001-F171", "001-F192")
@pytest.mark.parametrize("name", ["centre of mass", "hand", "hand along a guide"])
def test_gradients_are_those_of_the_values(kinematics, name):
    criterion, rng = criteria(kinematics)[name], np.random.default_rng(2)
    x = kinematics.coordinates(kinematics.robot.postures["half_sitting"])
    for _ in range(3):
        y = x + rng.uniform(-0.15, 0.15, len(x))
        g = criterion.gradient(at(kinematics, y))
        for _ in range(4):
            d = rng.normal(size=len(x)) * 1e-5
            change = criterion.value(at(kinematics, y + d)) - criterion.value(at(kinematics, y - d))
            assert change == pytest.approx(2 * g @ d, rel=1e-4, abs=1e-9)
        assert np.linalg.eigvalsh(criterion.hessian(at(kinematics, y))).min() > -1e-9


@pytest.mark.feature("001-F171")
def test_values_are_distances(kinematics):
    x = kinematics.coordinates(kinematics.robot.postures["half_sitting"])
    field = criteria(kinematics)["hand"]
    state = at(kinematics, x)
    far = np.linalg.norm(kinematics.point(HAND, np.array([0.0, 0.1, 0.0])) - [1.0, 0.2, 0.9])
    assert field.value(state) == pytest.approx(far)


@pytest.mark.feature("001-F192")
def test_the_valley_falls_along_the_guide_and_rises_beside_it(kinematics):
    criterion, keys = criteria(kinematics)["hand along a guide"], guide(kinematics)
    x = [kinematics.coordinates(q) for q in keys]
    along = [
        criterion.value(at(kinematics, (1 - u) * a + u * b))
        for a, b in itertools.pairwise(x)
        for u in np.linspace(0.05, 0.95, 7)
    ]
    assert (np.diff(along) < 0).all()
    beside = x[0].copy()
    beside[1] += 0.3
    assert criterion.value(at(kinematics, beside)) > criterion.value(at(kinematics, x[0])) + 0.02


def test_a_body_that_stays_has_no_curve(kinematics):
    q = kinematics.robot.postures["half_sitting"]
    with pytest.raises(InputError, match="stays where it is"):
        PointAlongGuide(kinematics, [q, q], HAND)
