# SPDX-License-Identifier: Apache-2.0
"""Distance to a path: against a dense sampling of it, and its derivatives against differences."""

from __future__ import annotations

import re

import numpy as np
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.force_model import ForceModel
from humanoid_planner.posture.problem.near_path import NearPath
from humanoid_planner.posture.problem.state import PostureState

pytestmark = pytest.mark.feature("001-F049")

GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def kinematics() -> RobotKinematics:
    return RobotKinematics(load_robot("hrp2", geometry=False))


@pytest.fixture(scope="module")
def path(kinematics: RobotKinematics) -> NearPath:
    robot = kinematics.robot
    return NearPath(kinematics, [robot.postures[name] for name in ("half_sitting", "squat", "squat", "sitting")])


def state_at(kinematics: RobotKinematics, x: np.ndarray) -> PostureState:
    state = PostureState(kinematics, ForceModel(kinematics, (), (), GRAVITY), 2)
    state.set(np.concatenate([x, [0.3, -0.4]]))
    return state


@pytest.mark.feature("001-F052")
@pytest.mark.parametrize("seed", range(5))
def test_the_distance_is_that_to_the_nearest_sample(kinematics: RobotKinematics, path: NearPath, seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = np.vstack(
        [np.linspace(a, b, 20001) for a, b in zip(path.points[:-1], path.points[1:], strict=True)]
    )
    # Near the path, and beyond both of its ends, where the end is the nearest.
    first, last = path.points[0] - path.points[1], path.points[-1] - path.points[-2]
    for near in (samples[rng.integers(len(samples))], path.points[0] + 0.4 * first, path.points[-1] + 0.4 * last):
        x = near + rng.normal(scale=0.2, size=kinematics.size)
        expected = ((samples - x) ** 2).sum(axis=1).min()
        assert path.value(state_at(kinematics, x)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.feature("001-F052")
@pytest.mark.parametrize("share", [-0.2, 0.3, 0.7])
def test_derivatives(kinematics: RobotKinematics, path: NearPath, share: float) -> None:
    """Within a segment (0.3, 0.7) and before the path's start (-0.2)."""
    rng = np.random.default_rng(3)
    a, b = path.points[:2]
    x = a + share * (b - a) + rng.normal(scale=0.02, size=kinematics.size)
    state = state_at(kinematics, x)
    gradient, hessian = path.gradient(state), path.hessian(state)
    step, numbers = 1e-5, range(kinematics.size)
    moved = [[state_at(kinematics, x + sign * step * np.eye(kinematics.size)[i]) for sign in (1, -1)] for i in numbers]
    slopes = [(path.value(plus) - path.value(minus)) / (2 * step) for plus, minus in moved]
    np.testing.assert_allclose(gradient, [*slopes, 0.0, 0.0], atol=1e-7)
    rows = [(path.gradient(plus) - path.gradient(minus)) / (2 * step) for plus, minus in moved]
    np.testing.assert_allclose(hessian[: kinematics.size], rows, atol=1e-6)
    assert not hessian[kinematics.size :].any()


def test_a_path_has_two_postures(kinematics: RobotKinematics) -> None:
    with pytest.raises(InputError, match=re.escape("path of the criterion: has 1 postures. Give two or more.")):
        NearPath(kinematics, [kinematics.robot.postures["zero"]])
