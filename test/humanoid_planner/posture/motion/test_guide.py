# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_model import InputError, Robot, load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.motion.guide import RADIAN, GuidePath, NearGuide
from humanoid_planner.posture.tasks.state import ForceModel, PostureState

CORNERS = np.array([[0.0, 0, 0], [1, 0, 0.5], [1, 1, -0.5], [2.5, 1.2, 0.3]])


def dense(path: GuidePath, count: int = 4001) -> np.ndarray:
    """Points of the path by its pieces."""
    return np.concatenate([[piece.position(s) for s in np.linspace(0, 1, count)] for piece in path._pieces])


@pytest.mark.feature("001-F188")
def test_a_straight_guide() -> None:
    path = GuidePath([[0.0, 0, 1], [2, 0, 3]], [0, 1])
    assert path.length == pytest.approx(2.0)  # the root's part only
    near = path.nearest(np.array([0.5, 7.0, -4.0]))
    assert_allclose(near.point, [0.5, 0.0, 1.5])
    assert near.length == pytest.approx(0.5)
    assert_allclose(near.velocity[:, None] * near.gradient, [[1, 0, 0], [0, 0, 0], [1, 0, 0]])
    for beyond, point in ((-1.0, [0, 0, 1]), (9.0, [2, 0, 3])):
        end = path.nearest(np.array([beyond, 0.0, 0.0]))
        assert_allclose(end.point, point)
        assert_allclose(end.gradient, 0.0)


@pytest.mark.feature("001-F189")
def test_corners_are_rounded_within_the_deviation() -> None:
    """The curve passes a corner at 3/8 tau sin(angle / 2) and has continuous velocity and curvature."""
    for deviation in (0.01, 0.05):
        points = dense(GuidePath(CORNERS, [0, 1], deviation))
        for corner, shorter in ((1, np.sqrt(1.25)), (2, np.sqrt(2.0))):
            gap = np.linalg.norm(points - CORNERS[corner], axis=1).min()
            assert gap == pytest.approx(deviation * shorter, rel=1e-3)
        assert_allclose(points[[0, -1]], CORNERS[[0, -1]])
    path = GuidePath(CORNERS, [0, 1])
    for before, after in zip(path._pieces, path._pieces[1:], strict=False):
        assert_allclose(before.position(1.0), after.position(0.0), atol=1e-12)
        ends = [piece.velocity(s) for piece, s in ((before, 1.0), (after, 0.0))]
        assert_allclose(*(v / np.linalg.norm(v) for v in ends), atol=1e-12)
        assert_allclose(before.acceleration(1.0), 0.0, atol=1e-12)
        assert_allclose(after.acceleration(0.0), 0.0, atol=1e-12)
    assert_allclose(GuidePath(CORNERS, [0, 1], 0.0).nearest(CORNERS[1]).point, CORNERS[1], atol=1e-12)


def test_wide_deviation_leaves_half_of_each_segment() -> None:
    path = GuidePath(CORNERS, [0, 1], 1.0)
    points = dense(path)
    assert np.linalg.norm(points - 0.5 * (CORNERS[1] + CORNERS[2]), axis=1).min() < 0.5
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).max() < 1e-2


def test_nearest_point_by_brute_force() -> None:
    path = GuidePath(CORNERS, [0, 1])
    points = dense(path)
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points[:, :2], axis=0), axis=1))])
    assert path.length == pytest.approx(lengths[-1], rel=1e-6)
    rng = np.random.default_rng(1)
    for y in rng.uniform([-0.5, -0.5, -2], [3, 1.7, 2], size=(200, 3)):
        near = path.nearest(y)
        squares = ((points[:, :2] - y[:2]) ** 2).sum(axis=1)
        best = int(np.argmin(squares))
        assert ((near.point - y)[:2] ** 2).sum() == pytest.approx(squares[best], abs=1e-6)
        if np.linalg.norm(near.point - points[best]) < 0.01:  # not between two equally near points
            assert near.length == pytest.approx(lengths[best], abs=2e-3)


def test_derivatives_of_the_nearest_point() -> None:
    path = GuidePath(CORNERS, [0, 1])
    rng = np.random.default_rng(2)
    points = dense(path, 50)
    step = 1e-6
    for y in points[rng.integers(len(points), size=40)] + rng.normal(scale=0.01, size=(40, 3)):
        near = path.nearest(y)
        for axis in range(3):
            shift = step * np.eye(3)[axis]
            ends = [path.nearest(y + sign * shift) for sign in (1, -1)]
            moved = (ends[0].point - ends[1].point) / (2 * step)
            assert_allclose(near.velocity * near.gradient[axis], moved, atol=1e-4)
            grown = (ends[0].length - ends[1].length) / (2 * step)
            assert near.rate * near.gradient[axis] == pytest.approx(grown, abs=1e-4)


@pytest.mark.feature("001-F189")
def test_length_grows_smoothly_past_a_corner() -> None:
    """On a line beside the guide the length's derivative has no jump, which arcs of circles would give it."""
    path = GuidePath([[0.0, 0], [1, 0], [1, 1]], [0, 1], 0.2)
    slopes = []
    for count in (400, 800):
        # Outside the bend the offset is never beyond the centre of curvature.
        s = np.linspace(0, 1, count + 1)
        queries = np.column_stack([0.3 + 0.9 * s, -0.1 + 0.6 * s**2])
        rates = []
        for y in queries:
            near = path.nearest(y)
            rates.append(near.rate * near.gradient)
        slopes.append(np.abs(np.diff(rates, axis=0)).max())
    assert slopes[1] < 0.6 * slopes[0]


def test_bad_guides_are_refused() -> None:
    with pytest.raises(InputError, match="two or more"):
        GuidePath([[0.0, 0]], [0])
    with pytest.raises(InputError, match="root doesn't move between key points 1 and 2"):
        GuidePath([[0.0, 0], [1, 0], [1, 1]], [0])
    with pytest.raises(InputError, match="turns back at key point 1"):
        GuidePath([[0.0, 0], [1, 0], [0, 1]], [0])
    with pytest.raises(InputError, match="deviation"):
        GuidePath([[0.0, 0], [1, 0]], [0], -0.1)


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


@pytest.mark.feature("001-F049")
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


@pytest.mark.feature("001-F049")
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


@pytest.mark.feature("001-F049")
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


@pytest.mark.feature("001-F049")
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


@pytest.mark.feature("001-F049")
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
