# SPDX-License-Identifier: Apache-2.0
"""The servo law (5.8) with gains of the motor: R (K_p (q_d - q) + K_v (dq_d - dq)) at the joint."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fixtures.scenes import scene, standing
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_sim import Simulation
from humanoid_sim.actuation import FeedForward, MotorMonitor

INERTIA = 0.1
WHEEL = f"""<robot name="wheel"><link name="base"/>
<link name="rim"><inertial><mass value="1"/>
<inertia ixx="{INERTIA}" ixy="0" ixz="0" iyy="{INERTIA}" iyz="0" izz="{INERTIA}"/></inertial></link>
<joint name="axle" type="continuous"><parent link="base"/><child link="rim"/><axis xyz="0 0 1"/>
<limit effort="1e6" velocity="1e6"/></joint></robot>"""
R, KP, KV = 50.0, 0.8, 0.02


def wheel(folder: Path, more: str = "") -> Simulation:
    (folder / "wheel.urdf").write_text(WHEEL)
    gains = f"gear_ratio: {R}, motor_stiffness: {KP}, motor_damping: {KV}"
    (folder / "wheel.yaml").write_text(f"floating_base: false\nactuators: {{axle: {{{gains}{more}}}}}\n")
    return Simulation(scene(robots=(standing(load_robot(folder / "wheel.urdf"), "zero"),)))


@pytest.mark.feature("000-F144")
def test_the_joint_feels_the_gear_ratio_times_the_motor(tmp_path: Path) -> None:
    """Each effort is the law at the end of its step; the motor's own is what is left without R."""
    simulation = wheel(tmp_path)
    monitor = MotorMonitor("wheel")
    simulation.add_module(monitor)
    robot = simulation.robots["wheel"]
    for step in range(1, 200):
        q, v = robot.q[0], robot.v[0]
        target, speed = math.sin(0.01 * step), 10.0 * math.cos(0.01 * step)
        robot.set_position_target([target], [speed])
        simulation.step()
        law = R * (KP * (target - robot.q[0]) + KV * (speed - robot.v[0]))
        assert robot.joint_efforts[0] == pytest.approx(law, rel=1e-9, abs=1e-9)
        assert INERTIA * (robot.v[0] - v) == pytest.approx(simulation.dt * law, rel=1e-9, abs=1e-12)
        assert robot.q[0] == pytest.approx(q + simulation.dt * robot.v[0], abs=1e-15)
    (report,) = monitor.report()
    assert report.motor_effort == pytest.approx(np.abs(monitor.series.effort).max() / R)


def test_a_released_joint_swings_as_the_damped_oscillator_says(tmp_path: Path) -> None:
    """I q'' = -R K_v q' - R K_p q from 0.3 rad, to the first order of the steps."""
    simulation = wheel(tmp_path)
    robot = simulation.robots["wheel"]
    robot.set_state([0.3], [0.0])
    robot.set_position_target([0.0])
    positions = []
    simulation.run(0.5, lambda _: positions.append(robot.q[0]))
    omega, decay = math.sqrt(R * KP / INERTIA), 0.5 * R * KV / INERTIA
    damped = math.sqrt(omega**2 - decay**2)
    t = simulation.dt * np.arange(1, 501)
    exact = 0.3 * np.exp(-decay * t) * (np.cos(damped * t) + decay / damped * np.sin(damped * t))
    assert_allclose(positions, exact, atol=0.3 * omega * simulation.dt)


@pytest.mark.feature("000-F144")
def test_the_whole_law_makes_up_for_friction(tmp_path: Path) -> None:
    """With the friction commanded as well, the speed is that of a joint without any: the last two terms of (5.8)."""
    turning = []
    for friction in (False, True):
        simulation = wheel(tmp_path, ", viscous_friction: 0.5, dry_friction: 1.2" if friction else "")
        if friction:
            simulation.add_module(FeedForward("wheel", "none", friction=True))
        robot = simulation.robots["wheel"]
        robot.set_state([0.0], [2.0])
        for step in range(1, 400):
            robot.set_position_target([2e-3 * step], [2.0])
            simulation.step()
        turning.append((robot.q[0], robot.v[0]))
    assert_allclose(turning[1], turning[0], rtol=1e-3)
