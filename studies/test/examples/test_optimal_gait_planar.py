# SPDX-License-Identifier: Apache-2.0
"""The planar BIP on its feet: joints within 2 degrees, forces within 15 % of the planned ones (issue of the gaits)."""

import math

import numpy as np
import pinocchio as pin
import pytest

from examples.optimal_gait_planar import HELD, compare, figure, synthesize, table, track
from humanoid_model import load_robot
from humanoid_studies.planar_gait.trajectory import gait_trajectory

ROBOT = load_robot("bip_planar")
WEIGHT = 9.81 * ROBOT.total_mass


def walk(cycles):
    solution, exchanged = synthesize(cycles)
    assert solution.converged
    assert exchanged.converged
    return gait_trajectory(solution, ROBOT, exchanged=exchanged)


@pytest.fixture(scope="module")
def played():
    trajectory = walk(1)
    return trajectory, track(trajectory)


def assert_followed(rows):
    assert max(row.joint for row in rows) < 0.2  # 2 are asked for
    assert max(row.worst_share(0.02 * WEIGHT) for row in rows) < 0.15
    assert max(row.root_mean_square.max() for row in rows) < 0.03 * WEIGHT
    assert max(np.abs(row.mean).max() for row in rows) < 0.02 * WEIGHT


@pytest.mark.feature("003-F111")
def test_joints_and_forces_are_the_planned_ones(played):
    trajectory, run = played
    rows = compare(trajectory, run)
    assert [row.kind for row in rows] == ["start", "double_support", "single_support", "double_support", "stop"]
    assert_followed(rows)
    assert max(row.peak.max() for row in rows) < 0.6 * WEIGHT
    assert np.abs(np.array([row.base for row in rows])).max() < 5e-3
    assert run.q[-1, 0] - run.q[0, 0] == pytest.approx(2 * 0.5 - 0.05, abs=5e-3)
    assert len(table(rows, WEIGHT).splitlines()) == 6


def test_forces_bear_what_moves(played):
    """The measured forces, not compared with any plan, change the momentum of the robot."""
    _, run = played
    data = ROBOT.model.createData()
    momenta = []
    for q, v in zip(run.q, run.v, strict=True):
        momenta.append(pin.computeCentroidalMomentum(ROBOT.model, data, q, v).linear[[0, 2]])
    change = np.diff(momenta, axis=0) / np.diff(run.times)[:, None]
    total = run.forces.sum(axis=1)[1:] - np.array([0.0, WEIGHT])
    np.testing.assert_allclose(change, total, atol=0.05 * WEIGHT)


def places(run, side):
    """(k, 2, 2) heel and toe of a foot, x and z, and their velocities."""
    sole = ROBOT.contacts[f"{side}_sole"]
    joint = ROBOT.parts.links[sole.link].joint_id
    data = ROBOT.model.createData()
    found, speeds = [], []
    for q, v in zip(run.q, run.v, strict=True):
        pin.forwardKinematics(ROBOT.model, data, q, v)
        placed = data.oMi[joint]
        motion = placed.act(data.v[joint])
        ends = [placed.act(vertex) for vertex in sole.vertices_link]
        found.append([end[[0, 2]] for end in ends])
        speeds.append([(motion.linear + np.cross(motion.angular, end))[[0, 2]] for end in ends])
    return np.array(found), np.array(speeds)


def test_the_rear_foot_rolls_about_its_toe_and_soles_land_without_impact(played):
    trajectory, run = played
    start, end = trajectory.starts[1:3]
    double = (run.times > start) & (run.times <= end)
    rear, _ = places(run, "rear")
    assert np.ptp(rear[double, 1], axis=0) == pytest.approx(0.0, abs=1e-3)  # the toe stays
    assert rear[double, 0, 1][-1] == pytest.approx(0.29 * math.sin(math.radians(25.0)), abs=2e-3)  # the heel has risen
    _, speed = places(run, "front")
    landing = np.abs(run.times - start) < 3e-3
    assert np.abs(speed[landing]).max() < 0.25
    swinging = (run.times > 0.2) & (run.times < 0.3)
    assert np.abs(speed[swinging]).max() > 1.0
    # The stance foot stays flat: what is planned to press with HELD at least does so.
    single = (run.times > trajectory.starts[2] + 0.02) & (run.times < trajectory.starts[3])
    front, _ = places(run, "front")
    assert np.abs(front[single, :, 1]).max() < 3e-4
    assert trajectory.normal[trajectory.phase == 2, 1].min() > HELD - 0.5


def test_without_the_torques_forces_are_others(played):
    """Feed-forward is what makes the forces the planned ones: servos alone leave them two to ten times as far off."""
    trajectory, run = played
    short = trajectory.at(np.array([0.0]))
    assert short.phase[0] == 0
    alone = track(trajectory, stiffness=1.0, torques=False)
    with_torques, without = compare(trajectory, run), compare(trajectory, alone)
    assert max(row.joint for row in without) < 2.0
    assert without[1].root_mean_square.max() > 5.0 * with_torques[1].root_mean_square.max()


def test_the_picture(played, tmp_path):
    trajectory, run = played
    plot = figure(trajectory, run)
    plot.savefig(tmp_path / "gait.png")
    assert len(plot.axes) == 4
    assert (tmp_path / "gait.png").stat().st_size > 30_000


@pytest.mark.slow
def test_twenty_cycles_without_feedback():
    """14 s and 10 m: errors of the last cycles are those of the first ones."""
    trajectory = walk(20)
    rows = compare(trajectory, track(trajectory))
    assert_followed(rows)
    last, first = rows[-3], rows[2]
    assert last.kind == first.kind == "single_support"
    assert last.joint < 1.2 * first.joint + 0.01
    assert abs(rows[-1].base[0]) < 0.02  # the whole way is 10.45 m


@pytest.mark.slow
def test_heels_strike_first_and_soles_come_down():
    """From the thesis' 11 degrees the foot turns about its heel until the sole is down, at rest where it touches."""
    solution, exchanged = synthesize(1, heel_strike=True)
    for gait in (solution, exchanged):
        assert all(jump.within(1e-8) for jump in gait.jumps())
    trajectory = gait_trajectory(solution, ROBOT, exchanged=exchanged)
    assert next(contact.part for contact in trajectory.contacts if contact.foot == "front_sole") == "heel"
    run = track(trajectory, stiffness=0.3)
    rows = compare(trajectory, run)
    assert max(row.joint for row in rows) < 0.2
    assert max(row.root_mean_square.max() for row in rows) < 0.15 * WEIGHT
    start, down = trajectory.starts[1:3]
    places_of, speeds = places(run, "front")
    falling = (run.times > start) & (run.times < down)
    assert places_of[falling, 1, 1][0] == pytest.approx(0.29 * math.sin(math.radians(11.0)), abs=2e-3)
    assert np.abs(places_of[falling, 0, 1]).max() < 5e-4  # the heel stays
    assert (np.diff(places_of[falling, 1, 1]) < 1e-5).all()  # the toe only sinks
    for time, place in ((start, 0), (down, 1)):
        touching = np.abs(run.times - time) < 1e-3
        assert np.abs(speeds[touching, place]).max() < 0.15
