# SPDX-License-Identifier: Apache-2.0
"""Mechanisms from MJCF files: all bodies in one tree, with their ``<equality>`` constraints."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from humanoid_kinematics.mechanism import Coupling, Mechanism, Tool
from humanoid_model import RobotError
from humanoid_model.input_file import read_text
from humanoid_model.mjcf.bodies import read_bodies
from humanoid_model.mjcf.document import MjcfDocument
from humanoid_model.mjcf.tree import (
    build_tree,
    configuration,
    read_actuators,
    read_equalities,
    read_keyframes,
)


def load_mjcf(path: str | Path) -> Mechanism:
    """Load a MuJoCo model; sites become tools.

    ``connect`` and ``weld`` become loops, ``joint`` a coupling where it is linear. Where MuJoCo takes the second body's
    end from the reference configuration, so does this. The declared posture is the first keyframe, if any.

    Args:
        path: the file.

    Raises:
        RobotError: no MJCF, or what the stack has no word for; with file, line and remedy.
    """
    return _mechanism(read_text(path, RobotError, "Give the path of an MJCF file"), str(path), Path(path).parent)


def read_mjcf(text: str, source: str = "text") -> Mechanism:
    """Return the mechanism of an MJCF text, whose other files are looked for here; see :func:`load_mjcf`.

    Raises:
        RobotError: as of :func:`load_mjcf`; the text is called ``source``.
    """
    return _mechanism(text, source, Path())


def _mechanism(text: str, source: str, folder: Path) -> Mechanism:
    document = MjcfDocument(text, source, folder, RobotError)
    world = read_bodies(document)
    if not world.children:
        raise document.top.fail("has no body in its <worldbody>", "Add the mechanism's bodies")
    loops, laws = read_equalities(document, world)
    actuators = read_actuators(document, world)
    for element in document.top.all("tendon"):
        document.note_all(element)
    robot = build_tree(document.name, world.children, world, document, actuators, loops=loops)
    frames = {name: configuration(robot, frame) for name, frame in read_keyframes(document, world).items()}
    robot = dataclasses.replace(robot, postures={**robot.postures, **frames})
    couplings = tuple(
        Coupling(
            law.element.attributes.get("name") or f"joint_{number}",
            {law.joint: 1.0, **({law.followed: -law.factor} if law.followed else {})},
            law.offset,
        )
        for number, law in enumerate(laws)
    )
    tools = tuple(Tool(site, site) for body in world.walk() for site in body.sites)
    mechanism = Mechanism.from_robot(robot, tools, couplings)
    initial = next(iter(frames.values()), robot.postures["qpos0"])
    driven = tuple(joint for joint in robot.joint_names if joint in actuators) if actuators else None
    document.warn()
    return dataclasses.replace(mechanism, initial=initial, driven=driven)
