# SPDX-License-Identifier: Apache-2.0
"""Readings of joints in the model's coordinates, as the simulator has them, and without some of them."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control.estimation.readings import JointReadings
from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation


def test_ball_joints_are_read_by_their_members() -> None:
    simulation = Simulation("avatar")
    own = next(iter(simulation.robots.values()))
    readings, rng = JointReadings(own.robot, 1e-3, 0.1), np.random.default_rng(4)
    assert readings.names == own.joint_names
    positions, rates = rng.uniform(-0.5, 0.5, size=(2, len(own.joint_names)))
    own.set_state(*own.place_joints(own.q, own.v, positions, rates))
    readings.take(positions, rates, 0.0, [])
    assert np.abs(readings.q - own.q)[7:].max() < 1e-12
    assert np.abs(readings.v - own.v)[6:].max() < 1e-12


def test_a_silent_encoder_leaves_its_last_position_with_doubt() -> None:
    robot = load_robot("bip")
    readings, faults = JointReadings(robot, 1e-3, 0.1), []
    first = np.linspace(0.1, 0.5, len(readings.names))
    readings.take(first, None, 0.0, faults)
    assert not readings.v.any()
    second = first + 0.01
    second[2] = np.nan
    readings.take(second, None, 0.02, faults)
    at = robot.index_v(readings.names[2])
    assert readings.q[robot.index_q(readings.names[2])] == first[2]
    assert readings.q[robot.index_q(readings.names[3])] == second[3]
    assert readings.v[robot.index_v(readings.names[3])] == pytest.approx(0.5 * (1.0 - np.exp(-2.0)))
    assert readings.v[at] == 0.0
    assert readings.variances[at] == pytest.approx(0.01)
    assert np.delete(readings.variances[6:], at - 6) == pytest.approx(1e-6)
    assert faults == [f"no position of {readings.names[2]}: the last is used"]
    readings.take(first, np.full(len(first), np.nan), 0.02, faults)
    assert not readings.v.any()
    assert readings.variances[6:] == pytest.approx(1e-6)
    wild = np.array([1e200, *first[1:]])
    readings.take(wild, wild, 0.02, faults)
    assert readings.q[robot.index_q(readings.names[0])] == first[0]
    assert readings.v[robot.index_v(readings.names[0])] == 0.0
    with pytest.raises(InputError, match="joint_positions"):
        readings.take(first[1:], None, 0.0, faults)
