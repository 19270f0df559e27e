# SPDX-License-Identifier: Apache-2.0
"""The controller's rules, on joints that do what they are told, late or with an offset if a test says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_sim.control.joint_commands import JointCommands
from humanoid_sim.control.joint_trajectory_controller import (
    JointTrajectoryController,
    Outcome,
)
from humanoid_sim.control.trajectory_request import (
    JointLimits,
    MotionCode,
    Tolerances,
    TrajectoryRequest,
    TrajectoryRequestError,
)

PERIOD = 0.01
NO_LIMITS = Tolerances(np.zeros((3, 2)), np.zeros((3, 2)), 0.0)


class Joints:
    """Three joints that are where they are told to be, but for an offset."""

    name = "joints"
    joint_names = ("a", "b", "c")

    def __init__(self) -> None:
        self.joint_positions = np.zeros(3)
        self.joint_velocities = np.zeros(3)
        self.offset = np.zeros(3)
        self.told: list[np.ndarray] = []
        self.efforts: list[np.ndarray | None] = []

    def set_position_target(
        self, positions: Any, velocities: Any = None, joints: Sequence[str] = joint_names, efforts: Any = None,
        gains: Any = None,
    ) -> None:
        self.efforts.append(None if efforts is None else np.array(efforts))
        places = [self.joint_names.index(name) for name in joints]
        self.joint_positions = self.joint_positions.copy()
        self.joint_velocities = np.zeros(3)
        self.joint_positions[places] = positions + self.offset[places]
        self.joint_velocities[places] = 0.0 if velocities is None else velocities
        self.told.append(np.array(positions))


class Bench:
    """A controller of the joints a and b, and time."""

    def __init__(self, *, open_loop: bool = True, continuous: Sequence[str] = (), speed: float = np.inf) -> None:
        self.joints = Joints()
        self.commands = JointCommands(self.joints)  # type: ignore[arg-type]
        self.controller = JointTrajectoryController(
            "ab",
            ["a", "b"],
            self.commands,
            continuous=continuous,
            limits=replace(JointLimits.none(2), velocity=np.full(2, speed)),
            period=PERIOD,
            interpolate_from_desired_state=open_loop,
        )
        self.now = 0.0
        self.outcomes: list[Outcome] = []

    def start(
        self,
        times: Sequence[float],
        positions: Any,
        velocities: Any = None,
        *,
        start: float | None = None,
        tolerances: Tolerances = NO_LIMITS,
        indices: Sequence[int] = (0, 1),
        finish: Any = None,
        efforts: Any = None,
    ) -> None:
        names = [("a", "b")[i] for i in indices]
        points = JointTrajectory(names, times, positions, velocities, efforts=efforts)
        request = TrajectoryRequest(np.array(indices), start, points)
        self.controller.start(request, tolerances, self.now, finish or self.outcomes.append)

    def run(self, duration: float) -> list[np.ndarray]:
        """Positions of a and b after each update."""
        seen = []
        for _ in range(round(duration / PERIOD)):
            self.controller.update(self.now, *self.commands.joint_state())
            self.now += PERIOD
            seen.append(self.joints.joint_positions[:2].copy())
        return seen


def tolerances(path: float = 0.0, goal: float = 0.0, goal_time: float = 0.0) -> Tolerances:
    return Tolerances.uniform(2, path, goal, 0.0, goal_time)


def test_follows_the_line_through_the_points() -> None:
    bench = Bench()
    bench.start([0.5, 1.0], [[1.0, 0.0], [1.0, -2.0]])
    seen = np.array(bench.run(1.2))
    times = PERIOD * np.arange(1, len(seen) + 1)
    np.testing.assert_allclose(seen[:, 0], np.interp(times, [0.0, 0.5], [0.0, 1.0]), atol=1e-9)
    np.testing.assert_allclose(seen[:, 1], np.interp(times, [0.5, 1.0], [0.0, -2.0]), atol=1e-9)
    assert bench.outcomes == [Outcome(MotionCode.SUCCESSFUL, "Goal reached.")]
    assert not bench.controller.moving


def test_joins_by_a_cubic_where_velocities_are_given() -> None:
    bench = Bench()
    bench.start([1.0], [[1.0, 2.0]], [[0.0, 0.0]])
    seen = np.array(bench.run(1.0))
    cubic = CubicHermiteSpline([0.0, 1.0], [0.0, 1.0], [0.0, 0.0])
    np.testing.assert_allclose(seen[:, 0], cubic(PERIOD * np.arange(1, 101)), atol=1e-9)


def test_efforts_are_fed_forward_in_their_means() -> None:
    """They grow from nothing to the first point and jump where a time is given twice."""
    bench = Bench()
    bench.start(
        [0.1, 0.205, 0.205, 0.3], [[0.0, 0.0]] * 4, efforts=[[10.0, 0.0], [10.0, 0.0], [-20.0, 1.0], [-20.0, 3.0]]
    )
    bench.run(0.32)
    told = np.array([row for row in bench.joints.efforts if row is not None])
    times = PERIOD * np.arange(len(told)) + 0.5 * PERIOD  # amid each period
    np.testing.assert_allclose(told[:10, 0], 100.0 * times[:10], atol=1e-9)
    np.testing.assert_allclose(told[10:20, 0], 10.0, atol=1e-9)
    np.testing.assert_allclose(told[20, 0], 0.5 * 10.0 - 0.5 * 20.0, atol=1e-9)
    np.testing.assert_allclose(told[21:30, 0], -20.0, atol=1e-9)
    np.testing.assert_allclose(told[21:30, 1], np.interp(times[21:30], [0.205, 0.3], [1.0, 3.0]), atol=1e-9)
    bench.start([0.1], [[1.0, 1.0]])
    bench.run(PERIOD)
    assert bench.joints.efforts[-1] is None


@pytest.mark.feature("000-F017")
def test_efforts_go_on_where_one_trajectory_takes_over_from_another() -> None:
    """As the windows of a bridge do: points that lie apart, begun between two of them, or a while from now."""
    bench = Bench()
    for number in range(8):
        now = bench.now
        times = [-0.023, 0.04, 0.1] if number < 6 else [0.02, 0.1]
        efforts = [[3.0 + 10.0 * (now + time), -7.0] for time in times]
        bench.start(times, [[0.0, 0.0]] * len(times), start=now, efforts=efforts)
        bench.run(0.05)
    told = np.array(bench.joints.efforts)
    middles = PERIOD * (np.arange(len(told)) + 0.5)
    off = np.abs(told[:, 0] - 3.0 - 10.0 * middles)
    assert off[middles < 0.3].max() < 1e-4
    assert off.max() < 0.06  # from the mean over the period before
    np.testing.assert_allclose(told[:, 1], -7.0, atol=1e-6)


def test_efforts_of_some_joints_leave_the_others_without() -> None:
    bench = Bench()
    bench.start([0.0, 0.1], [[1.0], [1.0]], indices=(1,), efforts=[[4.0], [4.0]])
    bench.run(PERIOD)
    np.testing.assert_allclose(bench.joints.efforts[-1], [0.0, 4.0])


def test_point_at_time_zero_is_a_step() -> None:
    bench = Bench()
    bench.start([0.0], [[1.0, 2.0]])
    np.testing.assert_array_equal(bench.run(PERIOD)[0], [1.0, 2.0])
    bench.run(PERIOD)
    assert bench.outcomes[0].successful


def test_a_new_trajectory_goes_on_with_the_old_velocity() -> None:
    """Where the points give velocities, neither position nor velocity jumps."""
    bench = Bench()
    bench.start([1.0], [[1.0, 0.0]], [[0.0, 0.0]])
    bench.run(0.5)
    velocity = bench.joints.joint_velocities[0]
    assert velocity == pytest.approx(1.5, rel=1e-6)
    bench.start([1.0], [[0.0, 0.0]], [[0.0, 0.0]])
    assert bench.outcomes[0].code == MotionCode.INVALID_GOAL
    before = bench.joints.joint_positions[0]
    after = bench.run(PERIOD)[0][0]
    assert after == pytest.approx(before + PERIOD * velocity, abs=1e-3)
    bench.run(1.1)
    assert bench.outcomes[1].successful
    assert len(bench.outcomes) == 2


def test_begins_where_the_joints_are_or_should_be() -> None:
    for open_loop, first in ((True, 0.0), (False, 0.3)):
        bench = Bench(open_loop=open_loop)
        bench.joints.joint_positions = np.array([0.3, 0.0, 0.0])
        bench.start([1.0], [[1.0, 0.0]])
        bench.run(PERIOD)
        expected = first + PERIOD * (1.0 - first)
        assert bench.joints.told[0][0] == pytest.approx(expected)


def test_points_that_have_passed_are_left_out() -> None:
    """The first waypoint lies in the past: from here straight to the second one."""
    bench = Bench()
    bench.now = 2.0
    bench.start([0.5, 1.5], [[5.0, 5.0], [1.0, 0.0]], start=1.0)
    seen = np.array(bench.run(0.5))
    np.testing.assert_allclose(seen[:, 0], np.arange(1, 51) / 50.0, atol=1e-9)


def test_one_that_has_passed_before_it_is_begun_leads_to_its_last_point() -> None:
    """A window of a stream that a busy machine brings too late."""
    bench = Bench()
    bench.run(1.0)
    bench.start([0.0, 0.1], [[0.0, 0.0], [1.0, 2.0]], start=0.5)
    bench.run(0.05)
    np.testing.assert_allclose(bench.joints.joint_positions[:2], [1.0, 2.0])
    assert bench.outcomes[-1].successful


def test_later_start_leaves_the_old_motion_until_then() -> None:
    bench = Bench()
    ends: list[str] = []
    bench.start([2.0], [[2.0, 0.0]], finish=lambda o: ends.append(f"old {o.code}"))
    bench.run(0.5)
    bench.start([1.0], [[0.0, 0.0]], start=1.0, finish=lambda o: ends.append(f"new {o.code}"))
    assert ends == [f"old {MotionCode.INVALID_GOAL}"]
    np.testing.assert_allclose(bench.run(0.5)[-1], [1.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(bench.run(0.5)[-1], [0.5, 0.0], atol=0.02)
    bench.run(0.6)
    assert ends == [f"old {MotionCode.INVALID_GOAL}", f"new {MotionCode.SUCCESSFUL}"]


def test_joints_left_out_are_held() -> None:
    bench = Bench()
    bench.start([0.1], [[0.4, 0.7]])
    bench.run(0.2)
    bench.start([0.1], [[1.0]], indices=[0])
    np.testing.assert_allclose(bench.run(0.2)[-1], [1.0, 0.7], atol=1e-9)


def test_continuous_joint_takes_the_short_way() -> None:
    bench = Bench(continuous=["a"])
    bench.joints.joint_positions[0] = bench.commands.positions[0] = 7.0
    bench.start([0.5], [[0.5, 0.5 - 2 * np.pi]], tolerances=tolerances(goal=0.1))
    seen = np.array(bench.run(0.6))
    assert seen[-1, 0] == pytest.approx(0.5 + 2 * np.pi)
    assert abs(np.diff(seen[:, 0])).max() < 0.1
    assert seen[-1, 1] == pytest.approx(0.5 - 2 * np.pi)
    assert bench.outcomes[0].successful


def test_path_tolerance_ends_the_motion_and_holds() -> None:
    bench = Bench()
    bench.start([1.0], [[1.0, 0.0]], tolerances=tolerances(path=0.05))
    bench.run(0.5)
    assert bench.outcomes == []
    bench.joints.offset[1] = 0.2
    bench.run(0.1)
    assert bench.outcomes[0].code == MotionCode.PATH_TOLERANCE_VIOLATED
    assert bench.outcomes[0].text == ("Path tolerance: position of joint 'b' is off by -0.2, the tolerance is 0.05.")
    bench.joints.offset[1] = 0.0
    held = bench.joints.told[-1]
    assert held[1] == pytest.approx(0.2)
    assert np.allclose(bench.run(0.1)[-1], [held[0], 0.2 + 0.2])


def test_goal_tolerance_waits_for_goal_time() -> None:
    bench = Bench()
    bench.joints.offset[0] = 0.1
    bench.start([0.5], [[1.0, 0.0]], tolerances=tolerances(goal=0.05, goal_time=0.2))
    bench.run(0.69)
    assert bench.outcomes == []
    bench.run(0.05)
    assert bench.outcomes[0].code == MotionCode.GOAL_TOLERANCE_VIOLATED
    assert "position of joint 'a' is off by -0.1" in bench.outcomes[0].text


def test_without_goal_time_it_waits_for_ever() -> None:
    bench = Bench()
    bench.joints.offset[0] = 0.1
    bench.start([0.5], [[1.0, 0.0]], tolerances=tolerances(goal=0.05))
    bench.run(20.0)
    assert bench.outcomes == []
    bench.joints.offset[0] = 0.0
    bench.run(0.05)
    assert bench.outcomes[0].successful


def test_must_stop_at_the_end() -> None:
    """The velocity tolerance at the end is that of the error, here of a joint that still moves."""
    bench = Bench()
    limits = Tolerances.uniform(2, 0.0, 0.0, 0.01, 0.1)
    bench.start([0.5], [[1.0, 0.0]], tolerances=limits)
    bench.run(0.5)

    class Sliding(Joints):
        joint_velocities = property(lambda self: np.array([0.5, 0.0, 0.0]), lambda self, v: None)

    bench.joints.__class__ = Sliding
    bench.run(0.2)
    assert bench.outcomes[0].code == MotionCode.GOAL_TOLERANCE_VIOLATED
    assert "velocity of joint 'a'" in bench.outcomes[0].text


def test_acceleration_tolerance() -> None:
    bench = Bench()
    limits = Tolerances(np.array([[0.0] * 2, [0.0] * 2, [50.0] * 2]), np.zeros((3, 2)), 0.0)
    bench.start([1.0], [[1.0, 0.0]], tolerances=limits)
    bench.run(0.1)
    assert bench.outcomes[0].code == MotionCode.PATH_TOLERANCE_VIOLATED
    assert "acceleration of joint 'a'" in bench.outcomes[0].text


def test_cancel_holds_and_release_does_not() -> None:
    for end, held in (("cancel", True), ("release", False)):
        bench = Bench()
        bench.start([1.0], [[1.0, 0.0]])
        bench.run(0.5)
        count = len(bench.joints.told)
        getattr(bench.controller, end)("enough")
        assert bench.outcomes == [Outcome(MotionCode.INVALID_GOAL, "enough")]
        assert len(bench.joints.told) - count == held
        before = bench.joints.joint_positions.copy()
        bench.run(0.1)
        np.testing.assert_array_equal(bench.joints.joint_positions, before)


def test_cancel_of_a_motion_that_is_over_does_nothing() -> None:
    bench = Bench()

    def first(outcome: Outcome) -> None:
        pass

    bench.start([0.1], [[1.0, 0.0]], finish=first)
    bench.run(0.2)
    bench.start([1.0], [[0.0, 0.0]])
    bench.controller.cancel_motion_of(first, "late")
    assert bench.outcomes == []
    assert bench.controller.moving


def test_samples_ahead() -> None:
    bench = Bench()
    bench.start([1.0], [[1.0, 0.0]])
    sample = bench.controller.sample(bench.now, 0.25)
    assert sample is not None
    np.testing.assert_allclose(sample.positions, [0.25, 0.0])
    bench.run(0.5)
    assert bench.controller.sample(bench.now, 0.1) is None
    bench.run(0.6)
    rest = bench.controller.sample(bench.now, 99.0)
    assert rest is not None
    np.testing.assert_allclose(rest.positions, [1.0, 0.0])
    np.testing.assert_array_equal(rest.velocities, 0.0)


@pytest.mark.feature("000-F017")
def test_a_way_that_is_too_fast_is_refused_and_what_moves_goes_on() -> None:
    """Half a radian in a millisecond; the same where the first point is at once, or the trajectory begins later."""
    bench = Bench(speed=2.0)
    bench.start([1.0], [[1.0, 0.0]])
    bench.run(0.2)
    for times, start in (([0.001, 1.0], None), ([0.0, 1.0], None), ([0.1, 1.0], bench.now - 0.099)):
        with pytest.raises(
            TrajectoryRequestError, match=r"points\[0\]: joint 'b' is at 0; to be at -0\.5 0.* limit is 2"
        ):
            bench.start(times, [[0.2, -0.5], [0.0, 0.0]], start=start)
    later: list[Outcome] = []
    bench.start([0.1], [[0.2, -0.5]], start=bench.now + 0.5, finish=later.append)
    seen = bench.run(0.9)
    assert [outcome.code for outcome in later] == [MotionCode.INVALID_GOAL]
    assert "joint 'a' is at 0.7" in later[0].text
    np.testing.assert_allclose(seen[-1], [1.0, 0.0], atol=1e-9)
    bench.start([1.0], [[0.0, 1.9]])
    bench.run(1.1)
    assert bench.outcomes[-1].successful


def test_a_window_that_comes_late_may_lead_a_little_aside() -> None:
    """Two trajectories in one control period, the second's first point just ahead: speeds go on."""
    bench = Bench(speed=2.0)
    times = np.linspace(0.0, 1.0, 101)
    rows = [[1.9 * time, 0.0] for time in times]
    bench.start(times, rows, [[1.9, 0.0]] * 100 + [[0.0, 0.0]])
    bench.run(0.3)
    for _ in range(2):
        bench.start(times[31:] - 0.3049, rows[31:], [[1.9, 0.0]] * 69 + [[0.0, 0.0]], start=bench.now)
    seen = np.array(bench.run(0.2))[:, 0]
    assert np.diff(seen).min() > 0.01
