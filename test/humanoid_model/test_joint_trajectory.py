# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories against polynomials solved in another way and against scipy's interpolators."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.interpolate import BPoly, CubicHermiteSpline, interp1d

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory

NAMES = ["a", "b"]
VALUES = st.floats(-10.0, 10.0, allow_subnormal=False)
STEPS = hnp.arrays(float, 4, elements=st.floats(1e-2, 10.0, allow_subnormal=False))


@given(
    steps=STEPS, rows=hnp.arrays(float, (3, 5, 2), elements=VALUES), share=st.floats(0.0, 0.9999)
)
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("given_derivatives", [0, 1, 2])
def test_sample_meets_scipy(
    given_derivatives: int, steps: np.ndarray, rows: np.ndarray, share: float
) -> None:
    """Line, cubic and quintic are those of interp1d, CubicHermiteSpline and BPoly."""
    times = np.concatenate([[1.0], 1.0 + np.cumsum(steps)])
    trajectory = JointTrajectory(NAMES, times, *rows[: given_derivatives + 1])
    if given_derivatives == 0:
        oracle = interp1d(times, rows[0], axis=0)
    elif given_derivatives == 1:
        oracle = CubicHermiteSpline(times, rows[0], rows[1])
    else:
        oracle = BPoly.from_derivatives(times, rows.transpose(1, 0, 2))
    time = times[0] + share * (times[-1] - times[0])
    sample = trajectory.at(time)
    np.testing.assert_allclose(sample.positions, oracle(time), rtol=1e-9, atol=1e-8)
    if given_derivatives:
        scale = np.abs(rows).max() * (1.0 + 1.0 / steps.min())
        np.testing.assert_allclose(sample.velocities, oracle(time, 1), rtol=1e-8, atol=1e-8 * scale)
        scale *= 1.0 + 1.0 / steps.min()
        np.testing.assert_allclose(
            sample.accelerations, oracle(time, 2), rtol=1e-8, atol=1e-8 * scale
        )


@pytest.mark.parametrize("given_derivatives", [0, 1, 2])
def test_velocity_and_acceleration_are_derivatives(given_derivatives: int) -> None:
    """Central differences of positions and velocities, inside a segment."""
    rows = np.random.default_rng(1).normal(size=(3, 3, 2))
    trajectory = JointTrajectory(NAMES, [0.0, 0.7, 2.0], *rows[: given_derivatives + 1])
    step = 1e-5
    for time in (0.2, 0.5, 1.1, 1.9):
        before, here, after = (trajectory.at(time + k * step) for k in (-1, 0, 1))
        velocity = (after.positions - before.positions) / (2 * step)
        acceleration = (after.velocities - before.velocities) / (2 * step)
        np.testing.assert_allclose(here.velocities, velocity, atol=1e-7)
        np.testing.assert_allclose(here.accelerations, acceleration, atol=1e-7)


def test_points_that_give_different_things() -> None:
    """A segment is as smooth as its poorer end allows."""
    trajectory = JointTrajectory(
        ["a"],
        [0.0, 1.0, 2.0, 3.0],
        [[0.0], [1.0], [3.0], [4.0]],
        [[0.0], [2.0], [0.5], None],
        [None, [1.0], [-1.0], [0.0]],
    )
    cubic = CubicHermiteSpline([0.0, 1.0], [0.0, 1.0], [0.0, 2.0])
    quintic = BPoly.from_derivatives([1.0, 2.0], [[1.0, 2.0, 1.0], [3.0, 0.5, -1.0]])
    assert trajectory.at(0.3).positions[0] == pytest.approx(cubic(0.3), abs=1e-12)
    assert trajectory.at(1.6).positions[0] == pytest.approx(quintic(1.6), abs=1e-12)
    assert trajectory.at(2.5).positions[0] == pytest.approx(3.5, abs=1e-12)
    assert trajectory.at(2.5).velocities[0] == pytest.approx(1.0, abs=1e-12)


def test_holds_before_and_after() -> None:
    """Outside its times a trajectory stands still at its ends."""
    trajectory = JointTrajectory(["a"], [1.0, 2.0], [[3.0], [5.0]], [[1.0], [2.0]])
    for time, position in ((0.0, 3.0), (2.0, 5.0), (9.0, 5.0)):
        sample = trajectory.at(time)
        assert (sample.positions[0], sample.velocities[0], sample.accelerations[0]) == (
            position,
            0.0,
            0.0,
        )
    assert (trajectory.start_time, trajectory.end_time) == (1.0, 2.0)


def test_single_point() -> None:
    """One point is a step to it."""
    assert JointTrajectory(["a"], [0.0], [[3.0]]).at(0.0).positions[0] == 3.0


EFFORTS = JointTrajectory(
    NAMES,
    [1.0, 2.0, 2.0, 4.0],
    [[0.0, 1.0], [2.0, 1.0], [2.0, 1.0], [0.0, 0.0]],
    [[0.0, 0.0]] * 4,
    efforts=[[0.0, 5.0], [10.0, 5.0], [-4.0, 7.0], [0.0, 7.0]],
)


@pytest.mark.parametrize(("start", "end"), [(1.0, 4.0), (1.9, 2.3), (0.0, 1.5), (3.0, 9.0), (2.0, 2.5), (1.5, 2.0)])
def test_mean_efforts_hold_the_impulse_across_jumps(start: float, end: float) -> None:
    """Against a sum over thin slices of straight lines that jump at 2 s."""
    middles = start + (end - start) * (np.arange(40000) + 0.5) / 40000

    def line(before: list[float], after: list[float]) -> np.ndarray:
        held = np.clip(middles, 1.0, 4.0)
        return np.where(held < 2.0, np.interp(held, [1.0, 2.0], before), np.interp(held, [2.0, 4.0], after))

    expected = [line([0.0, 10.0], [-4.0, 0.0]).mean(), line([5.0, 5.0], [7.0, 7.0]).mean()]
    np.testing.assert_allclose(EFFORTS.mean_efforts(start, end), expected, atol=1e-3)


def test_joints_run_through_a_jump_of_efforts() -> None:
    assert EFFORTS.efforts is not None
    for time in (2.0 - 1e-9, 2.0, 2.0 + 1e-9):
        np.testing.assert_allclose(EFFORTS.at(time).positions, [2.0, 1.0], atol=1e-7)
    np.testing.assert_allclose(EFFORTS.at(3.0).positions, [1.0, 0.5], atol=1e-12)
    np.testing.assert_allclose(JointTrajectory(["a"], [0.0], [[1.0]], efforts=[[3.0]]).mean_efforts(-1.0, 2.0), [3.0])


@pytest.mark.parametrize(
    ("times", "positions", "efforts", "message"),
    [
        ([0.0, 1.0], [[0.0], [1.0]], [[1.0], None], r"points\[1\]: no efforts. Give efforts for all"),
        ([0.0, 1.0], [[0.0], [1.0]], [[1.0], [np.nan]], r"points\[1\]: efforts of joint 'a' is nan"),
        ([0.0, 1.0], [[0.0], [1.0]], [[1.0]], "points: efforts of 1 points for 2 times"),
        ([0.0, 0.0], [[0.0], [1.0]], [[1.0], [2.0]], r"points\[1\]: positions jump at 0 s. Only efforts may"),
        ([0.0, 0.0, 0.0], [[0.0]] * 3, [[1.0]] * 3, r"points\[2\]: time 0 s is not later"),
        ([1.0, 0.0], [[0.0], [0.0]], [[1.0], [2.0]], r"points\[1\]: time 0 s is not later"),
    ],
)
def test_refused_efforts(times: list[float], positions: list, efforts: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        JointTrajectory(["a"], times, positions, efforts=efforts)


def test_refused_means() -> None:
    with pytest.raises(InputError, match="trajectory: has no efforts"):
        JointTrajectory(["a"], [0.0], [[1.0]]).mean_efforts(0.0, 1.0)
    with pytest.raises(InputError, match=r"mean_efforts: from 1 to 1 s\. Let the end be later"):
        EFFORTS.mean_efforts(1.0, 1.0)


@pytest.mark.parametrize(
    ("names", "times", "rows", "message"),
    [
        ([], [0.0], [[[]]], "joint_names: no joint is named."),
        (["a", "a"], [0.0], [[[1.0, 2.0]]], "joint_names: 'a' occurs twice. Name each joint once."),
        (["a"], [], [[]], r"points: times have the shape \(0,\). Give at least one point."),
        (["a"], [0.0, np.nan], [[[1.0], [1.0]]], r"points\[1\]: time is nan."),
        (
            ["a"],
            [0.0, 2.0, 1.5],
            [[[1.0]] * 3],
            r"points\[2\]: time 1.5 s is not later than the 2 s before it. Let times increase",
        ),
        (["a"], [0.0, 0.0], [[[1.0]] * 2], r"points\[1\]: time 0 s is not later than the 0 s"),
        (["a"], [0.0], [[[1.0, 2.0]]], r"points\[0\]: 2 positions for 1 joints. Give each joint"),
        (
            ["a"],
            [0.0],
            [[[1.0]], [[1.0, 2.0]]],
            r"points\[0\]: 2 velocities for 1 joints. Give each",
        ),
        (["a"], [0.0], [[[1.0], [2.0]]], "points: positions of 2 points for 1 times. Give each"),
        (["a"], [0.0], [[None]], r"points\[0\]: no positions."),
        (["a"], [0.0], [[[np.nan]]], r"points\[0\]: positions of joint 'a' is nan. Give finite"),
        (
            ["a"],
            [0.0],
            [[[1.0]], [[0.0]], [[np.inf]]],
            r"points\[0\]: accelerations of joint 'a' is inf. Give finite numbers.",
        ),
    ],
)
def test_refused(names: list[str], times: list[float], rows: list, message: str) -> None:
    """Bad trajectories are refused by an error that names the point, the field and the value."""
    with pytest.raises(InputError, match=message):
        JointTrajectory(names, times, *rows)
