# SPDX-License-Identifier: Apache-2.0
"""Robots that are a YAML alone, whose URDF is another package's."""

from pathlib import Path

import pytest

from humanoid_model import load_robot
from humanoid_model.errors import RobotError
from humanoid_model.files import resolve_mesh_path

URDF = """<robot name="lamp"><link name="foot"><inertial><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="arm"><inertial><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="elbow" type="revolute"><parent link="foot"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="5" velocity="6"/></joint></robot>"""
YAML = "urdf: package://lamps/urdf/lamp.urdf\npostures: {bent: {elbow: 0.5}}\n"


def lamp_in(package: Path) -> None:
    (package / "urdf").mkdir(parents=True)
    (package / "urdf" / "lamp.urdf").write_text(URDF, encoding="utf-8")


@pytest.fixture
def yaml_file(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere" / "urdf" / "my_lamp.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(YAML, encoding="utf-8")
    return path


def test_a_yaml_names_its_urdf(tmp_path: Path, yaml_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lamp_in(tmp_path / "src" / "lamps")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "src"))
    monkeypatch.setenv("HUMANOID_STACK_PATH", str(yaml_file.parent.parent))
    for robot in (load_robot(yaml_file), load_robot("my_lamp")):
        assert robot.name == "lamp"
        assert robot.postures["bent"][robot.index_q("elbow")] == 0.5


def test_packages_of_wheels_are_found(tmp_path: Path, yaml_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lamp_in(tmp_path / "site-packages" / "cmeel.prefix" / "share" / "lamps")
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    assert load_robot(yaml_file).total_mass == 3.0


def test_a_missing_package_is_named_with_its_remedy(yaml_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    with pytest.raises(RobotError, match=r"my_lamp.yaml:1: urdf: 'package://lamps.*not found.*ROS_PACKAGE_PATH"):
        load_robot(yaml_file)


def test_a_yaml_without_any_urdf_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nobody.yaml"
    path.write_text("floating_base: true\n", encoding="utf-8")
    with pytest.raises(RobotError, match="has no 'urdf'"):
        load_robot(path)


def test_a_yaml_beside_its_urdf_loads_too(tmp_path: Path) -> None:
    (tmp_path / "lamp.urdf").write_text(URDF, encoding="utf-8")
    (tmp_path / "lamp.yaml").write_text("postures: {bent: {elbow: -0.5}}\n", encoding="utf-8")
    robot = load_robot(tmp_path / "lamp.yaml")
    assert robot.postures["bent"][robot.index_q("elbow")] == -0.5


@pytest.mark.filterwarnings("ignore::humanoid_model.errors.RobotWarning")
@pytest.mark.parametrize(
    ("name", "posture", "mass", "height"),
    [("talos", "half_sitting", 90.272, 1.01927), ("g1", "standing", 33.341, None)],
)
def test_robots_of_example_robot_data(name: str, posture: str, mass: float, height: float | None) -> None:
    """Where the package is installed. TALOS' SRDF gives the height of its base in this posture."""
    if resolve_mesh_path("package://example-robot-data/package.xml", Path()) is None:
        pytest.skip("example-robot-data is not installed")
    robot = load_robot(name, geometry=False)
    assert robot.total_mass == pytest.approx(mass, abs=1e-3)
    assert set(robot.actuators) == set(robot.joint_names)
    if height is not None:
        assert robot.postures[posture][2] == pytest.approx(height, abs=2e-4)
