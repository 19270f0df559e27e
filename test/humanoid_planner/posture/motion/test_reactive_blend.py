# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model import InputError, load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.motion.reactive_blend import ReactiveBlend
from humanoid_planner.posture.problem.force_model import ForceModel
from humanoid_planner.posture.problem.state import PostureState

pytestmark = pytest.mark.feature("001-F049")

ROBOT = load_robot("hrp2")


@pytest.mark.feature("001-F094")
def test_formula_and_derivatives() -> None:
    """(3.92), with the base among the n + 6 variables."""
    kinematics = RobotKinematics(ROBOT)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    rng = np.random.default_rng(0)
    q = ROBOT.postures["half_sitting"]
    blend = ReactiveBlend(kinematics, q, alpha=0.3)
    blend.previous = rng.normal(size=36)
    x = rng.normal(size=36)
    state.set(x)
    expected = 0.3 * np.sum((x - kinematics.coordinates(q)) ** 2) + 0.7 * np.sum((x - blend.previous) ** 2)
    assert blend.value(state) == pytest.approx(expected)
    gradient = blend.gradient(state)
    step = 1e-5
    for column in range(36):
        values = []
        for sign in (1, -1):
            moved = x.copy()
            moved[column] += sign * step
            state.set(moved)
            values.append(blend.value(state))
        assert gradient[column] == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-7)
    assert_allclose(blend.hessian(state), 2 * np.eye(36))


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
def test_alpha_is_checked(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha"):
        ReactiveBlend(RobotKinematics(ROBOT), ROBOT.postures["zero"], alpha)
