# SPDX-License-Identifier: Apache-2.0
"""The scene and the robot that a request names."""

from __future__ import annotations

from humanoid_model import Robot, Scene
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_ros.node.requested_files import check_requested, requested_reading


def requested_scene(
    cache: PlanningCache, scene: str, robot: str, default: str, prefix: str = ""
) -> tuple[Scene, Robot]:
    """Return the scene and the robot that a request names.

    Args:
        cache: where they are kept.
        scene: field of the request; empty: the default.
        robot: field of the request.
        default: scene of the node, which may lie anywhere; empty: there is none.
        prefix: of the fields' names.

    Raises:
        InputError: one of them can't be used, or is a file that requests mayn't name; the message names the field.
    """
    with requested_reading(scene):
        found = cache.scene(check_requested(scene, f"{prefix}scene") or default, f"{prefix}scene")
    with requested_reading(robot):
        return found, cache.robot_in(found, check_requested(robot, f"{prefix}robot"), f"{prefix}robot")
