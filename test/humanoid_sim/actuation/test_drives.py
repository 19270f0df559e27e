# SPDX-License-Identifier: Apache-2.0
"""Identification of joint friction from torque against velocity (specification 000, F144)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fixtures.scenes import scene, standing
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.actuation import FeedForward
from humanoid_sim.actuation.drives import identify_joint_friction, measure_joint_efforts

ARM = """<robot name="arm"><link name="world"/>
<link name="upper"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="lower"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="world"/><child link="upper"/><axis xyz="0 0 1"/>
<dynamics damping="0.7"/><limit effort="100" velocity="99"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="0 0 1"/>
<limit effort="100" velocity="99"/></joint></robot>"""  # noqa: E501


def arm(tmp_path: Path, actuator: str) -> Simulation:
    (tmp_path / "arm.urdf").write_text(ARM)
    yaml = f"actuators: {{'*': {{stiffness: 2000, damping: 50}}, shoulder: {{{actuator}}}}}"
    (tmp_path / "arm.yaml").write_text(yaml)
    return Simulation(scene(robots=(standing(load_robot(tmp_path / "arm.urdf"), "zero"),)))


def test_friction_is_found_in_noisy_efforts() -> None:
    rng = np.random.default_rng(0)
    speeds = rng.uniform(0.1, 3.0, 200) * rng.choice([-1, 1], 200)
    exact = 0.8 * speeds + 2.5 * np.sign(speeds)
    found = identify_joint_friction(speeds, exact)
    assert (found.viscous, found.dry) == pytest.approx((0.8, 2.5), abs=1e-12)
    noisy = identify_joint_friction(speeds, exact + 0.2 * rng.normal(size=200))
    assert abs(noisy.viscous - 0.8) < 4 * noisy.viscous_error
    assert abs(noisy.dry - 2.5) < 4 * noisy.dry_error
    # Scatter over repetitions is what the standard errors say.
    repeated = [identify_joint_friction(speeds, exact + 0.2 * rng.normal(size=200)) for _ in range(300)]
    assert np.std([one.viscous for one in repeated]) == pytest.approx(noisy.viscous_error, rel=0.2)
    assert np.std([one.dry for one in repeated]) == pytest.approx(noisy.dry_error, rel=0.2)


@pytest.mark.feature("000-F144")
@pytest.mark.parametrize(
    ("actuator", "viscous", "dry"),
    [
        ("armature: 0", 0.7, 0.0),
        ("viscous_friction: 1.9", 1.9, 0.0),
        ("viscous_friction: 0.5, dry_friction: 3", 0.5, 3.0),
    ],
)
def test_friction_is_found_by_driving_a_simulated_joint(
    tmp_path: Path, actuator: str, viscous: float, dry: float
) -> None:
    """What the URDF or the YAML beside it gives, from torque against velocity."""
    simulation = arm(tmp_path, actuator)
    speeds = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]
    efforts = measure_joint_efforts(simulation, "arm", "shoulder", speeds, settle=0.6)
    found = identify_joint_friction(speeds, efforts)
    assert found.viscous == pytest.approx(viscous, rel=1e-3)
    assert found.dry == pytest.approx(dry, abs=1e-3)
    assert simulation.time == 0.0


def test_compensation_lets_a_stiff_joint_follow_as_if_it_had_no_friction(tmp_path: Path) -> None:
    """A slow sine against dry friction: the servo alone lags by friction over stiffness, compensated it hardly does."""
    errors = {}
    for friction in (False, True):
        simulation = arm(tmp_path, "viscous_friction: 0.5, dry_friction: 3")
        simulation.add_module(FeedForward("arm", "none", friction=friction))
        robot, largest = simulation.robots["arm"], 0.0
        for _ in range(1000):
            t = simulation.time + simulation.dt
            robot.set_position_target([0.2 * math.sin(3 * t)], [0.6 * math.cos(3 * t)], joints=["shoulder"])
            simulation.step()
            away = robot.joint_positions[robot.joint_names.index("shoulder")] - 0.2 * math.sin(3 * t)
            if t > 0.3 and abs(math.cos(3 * t)) > 0.5:  # away from turning points, where the sign is smoothed
                largest = max(largest, abs(away))
        errors[friction] = largest
    assert errors[False] > 0.7 * 3.0 / 2000.0
    assert errors[True] < 0.3 * errors[False]


@pytest.mark.parametrize(
    ("speeds", "efforts", "says"),
    [
        ([1.0, 2.0], [1.0], "speeds have the shape"),
        ([1.0, 2.0, math.nan], [1.0] * 3, "speeds hold"),
        ([1.0, 2.0, 0.0], [1.0] * 3, r"speeds\[2\] is 0"),
        ([1.0, -1.0, 1.0], [1.0] * 3, "don't tell viscous from dry"),
        ([1.0, 2.0], [1.0] * 2, "don't tell viscous from dry"),
    ],
)
def test_samples_that_tell_nothing_are_refused(speeds: list, efforts: list, says: str) -> None:
    with pytest.raises(InputError, match=says):
        identify_joint_friction(speeds, efforts)


def test_unknown_joints_are_refused_and_the_state_kept(tmp_path: Path) -> None:
    simulation = arm(tmp_path, "armature: 0")
    with pytest.raises(InputError, match="no joint 'knee'"):
        measure_joint_efforts(simulation, "arm", "knee", [1.0])
    with pytest.raises(InputError, match="no robot 'leg'"):
        measure_joint_efforts(simulation, "leg", "knee", [1.0])
    with pytest.raises(InputError, match="settle is 0"):
        measure_joint_efforts(simulation, "arm", "shoulder", [1.0], settle=0.0)
    assert_allclose(simulation.q, 0.0, atol=0)
