# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong with measurements or with the walker has the reaction that the docs state."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_control.stepping import Walker
from humanoid_control.stepping.walker import WalkMode
from humanoid_control.tracking import MotionTracker, TrackMode
from humanoid_model import load_robot
from humanoid_model.contact import Contact, Surface
from humanoid_model.controller import Command, Measurement
from humanoid_model.errors import InputError
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_ros.controller.controller_settings import ControllerSettings
from humanoid_ros.controller.watched_controller import WatchedController
from humanoid_sim import Simulation
from humanoid_sim.control import ControllerInLoop

pytestmark = pytest.mark.feature("000-F029")

NAN = math.nan


class Bench:
    """BIP stands in the simulator on a watched walker, and what it measures is tampered with."""

    def __init__(self) -> None:
        self.watched = WatchedController(Walker(load_robot("bip"), "standing"), ControllerSettings())
        self.simulation = Simulation("bip_stand")
        self.simulation.add_module(ControllerInLoop("bip", self))
        self.robot = self.simulation.robots["bip"]
        self.tamper: Any = lambda measurement: measurement
        self.answers: list[Command | None] = []
        self.held = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Bench:
        return self  # it isn't part of a kept state

    def update(self, time: float, measurement: Measurement) -> Command | None:
        answer = self.watched.update(self.tamper(measurement))
        self.answers.append(answer)
        if self.watched.holding and not self.held:
            self.robot.hold()
        self.held = bool(self.watched.holding)
        return answer

    def go(self, seconds: float) -> list[Command | None]:
        """Run on; returns the answers."""
        before = len(self.answers)
        self.simulation.run(seconds)
        for answer in self.answers[before:]:
            if answer is not None:
                assert np.isfinite(answer.efforts).all()
        return self.answers[before:]

    @property
    def upright(self) -> bool:
        return bool(self.robot.placement_world_base.rotation[2, 2] > 0.99)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.go(0.3)
    assert bench.watched.knows
    return bench


def without_wrench(measurement: Measurement) -> Measurement:
    return replace(measurement, wrenches=dict(list(measurement.wrenches.items())[:1]))


def with_nan_encoder(measurement: Measurement) -> Measurement:
    q = measurement.joint_positions.copy()
    q[2] = NAN
    return replace(measurement, joint_positions=q)


@pytest.mark.parametrize(
    ("tamper", "words"),
    [
        (lambda m: replace(m, angular_velocity=None, specific_force=None), "the inertial unit is silent"),
        (lambda m: replace(m, angular_velocity=np.full(3, NAN)), "the inertial unit is silent"),
        (with_nan_encoder, "the encoder of "),
        (without_wrench, " is silent"),
    ],
)
def test_a_sensor_that_is_lost_lets_the_drives_hold_until_it_is_back(bench: Bench, tamper: Any, words: str) -> None:
    bench.tamper = tamper
    assert all(answer is not None for answer in bench.go(0.09)), "for so long the walker does without"
    for _ in range(30):  # until it stands still, which has only begun
        bench.go(0.05)
        if bench.watched.holding:
            break
    assert words in bench.watched.holding
    assert "joints are held" in bench.watched.holding
    assert bench.go(0.5) == [None] * 250
    assert bench.upright
    bench.tamper = lambda measurement: measurement
    answers = bench.go(0.3)
    assert bench.watched.holding == ""
    assert answers[-1] is not None
    assert bench.upright
    assert any(words in fault for fault in bench.watched.faults)


def test_a_sensor_that_is_lost_in_a_walk_ends_the_walk_first(bench: Bench) -> None:
    bench.watched.walk(np.array([0.1, 0.0, 0.0]))
    bench.watched._velocity_end = math.inf
    bench.go(1.2)
    assert bench.watched.walker.mode is WalkMode.STEPPING
    bench.tamper = without_wrench
    answers = bench.go(0.2)
    assert bench.watched.walker.mode is WalkMode.STEPPING
    assert all(answer is not None for answer in answers), "a robot in a step isn't made stiff"
    np.testing.assert_array_equal(bench.watched.walker.velocity, 0.0)
    bench.go(4.0)
    assert bench.watched.holding
    assert bench.upright


def test_a_velocity_that_isn_t_renewed_is_forgotten_and_one_beyond_bounds_is_cut(bench: Bench) -> None:
    bench.watched.walk(np.array([9.0, -9.0, 9.0]))
    own = ControllerSettings()
    np.testing.assert_array_equal(
        bench.watched.walker.velocity, [own.fastest, -own.fastest_sideways, own.fastest_turn]
    )
    bench.watched.walk(np.array([0.05, 0.0, 0.0]))
    bench.go(0.4)
    assert bench.watched.walker.velocity[0] == 0.05
    bench.go(0.2)
    assert bench.watched.walker.velocity[0] == 0.0
    with pytest.raises(InputError, match="twist: is"):
        bench.watched.walk(np.array([NAN, 0.0, 0.0]))


@pytest.mark.parametrize(("jump", "words"), [(-5.0, "the clock went back by"), (5.0, "nothing was measured for")])
def test_it_begins_anew_when_the_clock_jumps(bench: Bench, jump: float, words: str) -> None:
    bench.tamper = lambda measurement: replace(measurement, time=measurement.time + jump)
    first, *_, last = bench.go(0.3)
    assert first is None or np.isfinite(first.efforts).all()
    assert last is not None
    assert any(words in fault for fault in bench.watched.faults)
    assert bench.upright


def test_what_is_told_twice_is_answered_once(bench: Bench) -> None:
    bench.tamper = lambda measurement: replace(measurement, time=7.0)
    answers = bench.go(0.02)
    assert [answer is not None for answer in answers[1:]] == [False] * 9


def test_a_walker_that_fails_or_says_nonsense_is_not_listened_to(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    walker = bench.watched.walker
    update = Walker.update

    def fail(time: float, measurement: Measurement) -> Command:
        raise InputError("is lost", element="it")

    def nonsense(time: float, measurement: Measurement) -> Command | None:
        command = update(walker, time, measurement)
        return None if command is None else replace(command, efforts=command.efforts * NAN)

    for wrong, words in ((fail, "the walker failed: it: is lost"), (nonsense, "a command isn't finite")):
        monkeypatch.setattr(walker, "update", wrong)
        assert bench.go(0.02) == [None] * 10
        assert words in bench.watched.holding
        monkeypatch.undo()
        assert bench.go(0.6)[-1] is not None, "it begins anew once the tilt is known"
        assert bench.upright


def test_efforts_keep_to_the_limits_of_the_joints(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    walker, update = bench.watched.walker, Walker.update

    def strong(time: float, measurement: Measurement) -> Command | None:
        command = update(walker, time, measurement)
        return None if command is None else replace(command, efforts=command.efforts + 1e6)

    monkeypatch.setattr(walker, "update", strong)
    answer = bench.go(0.002)[-1]
    assert answer is not None
    limits = [walker.robot.model.effortLimit[walker.robot.index_v(name)] for name in answer.joints]
    np.testing.assert_allclose(answer.efforts, limits)


def test_who_has_fallen_stays_soft_until_it_is_started_anew(bench: Bench) -> None:
    bench.simulation.apply_wrench("bip/trunk", [0.0, 900.0, 0.0], duration=0.3)
    bench.go(2.5)
    assert bench.watched.fallen
    answer = bench.go(0.01)[-1]
    assert answer is not None
    assert np.abs(answer.efforts).max() < 40.0, "damping only"
    bench.tamper = lambda measurement: replace(measurement, time=measurement.time + 3.0)
    bench.go(0.3)
    assert bench.watched.fallen
    bench.watched.restart()
    assert not bench.watched.fallen


def still(seconds: float, knees: float = 0.0, hips: float = 0.0) -> MotionTracker:
    """BIP stays as it stands, with knees bent by an angle more on the same soles, or with legs apart."""
    robot = load_robot("bip")
    ground = Surface("ground", "ground", pin.SE3.Identity())
    names = [name for name, location in robot.contacts.items() if location.support]
    spans = [ContactSpan(Contact(robot.contacts[name], ground, 0.0, 0.0, 0.0), 0.0, seconds) for name in names]
    q, rest = robot.posture("standing"), np.zeros((2, robot.model.nv))
    for side, sign in (("r", -1.0), ("l", 1.0)):
        for joint, angle in (("knee", knees), ("hip_pitch", -0.5 * knees), ("ankle_pitch", -0.5 * knees)):
            q[robot.index_q(f"{side}_{joint}")] += angle
        q[robot.index_q(f"{side}_hip_roll")] += sign * hips
    return MotionTracker(WholeBodyTrajectory(robot, [0.0, seconds], [q, q], rest, rest, spans))


def begin(bench: Bench, tracker: MotionTracker) -> None:
    """Let the walker bring the robot to where a motion begins, and the motion take over."""
    end = bench.simulation.time + 3.0
    while bench.watched.commander is bench.watched.walker and bench.simulation.time < end:
        assert None not in bench.go(0.05)
    assert bench.watched.commander is tracker


def test_a_motion_takes_over_in_the_same_world_and_the_walker_from_it(bench: Bench) -> None:
    walker, tracker = bench.watched.walker, still(0.5)
    bench.go(0.5)
    before = bench.robot.placement_world_base.inverse() * walker.estimate.placement_world_base
    bench.watched.carry_out(tracker)
    answers = bench.go(0.1)
    assert bench.watched.commander is walker, "the tracker doesn't know yet how the robot stands"
    assert None not in answers
    begin(bench, tracker)
    after = bench.robot.placement_world_base.inverse() * tracker.estimate.placement_world_base
    np.testing.assert_allclose(after.homogeneous, before.homogeneous, atol=5e-3)
    with pytest.raises(InputError, match="Cancel the motion first"):
        bench.watched.walk(np.array([0.1, 0.0, 0.0]))
    with pytest.raises(InputError, match="another motion is carried out"):
        bench.watched.carry_out(still(0.5))
    bench.go(0.6)
    assert tracker.mode is TrackMode.DONE
    for _ in range(15):
        bench.watched.walk(np.array([0.1, 0.0, 0.0]))
        assert None not in bench.go(0.2)
    assert bench.watched.commander is walker
    assert bench.watched.tracker is None
    after = bench.robot.placement_world_base.inverse() * walker.estimate.placement_world_base
    np.testing.assert_allclose(after.homogeneous, before.homogeneous, atol=0.02)
    assert bench.robot.placement_world_base.translation[0] > 0.1
    assert bench.upright


def test_the_walker_brings_the_robot_to_where_a_motion_begins(bench: Bench) -> None:
    watched, tracker = bench.watched, still(0.5, knees=0.6)
    joint, off = watched.start_error(tracker, bench.robot.q[7:])
    assert off > 0.2, joint
    watched.carry_out(tracker)
    begin(bench, tracker)
    assert watched.start_error(tracker, bench.robot.q[7:])[1] < 0.1
    bench.go(0.8)
    assert tracker.mode is TrackMode.DONE
    assert bench.upright


@pytest.mark.parametrize("way", ["never there", "cancelled", "pushed"])
def test_a_motion_whose_beginning_is_not_reached_is_given_up(bench: Bench, way: str) -> None:
    watched, tracker = bench.watched, still(0.5, hips=0.3)
    watched.carry_out(tracker)
    assert None not in bench.go(0.2)
    assert watched.moves
    if way == "cancelled":
        watched.stop("cancelled")
    if way == "pushed":
        bench.simulation.apply_wrench("bip/trunk", [6.0 * bench.robot.robot.total_mass, 0.0, 0.0], duration=0.1)
    assert None not in bench.go(6.0 if way == "never there" else 1.0)
    words = {"never there": "off the first point for 5 s", "cancelled": "cancelled", "pushed": "had to step"}[way]
    assert words in watched.missed
    assert watched.tracker is None
    assert bench.upright
    watched.walk(np.array([0.1, 0.0, 0.0]))


def test_a_motion_begins_only_where_the_robot_is_known_and_stands(bench: Bench) -> None:
    bench.watched.restart()
    with pytest.raises(InputError, match="it isn't known yet how the robot stands"):
        bench.watched.carry_out(still(0.5))
    bench.go(0.3)
    bench.watched.walk(np.array([0.1, 0.0, 0.0]))
    bench.go(0.4)
    with pytest.raises(InputError, match="Let it stand first"):
        bench.watched.carry_out(still(0.5))


def test_sensors_that_are_lost_in_a_motion_end_it_and_the_drives_hold_for_good(bench: Bench) -> None:
    tracker = still(20.0)
    bench.watched.carry_out(tracker)
    begin(bench, tracker)
    bench.tamper = without_wrench
    bench.go(0.8)
    assert tracker.mode is TrackMode.STOPPED
    assert "is silent" in bench.watched.holding
    assert bench.watched.tracker is None
    bench.tamper = lambda measurement: measurement
    assert bench.go(0.5) == [None] * 250, "the walker mustn't begin where a robot may sit"
    with pytest.raises(InputError, match="is silent"):
        bench.watched.carry_out(still(0.5))
    bench.watched.restart()
    assert bench.go(0.3)[-1] is not None
    assert bench.upright


def test_a_gap_in_a_motion_lets_the_drives_hold(bench: Bench) -> None:
    tracker = still(20.0)
    bench.watched.carry_out(tracker)
    begin(bench, tracker)
    for jump in (1.0, 2.0):
        bench.tamper = lambda measurement, jump=jump: replace(measurement, time=measurement.time + jump)
        assert bench.go(0.2) == [None] * 100
        assert "nothing was measured" in bench.watched.holding
    bench.tamper = lambda measurement: replace(measurement, time=measurement.time - 1.0)
    assert bench.go(0.4)[-1] is not None, "the clock went back: somebody has put the robot back"


def test_a_motion_that_can_t_begin_leaves_the_walker_in_command(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = still(0.5)

    def fail(time: float, measurement: Measurement) -> Command:
        raise InputError("is lost", element="it")

    monkeypatch.setattr(tracker, "update", fail)
    bench.watched.carry_out(tracker)
    assert None not in bench.go(1.0)
    assert bench.watched.commander is bench.watched.walker
    assert not bench.watched.moves
    assert any("can't take over: it: is lost" in fault for fault in bench.watched.faults)
