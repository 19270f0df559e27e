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
from humanoid_sim.actuation import FeedForward, MotorLimiter, TrajectoryPlayer, read_joint_trajectory
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.state_file import read_state, write_state


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
