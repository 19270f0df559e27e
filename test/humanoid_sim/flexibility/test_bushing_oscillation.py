# SPDX-License-Identifier: Apache-2.0
"""The ankle bushing of specification 000 §16 on its own: sag, frequencies and decay of its three axes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import scene

from humanoid_model import load_robot
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation

MASS, INERTIA = 2.0, (0.02, 0.03, 0.04)
STIFFNESS = {"z": 8000.0, "x": 25.0, "y": 30.0}
MOVED = {"z": MASS, "x": INERTIA[0], "y": INERTIA[1]}
DT = 1e-4
LINK = (
    "<link name='{0}'/><joint name='{0}' type='{1}'><parent link='{2}'/><child link='{0}'/><axis xyz='{3}'/>{4}</joint>"
)


def bushing(folder: Path, damping: float, gravity: float, dt: float = DT) -> Simulation:
    """A body on the three passive joints of equation (4.3), which hang from the world."""
    limit = "<limit lower='-1' upper='1' effort='1' velocity='100'/>"
    links = [
        LINK.format("z", "prismatic", "world", "0 0 1", limit),
        LINK.format("x", "revolute", "z", "1 0 0", limit),
        LINK.format("y", "revolute", "x", "0 1 0", limit).replace("<link name='y'/>", ""),
    ]
    ixx, iyy, izz = INERTIA
    foot = (
        f"<link name='y'><inertial><mass value='{MASS}'/>"
        f"<inertia ixx='{ixx}' iyy='{iyy}' izz='{izz}' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    )
    (folder / "foot.urdf").write_text(f"<robot name='foot'><link name='world'/>{foot}{''.join(links)}</robot>")
    springs = [f"  {axis}: {{stiffness: {k}, damping: {damping}}}" for axis, k in STIFFNESS.items()]
    (folder / "foot.yaml").write_text("\n".join(["springs:", *springs, "actuators: {}"]))
    robot = load_robot(folder / "foot.urdf")
    placed = SceneRobot(
        name="foot", robot=robot, posture="zero", placement=pin.SE3.Identity(), q=robot.postures["zero"]
    )
    return Simulation(scene(robots=(placed,), gravity=(0.0, 0.0, -gravity)), dt=dt)


@pytest.mark.feature("000-F123")
@pytest.mark.parametrize("axis", ["z", "x", "y"])
def test_frequency_is_that_of_the_spring_and_what_it_carries(tmp_path: Path, axis: str) -> None:
    """Free of damping and gravity: 2 pi f = sqrt(k/m), sqrt(k/I); equation (4.3) acts on one axis each."""
    simulation = bushing(tmp_path, 0.0, 0.0)
    foot = simulation.robots["foot"]
    index = foot.joint_names.index(axis)
    start = np.zeros(3)
    start[index] = 1e-3
    foot.set_state(start)
    omega = math.sqrt(STIFFNESS[axis] / MOVED[axis])
    steps = round(10 * 2 * math.pi / omega / DT)
    positions = np.empty((steps, 3))
    for i in range(steps):
        simulation.step()
        positions[i] = foot.joint_positions
    wave = positions[:, index]
    falls = np.flatnonzero((wave[:-1] > 0.0) & (wave[1:] <= 0.0))
    crossings = DT * (falls + wave[falls] / (wave[falls] - wave[falls + 1]))
    assert len(crossings) >= 9
    assert 2 * math.pi / np.diff(crossings).mean() == pytest.approx(omega, rel=1e-3)
    others = np.delete(positions, index, axis=1)
    assert np.abs(others).max() < 1e-8


@pytest.mark.feature("000-F123")
def test_sag_is_the_weight_over_the_stiffness(tmp_path: Path) -> None:
    simulation = bushing(tmp_path, 100.0, 9.8, dt=1e-3)
    simulation.run(1.0)
    z = dict(zip(simulation.robots["foot"].joint_names, simulation.robots["foot"].joint_positions, strict=True))
    assert z["z"] == pytest.approx(-MASS * 9.8 / STIFFNESS["z"], rel=1e-6)
    assert [z["x"], z["y"]] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_oscillation_dies_out_with_the_damping(tmp_path: Path) -> None:
    """The envelope falls with exp(-c t / 2m), which the time step speeds up by half of omega^2 dt."""
    c = 20.0
    simulation = bushing(tmp_path, c, 0.0)
    foot = simulation.robots["foot"]
    start = np.zeros(3)
    start[foot.joint_names.index("z")] = 1e-3
    foot.set_state(start)
    energy = []
    for _ in range(4000):
        simulation.step()
        z = foot.joint_positions[foot.joint_names.index("z")]
        v = foot.joint_velocities[foot.joint_names.index("z")]
        energy.append(0.5 * MASS * v**2 + 0.5 * STIFFNESS["z"] * z**2)
    decay = -np.polyfit(DT * np.arange(4000), np.log(energy), 1)[0]
    omega = math.sqrt(STIFFNESS["z"] / MASS)
    assert decay == pytest.approx(c / MASS + omega**2 * DT, rel=0.02)


def test_a_stiff_bushing_under_a_light_foot_stays_stable_at_a_millisecond(tmp_path: Path) -> None:
    """Specification 000 §16: at 1e6 N/m and 1 kg explicit steps are at their limit; here the spring is implicit."""
    simulation = bushing(tmp_path, 0.0, 9.8, dt=1e-3)
    foot = simulation.robots["foot"]
    foot.set_gains(np.full(3, 4e7), np.zeros(3))
    start = np.array([1e-3, 1e-3, 1e-3])
    foot.set_state(start)
    simulation.run(1.0)
    assert np.abs(foot.joint_positions).max() < 1e-5
