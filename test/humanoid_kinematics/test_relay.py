# SPDX-License-Identifier: Apache-2.0
"""Complete joint states from driven joints, and tool trajectories to drives, against closed forms."""

import re

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.relay import Relay, drive_trajectory
from humanoid_kinematics.solver.commands import POSITION
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model import InputError

SLIDERS, MOTORS = ("joint_1", "joint_6", "joint_11"), ("joint_1", "joint_11", "joint_21")
MM = 1e-3


def delta_plate(angles):
    """Plate of the delta from its motors: intersection of three spheres, the farther one (ORC-18)."""
    phi = np.radians([0, 120, 240])
    elbows = np.column_stack([
        (100 + 160 * np.cos(angles)) * np.cos(phi), (100 + 160 * np.cos(angles)) * np.sin(phi), 160 * np.sin(angles)
    ])  # fmt: skip
    A, b = 2 * (elbows[1:] - elbows[0]), np.sum(elbows[1:] ** 2, 1) - np.sum(elbows[0] ** 2)
    p0, n = np.linalg.lstsq(A, b, rcond=None)[0], np.cross(A[0], A[1])
    n /= np.linalg.norm(n) * np.sign(n[2])
    d = p0 - elbows[0]
    return p0 + n * (-d @ n + np.sqrt((d @ n) ** 2 - d @ d + 265.0**2))


def test_all_joints_of_the_delta_follow_its_motors():
    relay = Relay(load_mechanism("syntaxeur_delta"), MOTORS)
    for t in np.linspace(0.0, 1.0, 40):
        angles = np.radians([30 + 20 * np.sin(6 * t), 30 + 25 * t, 30 - 15 * t])
        state = relay.update(angles)
        assert state.closed
        assert max(max(gap) for gap in relay.solver.loop_gaps().values()) <= 1e-10
        np.testing.assert_allclose(state.q[[0, 5, 10]], angles, atol=1e-15)
        np.testing.assert_allclose(relay.solver.placement("frame_103").translation / MM, delta_plate(angles), atol=1e-5)


def test_drives_that_jump_are_followed_in_the_same_assembly_mode():
    relay = Relay(load_mechanism("syntaxeur_delta"), MOTORS)
    for angles in np.radians([[30, 30, 30], [-20, 60, 10], [60, 0, 50], [0, 0, 0]]):
        assert relay.update(angles).closed
        np.testing.assert_allclose(relay.solver.placement("frame_103").translation / MM, delta_plate(angles), atol=1e-5)


def passive_orientation(relay):
    """Sign of the determinant of the loops over the passive joints: changes where the assembly mode does."""
    passive = np.delete(relay.solver.scaled_loop_jacobian(), relay._columns, axis=1)
    return np.linalg.slogdet(passive)[0]


@pytest.mark.feature("002-F182")
def test_drives_that_wander_out_of_reach_never_change_the_assembly_mode():
    relay = Relay(load_mechanism("syntaxeur_delta"), MOTORS)
    mode, rng, refused = passive_orientation(relay), np.random.default_rng(3), 0
    for _ in range(150):
        before = relay.solver.q.copy()
        state = relay.update(before[[0, 5, 10]] + rng.uniform(-0.5, 0.5, 3))
        if not state.closed:
            refused += 1
            np.testing.assert_array_equal(relay.solver.q, before)
        assert passive_orientation(relay) == mode
    assert 0 < refused < 150


@pytest.mark.feature("002-F182")
def test_a_drive_further_than_one_sample_may_bring_it_is_refused_with_its_range():
    relay = Relay(load_mechanism("fourbar"))
    before = relay.solver.q.copy()
    for far in (1e4, -1e100):
        with pytest.raises(InputError, match=r"position of 'joint_1': is .*Give -24.5527 to 26.6473"):
            relay.update([far])
        np.testing.assert_array_equal(relay.solver.q, before)
    assert relay.update([26.0]).closed  # four turns


def test_velocities_are_the_derivative_of_the_positions():
    relay = Relay(load_mechanism("cross"), SLIDERS)
    start, speed, h = relay.solver.q[[0, 5, 10]].copy(), np.array([0.1, -0.2, 0.05]), 1e-5
    ends = [relay.update(start + sign * h * speed).q for sign in (1.0, -1.0)]
    state = relay.update(start, speed)
    np.testing.assert_allclose(state.v, (ends[0] - ends[1]) / (2 * h), atol=1e-6)


def test_efforts_of_the_drives_do_the_work_of_the_joints_that_stand_for_them():
    relay = Relay(load_mechanism("hpr"), ("joint_1", "joint_2", "joint_4", "joint_5", "joint_6"),
                  ("joint_1", "joint_2", "joint_3", "joint_4", "joint_5"))  # fmt: skip
    rng = np.random.default_rng(0)
    start = relay.solver.q[relay._positions].copy()
    efforts, speeds = rng.normal(size=5), rng.normal(size=5)
    # The crank drives the forearm through the parallelogram; serially, joint 3 would.
    state = relay.update(start + 0.1 * rng.normal(size=5), speeds, efforts)
    serial = [relay.solver.mechanism.robot.index_v(f"joint_{n}") for n in (1, 2, 3, 4, 5)]
    own = dict(zip(relay.driven, efforts, strict=True))
    alone = np.linalg.lstsq(relay._following[serial].T, efforts, rcond=None)[0]
    assert alone @ state.v[serial] == pytest.approx(efforts @ speeds)
    assert state.efforts[serial[2]] == pytest.approx(alone[2])
    assert state.efforts[serial[0]] == own["joint_1"]


def test_holding_efforts_are_the_slope_of_the_potential_energy():
    relay = Relay(load_mechanism("cross"), SLIDERS)
    model = relay.solver.mechanism.model
    start, h = relay.solver.q[[0, 5, 10]].copy(), 1e-5
    efforts, data = relay.holding_efforts(), model.createData()
    for i in range(3):
        energy = [
            pin.computePotentialEnergy(model, data, relay.update(start + sign * h * np.eye(3)[i]).q)
            for sign in (1.0, -1.0)
        ]
        assert efforts[i] == pytest.approx((energy[0] - energy[1]) / (2 * h), rel=1e-5, abs=1e-6)


def test_drives_where_the_loops_cannot_close_leave_the_last_state():
    relay = Relay(load_mechanism("cross"), SLIDERS)
    before = relay.solver.q.copy()
    # The short legs reach 1.24 m each, and the plate is 0.2 m wide: not 4 m.
    state = relay.update([-1.8, -2.0, -2.0])
    assert not state.closed
    assert re.fullmatch(r"loops stay open: link_5-frame_16 by .* m, .* rad, link_5-frame_17 by .*", state.reason)
    np.testing.assert_array_equal(state.q, before)
    assert relay.update([-1.8, -1.0, -1.0]).closed
    with pytest.raises(InputError, match="3 finite numbers"):
        relay.update([0.0, np.nan, 0.0])


def test_a_relay_without_drives_or_with_too_many_is_refused():
    with pytest.raises(InputError, match="no driven joints"):
        Relay(load_mechanism("cross"))
    with pytest.raises(InputError, match="can't all move"):
        Relay(load_mechanism("cross"), (*SLIDERS, "joint_2"))


def test_a_way_of_the_plate_becomes_a_way_of_the_sliders():
    solver = MechanismSolver(load_mechanism("cross"))
    start, times = solver.placement("link_5"), np.linspace(0.0, 2.0, 81)
    points = start.translation + np.column_stack([0.05 * times, 0.1 * np.sin(3 * times), -0.1 * times])
    way = drive_trajectory(solver, SLIDERS, "link_5", times, [pin.SE3(np.eye(3), p) for p in points], POSITION)
    x, y, z = points.T / MM
    short = np.sqrt((40 + np.sqrt(1200**2 - (z - 170) ** 2)) ** 2 - x**2)
    long = np.sqrt((40 + np.sqrt(1800**2 - y**2)) ** 2 - x**2)
    expected = np.column_stack([z + long, y + 100 + short, y - 100 - short])
    np.testing.assert_allclose(way.positions / MM, expected * [-1, -1, 1], atol=1e-3)
    np.testing.assert_allclose(way.velocities[1:-1], (way.positions[2:] - way.positions[:-2]) / 0.05, atol=1e-9)
    far = [pin.SE3(np.eye(3), start.translation + np.array([-k, 0.0, 0.0])) for k in (0.0, 0.1, 2.0)]
    with pytest.raises(InputError, match=r"pose at 2 s can't be reached.*in the way is"):
        drive_trajectory(solver, SLIDERS, "link_5", [0.0, 1.0, 2.0], far, POSITION)
