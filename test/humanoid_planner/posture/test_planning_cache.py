# SPDX-License-Identifier: Apache-2.0
"""Robots and scenes that are kept: which ones, how many, until when."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_planner.posture.planning_cache import PlanningCache

SCENE = "bodies: {{box: {{shapes: [{{box: [1, 1, {height}]}}]}}}}\nsurfaces: {{top: {{body: box}}}}\n"


def test_things_are_read_once_until_their_files_change(tmp_path: Path) -> None:
    cache = PlanningCache(2, 0.01, 20.0)
    path, urdf = tmp_path / "here.yaml", tmp_path / "robot.urdf"
    path.write_text(SCENE.format(height=1))
    urdf.write_text(load_robot("tree4").urdf)
    scene, robot = cache.scene(str(path), "scene"), cache.robot(str(urdf), "robot")
    assert cache.scene(str(path), "scene") is scene
    assert cache.robot(str(urdf), "robot") is robot
    path.write_text(SCENE.format(height=2.5))
    urdf.with_suffix(".yaml").write_text("floating_base: true\n")
    assert cache.scene(str(path), "scene").bodies[0].geometries[0].shape.size[2] == 2.5
    assert cache.robot(str(urdf), "robot").floating_base


def test_what_was_not_asked_for_longest_goes_first() -> None:
    cache = PlanningCache(2, 0.01, 20.0)
    first, second = cache.robot("robot_2r_a", "robot"), cache.robot("robot_2r_b", "robot")
    assert cache.robot("robot_2r_a", "robot") is first
    cache.robot("tree4", "robot")
    assert cache.robot("robot_2r_a", "robot") is first
    assert cache.robot("robot_2r_b", "robot") is not second


def test_a_robot_of_the_scene_is_the_scenes_own() -> None:
    cache = PlanningCache(2, 0.01, 20.0)
    stand, table = cache.scene("stand", "scene"), cache.scene("table", "scene")
    assert cache.robot_in(stand, "hrp2", "robot") is stand.robots[0].robot
    assert cache.robot_in(table, "hrp2", "robot") is cache.robot("hrp2", "robot")


def test_volumes_are_made_once_for_a_robot_in_a_scene() -> None:
    cache = PlanningCache(2, 0.02, 10.0)
    scene, robot = cache.scene("table", "scene"), cache.robot("robot_2r_a", "robot")
    model = cache.collision_model(robot, scene)
    assert cache.collision_model(robot, scene) is model
    assert {volume.owner for volume in model.volumes} >= {"floor", "table"}


def test_names_that_mean_nothing_are_refused() -> None:
    cache = PlanningCache(2, 0.01, 20.0)
    with pytest.raises(InputError, match=r"robot: is empty\. Give a name"):
        cache.robot(" ", "robot")
    with pytest.raises(InputError, match=r"scene: is empty\. Give a name"):
        cache.scene("", "scene")
    with pytest.raises(InputError, match="unknown scene 'moon'"):
        cache.scene("moon", "scene")
    with pytest.raises(InputError, match="unknown robot 'nobody'"):
        cache.robot("nobody", "robot")
