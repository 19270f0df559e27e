# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_model import InputError, Robot, load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.motion.near_guide import RADIAN, NearGuide
from humanoid_planner.posture.problem.force_model import ForceModel
from humanoid_planner.posture.problem.state import PostureState

pytestmark = pytest.mark.feature("001-F049")


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2")


def key_postures(robot: Robot) -> list[np.ndarray]:
    """Ahead, then to the left and lower while the knees bend."""
    places = [(0.0, 0.0, 0.0, "zero"), (1.0, 0.1, 0.0, "half_sitting"), (1.2, 1.0, 0.6, "squat")]
    postures = []
    for x, y, yaw, name in places:
        q = robot.postures[name]
        move = pin.SE3(pin.utils.rotate("z", yaw), np.array([x, y, 0.0]))
        postures.append(robot.place_base(q, move * robot.placement_base(q)))
    return postures


def state_of(robot: Robot) -> PostureState:
    kinematics = RobotKinematics(robot)
    return PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))


@pytest.mark.feature("001-F188")
def test_on_the_guide_only_progress_counts(robot: Robot) -> None:
    state = state_of(robot)
    postures = key_postures(robot)
    for switch in (None, 1.0):
        guide = NearGuide(state.kinematics, postures, progress=0.7, switch=switch)
        state.set(state.kinematics.coordinates(postures[0]))
        assert guide.value(state) == pytest.approx(0.0, abs=1e-12)
        state.set(state.kinematics.coordinates(postures[2]))
        assert guide.value(state) == pytest.approx(-0.7 * guide.path.length)
        between = [state.kinematics.coordinates(q) for q in postures[:2]]
        state.set(0.5 * (between[0] + between[1]))
        ahead = np.zeros(6)
        ahead[:3] = (between[1] - between[0])[:3]
        assert guide.value(state) == pytest.approx(-0.35 * np.linalg.norm(ahead), rel=1e-6)


@pytest.mark.feature("001-F190")
def test_formulas(robot: Robot) -> None:
    """(6.7) and (6.8) beside a straight guide, where the nearest point is known."""
    state = state_of(robot)
    first, second = key_postures(robot)[:2]
    start, end = (state.kinematics.coordinates(q) for q in (first, second))
    x = 0.25 * end + 0.75 * start
    knee, lean = state.kinematics.names.index("RLEG_JOINT3"), state.kinematics.names.index("HEAD_JOINT0")
    for angle in (0.4, 3.0):
        moved = x.copy()
        moved[[knee, lean]] += angle
        state.set(moved)
        distance = RADIAN * angle * np.sqrt(2)
        length = 0.25 * np.linalg.norm((end - start)[:3])
        quadratic = NearGuide(state.kinematics, [first, second], progress=0.3, switch=None)
        mixed = NearGuide(state.kinematics, [first, second], progress=0.3, switch=1.0)
        assert quadratic.value(state) == pytest.approx(distance**2 - 0.3 * length)
        expected = 0.5 * distance**2 if distance <= 1 else distance - 0.5
        assert mixed.value(state) == pytest.approx(expected - 0.3 * length)


@pytest.mark.feature("001-F190")
@pytest.mark.parametrize("switch", [None, 0.2, 5.0])
def test_gradient_by_finite_differences(robot: Robot, switch: float | None) -> None:
    state = state_of(robot)
    postures = key_postures(robot)
    guide = NearGuide(state.kinematics, postures, progress=0.4, switch=switch, deviation=0.2)
    rng = np.random.default_rng(4)
    corners = np.array([state.kinematics.coordinates(q) for q in postures])
    for share in (0.3, 0.9, 1.0, 1.1, 1.6):
        index = int(share)
        x = corners[index] + (share - index) * (corners[index + 1] - corners[index]) if share < 2 else corners[2]
        x = x + rng.normal(scale=0.03, size=len(x))
        state.set(x)
        gradient = guide.gradient(state)
        step = 1e-6
        for column in range(len(x)):
            values = []
            for sign in (1, -1):
                moved = x.copy()
                moved[column] += sign * step
                state.set(moved)
                values.append(guide.value(state))
            assert gradient[column] == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-6)


def test_hessian_is_that_of_the_valley(robot: Robot) -> None:
    """Positive semidefinite, and the gradient's derivative across the guide."""
    state = state_of(robot)
    guide = NearGuide(state.kinematics, key_postures(robot), progress=0.0, switch=None)
    x = 0.5 * sum(state.kinematics.coordinates(q) for q in key_postures(robot)[:2])
    x = np.asarray(x)
    state.set(x)
    H = guide.hessian(state)
    assert np.linalg.eigvalsh(H).min() > -1e-12
    step = 1e-6
    numeric = []
    for column in range(36):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[column] += sign * step
            state.set(moved)
            ends.append(guide.gradient(state))
        numeric.append((ends[0] - ends[1]) / (2 * step))
    assert_allclose(H, np.array(numeric), atol=1e-5)


def test_bad_input_is_refused(robot: Robot) -> None:
    kinematics = RobotKinematics(robot)
    q = robot.postures["half_sitting"]
    with pytest.raises(InputError, match="root doesn't move"):
        NearGuide(kinematics, [q, robot.place_base(robot.postures["zero"], robot.placement_base(q))], progress=1.0)
    with pytest.raises(InputError, match="progress"):
        NearGuide(kinematics, key_postures(robot), progress=-1.0)
    with pytest.raises(InputError, match="switch"):
        NearGuide(kinematics, key_postures(robot), progress=1.0, switch=0.0)
    fixed = load_robot("robot_2r_a")
    with pytest.raises(InputError, match="no floating base"):
        NearGuide(RobotKinematics(fixed), [fixed.postures["zero"]] * 2, progress=1.0)
