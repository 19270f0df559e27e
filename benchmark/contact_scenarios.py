# SPDX-License-Identifier: Apache-2.0
"""Planning problems of the planner thesis' chapter 5, for benchmark and tests (specification 001 section 11.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model import load_robot, load_scene
from humanoid_model.contact import Contact, Stance, Surface
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.contacts import (
    Attractor,
    CentreOfMassAttractor,
    ContactCount,
    PointAttractor,
    PredefinedCandidates,
    RandomCandidates,
    SearchVolumes,
)
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import NearReference, Task, WeightedSum
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at, point_at

#: Where the can's middle is, and where the centre of mass is above the last step and the last slab [m].
CAN, TOP, END = (1.15, 0.1, 0.78), (1.65, 0.0, 1.53), (8.7, 0.0, 0.78)


@dataclass
class Scenario:
    """What :func:`humanoid_planner.contacts.plan_contacts` takes.

    Attributes:
        robot: that moves.
        scene: around it.
        kinematics: of the robot, for tasks.
        start: contacts at the beginning.
        goal: tasks at the end.
        friction: of all contacts in the scene.
        options: the rest.
    """

    robot: Robot
    scene: Scene
    kinematics: RobotKinematics
    start: Stance
    goal: list[Task]
    friction: float
    options: dict[str, Any]

    @property
    def arguments(self) -> tuple[Robot, Scene, Stance, list[Task]]:
        """Positional arguments."""
        return self.robot, self.scene, self.start, self.goal


def can_on_table() -> Scenario:
    """X18: a hand has to bear on the table before the other one reaches the can; places are given."""
    robot, scene = load_robot("hrp2"), load_scene("can_on_table")
    kinematics = RobotKinematics(robot)
    places = {}
    for side, sign in (("left", 1), ("right", -1)):
        places[f"{side}_sole", "platform"] = [(x, sign * y, 0.0) for x in (0.0, 0.1) for y in (0.095, 0.2)]
        places[f"{side}_sole", "floor"] = [(-0.8, sign * 0.095, 0.0)]
        # Hands point inwards: straight ahead, nearer to each other than the shoulders are, they ask for elbows and
        # wrists at their limits, which a search that starts from stretched arms doesn't find.
        places[f"{side}_hand_fingers", "table_top"] = [
            (x, sign * 0.15, -sign * turn) for x in (-0.5, -0.35, -0.2) for turn in (0.5, 0.0)
        ]
        places[f"{side}_knee", "table_edge"] = [(0.0, sign * 0.12, 0.0)]
    options = {
        "locations": [f"{side}_{part}" for part in ("sole", "hand_fingers", "knee") for side in ("left", "right")],
        "candidates": PredefinedCandidates(places),
        "forbidden": [("left_sole", "table_top"), ("right_sole", "table_top")],
        "potential": CentreOfMassAttractor(Attractor(CAN, 0.0)),
        **_usual(robot, kinematics),
    }
    goal: list[Task] = [point_at(kinematics, "LARM_LINK6", _fingers(robot), CAN, 0.005)]
    return Scenario(robot, scene, kinematics, _feet(robot, scene, "platform", 0.1), goal, 0.5, options)


def five_stairs() -> Scenario:
    """X19: stairs walked up on random footholds within a metre of the pelvis."""
    robot, scene = load_robot("hrp2"), load_scene("five_stairs")
    kinematics = RobotKinematics(robot)
    options = {
        "locations": ["left_sole", "right_sole"],
        "candidates": RandomCandidates(density=10.0, radius=1.0, headings=(0.0,), turn=0.1),
        "potential": CentreOfMassAttractor(Attractor(TOP, 0.0)),
        **_usual(robot, kinematics),
    }
    goal: list[Task] = [centre_of_mass_at(TOP, 0.2)]
    return Scenario(robot, scene, kinematics, _feet(robot, scene, "floor", -0.2), goal, 0.8, options)


def slabs_and_bars() -> Scenario:
    """Footsteps alone: sixteen slabs of several heights, and bars between them."""
    robot, scene = load_robot("hrp2"), load_scene("slabs_and_bars")
    kinematics = RobotKinematics(robot)
    options = {
        "locations": ["left_sole", "right_sole"],
        "candidates": RandomCandidates(density=8.0, radius=0.95, headings=(0.0,), turn=0.1),
        "potential": CentreOfMassAttractor(Attractor(END, 0.0)),
        **_usual(robot, kinematics),
    }
    goal: list[Task] = [centre_of_mass_at(END, 0.2)]
    return Scenario(robot, scene, kinematics, _feet(robot, scene, "slab_1", 0.0), goal, 0.8, options)


def chosen_footholds(scenario: Scenario, method: str) -> dict[str, Any]:
    """Return options of a scenario with places chosen by the posture generator, whose criterion is the potential."""
    potential = WeightedSum([(1.0, scenario.options["potential"]), (0.02, scenario.options["criterion"])])
    volumes = SearchVolumes(size=0.15, angle=math.radians(60))
    changes = {"criterion": None, "potential": potential, "candidates": volumes, "method": method}
    return scenario.options | changes


def reaching(scenario: Scenario, contacts: int = 3) -> dict[str, Any]:
    """Return options of the can whose postures reach for it, with torque limits and collisions.

    The hand's distance is potential and criterion: postures stretch towards the can, so that the last one is near. The
    search keeps about so many contacts, instead of trying all places of one foot first.
    """
    hand = PointAttractor(Attractor(CAN, 0.0), "LARM_LINK6", _fingers(scenario.robot))
    potential = WeightedSum([(1.0, hand), (0.02, scenario.options["criterion"])])
    return scenario.options | {
        "potential": potential,
        "criterion": None,
        "terms": [ContactCount(0.1, preferred=contacts)],
        "torque_limits": True,
        "collisions": True,
    }


def _fingers(robot: Robot) -> NDArray[np.float64]:
    return np.asarray(robot.contacts["left_hand_fingers"].placement_link_patch.translation)


def _usual(robot: Robot, kinematics: RobotKinematics) -> dict[str, Any]:
    return {
        "criterion": NearReference(kinematics, robot.postures["half_sitting"]),
        "terms": [ContactCount(0.02)],
        "collisions": False,
    }


def _feet(robot: Robot, scene: Scene, surface: str, x: float) -> Stance:
    under: Surface = next(one for one in scene.surfaces if one.name == surface)
    return Stance(
        tuple(
            Contact(robot.contacts[f"{side}_sole"], under, x, y, 0.0)
            for side, y in (("left", 0.095), ("right", -0.095))
        )
    )
