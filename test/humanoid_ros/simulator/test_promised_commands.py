# SPDX-License-Identifier: Apache-2.0
"""Joints whose commander falls silent are held; joints that somebody else has are left alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration
from humanoid_stack.msg import JointCommand

from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import stamp
from humanoid_ros.simulator.lockstep import PromisedCommands
from humanoid_sim import Simulation
from humanoid_sim.control.joint_commands import JointCommands

pytestmark = pytest.mark.feature("000-F029")


class Owner:
    def release(self, reason: str) -> None:
        pass


class Bench:
    """A robot whose two first joints are driven by efforts."""

    def __init__(self) -> None:
        self.simulation = Simulation("bip_stand")
        self.robot = self.simulation.robots["bip"]
        self.commands = JointCommands(self.robot)
        self.warnings: list[str] = []
        self.promised = PromisedCommands("commands", self.commands, self.warnings.append)
        self.joints = np.array([0, 1])
        self.commands.set_efforts(self.joints, np.array([5.0, -5.0]))

    def command(self, made: float, period: float, now: float = 0.0) -> None:
        message = JointCommand(names=list(self.robot.joint_names[:2]))
        message.header.stamp = stamp(made)
        message.period.sec, message.period.nanosec = 0, round(1e9 * period)
        self.promised.take(message, self.joints, now)

    @property
    def stiffness(self) -> np.ndarray:
        return np.asarray(self.simulation.servos.stiffness[self.robot.drive_places()[1]][:2])


def test_joints_are_held_where_they_are_once_the_next_command_is_late_enough() -> None:
    bench = Bench()
    bench.simulation.step(5)
    bench.command(0.001, 0.002, now=0.005)
    assert bench.promised.due == pytest.approx(0.003)
    bench.promised.look(0.1029)
    np.testing.assert_array_equal(bench.stiffness, 0.0)
    bench.promised.look(0.1031)
    assert (bench.stiffness > 0.0).all()
    places = bench.robot.drive_places()[0][:2]
    np.testing.assert_array_equal(bench.simulation.servos.q_target[places], bench.robot.joint_positions[:2])
    assert len(bench.warnings) == 1
    assert bench.promised.due == math.inf
    assert not bench.promised.awaited


def test_a_command_that_lasts_is_not_followed_and_one_from_the_future_is_due_a_period_from_now() -> None:
    bench = Bench()
    bench.command(0.0, 0.0)
    bench.promised.look(1e6)
    np.testing.assert_array_equal(bench.stiffness, 0.0)
    bench.command(100.0, 0.5, now=1.0)
    assert bench.promised.due == pytest.approx(1.5)
    with pytest.raises(InputError, match="period: is -1"):
        bench.promised.take(JointCommand(period=Duration(sec=-1)), bench.joints, 0.0)


def test_joints_that_a_controller_has_taken_meanwhile_stay_its_own() -> None:
    bench = Bench()
    bench.command(0.0, 0.01)
    bench.commands.take(np.array([1]), Owner(), "taken")
    bench.promised.look(1.0)
    assert bench.stiffness[0] > 0.0
    assert bench.stiffness[1] == 0.0
