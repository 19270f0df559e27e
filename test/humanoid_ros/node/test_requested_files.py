# SPDX-License-Identifier: Apache-2.0
"""Which files requests may name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_ros.node.requested_files import VARIABLE, check_file_parameters, check_requested, check_written, next_free

pytestmark = pytest.mark.feature("000-F008")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that requests may name files of; there is another one beside it."""
    for name in ("own", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "own" / "link").symlink_to(tmp_path / "other")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.mark.parametrize("name", ["", "hrp2", "<robot name='a'/>", "robots:\n  a: {robot: hrp2}"])
def test_names_and_texts_are_no_files(own: Path, name: str) -> None:
    assert check_requested(name, "robot") == name


@pytest.mark.parametrize("written", [False, True])
def test_own_files_are_read_and_written(own: Path, written: bool) -> None:
    for path in (own / "state.npz", own / "new" / "state.npz", own / "new" / ".." / "state.npz"):
        assert check_requested(str(path), "path", written=written) == str(path)


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize(
    "name", ["{own}/../other/a.urdf", "{own}/link/a.urdf", "/etc/passwd", "file:///etc/passwd", "../a.urdf", "{own}2/a"]
)
def test_no_way_leads_out(own: Path, name: str, written: bool) -> None:
    with pytest.raises(InputError, match=f"path: .* requests may .*{own}, or set {VARIABLE}"):
        check_requested(name.format(own=own), "path", written=written)


def test_the_stacks_own_files_are_read_and_not_written(own: Path) -> None:
    scene = str(find_resource("config/scenes/stand.yaml"))
    assert check_requested(scene, "scene") == scene
    with pytest.raises(InputError, match="requests may write to"):
        check_requested(scene, "path", written=True)


@pytest.mark.parametrize("name", ["a\0b.urdf", "/" + "a" * 5000 + ".urdf"])
def test_what_is_no_path_is_refused_too(own: Path, name: str) -> None:
    with pytest.raises(InputError, match="requests may"):
        check_requested(name, "path")


def test_without_the_variable_it_is_the_working_folder(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.chdir(own)
    assert check_requested("state.npz", "path", written=True) == "state.npz"
    with pytest.raises(InputError, match=str(own)):
        check_requested(os.pardir + "/state.npz", "path", written=True)


def test_an_address_in_a_package_counts_as_where_it_lies(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    urdf = own.parent / "prefix" / "share" / "mine" / "a.urdf"
    urdf.parent.mkdir(parents=True)
    urdf.write_text("<robot name='a'/>")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(own.parent / "prefix"))
    monkeypatch.chdir(own)
    with pytest.raises(InputError, match="requests may"):
        check_requested("package://mine/a.urdf", "robot")
    monkeypatch.setenv(VARIABLE, str(urdf.parent))
    assert check_requested("package://mine/a.urdf", "robot") == "package://mine/a.urdf"


@pytest.mark.parametrize("name", ["file:/etc/passwd", "file://localhost/etc/passwd", "file:///%65tc/passwd"])
def test_no_address_leads_out(own: Path, name: str) -> None:
    with pytest.raises(InputError, match="requests may name files of"):
        check_requested(name, "robot")


@pytest.mark.parametrize("name", ["<x>/../../other/a.csv", "{own}/../other/a\n.csv"])
def test_nothing_that_is_written_is_taken_for_a_text(own: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own)
    with pytest.raises(InputError, match="requests may write to"):
        check_requested(name.format(own=own), "record", written=True)


def test_what_is_no_plain_file_is_refused_before_it_is_opened(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(own / "pipe.yaml")
    monkeypatch.setenv(VARIABLE, os.pathsep.join([str(own), "/dev"]))
    for name in (str(own / "pipe.yaml"), "/dev/zero"):
        for written in (False, True):
            with pytest.raises(InputError, match=r"is a pipe, a socket or a device\. Name a plain file"):
                check_requested(name, "scene", written=written)


def test_what_is_there_is_replaced_where_that_is_asked_for(own: Path) -> None:
    path = str(own / "a.csv")
    assert check_written(path, "path") == path
    (own / "a.csv").write_text("kept")
    (own / "dangling.csv").symlink_to(own / "none.csv")
    for name in (path, str(own / "dangling.csv")):
        with pytest.raises(InputError, match=r"path: .* is there already\. Give another name"):
            check_written(name, "path")
    assert check_written(path, "path", overwrite=True) == path
    for overwrite in (False, True):
        with pytest.raises(InputError, match="requests may write to"):
            check_written(str(own / "link" / "a.csv"), "path", overwrite=overwrite)


def test_a_log_takes_the_next_free_name(own: Path) -> None:
    names = [own / "run.mcap", own / "run_2.mcap", own / "run_3.mcap"]
    for name in names:
        assert next_free(str(own / "run.mcap")) == str(name)
        name.touch()
    (own / "full.mcap").symlink_to("/dev/full")  # nothing there is lost
    assert next_free(str(own / "full.mcap")) == str(own / "full.mcap")


def test_parameters_that_are_set_later_are_requests(own: Path) -> None:
    check = check_file_parameters(read=("config",), written=("log",))
    check({"config": "hrp2", "log": "", "rate": 1.0})
    check({"config": str(own / "a.yaml"), "log": str(own / "a.mcap")})
    (own / "a.mcap").touch()
    for values, words in (
        ({"config": "/etc/passwd"}, "config: .* requests may name"),
        ({"log": "/etc/a.mcap"}, "log: .* requests may write"),
        ({"log": str(own / "a.mcap")}, "log: .* is there already"),
    ):
        with pytest.raises(InputError, match=words):
            check(values)
