# SPDX-License-Identifier: Apache-2.0
"""Messages of several sensors become measurements, whatever is late, missing or malformed."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Imu, JointState

from humanoid_model.controller import Measurement
from humanoid_ros.controller.gathered_readings import GatheredReadings
from humanoid_ros.messages.conversions import fill_vector, stamp

pytestmark = pytest.mark.feature("000-F147")


def joints(time: float, position: float = 0.0, names: tuple[str, ...] = ("b", "a")) -> JointState:
    message = JointState(name=list(names), position=[position, position + 1.0][: len(names)])
    message.velocity = [2.0] * len(names)
    message.header.stamp = stamp(time)
    return message


def imu(time: float, rate: float) -> Imu:
    message = Imu()
    message.header.stamp = stamp(time)
    fill_vector(message.angular_velocity, (rate, 0.0, 0.0))
    fill_vector(message.linear_acceleration, (0.0, 0.0, 10.0 * rate))
    return message


def wrench(time: float, force: float) -> WrenchStamped:
    message = WrenchStamped()
    message.header.stamp = stamp(time)
    fill_vector(message.wrench.force, (0.0, 0.0, force))
    return message


class Bench:
    """Two joints, an inertial unit, a foot; what came out."""

    def __init__(self) -> None:
        self.readings = GatheredReadings(("a", "b", "c"), ("foot",), 0.1)
        self.made: list[Measurement] = []

    def tick(self, time: float, order: str = "jif", value: float = 0.0) -> int:
        """Bring messages of a time in an order; returns how many measurements came out."""
        before = len(self.made)
        for kind in order:
            if kind == "j":
                self.made += self.readings.take_joints(serialize_message(joints(time, value)), 0.0)
            elif kind == "i":
                self.made += self.readings.take_imu(serialize_message(imu(time, value)), 0.0)
            else:
                self.made += self.readings.take_wrench("foot", serialize_message(wrench(time, value)), 0.0)
        return len(self.made) - before


@pytest.mark.parametrize("order", ["jif", "ijf", "fij", "ifj"])
def test_a_measurement_has_all_that_was_read_at_its_time_whatever_comes_first(order: str) -> None:
    bench = Bench()
    bench.tick(0.998)
    for k in range(3):
        assert bench.tick(1.0 + 0.002 * k, order, float(k)) >= 1
    last = bench.made[-1]
    assert last.time == pytest.approx(1.004)
    np.testing.assert_array_equal(last.joint_positions[:2], [3.0, 2.0])
    assert math.isnan(last.joint_positions[2]), "nobody tells of it"
    np.testing.assert_array_equal(last.angular_velocity, [2.0, 0.0, 0.0])
    np.testing.assert_array_equal(last.wrenches["foot"], [0.0, 0.0, 2.0, 0.0, 0.0, 0.0])


def test_inertial_readings_since_the_last_tick_are_averaged() -> None:
    bench = Bench()
    bench.tick(0.998)
    bench.tick(1.0)
    for time, rate in ((1.001, 3.0), (1.002, 5.0)):
        bench.made += bench.readings.take_imu(serialize_message(imu(time, rate)), 0.0)
    bench.tick(1.002, "jf")
    np.testing.assert_allclose(bench.made[-1].angular_velocity, [4.0, 0.0, 0.0])


def test_a_sensor_that_misses_a_tick_delays_it_until_the_next_and_no_further_one() -> None:
    bench = Bench()
    bench.tick(1.0)
    bench.tick(1.002)
    made = len(bench.made)
    assert bench.tick(1.004, "jf") == 0, "the inertial unit was in time before"
    assert bench.tick(1.006, "j") == 1, "it is waited for no longer"
    assert bench.tick(1.006, "f") == 1, "and not in the tick after"
    late, now = bench.made[made:]
    assert late.time == pytest.approx(1.004)
    assert late.angular_velocity is None
    np.testing.assert_array_equal(late.wrenches["foot"][2], 0.0)
    assert now.time == pytest.approx(1.006)


def test_old_wrenches_and_those_that_are_no_numbers_are_none() -> None:
    bench = Bench()
    bench.tick(1.0)
    bench.tick(1.002, "ijf", math.nan)
    assert dict(bench.made[-1].wrenches) == {}
    bench.tick(1.004)
    bench.tick(1.05, "ij")
    bench.tick(1.052, "ij")
    assert "foot" in bench.made[-1].wrenches
    bench.tick(1.2, "ij")
    bench.tick(1.202, "ij")
    assert "foot" not in bench.made[-1].wrenches


def test_joint_states_of_the_wrong_length_are_told_of_and_left_out() -> None:
    bench = Bench()
    bad = joints(1.0)
    bad.position = [1.0]
    assert bench.readings.take_joints(serialize_message(bad), 0.0) == []
    assert "1 positions and 2 velocities for 2 names" in bench.readings.malformed
    assert bench.readings.take_joints(serialize_message(joints(1.002, names=("x",))), 0.0)
    assert bench.readings.malformed == ""
    unstamped = joints(0.0)
    (measurement,) = bench.readings.take_joints(serialize_message(unstamped), 7.0)
    assert measurement.time == 7.0


def test_messages_that_come_in_a_bunch_go_to_their_own_ticks() -> None:
    bench = Bench()
    bench.tick(0.998)
    bench.tick(1.0)
    for kind in "ifj":
        for time, value in ((1.002, 1.0), (1.004, 2.0), (1.006, 3.0)):
            bench.tick(time, kind, value)
    assert [measurement.time for measurement in bench.made[-3:]] == pytest.approx([1.002, 1.004, 1.006])
    assert [measurement.angular_velocity[0] for measurement in bench.made[-3:]] == [1.0, 2.0, 3.0]
    assert [measurement.wrenches["foot"][2] for measurement in bench.made[-3:]] == [1.0, 2.0, 3.0]


def test_a_clock_that_goes_back_has_readings_of_its_own() -> None:
    bench = Bench()
    for time in (7.0, 7.002, 1.0, 1.002, 1.004):
        bench.tick(time, value=time)
    last = bench.made[-1]
    assert last.time == pytest.approx(1.004)
    np.testing.assert_allclose(last.angular_velocity, [1.004, 0.0, 0.0])
    np.testing.assert_allclose(last.wrenches["foot"][2], 1.004)
