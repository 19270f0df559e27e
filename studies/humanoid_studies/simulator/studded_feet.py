# SPDX-License-Identifier: Apache-2.0
"""HRP-2 on feet with as many contact points as wished."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_model.description import Geometry, Link, Sphere
from humanoid_model.robot import Robot, load_robot
from humanoid_model.scene import Scene, SceneRobot
from humanoid_studies.simulator.made_scene import made_scene

_RADIUS = 0.004
_SOLES = ("right_sole", "left_sole")


def studded_hrp2(contacts: int) -> Scene:
    """HRP-2 in its half-sitting posture on a floor; its soles touch it with so many spherical studs, half on each.

    Args:
        contacts: 8 or more; an odd one is the right foot's.
    """
    robot = load_robot("hrp2")
    links = dict(robot.description.links)
    for sole, studs in zip(_SOLES, (contacts - contacts // 2, contacts // 2), strict=True):
        location = robot.contacts[sole]
        links[location.link] = _with_studs(robot, sole, studs)
    others = {name: contact for name, contact in robot.contacts.items() if name not in _SOLES}  # not their corners
    changed = replace(robot, description=replace(robot.description, links=links), contacts=others)
    placed = SceneRobot(
        "hrp2", changed, "half_sitting", pin.SE3.Identity(), np.array(changed.postures["half_sitting"])
    )
    return made_scene(f"HRP-2 on {contacts} studs", (), robots=(placed,), friction=0.8)


def _with_studs(robot: Robot, sole: str, studs: int) -> Link:
    """Return link of a sole with studs in place of its collision shapes, along a sunflower's spiral.

    The first four are at the sole's corners, so that every foot stands as firmly.
    """
    location = robot.contacts[sole]
    reach = np.abs(location.patch).max(axis=0)
    number = np.arange(1, studs - 3)
    radius = np.sqrt(number / max(studs - 4, 1)) * 0.9
    angle = number * np.pi * (3.0 - np.sqrt(5.0))
    inner = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) * reach
    points = np.vstack([location.patch, inner])
    geometries = tuple(
        Geometry(
            f"stud_{i}",
            Sphere(_RADIUS),
            pin.SE3(np.eye(3), location.placement_link_patch.act(np.array([x, y, _RADIUS]))),
            np.ones(4),
        )
        for i, (x, y) in enumerate(points)
    )
    return replace(robot.description.links[location.link], collisions=geometries)
