# SPDX-License-Identifier: Apache-2.0
"""What a trajectory request may be; the refusals seen by a client are in test_joint_trajectory_server.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_sim.control.trajectory_request import (
    GivenTrajectory,
    JointLimits,
    MotionCode,
    TrajectoryRequest,
    TrajectoryRequestError,
    check_trajectory,
)

JOINTS = ("a", "b", "c")


def trajectory(
    names: list[str], *rows: list[float], start: float | None = None, end_velocity: list[float] | None = None
) -> GivenTrajectory:
    nothing: list[np.ndarray | None] = [None] * len(rows)
    velocities = nothing if end_velocity is None else [*nothing[1:], np.array(end_velocity)]
    times = [index + 1.0 for index in range(len(rows))]
    return GivenTrajectory(names, times, ([np.array(row) for row in rows], velocities, nothing), None, start)


def check(
    given: GivenTrajectory, now: float = 0.0, limits: JointLimits | None = None, **options: Any
) -> TrajectoryRequest:
    settings = {"partial": False, "moving_end": False, **options}
    return check_trajectory(given, JOINTS, now, limits=limits or JointLimits.none(3), **settings)


def test_any_order_of_joints() -> None:
    request = check(trajectory(["c", "a", "b"], [3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(request.indices, [2, 0, 1])
    assert request.start is None


def test_some_of_the_joints_if_allowed() -> None:
    given = trajectory(["c"], [3.0])
    assert check(given, partial=True).indices.tolist() == [2]
    with pytest.raises(TrajectoryRequestError, match="a, b missing") as error:
        check(given)
    assert error.value.code is MotionCode.INVALID_JOINTS


def test_start_in_the_past_with_its_end_to_come() -> None:
    given = trajectory(list(JOINTS), [0.0] * 3, [1.0] * 3, start=10.0)
    assert check(given, now=11.5).start == 10.0
    with pytest.raises(TrajectoryRequestError, match=r"ends at 12 s, now is 12\.5 s") as error:
        check(given, now=12.5)
    assert error.value.code is MotionCode.OLD_HEADER_TIMESTAMP


def test_moving_end_if_allowed() -> None:
    given = trajectory(list(JOINTS), [0.0] * 3, end_velocity=[0.0, 0.0, 0.1])
    assert check(given, moving_end=True).points.end_time == 1.0
    with pytest.raises(TrajectoryRequestError, match=r"joint 'c' at the end is 0\.1"):
        check(given)


def test_there_is_a_point_and_time_begins_at_zero() -> None:
    with pytest.raises(TrajectoryRequestError, match="points: the trajectory is empty"):
        check(GivenTrajectory(JOINTS, [], ([], [], [])))
    early = GivenTrajectory(JOINTS, [-1.0], ([np.zeros(3)], [None], [None]))
    with pytest.raises(TrajectoryRequestError, match=r"points\[0\]: time_from_start is -1 s"):
        check(early)


LIMITS = JointLimits(np.array([-1.0, -1.0, -np.inf]), np.array([1.0, 1.0, np.inf]), np.array([2.0, 2.0, np.inf]))


@pytest.mark.feature("000-F017")
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.0, 0.5, 0.0], [0.0, 1.5, 0.0]], r"points\[1\]: position of joint 'b' is 1\.5 at 2 s.*limits are -1 and 1"),
        ([[0.0, 0.0, 0.0], [-1.1, 0.0, 0.0]], r"points\[1\]: position of joint 'a' is -1\.1 at 2 s"),
        ([[0.0, 1.01, 0.0]], r"points\[0\]: position of joint 'b' is 1\.01 at 1 s"),
        ([[-1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]], ""),  # just as fast as they can
        ([[0.0, 0.0, 900.0], [0.0, 0.0, -900.0]], ""),  # nothing limits it
        ([[1.0 + 1e-6, 0.0, 0.0]], ""),  # rounded
    ],
)
def test_what_joints_cant_do_is_refused(rows: list[list[float]], message: str) -> None:
    given = trajectory(list(JOINTS), *rows)
    if not message:
        check(given, limits=LIMITS)
        return
    with pytest.raises(TrajectoryRequestError, match=message) as error:
        check(given, limits=LIMITS)
    assert error.value.code is MotionCode.INVALID_GOAL


@pytest.mark.feature("000-F017")
def test_limits_hold_between_the_points_and_for_the_joints_that_are_named() -> None:
    """A cubic from rest to rest is half as fast again as the line; one that ends fast swings out before."""

    def cubic(positions: list[float], velocities: list[float], time: float) -> GivenTrajectory:
        rows = ([np.array([p]) for p in positions], [np.array([v]) for v in velocities], [None, None])
        return GivenTrajectory(["b"], [0.0, time], rows)

    options = {"limits": LIMITS, "partial": True, "moving_end": True}
    check(cubic([-0.5, 0.5], [0.0, 0.0], 0.76), **options)
    with pytest.raises(TrajectoryRequestError, match=r"points\[1\]: velocity of joint 'b' is 2\.\d+ at 0\.\d+ s"):
        check(cubic([-0.5, 0.5], [0.0, 0.0], 0.7), **options)
    with pytest.raises(TrajectoryRequestError, match=r"points\[1\]: position of joint 'b' is 1\.\d+ at"):
        check(cubic([0.9, 0.9], [1.5, -1.5], 1.0), **options)
