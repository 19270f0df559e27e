# SPDX-License-Identifier: Apache-2.0
"""Scenes as text."""

from __future__ import annotations

import pytest

from humanoid_model import load_scene
from humanoid_model.errors import SceneError
from humanoid_model.files import find_resource
from humanoid_ros.simulator.scene_requests import read_scene_text


@pytest.mark.parametrize("suffix", ["xml", "yaml"])
def test_text_of_a_file_is_the_file(suffix: str) -> None:
    path = find_resource(f"config/scenes/stand.{suffix}")
    scene, expected = read_scene_text(path.read_text()), load_scene(path)
    assert [robot.robot.name for robot in scene.robots] == ["hrp2"]
    assert scene.bodies == expected.bodies


def test_errors_name_the_text_not_a_file() -> None:
    with pytest.raises(SceneError, match=r"^text:2: ") as error:
        read_scene_text("bodies:\n  floor: 3\n")
    assert "/" not in str(error.value).split(" ")[0]
