# SPDX-License-Identifier: Apache-2.0
"""A motion executed in steps of a clock that is set, on the simulator's own controllers without messages between."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.action import ExecuteTrajectory

from humanoid_control.execution.path_timing import PathTiming
from humanoid_control.execution.soft_stop import StopPlace
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_ros.controller_bridge.bridge_settings import BridgeSettings, Fault, Stop, load_bridge_settings
from humanoid_ros.controller_bridge.controller_outputs import Form, Reference, TrajectoryOutput
from humanoid_ros.controller_bridge.execution import Execution, Trouble
from humanoid_ros.controller_bridge.trajectory_request import CheckedMotion
from humanoid_sim.control.joint_commands import JointCommands
from humanoid_sim.control.joint_trajectory_controller import JointTrajectoryController
from humanoid_sim.control.trajectory_request import GivenTrajectory, JointLimits, Tolerances, check_trajectory

pytestmark = pytest.mark.feature("000-F029")

PERIOD = 0.01
LOOK = 2
"""Periods from one look of the bridge to the next."""
LENGTH = 4.01
BEGIN = 1.0
CONFIG = """
robot: robot_2r_a
controllers:
  first: {kind: trajectory_topic, name: first, joints: [joint1]}
  second: {kind: trajectory_action, name: second, joints: [joint2]}
timing: {watchdog: 100}
"""


PLACES = tuple(StopPlace(0.1 * k, 0.1 * k + 0.25, 2.0) for k in range(38))
"""Where a robot can stand, and brakes to."""


class World:
    """A clock, two joints that are where their controllers want them, and what the bridge asks a node for."""

    name, joint_names, executor = "arm", ("joint1", "joint2"), None

    def __init__(self) -> None:
        self.nanoseconds = 0
        self.stamp, self.words = -1.0, ""
        self.joint_positions, self.joint_velocities = np.zeros(2), np.zeros(2)

    def get_clock(self) -> World:
        return self

    def now(self) -> World:
        return self

    def get_parameter(self, name: str) -> Any:
        return SimpleNamespace(get_parameter_value=lambda: SimpleNamespace(bool_value=True))

    def get_logger(self) -> Any:
        return SimpleNamespace(warning=lambda words: None)

    def set_position_target(
        self, positions: Any, velocities: Any, joints: Any, efforts: Any, gains: Any = None
    ) -> None:
        index = [self.joint_names.index(name) for name in joints]
        self.joint_positions, self.joint_velocities = self.joint_positions.copy(), np.zeros(2)
        self.joint_positions[index] = positions

    def of(self, joints: tuple[str, ...]) -> Any:
        return self.joint_positions[[self.joint_names.index(name) for name in joints]]

    def times(self, joints: tuple[str, ...]) -> Any:
        return np.full(len(joints), self.stamp)

    def stale(self, joints: tuple[str, ...], age: float, ahead: float) -> str:
        return self.words


class Output(TrajectoryOutput):
    """A controller that takes what it is sent at once, unless it is deaf, and tells its reference."""

    lost, deaf, sent, answers = "", False, 0, True

    def __init__(self, world: World, commands: JointCommands, settings: Any, form: Form) -> None:
        self.settings, self.form, self.world = settings, form, world
        self.promises: list[tuple[float, float, JointTrajectory]] = []
        self.controller = JointTrajectoryController(
            settings.name,
            settings.joints,
            commands,
            limits=JointLimits.none(len(settings.joints)),
            period=PERIOD,
            interpolate_from_desired_state=True,
        )

    def absent(self) -> str:
        return ""

    def silence(self) -> float:
        return 0.0

    def news(self) -> Reference:
        now = 1e-9 * self.world.nanoseconds
        desired = self.controller.state(now, self.world.joint_positions, self.world.joint_velocities).desired
        return Reference(now, desired[0], desired[1])

    @property
    def accepted(self) -> bool:
        return self.answers or self.sent == 1

    @property
    def done(self) -> bool:
        return self.form is not Form.GOAL or not self.controller.moving

    def send(self, points: JointTrajectory, until: float = 0.0) -> None:
        self.sent += 1
        self.promises.append((1e-9 * self.world.nanoseconds, until, points))
        if self.deaf:
            return
        if self.form is Form.SET_POINT:
            self.world.set_position_target(points.positions[0], None, self.settings.joints, None)
            return
        rows: Any = points.positions, points.velocities, [None] * len(points.times)
        given = GivenTrajectory(self.settings.joints, points.times - points.times[0], rows, start=points.times[0])
        now = 1e-9 * self.world.nanoseconds
        limits = self.controller.limits
        request = check_trajectory(given, self.settings.joints, now, limits=limits, partial=False, moving_end=False)
        self.controller.start(request, Tolerances.uniform(1, 0.0, 0.0, 0.01, 0.0), now, lambda _: None)

    def hold(self, positions: Any) -> None:
        self.held = positions
        self.controller.cancel("held")


class Bench:
    """The bridge's execution of both joints' way from 0 to 1 and 2 rad; the first joint gets windows."""

    def __init__(
        self,
        settings: BridgeSettings,
        second: Form,
        stops: tuple[StopPlace, ...] | None = None,
        first: Form = Form.WINDOW,
    ) -> None:
        self.world = World()
        commands = JointCommands(self.world)  # type: ignore[arg-type]
        self.outputs = {
            key: Output(self.world, commands, settings.controllers[key], form)
            for key, form in (("first", first), ("second", second))
        }
        still = [np.zeros(2)] * 2
        path = JointTrajectory(World.joint_names, [0.0, LENGTH], [np.zeros(2), np.array([1.0, 2.0])], still)
        node: Any = self.world
        motion = CheckedMotion(path, None, stops, np.full(2, np.inf), None)
        self.execution = Execution(
            node, settings, motion, PathTiming(BEGIN, LENGTH), self.outputs, node, settings.tolerances
        )
        self.execution.start()
        self.track: list[tuple[float, Any]] = []

    def run(self, until: float = 30.0, hung: bool = False) -> None:
        """Go on until a time [s] or the motion's end; a bridge that hangs does nothing meanwhile."""
        for count in itertools.count():
            now = 1e-9 * self.world.nanoseconds
            if now > until - 1e-6 or self.execution.ended.done():
                return
            for output in self.outputs.values():
                output.controller.update(now, self.world.joint_positions, self.world.joint_velocities)
            self.world.stamp = now
            self.track.append((now, self.world.joint_positions.copy()))
            if count % LOOK == 0 and not hung:
                self.execution.tick()
            self.world.nanoseconds += round(1e9 * PERIOD)


@pytest.fixture
def settings(tmp_path: Any) -> BridgeSettings:
    file = tmp_path / "bridge.yaml"
    file.write_text(CONFIG)
    return load_bridge_settings(str(file))


@pytest.mark.parametrize("silence", list(Stop))
def test_at_the_end_no_controller_has_a_window_left_and_none_came_late(settings: BridgeSettings, silence: Stop) -> None:
    settings.stops[Fault.SILENCE] = silence  # type: ignore[index]
    bench = Bench(settings, Form.WINDOW, PLACES)
    bench.run()
    assert bench.execution.ended.result().message == "the end is reached"
    assert not any(output.controller.moving for output in bench.outputs.values())
    np.testing.assert_allclose(bench.world.joint_positions, [1.0, 2.0])


@pytest.mark.feature("000-F029")
@pytest.mark.parametrize("silence", list(Stop))
def test_a_window_runs_on_the_path_until_the_next_one_is_promised(settings: BridgeSettings, silence: Stop) -> None:
    """It comes by then, and the window is the path's at full speed; behind the last one none is promised."""
    settings.stops[Fault.SILENCE] = silence  # type: ignore[index]
    bench = Bench(settings, Form.WINDOW, PLACES)
    bench.run()
    promises = bench.outputs["first"].promises
    assert len(promises) > 10
    for (_, until, points), (sent, _, _) in itertools.pairwise(promises):
        if until == 0.0:
            break
        assert sent < until < points.times[-1]
        along = points.times <= until
        share = (points.times[along] - BEGIN) / LENGTH
        np.testing.assert_allclose(points.positions[along, 0], 3.0 * share**2 - 2.0 * share**3, atol=1e-6)
    assert promises[-1][1] == 0.0


def test_a_controller_with_a_goal_waits_for_one_whose_windows_are_held_up(settings: BridgeSettings) -> None:
    bench = Bench(settings, Form.GOAL)
    bench.run(BEGIN + 1.5)
    bench.outputs["first"].deaf = True
    bench.run(BEGIN + 3.5)
    bench.outputs["first"].deaf = False
    bench.run()
    assert bench.execution.ended.result().success, bench.execution.ended.result().message
    times, (first, second) = np.array([when for when, _ in bench.track]), np.array([row for _, row in bench.track]).T
    waiting = (times > BEGIN + 2.0) & (times < BEGIN + 3.5)
    assert np.ptp(first[waiting]) < 1e-9
    # From its path, b = 2 a, the second one strays by what it goes on between two goals; alone it came to 1.4 rad.
    assert np.abs(second - 2.0 * first).max() < 0.1
    np.testing.assert_allclose([first[-1], second[-1]], [1.0, 2.0])
    assert bench.outputs["second"].sent < 30


def test_at_the_end_a_controller_with_a_goal_is_done_and_got_one(settings: BridgeSettings) -> None:
    bench = Bench(settings, Form.GOAL)
    bench.run()
    assert bench.execution.ended.result().message == "the end is reached"
    assert bench.outputs["second"].sent == 1


def test_time_went_back_also_if_it_has_caught_up_before_the_joints_tell_that_they_were_set_back(
    settings: BridgeSettings,
) -> None:
    bench = Bench(settings, Form.WINDOW)
    bench.run(BEGIN + 1.5)
    bench.execution.tick()
    sent = bench.outputs["first"].sent
    for now in np.arange(0.5, BEGIN + 2.0, LOOK * PERIOD):
        bench.world.nanoseconds = round(1e9 * now)
        bench.execution.tick()
    assert not bench.execution.ended.done()
    assert bench.outputs["first"].sent == sent
    bench.world.stamp, bench.world.joint_positions = float(now), np.zeros(2)
    bench.execution.tick()
    assert "time went back from 2.500 to 0.500 s" in bench.execution.ended.result().message


@pytest.mark.parametrize("first", [Form.WINDOW, Form.GOAL])
def test_goals_lead_to_a_place_to_stand_while_the_bridge_hangs_and_on_when_it_is_back(
    settings: BridgeSettings, first: Form
) -> None:
    settings.stops[Fault.SILENCE] = Stop.PATH  # type: ignore[index]
    bench = Bench(settings, Form.GOAL, PLACES, first)
    assert not bench.execution.guarded
    bench.run(BEGIN + 1.0)
    bench.run(BEGIN + 3.0, hung=True)
    share = bench.world.joint_positions[1] / 2.0
    stands = [3.0 * (place.stand / LENGTH) ** 2 - 2.0 * (place.stand / LENGTH) ** 3 for place in PLACES]
    assert np.abs(np.array(stands) - share).min() < 1e-3
    assert np.ptp([row[1] for when, row in bench.track if when > BEGIN + 2.5]) < 1e-9
    assert abs(2.0 * bench.world.joint_positions[0] - bench.world.joint_positions[1]) < 1e-3  # the robot is one
    bench.run()
    assert bench.execution.ended.result().success, bench.execution.ended.result().message
    steps = np.abs(np.diff([row for _, row in bench.track], axis=0)).max()
    assert steps < 0.02  # of a period; at most 0.75 rad/s


def test_goals_that_lead_nowhere_to_stand_are_guarded(settings: BridgeSettings) -> None:
    assert Bench(settings, Form.GOAL, PLACES).execution.guarded  # silence holds, by default
    settings.stops[Fault.SILENCE] = Stop.PATH  # type: ignore[index]
    assert Bench(settings, Form.GOAL).execution.guarded
    assert not Bench(settings, Form.WINDOW).execution.guarded


@pytest.mark.parametrize("second", [Form.WINDOW, Form.GOAL, Form.SET_POINT])
def test_the_last_controller_with_windows_that_is_lost_keeps_no_motion(settings: BridgeSettings, second: Form) -> None:
    bench = Bench(settings, second)
    bench.run(BEGIN + 1.5)
    bench.outputs["first"].lost = "it is gone"
    bench.run(BEGIN + 2.5)
    result = bench.execution.ended.result()
    assert result.message.startswith("controller 'first' is lost: it is gone; stands at")
    assert result.path_time < 1.7
    rows = np.array([row[1] for when, row in bench.track if when > BEGIN + 1.0])
    assert (np.diff(rows) >= -1e-9).all()


def test_a_stop_replaces_goals_that_lead_further(settings: BridgeSettings) -> None:
    settings.stops[Fault.SILENCE] = Stop.PATH  # type: ignore[index]
    bench = Bench(settings, Form.GOAL, PLACES, Form.GOAL)
    bench.run(BEGIN + 0.56)  # right after a goal was renewed
    bench.execution.stop(Trouble(Fault.CANCEL, "cancelled"))
    bench.run()
    assert bench.execution.ended.result().path_time == pytest.approx(0.85)
    for when, row in bench.track:
        share = bench.execution.timing.at(when).position / LENGTH
        assert row[1] == pytest.approx(2.0 * (3.0 * share**2 - 2.0 * share**3), abs=5e-3), when


def test_a_controller_that_never_gets_to_the_stop_keeps_no_motion(settings: BridgeSettings) -> None:
    """It stands before the place where it should stop, and is waited for no longer than a clock that stands still."""
    bench = Bench(settings, Form.GOAL, PLACES)
    bench.run(BEGIN + 1.5)
    bench.outputs["first"].deaf = True
    bench.execution.stop(Trouble(Fault.CANCEL, "cancelled"))
    bench.run(BEGIN + 20.0)
    result = bench.execution.ended.result()
    assert result.message.startswith("cancelled; it couldn't be stopped on the path and is held")
    assert bench.track[-1][0] < BEGIN + 1.5 + 1.0 + settings.timing.clock


def test_a_joint_astray_as_the_motion_begins_is_held_and_no_controller_is_blamed(settings: BridgeSettings) -> None:
    bench = Bench(settings, Form.GOAL)
    bench.outputs["second"].answers = False  # not before the next look
    bench.run(BEGIN - 0.5 * PERIOD)  # the next look is at the beginning exactly
    bench.world.of = lambda joints: np.full(len(joints), 5.0)  # type: ignore[method-assign]
    bench.run()
    result = bench.execution.ended.result()
    assert result.code == ExecuteTrajectory.Result.TOLERANCE_VIOLATED, result.message
    assert "off by 5" in result.message
    assert "held at once at 0.000 s" in result.message


@pytest.mark.parametrize("stale", ["", "joint 'joint1' was measured long ago"])
def test_a_controller_that_does_not_get_the_goal_that_stops_it_is_held(settings: BridgeSettings, stale: str) -> None:
    """ros2_control refuses a goal that has ended before it came, and goes on with the one before."""
    bench = Bench(settings, Form.GOAL, first=Form.GOAL)
    bench.run(BEGIN + 2.0)
    bench.outputs["second"].deaf = True
    bench.world.words = stale
    if not stale:
        bench.execution.stop(Trouble(Fault.CANCEL, "cancelled"))
    bench.run(BEGIN + 3.0)
    assert bench.execution.ended.done()
    assert not bench.outputs["second"].controller.moving
    assert not hasattr(bench.outputs["first"], "held")  # it stands where the path stops


def test_set_points_go_on_from_where_the_joints_stand_when_the_bridge_was_held_up(settings: BridgeSettings) -> None:
    bench = Bench(settings, Form.SET_POINT, first=Form.SET_POINT)
    bench.run(BEGIN + 1.5)
    bench.run(BEGIN + 2.5, hung=True)
    bench.run()
    assert bench.execution.ended.result().success, bench.execution.ended.result().message
    assert np.abs(np.diff([row for _, row in bench.track], axis=0)).max() < 0.02 * LOOK


def test_joints_that_are_not_measured_any_more_stop_at_the_second_look_and_are_held_on_the_path(
    settings: BridgeSettings,
) -> None:
    settings.stops[Fault.STALE_STATE] = Stop.HOLD  # type: ignore[index]
    bench = Bench(settings, Form.WINDOW)
    bench.run(BEGIN + 2.0)
    bench.world.words = "joint 'joint1' was measured long ago"
    bench.execution.tick()
    assert not bench.execution.ended.done()
    bench.world.stamp = BEGIN + 1.0  # a second old, when they were elsewhere
    bench.world.joint_positions = np.zeros(2)
    bench.execution.tick()
    assert bench.execution.ended.result().message.startswith("joint 'joint1' was measured long ago; held at once")
    own = 3.0 * (2.0 / LENGTH) ** 2 - 2.0 * (2.0 / LENGTH) ** 3
    np.testing.assert_allclose([bench.outputs[key].held[0] for key in ("first", "second")], [own, 2.0 * own], atol=0.02)
