# SPDX-License-Identifier: Apache-2.0
"""Mesh addresses of every kind, found without ROS."""

from pathlib import Path

import pytest

from humanoid_model.errors import InputError
from humanoid_model.files import resolve_mesh_path

pytestmark = pytest.mark.feature("000-F011")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)


def mesh_at(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("solid", encoding="utf-8")
    return path.resolve()


def test_relative_absolute_and_file_addresses(tmp_path: Path) -> None:
    mesh = mesh_at(tmp_path / "meshes" / "a part.stl")
    folder = tmp_path / "urdf"
    folder.mkdir()
    for address in (
        "../meshes/a part.stl",
        str(mesh),
        f"file://{mesh}",
        mesh.as_uri(),
        f"file://localhost{mesh}",
        " ../meshes/a part.stl ",
    ):
        assert resolve_mesh_path(address, folder) == mesh, address


def test_package_in_an_ament_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = mesh_at(tmp_path / "install" / "share" / "robot_description" / "meshes" / "a.stl")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'none'}:{tmp_path / 'install'}")
    assert resolve_mesh_path("package://robot_description/meshes/a.stl", tmp_path / "elsewhere") == mesh


@pytest.mark.parametrize("place", ["src", "src/robot_description"])
def test_package_in_the_ros_1_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    mesh = mesh_at(tmp_path / "src" / "robot_description" / "a.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / place))
    assert resolve_mesh_path("package://robot_description/a.stl", tmp_path / "elsewhere") == mesh


def test_package_that_holds_the_urdf_or_lies_beside_it(tmp_path: Path) -> None:
    inside = mesh_at(tmp_path / "robot_description" / "meshes" / "a.stl")
    beside = mesh_at(tmp_path / "robot_meshes" / "b.stl")
    folder = tmp_path / "robot_description" / "urdf"
    folder.mkdir()
    assert resolve_mesh_path("package://robot_description/meshes/a.stl", folder) == inside
    assert resolve_mesh_path("package://robot_meshes/b.stl", folder) == beside
    assert resolve_mesh_path("model://robot_meshes/b.stl", folder) == beside


def test_the_ament_prefix_wins_over_the_neighbourhood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = mesh_at(tmp_path / "install" / "share" / "robot" / "a.stl")
    mesh_at(tmp_path / "robot" / "a.stl")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    assert resolve_mesh_path("package://robot/a.stl", tmp_path / "robot") == installed


@pytest.mark.parametrize(
    "address", ["nothing.stl", "package://nobody/a.stl", "file:///nowhere/a.stl", "", "a\0b", "x" * 5000]
)
def test_no_such_file(tmp_path: Path, address: str) -> None:
    assert resolve_mesh_path(address, tmp_path) is None


@pytest.mark.parametrize(
    "address",
    [
        "package://robot_description/../secret.stl",
        "package://robot_description/meshes/../../secret.stl",
        "package://robot_description/%2e%2e/secret.stl",
        "package://../secret.stl",
        "package://./secret.stl",
        "package:///secret.stl",
        "package://robot_description//{root}/secret.stl",
        "model://robot_description/../secret.stl",
    ],
)
def test_no_address_leaves_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    mesh_at(tmp_path / "secret.stl")
    inside = mesh_at(tmp_path / "robot_description" / "meshes" / "a.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"leaves its package\. Give package://"):
        resolve_mesh_path(address.format(root=tmp_path), inside.parent)
    assert resolve_mesh_path("package://robot_description/urdf/../meshes/a.stl", tmp_path) == inside
