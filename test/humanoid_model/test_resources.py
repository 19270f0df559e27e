# SPDX-License-Identifier: Apache-2.0
"""Where shipped robots and scenes are looked for."""

import os
import sys
from pathlib import Path

import pytest

from humanoid_model.errors import InputError
from humanoid_model.resources import find_resource, list_resources, resource_folders


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HUMANOID_STACK_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def robot_in(folder: Path, name: str = "mine") -> Path:
    (folder / "urdf").mkdir(parents=True, exist_ok=True)
    path = folder / "urdf" / f"{name}.urdf"
    path.write_text("<robot/>", encoding="utf-8")
    return path


def test_the_checkout_ships_its_robots() -> None:
    path = find_resource("urdf/hrp2.urdf")
    assert path.is_file()
    assert {"hrp2", "bip", "avatar"} <= set(list_resources("urdf", (".urdf",)))


def test_named_folders_come_first_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    robot_in(second, "hrp2")
    expected = robot_in(first, "hrp2")
    monkeypatch.setenv("HUMANOID_STACK_PATH", f"{first}{os.pathsep}{second}")
    assert find_resource("urdf/hrp2.urdf") == expected


def test_share_folder_of_an_ament_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = robot_in(tmp_path / "prefix" / "share" / "humanoid_stack")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'none'}{os.pathsep}{tmp_path / 'prefix'}")
    assert find_resource("urdf/mine.urdf") == expected


def test_share_folder_of_the_python_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = robot_in(tmp_path / "share" / "humanoid_stack")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert find_resource("urdf/mine.urdf") == expected


def test_list_merges_all_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot_in(tmp_path, "mine")
    robot_in(tmp_path, "hrp2")
    (tmp_path / "urdf" / "note.txt").write_text("no robot", encoding="utf-8")
    monkeypatch.setenv("HUMANOID_STACK_PATH", str(tmp_path))
    names = list_resources("urdf", (".urdf",))
    assert "mine" in names
    assert names.count("hrp2") == 1
    assert "note" not in names
    assert names == sorted(names)


def test_missing_file_says_where_it_was_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUMANOID_STACK_PATH", str(tmp_path))
    with pytest.raises(InputError) as caught:
        find_resource("urdf/nobody.urdf")
    message = str(caught.value)
    assert "urdf/nobody.urdf" in message
    assert all(str(folder) in message for folder in resource_folders())
    assert "HUMANOID_STACK_PATH" in message
