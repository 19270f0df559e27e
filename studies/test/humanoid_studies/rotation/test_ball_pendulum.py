# SPDX-License-Identifier: Apache-2.0
"""Pendulum on a ball joint (specification 000, E8, F039 to F041)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fixtures.scenes import scene, standing

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_studies.rotation.ball_pendulum import (
    LENGTH,
    MASS,
    RADIUS,
    BallPendulumRun,
    compare_ball_pendulums,
    comparison_table,
    swing_ball_pendulum,
)

WHIRL = 12.0
"""rad/s: the rod goes round and round."""

ROD = f"""<robot name="rod"><link name="world"/><link name="a"/><link name="b"/>
<link name="rod"><inertial><origin xyz="0 0 {-LENGTH / 2}"/><mass value="{MASS}"/>
<inertia ixx="{MASS * (RADIUS**2 / 4 + LENGTH**2 / 12)}" ixy="0" ixz="0"
 iyy="{MASS * (RADIUS**2 / 4 + LENGTH**2 / 12)}" iyz="0" izz="{MASS * RADIUS**2 / 2}"/></inertial></link>
<joint name="x" type="continuous"><parent link="world"/><child link="a"/><axis xyz="1 0 0"/></joint>
<joint name="y" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
<joint name="z" type="continuous"><parent link="b"/><child link="rod"/><axis xyz="0 0 1"/></joint></robot>"""


@pytest.fixture(scope="module", params=[4.0, WHIRL], ids=["swing", "whirl"])
def runs(request: pytest.FixtureRequest) -> dict[str, BallPendulumRun]:
    return {run.parametrisation: run for run in compare_ball_pendulums(speed=request.param)}


@pytest.mark.feature("000-F039")
def test_quaternion_stays_in_the_plane(runs: dict[str, BallPendulumRun]) -> None:
    run = runs["quaternion"]
    assert run.out_of_plane.max() < 1e-9
    assert run.axis_drift.max() < 1e-9
    assert run.norm_error < 1e-12
    assert 0.0 < run.norm_drift < 1e-9
    assert run.angle_error.max() < 1e-8
    assert run.energy_error.max() < 1e-9
    assert run.flagged == 0


@pytest.mark.feature("000-F040")
def test_rotation_vector_is_right_because_it_is_replaced(runs: dict[str, BallPendulumRun]) -> None:
    run = runs["rotation_vector"]
    turns = np.ptp(run.angle) / (2.0 * math.pi)
    assert run.out_of_plane.max() < 1e-9
    assert run.angle_error.max() < 1e-8
    assert run.reparametrised == (round(turns) if turns > 1.0 else 0)
    assert run.flagged == 0


@pytest.mark.feature("000-F041")
def test_three_angles_start_at_their_singularity_and_say_so(runs: dict[str, BallPendulumRun]) -> None:
    """The thesis' fallback sends the rod off its plane and about itself; with turned nodes it stays."""
    thesis, turned = runs["three_angles_thesis"], runs["three_angles"]
    assert thesis.fallbacks > 0
    assert turned.fallbacks > 0
    assert thesis.flagged > 0
    assert turned.flagged > 0
    assert thesis.out_of_plane.max() > 1e-3
    assert thesis.axis_drift.max() > 1e-2
    assert turned.out_of_plane.max() < 1e-9
    assert turned.angle_error.max() < 1e-8


def test_the_fallback_of_the_thesis_does_when_the_nodes_lie_right() -> None:
    """Swung forward about x, the line of nodes of zero angles, equation (3.58) is exact."""
    run = swing_ball_pendulum("three_angles_thesis", direction=0.0, duration=3.0)
    assert run.fallbacks > 0
    assert run.out_of_plane.max() < 1e-9
    assert run.angle_error.max() < 1e-8


@pytest.mark.feature("000-F039")
def test_the_simulators_ball_joint_stays_in_the_plane(tmp_path: Path) -> None:
    """10 s of the simulator itself: out of plane below 1e-9 m, norm to 1e-12."""
    (tmp_path / "rod.urdf").write_text(ROD)
    (tmp_path / "rod.yaml").write_text("ball_joints: {ball: [x, y, z]}\nactuators: {}\n")
    robot = load_robot(tmp_path / "rod.urdf")
    simulation = Simulation(scene(robots=(standing(robot, "zero", "rod"),)))
    axis = np.array([math.cos(0.6), math.sin(0.6), 0.0])
    simulation.robots["rod"].set_state(simulation.robots["rod"].q, 4.0 * axis)
    away, norms, heights = [], [], []

    def watch(running: Simulation) -> None:
        rod = running.placement("rod/rod").rotation[:, 2]
        away.append(abs(rod @ axis) * LENGTH / 2)
        heights.append(rod[2])
        norms.append(abs(np.linalg.norm(running.q) - 1.0))

    simulation.run(10.0, watch)
    assert max(away) < 1e-9
    assert max(norms) < 1e-12
    pull = MASS * 9.8 * LENGTH / 2
    inertia = MASS * (RADIUS**2 / 4 + LENGTH**2 / 3)
    assert min(heights) == pytest.approx(1.0 - 0.5 * inertia * 16.0 / pull, abs=0.02)


def test_table(runs: dict[str, BallPendulumRun]) -> None:
    lines = comparison_table(list(runs.values())).splitlines()
    assert len(lines) == 2 + len(runs)
    assert lines[2].startswith("| quaternion |")
    assert all(line.count("|") == lines[0].count("|") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"parametrisation": "euler"}, "no parametrisation 'euler'.*quaternion"),
        ({"parametrisation": "quaternion", "dt": 0.0}, "dt is 0"),
        ({"parametrisation": "quaternion", "duration": -1.0}, "duration is -1"),
        ({"parametrisation": "quaternion", "speed": math.nan}, "speed is nan"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        swing_ball_pendulum(**arguments)
    with pytest.raises(InputError, match="no run is given"):
        comparison_table([])
