# SPDX-License-Identifier: Apache-2.0
"""Files of nodes: those that they are started with, and those that are set while they run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from fixtures.ros_domain import claim_domain
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from humanoid_ros.controller_bridge.controller_bridge_node import ControllerBridgeNode
from humanoid_ros.node.requested_files import VARIABLE
from humanoid_ros.recorder import RecorderNode

pytestmark = pytest.mark.feature("000-F024")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that requests may name files of."""
    (tmp_path / "own").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture
def node(own: Path) -> Iterator[Callable[..., Any]]:
    """Makes a node with parameters."""
    made = []

    def make(kind: type, *parameters: str) -> Any:
        arguments = [word for parameter in parameters for word in ("-p", parameter)]
        rclpy.init(args=["--ros-args", *arguments], domain_id=claim_domain())
        made.append(kind())
        return made[-1]

    yield make
    for one in made:
        one.destroy_node()
    rclpy.try_shutdown()


def written(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.read_bytes().startswith(b"\x89MCAP")}


def test_a_recorder_that_starts_again_keeps_what_was_recorded(own: Path, node: Callable[..., Any]) -> None:
    path = own.parent / "run.mcap"  # its user's own affair: it needn't be where requests may write
    path.write_text("kept")
    node(RecorderNode, f"path:={path}")
    assert path.read_text() == "kept"
    assert (own.parent / "run_2.mcap").exists()


def test_a_bridge_keeps_earlier_logs_and_files_set_later_are_requests(own: Path, node: Callable[..., Any]) -> None:
    path, elsewhere = own.parent / "bridge.mcap", own.parent / "secret.yaml"
    path.write_text("kept")
    elsewhere.write_text("CANARY: 1\n")
    bridge = node(ControllerBridgeNode, "autostart:=false", f"log:={path}")
    for name, value, words in (
        ("config", str(elsewhere), "requests may name files of"),
        ("log", str(own.parent / "new.mcap"), "requests may write to"),
    ):
        (answer,) = bridge.set_parameters([Parameter(name, value=value)])
        assert not answer.successful
        assert words in answer.reason
        assert "CANARY" not in answer.reason
    assert bridge.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert path.read_text() == "kept"
    assert os.path.exists(own.parent / "bridge_2.mcap")
    bridge.trigger_cleanup()
    (answer,) = bridge.set_parameters([Parameter("log", value=str(own / "new.mcap"))])
    assert answer.successful, answer.reason
    for _ in range(2):
        assert bridge.trigger_configure() == TransitionCallbackReturn.SUCCESS
        bridge.trigger_cleanup()
    assert written(own) == {"new.mcap", "new_2.mcap"}
