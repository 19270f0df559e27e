# SPDX-License-Identifier: Apache-2.0
"""A robot that falls for ever is noticed; one that slides, stands deep or hasn't fallen far is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_model.errors import RobotWarning
from humanoid_model.scene_file import load_scene
from humanoid_sim import Simulation
from humanoid_sim.__main__ import main
from humanoid_sim.endless_fall import EndlessFall

BODY = "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
URDF = f"""<robot name="brick">
  <link name="base">{BODY}{{}}</link><link name="arm">{BODY}</link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="3"/></joint>
</robot>"""
SHAPE = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
FLOOR = "bodies: {floor: {shapes: [{half_space: true}]}}"


def scene(folder: Path, shape: str, bodies: str, height: float = 0.5) -> Path:
    (folder / "brick.urdf").write_text(URDF.format(shape))
    path = folder / "scene.yaml"
    path.write_text(f"robots: {{brick: {{robot: {folder}/brick.urdf, xyz: [0, 0, {height}]}}}}\n{bodies}\n")
    return path


def fall(simulation: Simulation) -> list[float]:
    """Heights at which the watch speaks, of a second each of eight."""
    watch, robot = EndlessFall(simulation), simulation.robots["brick"]
    heights = []
    for _ in range(8):
        simulation.step(round(1.0 / simulation.dt))
        if watch.problem():
            heights.append(float(robot.q[2]))
    return heights


@pytest.mark.feature("000-F026")
def test_a_robot_without_shapes_falls_through_the_floor_and_is_warned_of(tmp_path: Path) -> None:
    path = scene(tmp_path, "", FLOOR)
    with pytest.warns(
        RobotWarning, match=r"robot 'brick' has no collision shapes.*Give the links of its URDF <collision>"
    ):
        simulation = Simulation(path, 0.01)
    heights = fall(simulation)
    assert len(heights) == 4  # g t² / 2 is 100 m after 4.5 s
    assert max(heights) < -100.0
    simulation.reset()
    watch = EndlessFall(simulation)
    assert watch.problem() == ""
    simulation.step(500)
    assert watch.problem().startswith("robot 'brick' has fallen to -122.")
    assert watch.problem().endswith("Give its links <collision>, or fix its base.")


@pytest.mark.feature("000-F026")
@pytest.mark.parametrize(
    ("bodies", "height", "count"),
    [
        (FLOOR, 0.5, 0),
        ("bodies: {slope: {rpy: [0, 1.2, 0], shapes: [{half_space: true}]}}", 0.5, 0),  # slides down it
        ("bodies: {table: {shapes: [{box: [1, 1, 1], xyz: [9, 0, -5]}]}}", 0.5, 4),  # falls beside it
        ("bodies: {table: {shapes: [{box: [1, 1, 1], xyz: [9, 0, -150]}]}}", 0.5, 1),  # still above it for 7 s
        ("bodies: {}", 500.0, 4),
    ],
)
def test_who_falls_past_everything_is_told_of(tmp_path: Path, bodies: str, height: float, count: int) -> None:
    simulation = Simulation(scene(tmp_path, SHAPE, bodies, height), 0.01)
    assert len(fall(simulation)) == count
    assert simulation.robots["brick"].q[2] < height - 100.0 or bodies == FLOOR  # with the time that it takes


def test_the_command_tells_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scene(tmp_path, "", FLOOR)
    with pytest.warns(RobotWarning, match="falls through the floor"):
        assert main(["run", str(path), "--dt", "0.01"]) == 0
    assert "robot 'brick' has fallen to -122" in capsys.readouterr().err
    assert load_scene(path).robots[0].robot.collision_model.ngeoms == 0
