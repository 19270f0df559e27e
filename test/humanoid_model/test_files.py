# SPDX-License-Identifier: Apache-2.0
"""Where shipped robots and scenes are looked for, and which files of users are read."""

import os
import re
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from humanoid_control.walking.walking_pattern import load_walking_pattern
from humanoid_model import load_robot, load_scene
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Mesh
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource, list_resources, read_text, resource_folders
from humanoid_model.height_field import read_heights
from humanoid_model.wrl import read_wrl
from humanoid_model.yaml_node import read_yaml
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_sim.actuation.trajectory_player import read_joint_trajectory
from humanoid_sim.stepping.options import read_solver_file
from humanoid_studies.humod.mat_file import MatFile
from humanoid_studies.posture.statistics import GenerationLog


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


def _mesh(path: Path) -> object:
    return coal_geometry(Mesh(path, np.ones(3)))


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "yaml": ("robot.yaml", lambda path: read_yaml(path, InputError)),
    "robot": ("robot.yaml", load_robot),
    "urdf": ("robot.urdf", load_robot),
    "scene": ("scene.yaml", load_scene),
    "xml scene": ("scene.xml", load_scene),
    "wrl": ("hull.wrl", read_wrl),
    "mesh": ("hull.stl", _mesh),
    "npy heights": ("heights.npy", read_heights),
    "csv heights": ("heights.csv", read_heights),
    "png heights": ("heights.png", read_heights),
    "volume": ("volume.npz", SphereTorusVolume.load),
    "generations": ("log.csv", GenerationLog.load),
    "trajectory": ("motion.csv", read_joint_trajectory),
    "solver": ("solver.txt", read_solver_file),
    "walk": ("walk.npz", load_walking_pattern),
    "matlab": ("data.mat", MatFile),
}


def _refusal(read: Callable[[Path], object], path: Path) -> str:
    """Message of the error that a reader raises within ten seconds; the thread of one that hangs is left behind."""
    messages = []

    def run() -> None:
        try:
            read(path)
        except InputError as error:
            messages.append(str(error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10.0)
    assert not thread.is_alive(), "the reader hangs"
    assert len(messages) == 1
    return messages[0]


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_is_refused(reader: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    os.mkfifo(tmp_path / name)
    assert _refusal(read, tmp_path / name).startswith(f"{tmp_path / name}: can't be read: Is a pipe.")


@pytest.mark.parametrize("reader", READERS)
def test_a_device_without_end_is_refused(reader: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    (tmp_path / name).symlink_to("/dev/zero")
    assert _refusal(read, tmp_path / name).startswith(f"{tmp_path / name}: can't be read: Is a device.")


def test_directories_and_sockets_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="can't be read: Is a directory"):
        read_yaml(tmp_path, InputError)
    monkeypatch.chdir(tmp_path)  # paths of sockets are short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("robot.yaml")
        with pytest.raises(InputError, match=re.escape("robot.yaml: can't be read: Is a socket")):
            read_yaml("robot.yaml", InputError)


def test_a_missing_file_a_huge_one_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read: No such file or directory"):
        read_text(tmp_path / "absent.yaml")
    with pytest.raises(InputError, match="can't be read: embedded null byte"):
        read_text("a\0b.yaml")
    huge = tmp_path / "huge.yaml"
    with huge.open("wb") as file:
        file.truncate(200_000_000)  # sparse
    with pytest.raises(InputError, match=re.escape("has 200 MB, more than 100 MB")):
        read_text(huge)
    (tmp_path / "latin.yaml").write_bytes("name: Söhle".encode("latin-1"))
    with pytest.raises(InputError, match=re.escape("is not UTF-8 text (byte 7)")):
        read_text(tmp_path / "latin.yaml")


@pytest.mark.parametrize("name", ["scene.xml", "shape.wrl", "robot.urdf", "robot.yaml"])
def test_a_file_that_may_not_be_read_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests: root may read everything."""
    path = tmp_path / name
    path.write_text("<Universe/>", encoding="utf-8")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match=rf"{name}.*can't be read: Permission denied"):
        {".xml": load_scene, ".wrl": read_wrl, ".urdf": load_robot, ".yaml": load_scene}[path.suffix](path)
