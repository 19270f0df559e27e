# SPDX-License-Identifier: Apache-2.0
"""A step of HRP-2 on the floor, planned by hand, and its motion."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from humanoid_model import Contact, ContactKind, Stance, load_robot, load_scene
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion import PlannedPostures, generate_motion
from humanoid_planner.posture import CollisionModel, NearReference, generate_posture

ROBOT, SCENE = load_robot("hrp2"), load_scene("five_stairs")
FLOOR = next(surface for surface in SCENE.surfaces if surface.name == "floor")


def hold(name: str, x: float, bears: bool = True) -> Contact:
    y = 0.095 if name == "left_sole" else -0.095
    kind = ContactKind.FIXED if bears else ContactKind.RELEASED
    return Contact(ROBOT.contacts[name], FLOOR, x, y, 0.0, kind)


STANCES = [
    Stance((hold("left_sole", -0.2), hold("right_sole", -0.2))),
    Stance((hold("left_sole", -0.2), hold("right_sole", -0.2, False))),
    Stance((hold("left_sole", -0.2), hold("right_sole", 0.0, False))),
    Stance((hold("left_sole", -0.2), hold("right_sole", 0.0))),
]


@pytest.fixture(scope="package")
def step() -> SimpleNamespace:
    """Weight onto the left foot, the right one ahead, weight onto both."""
    kinematics = RobotKinematics(ROBOT)
    criterion = NearReference(kinematics, ROBOT.postures["half_sitting"])
    model = CollisionModel(ROBOT, SCENE)
    postures = []
    for stance in STANCES:
        found = generate_posture(
            ROBOT, stance, scene=SCENE, criterion=criterion, collisions=model, stability_margin=0.02,
            initial=postures[-1] if postures else None, kinematics=kinematics,
        )  # fmt: skip
        assert found.success, found.explanation
        postures.append(found.q)
    plan = PlannedPostures(STANCES, postures)
    motion = generate_motion(ROBOT, SCENE, plan, collisions=model)
    assert motion.success, motion.explanation
    return SimpleNamespace(robot=ROBOT, scene=SCENE, model=model, plan=plan, motion=motion)
