# SPDX-License-Identifier: Apache-2.0
"""Tasks on links: fulfilled where they should be, broken elsewhere, refused when they make no sense."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import finite_difference
from fixtures.posture_problems import HALF_SITTING, HRP2, kinematics_at

from humanoid_model import InputError
from humanoid_planner.posture.tasks import link_tasks
from humanoid_planner.posture.tasks.state import ForceModel, PostureState
from humanoid_planner.posture.tasks.task import GeometricTask

KINEMATICS = kinematics_at(HRP2, HALF_SITTING)
STATE = PostureState(KINEMATICS, ForceModel(KINEMATICS, (), (), np.array([0, 0, -9.81])))
X = KINEMATICS.coordinates(HALF_SITTING)
HAND = KINEMATICS.point("RARM_LINK6", [0, 0, -0.05]).copy()
TURN = KINEMATICS.placement("RARM_LINK6")[0].copy()
EYE = KINEMATICS.point("HEAD_LINK1", [0.1, 0, 0]).copy()
LOOK = KINEMATICS.direction("HEAD_LINK1", [1, 0, 0]).copy()
COM = KINEMATICS.centre_of_mass().copy()
UP = np.array([0.0, 0.0, 1.0])
ACROSS = np.cross(UP, LOOK)


def excess(task: GeometricTask, x: np.ndarray = X) -> float:
    STATE.set(x)
    value = task.value(STATE)
    return float(max(np.maximum(task.lower - value, value - task.upper)))


def tilted(R: np.ndarray, angle: float) -> np.ndarray:
    return R @ pin.utils.rotate("y", angle)


#: Task at the posture, by how much the first argument's target was moved away, and the excess that must show.
CASES = {
    "point at": (
        lambda d: link_tasks.point_at(KINEMATICS, "RARM_LINK6", [0, 0, -0.05], HAND + np.array([d, 0, 0])),
        0.03,
        0.03,
    ),
    "point near": (
        lambda d: link_tasks.point_at(KINEMATICS, "RARM_LINK6", [0, 0, -0.05], HAND + np.array([0.01 + d, 0, 0]), 0.01),
        0.03,
        0.03,
    ),
    "orientation": (lambda d: link_tasks.orientation(KINEMATICS, "RARM_LINK6", tilted(TURN, d)), 0.3, 0.3),
    "orientation within": (
        lambda d: link_tasks.orientation(KINEMATICS, "RARM_LINK6", tilted(TURN, 0.1 + d), 0.1),
        0.3,
        0.3,
    ),
    "frame at": (
        lambda d: link_tasks.frame_at(
            KINEMATICS, "RARM_LINK6", pin.SE3(np.eye(3), np.array([0, 0, -0.05])), pin.SE3(tilted(TURN, d), HAND)
        ),
        0.3,
        0.3,
    ),
    "frame near": (
        lambda d: link_tasks.frame_at(
            KINEMATICS,
            "RARM_LINK6",
            pin.SE3(np.eye(3), np.array([0, 0, -0.05])),
            pin.SE3(tilted(TURN, 0.2), HAND + np.array([0.02 + d, 0, 0])),
            0.02,
            0.2,
        ),
        0.05,
        0.05,
    ),
    "beyond": (
        lambda d: link_tasks.point_beyond(KINEMATICS, "RARM_LINK6", [0, 0, -0.05], HAND + 2 * d * UP, 5 * UP),
        0.02,
        0.04,
    ),
    "slab": (
        lambda d: link_tasks.point_in_slab(KINEMATICS, "RARM_LINK6", [0, 0, -0.05], HAND - (0.02 + d) * UP, UP, 0.02),
        0.03,
        0.03,
    ),
    "slab from the other side": (
        lambda d: link_tasks.point_in_slab(KINEMATICS, "RARM_LINK6", [0, 0, -0.05], HAND + (0.02 + d) * UP, UP, 0.02),
        0.03,
        0.03,
    ),
    "axis": (lambda d: link_tasks.axis_along(KINEMATICS, "HEAD_LINK1", [1, 0, 0], LOOK + d * ACROSS), 0.2, None),
    "axis within": (
        lambda d: link_tasks.axis_along(
            KINEMATICS, "HEAD_LINK1", [1, 0, 0], np.cos(0.1 + d) * LOOK + np.sin(0.1 + d) * ACROSS, 0.1
        ),
        0.2,
        0.2,
    ),
    "gaze": (
        lambda d: link_tasks.gaze(KINEMATICS, "HEAD_LINK1", [0.1, 0, 0], [1, 0, 0], EYE + 2 * LOOK + d * ACROSS),
        0.2,
        0.2,
    ),
    "gaze within": (
        lambda d: link_tasks.gaze(
            KINEMATICS,
            "HEAD_LINK1",
            [0.1, 0, 0],
            [1, 0, 0],
            EYE + np.cos(0.1 + d) * LOOK + np.sin(0.1 + d) * ACROSS,
            0.1,
        ),
        0.2,
        0.2,
    ),
    "gaze from afar": (
        lambda d: link_tasks.gaze(
            KINEMATICS, "HEAD_LINK1", [0.1, 0, 0], [1, 0, 0], EYE + (1 - d) * LOOK, 0.01, distance=1.0
        ),
        0.4,
        0.4,
    ),
    "centre of mass": (lambda d: link_tasks.centre_of_mass_at(COM + np.array([0, d, 0])), 0.03, 0.03),
    "centre of mass in plan": (
        lambda d: link_tasks.centre_of_mass_at(COM + np.array([0, d, 0.5]), horizontal=True),
        0.03,
        0.03,
    ),
    "centre of mass in sphere": (
        lambda d: link_tasks.centre_of_mass_at(COM + np.array([0, 0.1 + d, 0]), 0.1),
        0.03,
        0.03,
    ),
    "joint": (lambda d: link_tasks.joint_at(KINEMATICS, "RLEG_JOINT3", 0.872664626 + d), 0.1, 0.1),
    "joint within": (lambda d: link_tasks.joint_at(KINEMATICS, "RLEG_JOINT3", 0.772664626 - d, 0.1), 0.1, 0.1),
}


@pytest.mark.feature("001-F018", "001-F095")
@pytest.mark.parametrize("case", CASES)
def test_fulfilled_here_and_broken_by_what_the_target_moved(case: str) -> None:
    make, distance, expected = CASES[case]
    assert excess(make(0.0)) < 1e-9
    broken = excess(make(distance))
    assert broken > 0.01
    if expected is not None:
        assert broken == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_derivatives(case: str) -> None:
    make, distance, _ = CASES[case]
    task = make(distance)
    x = X + 0.2 * np.random.default_rng(2).standard_normal(len(X))

    def value(y: np.ndarray) -> np.ndarray:
        STATE.set(y)
        return task.value(STATE).copy()

    expected = finite_difference(value, x)
    STATE.set(x)
    np.testing.assert_allclose(task.jacobian(STATE), expected, atol=5e-8)


def test_an_axis_the_other_way_round_is_refused() -> None:
    assert excess(link_tasks.axis_along(KINEMATICS, "HEAD_LINK1", [1, 0, 0], -LOOK)) > 0.9
    assert excess(link_tasks.gaze(KINEMATICS, "HEAD_LINK1", [0.1, 0, 0], [1, 0, 0], EYE - LOOK)) > 0.9


@pytest.mark.feature("001-F074")
def test_relative_frame_holds_wherever_the_robot_goes() -> None:
    STATE.set(X)
    (A, a), (B, b) = KINEMATICS.placement("LARM_LINK6"), KINEMATICS.placement("RARM_LINK6")
    relative = pin.SE3(B.copy(), b.copy()).inverse() * pin.SE3(A.copy(), a.copy())
    task = link_tasks.relative_frame(KINEMATICS, "LARM_LINK6", pin.SE3.Identity(), "RARM_LINK6", relative)
    x = X.copy()
    x[:6] += [1, 2, 3, 0.4, 0.5, 0.6]
    assert excess(task, x) < 1e-9
    x[KINEMATICS.names.index("RARM_JOINT3")] += 0.05
    assert excess(task, x) > 0.005


@pytest.mark.feature("001-F074")
def test_a_frame_of_a_link_that_is_fixed_to_another_is_a_target_too() -> None:
    """The sole is a link of its own, below the ankle: held one step apart, the feet are that far apart."""
    apart = pin.SE3(pin.utils.rotate("z", 0.2), np.array([0.1, 0.2, 0.0]))
    task = link_tasks.relative_frame(KINEMATICS, "l_sole", pin.SE3.Identity(), "r_sole", apart)
    STATE.set(X + 0.1 * np.random.default_rng(1).standard_normal(len(X)))
    q = KINEMATICS.configuration(STATE.x)
    data = HRP2.model.createData()
    pin.framesForwardKinematics(HRP2.model, data, q)
    left, right = (data.oMf[HRP2.parts.links[name].frame_id] for name in ("l_sole", "r_sole"))
    target = right * apart
    value = task.value(STATE)
    np.testing.assert_allclose(np.linalg.norm(value[:3]), np.linalg.norm(left.translation - target.translation))
    np.testing.assert_allclose(value[3:], pin.log3(target.rotation.T @ left.rotation), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: link_tasks.point_at(KINEMATICS, "TAIL", [0, 0, 0], [0, 0, 0]), "there is no link 'TAIL'"),
        (lambda: link_tasks.point_at(KINEMATICS, "WAIST", [0, 0], [0, 0, 0]), "point of task 'WAIST at a point'"),
        (lambda: link_tasks.point_at(KINEMATICS, "WAIST", [0, 0, 0], [0, np.nan, 0]), "target of task"),
        (lambda: link_tasks.point_at(KINEMATICS, "WAIST", [0, 0, 0], [0, 0, 0], -1.0), "tolerance of task .*: is -1"),
        (lambda: link_tasks.axis_along(KINEMATICS, "WAIST", [0, 0, 0], UP), "has no direction"),
        (lambda: link_tasks.axis_along(KINEMATICS, "WAIST", UP, UP, 4.0), "angle_tolerance .* from 0 to 3.14"),
        (lambda: link_tasks.joint_at(KINEMATICS, "KNEE", 0.0), "there is no joint 'KNEE'"),
        (lambda: link_tasks.joint_at(KINEMATICS, "RLEG_JOINT3", np.inf), "value of task .*: is inf"),
        (lambda: link_tasks.orientation(KINEMATICS, "WAIST", np.zeros((3, 3))), "is no rotation"),
        (lambda: link_tasks.centre_of_mass_at([0, 0, 0], 0.1, horizontal=True), "horizontal"),
    ],
)
def test_bad_input_is_named(make, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()
