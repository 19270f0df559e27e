# SPDX-License-Identifier: Apache-2.0
"""Trajectories played on servos, with and without feed-forward (specification 000, F017, F143)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import floor, scene, standing
from numpy.testing import assert_allclose

from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_sim import Simulation
from humanoid_sim.actuation import FeedForward, MotorLimiter, TrajectoryPlayer
from humanoid_sim.actuation.trajectory_player import read_joint_trajectory
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.state_file import read_state, write_state


def write(folder: Path, text: str) -> Path:
    path = folder / "motion.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_every_five_milliseconds(tmp_path: Path) -> None:
    """Between its samples a sine is met to the fourth order of their period, derivatives to the third and second."""
    times = 0.005 * np.arange(201)
    rows = [f"{math.sin(7 * t)!r}, {math.cos(5 * t)!r}" for t in times]
    trajectory = read_joint_trajectory(write(tmp_path, "# a motion\nhip, knee\n\n" + "\n".join(rows)))
    assert trajectory.joint_names == ("hip", "knee")
    assert_allclose(trajectory.times, times)
    for t in np.linspace(0.05, 0.95, 77):
        sample = trajectory.at(float(t))
        assert_allclose(sample.positions, [math.sin(7 * t), math.cos(5 * t)], atol=1e-7)
        assert_allclose(sample.velocities, [7 * math.cos(7 * t), -5 * math.sin(5 * t)], atol=1e-5)
        assert_allclose(sample.accelerations, [-49 * math.sin(7 * t), -25 * math.cos(5 * t)], atol=0.02)


def test_times_of_its_own_and_another_period(tmp_path: Path) -> None:
    trajectory = read_joint_trajectory(write(tmp_path, "time,hip\n0,1\n0.5,2\n2,2\n"))
    assert_allclose(trajectory.times, [0.0, 0.5, 2.0])
    assert trajectory.at(0.5).positions[0] == pytest.approx(2.0)
    trajectory = read_joint_trajectory(write(tmp_path, "hip\n1\n2\n"), period=0.1)
    assert trajectory.end_time == pytest.approx(0.1)
    assert trajectory.at(0.05).positions[0] == pytest.approx(1.5)
    assert read_joint_trajectory(write(tmp_path, "hip\n1\n")).at(3.0).positions[0] == 1.0


def test_efforts_jump_where_a_time_is_there_twice(tmp_path: Path) -> None:
    text = "time,effort:knee,hip,knee\n0,1,0,0\n1,3,1,2\n1,-5,1,2\n2,-5,4,4\n3,0,9,6\n"
    trajectory = read_joint_trajectory(write(tmp_path, text))
    assert trajectory.joint_names == ("hip", "knee")
    assert_allclose(trajectory.at(1.5).positions, [2.25, 3.0], atol=1e-12)  # the spline runs through the jump
    assert_allclose(trajectory.at(1.0).velocities, [2.0, 2.0], atol=1e-12)
    assert_allclose(trajectory.mean_efforts(0.5, 1.0), [0.0, 2.5])
    assert_allclose(trajectory.mean_efforts(1.0, 1.5), [0.0, -5.0])
    assert read_joint_trajectory(write(tmp_path, "hip\n1\n2\n")).efforts is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no trajectory"),
        ("hip,knee\n", "holds no trajectory"),
        ("0,1\n0,1\n", "'0' is no joint's name"),
        ("hip,\n0,1\n", "a column has no name"),
        ("time\n0\n", "a column has no name"),
        ("hip,knee\n0,1\n0,1,2\n", r"motion.csv:3.*3 values.*Give 2"),
        ("# x\nhip,knee\n0,1\n0,up\n", r"motion.csv:4.*knee.*'up' is not a finite number"),
        ("hip\nnan\n", "'nan' is not a finite number"),
        ("time,hip\n0,1\n0,1\n", r"motion.csv:3.*time.*not later"),
        ("hip,hip\n0,1\n0,1\n", "'hip' occurs twice"),
        ("hip,effort:knee\n0,1\n0,1\n", "motion.csv:1.*has efforts of 'knee' without positions"),
        ("hip,effort:hip,effort:hip\n0,1,1\n0,1,1\n", "has efforts of 'hip' twice"),
        ("time,hip,effort:hip\n0,1,1\n0,2,1\n", "motion.csv: points.*positions jump at 0 s"),
        ("time,hip,effort:hip\n1,1,1\n0,2,1\n", r"motion.csv:3.*time.*not later"),
    ],
)
def test_files_that_hold_no_trajectory_are_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_joint_trajectory(write(tmp_path, text))


def test_files_and_periods_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        read_joint_trajectory(tmp_path / "nothing.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_joint_trajectory(tmp_path / "binary.csv")
    with pytest.raises(InputError, match="period is 0"):
        read_joint_trajectory(write(tmp_path, "hip\n1\n"), period=0.0)


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2")


def squat_file(folder: Path, robot: Robot, period: float) -> Path:
    """HRP-2 goes from half-sitting into a squat in 1 s, all joints, as rows of a file."""
    start, end = robot.postures["half_sitting"], robot.postures["squat"]
    places = [robot.index_q(name) for name in robot.joint_names]
    lines = [",".join(robot.joint_names)]
    for k in range(round(1.0 / period) + 1):
        share = 0.5 * (1.0 - math.cos(math.pi * k * period))
        lines.append(",".join(repr(float(x)) for x in (start + share * (end - start))[places]))
    path = folder / "squat.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.feature("000-F017")
def test_a_squat_is_followed_and_feedforward_follows_it_better(tmp_path: Path, hrp2: Robot) -> None:
    """Rows every 5 ms played at 1 ms: within 0.01 rad; a twentieth of it with inverse dynamics."""
    trajectory = read_joint_trajectory(squat_file(tmp_path, hrp2, 0.005))
    largest = {}
    for law in ("none", "inverse_dynamics"):
        simulation = Simulation(scene(floor(), robots=(standing(hrp2),), friction=0.8))
        player = TrajectoryPlayer("hrp2", trajectory)
        simulation.add_module(player)
        simulation.add_module(FeedForward("hrp2", law))  # type: ignore[arg-type]
        simulation.run(1.0)
        assert player.tracking_error.steps == 1000
        largest[law] = player.tracking_error.largest.max()
        assert (player.tracking_error.root_mean_square <= player.tracking_error.largest).all()
        assert simulation.contacts.normal_force.sum() > 58.0 * 9.8  # braking the squat takes more than the weight
    assert largest["none"] < 0.01
    assert largest["inverse_dynamics"] < 0.05 * largest["none"]


def test_ball_joints_are_played_by_their_members() -> None:
    avatar = load_robot("avatar")
    members = list(avatar.ball_joints["r_shoulder"])
    times = np.linspace(0.0, 1.0, 201)
    turn = 0.5 * (1.0 - np.cos(np.pi * times))[:, None] * np.array([-0.8, 0.5, 0.4])
    velocities = np.gradient(turn, times, axis=0, edge_order=2)
    simulation = Simulation(scene(robots=(standing(avatar, "zero", "avatar"),), gravity=(0.0, 0.0, 0.0)))
    player = TrajectoryPlayer("avatar", JointTrajectory(members, times, turn, velocities), start_time=0.2)
    simulation.add_module(player)
    simulation.run(0.1)
    assert player.tracking_error.steps == 0
    simulation.run(1.2)
    assert player.tracking_error.steps == 1001
    assert player.tracking_error.largest.max() < 0.02
    robot = simulation.robots["avatar"]
    reached = robot.joint_positions[[robot.joint_names.index(member) for member in members]]
    assert_allclose(reached, [-0.8, 0.5, 0.4], atol=2e-3)


@pytest.mark.feature("000-F017")
def test_efforts_alone_move_an_arm_as_planned() -> None:
    """The efforts of inverse dynamics, servos off; a jump of the plan within a step costs no impulse."""
    robot = load_robot("robot_2r_a")
    model, data = robot.model, robot.model.createData()
    times = np.linspace(0.0, 0.5, 101)
    positions, velocities, efforts = [], [], []
    for t in times:
        # A cosine whose acceleration jumps to another one's at 0.25 s, where both are at rest.
        first = t < 0.25 + 1e-9
        for side in ((True, False) if abs(t - 0.25) < 1e-9 else (first,)):
            size = np.array([0.4, -0.3]) if side else np.array([-0.2, 0.5])
            start = np.zeros(2) if side else 2.0 * np.array([0.4, -0.3])
            angle = math.pi * (t if side else t - 0.25) / 0.25
            positions.append(start + size * (1.0 - math.cos(angle)))
            velocities.append(size * math.pi / 0.25 * math.sin(angle))
            acceleration = size * (math.pi / 0.25) ** 2 * math.cos(angle)
            efforts.append(pin.rnea(model, data, positions[-1], velocities[-1], acceleration))
    times = np.insert(times, 50, 0.25)
    plan = JointTrajectory(robot.joint_names, times, positions, velocities, efforts=efforts)
    largest = []
    for dt in (1e-3, 3e-4):  # 0.25 s isn't a multiple of the second
        simulation = Simulation(scene(robots=(standing(robot, "zero", "arm"),)), dt=dt)
        arm = simulation.robots["arm"]
        arm.set_gains(np.zeros(2), np.zeros(2))
        arm.set_state(positions[0], velocities[0])
        player = TrajectoryPlayer("arm", plan)
        simulation.add_module(player)
        simulation.run(0.5)
        largest.append(player.tracking_error.largest.max())
    assert largest[0] < 1e-2
    assert largest[1] < 0.4 * largest[0]


def test_members_of_ball_joints_get_their_efforts() -> None:
    """With servos off an arm moves as under the same efforts given directly."""
    avatar = load_robot("avatar")
    members = list(avatar.ball_joints["r_shoulder"])
    given = [3.0, -2.0, 1.0]
    reached = []
    for played in (True, False):
        simulation = Simulation(scene(robots=(standing(avatar, "zero", "avatar"),), gravity=(0.0, 0.0, 0.0)))
        robot = simulation.robots["avatar"]
        n = len(robot.joint_names)
        robot.set_gains(np.zeros(n), np.zeros(n))
        if played:
            plan = JointTrajectory(members, [0.0], [np.zeros(3)], efforts=[given])
            simulation.add_module(TrajectoryPlayer("avatar", plan))
        for _ in range(40):
            if not played:
                robot.set_effort(given, members)
            simulation.step()
        reached.append(robot.joint_positions)
    assert np.abs(reached[0]).max() > 0.02
    assert_allclose(reached[0], reached[1], atol=1e-12)


def test_a_saved_playback_goes_on(tmp_path: Path, hrp2: Robot) -> None:
    trajectory = read_joint_trajectory(squat_file(tmp_path, hrp2, 0.02))
    simulation = Simulation(scene(floor(), robots=(standing(hrp2),), friction=0.8))
    player = TrajectoryPlayer("hrp2", trajectory)
    simulation.add_module(player)
    simulation.add_module(FeedForward("hrp2", "inverse_dynamics"))
    simulation.run(0.1)
    state = simulation.save_state()
    simulation.run(0.1)
    q, error = simulation.q.copy(), player.tracking_error.squares
    simulation.restore_state(state)
    assert player.tracking_error.steps == 100
    simulation.run(0.1)
    assert player.tracking_error.squares.tobytes() == error.tobytes()
    assert simulation.q.tobytes() == q.tobytes()


def test_a_playback_goes_on_from_a_file(tmp_path: Path, hrp2: Robot) -> None:
    """Player, feed-forward, limits and noisy sensors in another simulation, from what a file kept: bit for bit."""

    def playing() -> tuple[Simulation, NoisySensors]:
        simulation = Simulation(scene(floor(), robots=(standing(hrp2),), friction=0.8))
        trajectory = read_joint_trajectory(squat_file(tmp_path, hrp2, 0.02))
        sensors = NoisySensors(seed=3)
        for module in (
            TrajectoryPlayer("hrp2", trajectory),
            FeedForward("hrp2", "inverse_dynamics"),
            MotorLimiter("hrp2"),
            sensors,
        ):
            simulation.add_module(module)
        return simulation, sensors

    first, first_sensors = playing()
    first.run(0.05)
    write_state(first, tmp_path / "state")
    first.run(0.05)
    second, second_sensors = playing()
    read_state(second, tmp_path / "state")
    second.run(0.05)
    assert second.time == first.time
    assert second.q.tobytes() == first.q.tobytes()
    for name in ("right_ankle", "left_wrist"):
        assert (second_sensors.wrench("hrp2", name) == first_sensors.wrench("hrp2", name)).all()


def test_what_cannot_be_played_is_refused() -> None:
    simulation = Simulation("stand")
    for joints, says in (
        (["TAIL"], "no joint 'TAIL'"),
        (["WAIST"], "no joint 'WAIST'"),
    ):
        with pytest.raises(InputError, match=says):
            simulation.add_module(TrajectoryPlayer("hrp2", JointTrajectory(joints, [0.0], [[0.0]])))
    trajectory = JointTrajectory(["RARM_JOINT0"], [0.0], [[0.0]])
    with pytest.raises(InputError, match=r"no robot 'bip'.*hrp2"):
        simulation.add_module(TrajectoryPlayer("bip", trajectory))
    with pytest.raises(InputError, match="start_time is nan"):
        TrajectoryPlayer("hrp2", trajectory, start_time=math.nan)
