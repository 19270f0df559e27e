# SPDX-License-Identifier: Apache-2.0
"""Plans in files: contacts and a posture of each stance, as the verifier and the motion generator take them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_model.contact import Contact, ContactKind, Stance
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.contacts.search.tree_file import read_whole, write_whole

_FORMAT = "humanoid_stack contact plan 1"


def save_plan(
    path: str | Path, robot: Robot, scene: Scene, stances: Sequence[Stance], postures: Sequence[NDArray[np.float64]]
) -> None:
    """Write a plan; an older file stays until the new one is complete.

    Args:
        path: of the file, JSON.
        robot: that moves.
        scene: around it.
        stances: contacts on the scene's surfaces.
        postures: (nq,) of each.
    """
    steps = [
        {
            "contacts": [
                [one.location.name, one.surface.name, one.kind.name, one.x, one.y, one.theta] for one in stance.contacts
            ],
            "posture": np.asarray(q, dtype=float).tolist(),
        }
        for stance, q in zip(stances, postures, strict=True)
    ]
    write_whole(path, {"format": _FORMAT, "problem": f"{robot.name} in {scene.name}", "steps": steps})


def load_plan(
    path: str | Path, robot: Robot, scene: Scene
) -> tuple[tuple[Stance, ...], tuple[NDArray[np.float64], ...]]:
    """Read the stances and postures that :func:`save_plan` wrote.

    Raises:
        InputError: the file is missing, cut short, no plan, or that of another robot or scene.
    """
    element = f"plan file '{path}'"
    data = read_whole(path, element, _FORMAT, f"{robot.name} in {scene.name}")
    surfaces = {surface.name: surface for surface in scene.surfaces}
    stances, postures = [], []
    try:
        for step in data["steps"]:
            contacts = []
            for location, surface, kind, *place in step["contacts"]:
                x, y, theta = map(float, place)
                contacts.append(Contact(robot.contacts[location], surfaces[surface], x, y, theta, ContactKind[kind]))
            stances.append(Stance(tuple(contacts)))
            postures.append(np.array(step["posture"], dtype=float))
            if postures[-1].shape != (robot.model.nq,):
                raise ValueError(f"a posture has {postures[-1].size} numbers, the robot {robot.model.nq}")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"has a field missing or spoilt: {error!r}", element=element) from None
    return tuple(stances), tuple(postures)
