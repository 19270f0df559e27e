# SPDX-License-Identifier: Apache-2.0
"""Torque-speed limits of motors: law, limiter, monitor, picture (specification 000 §20.4, F145, F168)."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from fixtures.scenes import scene, standing
from numpy.testing import assert_allclose

from humanoid_model import load_robot, load_scene, with_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.actuation import MotorLimiter, MotorMonitor
from humanoid_sim.actuation.drives import Drives
from humanoid_sim.actuation.motors import effort_range, motor_load, parallelogram

matplotlib.use("Agg")

WHEEL = """<robot name="wheel"><link name="world"/>
<link name="wheel"><inertial><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="idle"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="idler" type="continuous"><parent link="world"/><child link="idle"/><axis xyz="0 0 1"/></joint>
<joint name="axle" type="continuous"><parent link="world"/><child link="wheel"/><axis xyz="0 0 1"/>
<limit effort="10" velocity="5"/></joint></robot>"""


AXLE = 1
"""Its velocity coordinate, after the idle wheel's."""


def wheel(tmp_path: Path, actuator: str) -> Simulation:
    """A wheel of 0.1 kg m^2; its motor gives 10 N m at standstill and turns at 5 rad/s without load."""
    (tmp_path / "wheel.urdf").write_text(WHEEL)
    (tmp_path / "wheel.yaml").write_text(f"actuators: {{axle: {{{actuator}}}}}")
    return Simulation(scene(robots=(standing(load_robot(tmp_path / "wheel.urdf"), "zero"),)))


@pytest.mark.feature("000-F145")
def test_load_is_the_larger_of_both_limits() -> None:
    speed, effort = np.array([0.0, 2.5, 5.0, -5.0, 2.5, -4.0]), np.array([5.0, 5.0, 0.0, 10.0, -10.0, -12.0])
    expected = [0.5, 1.0, 1.0, 1.0, 1.0, 2.0]
    assert_allclose(motor_load(speed, effort, 5.0, 10.0), expected)
    assert_allclose(motor_load(speed, effort, math.inf, math.inf), 0.0)


def test_range_is_where_the_load_is_below_one() -> None:
    """At every speed up to the largest, the load is 1 at both ends of the range and below within."""
    for speed in np.linspace(-5.0, 5.0, 11):
        lower, upper = effort_range(speed, 5.0, 10.0)
        assert_allclose(motor_load(speed, [float(lower), float(upper)], 5.0, 10.0), 1.0, atol=1e-12)
        assert (motor_load(speed, np.linspace(lower, upper, 9)[1:-1], 5.0, 10.0) < 1.0).all()
    assert_allclose(effort_range(7.0, 5.0, 10.0), (-10.0, 0.0))
    assert_allclose(effort_range(-7.0, 5.0, 10.0), (0.0, 10.0))
    assert_allclose(effort_range(3.0, math.inf, 10.0), (-10.0, 10.0))
    assert_allclose(effort_range(5.0, 5.0, math.inf), (-math.inf, math.inf))


def test_parallelogram_encloses_just_the_allowed_points() -> None:
    from matplotlib.path import Path as Polygon

    corners = parallelogram(5.0, 10.0)
    rng = np.random.default_rng(0)
    points = rng.uniform([-15, -15], [15, 15], size=(2000, 2))
    inside = Polygon(corners).contains_points(points)
    assert (inside == (motor_load(points[:, 1], points[:, 0], 5.0, 10.0) < 1.0)).all()
    assert 100 < inside.sum() < 1000
    with pytest.raises(InputError, match="no parallelogram"):
        parallelogram(math.inf, 10.0)
    with pytest.raises(InputError, match="largest effort is 0"):
        effort_range(0.0, 5.0, 0.0)


def test_a_limited_motor_speeds_up_exponentially(tmp_path: Path) -> None:
    """Pushed with all that it has, I dq/dt = G (1 - q/Q): the closed form, and never beyond the parallelogram."""
    simulation = wheel(tmp_path, "stiffness: 0, damping: 0")
    monitor = MotorMonitor("wheel")
    for module in (MotorLimiter("wheel"), monitor):
        simulation.add_module(module)
    simulation.robots["wheel"].set_effort([100.0])
    simulation.run(0.2)
    series, rate = monitor.series, 10.0 / (0.1 * 5.0)
    assert_allclose(series.speed[:, 0], 5.0 * (1.0 - np.exp(-rate * series.time)), atol=0.02)
    (report,) = monitor.report()
    assert report.steps_over <= 1  # when the torque jumps, the speed at the end of the step isn't known yet
    assert report.load <= 1.02 + 1e-9
    assert motor_load(series.speed[1:, 0], series.effort[1:, 0], 5.0, 10.0).max() < 1.001
    assert report.steps_saturated == 200
    # Against the motion the motor gives all its effort: it brakes twice as hard as a motor at standstill pushes.
    simulation.robots["wheel"].set_effort([-100.0])
    before = simulation.v[AXLE]
    simulation.run(0.01)
    assert simulation.v[AXLE] - before == pytest.approx(-10.0 / 0.1 * 0.01, rel=1e-6)


def test_without_the_limiter_the_monitor_flags_the_drive(tmp_path: Path) -> None:
    simulation = wheel(tmp_path, "stiffness: 0, damping: 0, gear_ratio: 50")
    monitor = MotorMonitor("wheel", interval=10)
    simulation.add_module(monitor)
    simulation.robots["wheel"].set_effort([9.0])
    simulation.run(0.1)  # 9 rad/s
    (report,) = monitor.report()
    assert report.violated
    # 1 ms steps of 0.09 rad/s: the load 0.9 + q/5 passes 1 at 0.5 rad/s, after the sixth step.
    assert report.steps_over == 100 - 5
    assert report.steps_saturated == 0
    assert report.load == pytest.approx(0.9 + 9.0 / 5.0)
    assert report.motor_effort == pytest.approx(9.0 / 50)
    assert report.motor_speed == pytest.approx(9.0 * 50)
    assert len(monitor.series.time) == 10
    state = simulation.save_state()
    simulation.run(0.05)
    simulation.restore_state(state)
    assert len(monitor.series.time) == 10
    assert monitor.report()[0] == report


@pytest.mark.feature("000-F145")
def test_peak_effort_lasts_for_its_time_only(tmp_path: Path) -> None:
    """Held against a torque of 4 N m with 2 N m nominal: 0.3 s, then nominal only; as long to recover."""
    simulation = wheel(tmp_path, "stiffness: 1000, damping: 20, nominal_effort: 2, peak_time: 0.3, velocity: 500")
    limiter, monitor = MotorLimiter("wheel"), MotorMonitor("wheel")
    simulation.add_module(limiter)
    simulation.add_module(monitor)
    simulation.apply_wrench("wheel/wheel", [0, 0, 0], [0, 0, 4.0], duration=0.4)
    simulation.run(0.29)
    assert not limiter.exhausted.any()
    assert abs(simulation.efforts[AXLE]) == pytest.approx(4.0, rel=0.01)
    simulation.run(0.03)
    assert limiter.exhausted.all()
    assert abs(simulation.efforts[AXLE]) <= 2.0
    assert simulation.v[AXLE] > 0.1  # it gives way
    (report,) = monitor.report()
    assert report.longest_peak == pytest.approx(0.3, abs=0.005)
    assert 2.0 <= report.nominal_load < 2.4  # the servo overshoots a little at the start
    state = simulation.save_state()
    simulation.run(0.2)
    ahead = simulation.q.copy()
    simulation.restore_state(state)
    simulation.run(0.2)
    assert simulation.q.tobytes() == ahead.tobytes()
    simulation.run(0.15)
    assert not limiter.exhausted.any()


def test_removing_the_limiter_gives_the_limits_back(tmp_path: Path) -> None:
    simulation = wheel(tmp_path, "stiffness: 10")
    simulation.add_module(MotorLimiter("wheel"))
    simulation.robots["wheel"].set_effort([100.0])
    simulation.v[AXLE] = 4.0
    simulation.step()
    assert simulation.servos.highest[AXLE] < 5.0
    simulation.remove_module("motor_limiter/wheel")
    assert (simulation.servos.lowest[AXLE], simulation.servos.highest[AXLE]) == (-10.0, 10.0)


def test_drives_of_ball_joints_and_missing_limits(tmp_path: Path) -> None:
    simulation = Simulation("avatar")
    drives = Drives.of_robot(simulation, "avatar")
    actuators = simulation.robots["avatar"].robot.actuators
    assert len(drives.names) == len(actuators) + 2 * 8
    assert {"r_hip.x", "r_hip.y", "r_hip.z", "r_knee"} <= set(drives.names)
    assert drives.effort[drives.place("r_hip.z")] == actuators["r_hip"].effort
    with pytest.raises(InputError, match="no drive moves 'r_hip'"):
        drives.place("r_hip")
    with pytest.raises(InputError, match=r"no robot 'hrp2'.*avatar"):
        simulation.add_module(MotorMonitor("hrp2"))
    with pytest.raises(InputError, match="interval is 0"):
        MotorMonitor("avatar", 0)
    stuck = wheel(tmp_path, "velocity: 0")
    for module in (MotorLimiter("wheel"), MotorMonitor("wheel")):
        with pytest.raises(InputError, match="'axle' has the velocity 0"):
            stuck.add_module(module)
    robot = dataclasses.replace(simulation.robots["avatar"].robot, actuators={})
    with pytest.raises(InputError, match="no actuators"):
        Drives.of_robot(Simulation(scene(robots=(standing(robot, "zero", "avatar"),))), "avatar")


def test_a_plot_has_newtons_of_drives_that_slide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    from humanoid_sim.actuation.motors import plot_motors

    simulation = Simulation(with_robot(load_scene("stand"), load_robot("bip_screws")))
    monitor = MotorMonitor("bip_screws")
    simulation.add_module(monitor)
    simulation.run(0.01)
    labels: dict[str, tuple[str, str]] = {}
    close = plt.close

    def look(figure: plt.Figure) -> None:
        labels.update({axes.get_title(): (axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes})
        close(figure)

    monkeypatch.setattr(plt, "close", look)
    plot_motors(monitor, tmp_path / "motors.png")
    joints = simulation.robots["bip_screws"].robot.description.joints
    for name in monitor.drives.names:
        slides = joints[name].type == "prismatic"
        assert labels[name] == (("effort [N]", "speed [m/s]") if slides else ("effort [N m]", "speed [rad/s]"))
    assert len({labels[name] for name in monitor.drives.names}) == 2


@pytest.mark.feature("000-F168")
def test_picture(tmp_path: Path) -> None:
    from humanoid_sim.actuation.motors import plot_motors

    simulation = wheel(tmp_path, "stiffness: 100, damping: 2, nominal_effort: 2")
    monitor = MotorMonitor("wheel")
    simulation.add_module(monitor)
    simulation.robots["wheel"].set_position_target([1.0])
    simulation.run(0.5)
    plot_motors(monitor, tmp_path / "motors.png")
    assert (tmp_path / "motors.png").stat().st_size > 5_000
    with pytest.raises(InputError, match="no drive moves 'knee'"):
        plot_motors(monitor, tmp_path / "motors.png", ["knee"])
    with pytest.raises(InputError, match="no drive is named"):
        plot_motors(monitor, tmp_path / "motors.png", [])
