# SPDX-License-Identifier: Apache-2.0
"""A motion executed in steps of a clock that is set, on the simulator's own controllers without messages between."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_ros.controller_bridge.bridge_settings import BridgeSettings, Fault, Stop, load_bridge_settings
from humanoid_ros.controller_bridge.controller_outputs import Form, Reference, TrajectoryOutput
from humanoid_ros.controller_bridge.execution import Execution
from humanoid_ros.controller_bridge.trajectory_request import CheckedMotion
from humanoid_sim.control.joint_commands import JointCommands
from humanoid_sim.control.joint_path import JointPath, PathPoints
from humanoid_sim.control.joint_trajectory_controller import JointTrajectoryController
from humanoid_sim.control.path_timing import PathTiming
from humanoid_sim.control.soft_stop import StopPlace
from humanoid_sim.control.trajectory_request import GivenTrajectory, Tolerances, check_trajectory

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
"""


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

    def set_position_target(self, positions: Any, velocities: Any, joints: Any, efforts: Any) -> None:
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

    lost, deaf, sent = "", False, 0

    def __init__(self, world: World, commands: JointCommands, settings: Any, form: Form) -> None:
        self.settings, self.form, self.world = settings, form, world
        self.controller = JointTrajectoryController(
            settings.name, settings.joints, commands, period=PERIOD, interpolate_from_desired_state=True
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
    def done(self) -> bool:
        return self.form is Form.WINDOW or not self.controller.moving

    def send(self, points: PathPoints) -> None:
        self.sent += 1
        if self.deaf:
            return
        rows: Any = points.positions, points.velocities, [None] * len(points.times)
        given = GivenTrajectory(self.settings.joints, points.times - points.times[0], rows, start=points.times[0])
        now = 1e-9 * self.world.nanoseconds
        request = check_trajectory(given, self.settings.joints, now, partial=False, moving_end=False)
        self.controller.start(request, Tolerances.uniform(1, 0.0, 0.0, 0.01, 0.0), now, lambda _: None)

    def hold(self, positions: Any) -> None:
        self.controller.cancel("held")


class Bench:
    """The bridge's execution of both joints' way from 0 to 1 and 2 rad; the first joint gets windows."""

    def __init__(self, settings: BridgeSettings, second: Form, stops: tuple[StopPlace, ...] | None = None) -> None:
        self.world = World()
        commands = JointCommands(self.world)  # type: ignore[arg-type]
        self.outputs = {
            key: Output(self.world, commands, settings.controllers[key], form)
            for key, form in (("first", Form.WINDOW), ("second", second))
        }
        still = [np.zeros(2)] * 2
        path = JointPath(World.joint_names, [0.0, LENGTH], [np.zeros(2), np.array([1.0, 2.0])], still)
        node: Any = self.world
        self.execution = Execution(
            node, settings, CheckedMotion(path, None, stops, np.full(2, np.inf), None), PathTiming(BEGIN, LENGTH), self.outputs, node,
            settings.tolerances,
        )  # fmt: skip
        self.execution.start()
        self.track: list[tuple[float, Any]] = []

    def run(self, until: float = 30.0) -> None:
        """Go on until a time [s] or the motion's end."""
        for count in itertools.count():
            now = 1e-9 * self.world.nanoseconds
            if now > until - 1e-6 or self.execution.ended.done():
                return
            for output in self.outputs.values():
                output.controller.update(now, self.world.joint_positions, self.world.joint_velocities)
            self.world.stamp = now
            self.track.append((now, self.world.joint_positions))
            if count % LOOK == 0:
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
    places = tuple(StopPlace(0.1 * k, 0.1 * k + 0.25, 2.0) for k in range(38))
    bench = Bench(settings, Form.WINDOW, places)
    bench.run()
    assert bench.execution.ended.result().message == "the end is reached"
    assert not any(output.controller.moving for output in bench.outputs.values())
    np.testing.assert_allclose(bench.world.joint_positions, [1.0, 2.0])


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
