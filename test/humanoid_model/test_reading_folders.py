# SPDX-License-Identifier: Apache-2.0
"""Readers that are confined to some folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.errors import InputError
from humanoid_model.files import is_readable, may_read, read_text, reading_only_in, resolve_mesh_path

pytestmark = pytest.mark.feature("000-F008")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder ``own`` with a file and links out of it, a package beside it, and what lies elsewhere."""
    for name in ("own/a.urdf", "other/a.urdf", "src/robot/package.xml", "src/robot/a.urdf", "src/.keys/id.urdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("<robot name='a'><link name='a'/></robot>")
    (tmp_path / "own" / "out").symlink_to(tmp_path / "other")
    (tmp_path / "own" / "b.urdf").symlink_to(tmp_path / "other" / "a.urdf")
    (tmp_path / "src" / "robot" / "linked.urdf").symlink_to(tmp_path / "other" / "a.urdf")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "src"))
    return tmp_path


@pytest.mark.parametrize("name", ["own/a.urdf", "own/none.urdf", "src/robot/a.urdf", "src/robot/linked.urdf"])
def test_own_files_and_packages_are_readable(place: Path, name: str) -> None:
    assert is_readable(place / name, [place / "own"])


@pytest.mark.parametrize(
    "name",
    ["other/a.urdf", "own/b.urdf", "own/out/a.urdf", "own/../other/a.urdf", "src/.keys/id.urdf",
     "src/robot/../.keys/id.urdf", "own2/a.urdf", "own/\0"],
)  # fmt: skip
def test_all_else_is_not(place: Path, name: str) -> None:
    assert not is_readable(place / name, [place / "own"])


def test_readers_ask_nothing_of_a_file_that_they_may_not_read(place: Path) -> None:
    with reading_only_in([place / "own"], "Ask for it"):
        assert not may_read(place / "other" / "a.urdf")
        for name in ("other/a.urdf", "other/none.urdf"):  # there or not: the same answer
            with pytest.raises(InputError, match=rf"{name}' isn't in a folder that requests may .*\. Ask for it\.$"):
                read_text(place / name)
            with pytest.raises(InputError, match="isn't in a folder that requests may"):
                resolve_mesh_path(str(place / name), Path.cwd())
        assert resolve_mesh_path("package://.keys/id.urdf", place) is None
        assert resolve_mesh_path("package://other/a.urdf", place / "own") is None
        assert read_text(place / "own" / "a.urdf")
    assert may_read(place / "other" / "a.urdf")
    assert read_text(place / "other" / "a.urdf")


def test_what_comes_with_the_stack_and_its_packages_is_read_all_the_same(place: Path) -> None:
    with reading_only_in([place / "own"], "Ask for it"):
        assert [robot.robot.name for robot in load_scene("stand").robots] == ["hrp2"]
        assert load_robot("package://robot/linked.urdf").name == "a"
        data = resolve_mesh_path("package://example-robot-data/package.xml", place)
        assert data is None or is_readable(data, ())
