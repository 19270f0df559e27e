# SPDX-License-Identifier: Apache-2.0
"""Planning problems of the planner thesis' chapters 5 to 7 and others (specification 001 sections 11.4 to 11.6)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model import load_robot, load_scene
from humanoid_model.contact import Contact, Stance, Surface
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.contacts import (
    Attractor,
    BarycentreNear,
    CentreOfMassAttractor,
    ContactCount,
    ContactProblem,
    CrossedPenalty,
    LocationPenalty,
    PointAlongGuide,
    PointAttractor,
    PredefinedCandidates,
    RandomCandidates,
    SearchVolumes,
)
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture import CollisionModel, Criterion, NearReference, Task, WeightedSum
from humanoid_planner.posture.motion import NearGuide
from humanoid_planner.posture.tasks.link_tasks import (
    axis_along,
    centre_of_mass_at,
    point_at,
    point_beyond,
    point_in_slab,
)

#: Where the can's middle is, and where the centre of mass is above the last step and the last slab [m].
CAN, TOP, END = (1.15, 0.1, 0.78), (1.65, 0.0, 1.53), (8.7, 0.0, 0.78)
#: Height of the seat, and where the robot's seat is on it when it sits at the table [m].
SEAT, SEATED = 0.338, 0.075
#: Margin of the volumes around shapes where a robot squeezes through [m].
NARROW = 0.004
#: Postures of a search are solved roughly, as most are thrown away.
ROUGH = SolverOptions(max_iterations=40, optimality_tolerance=0.1, time_limit=60.0)
#: What the centre of mass keeps from where balance is lost [m]: 1 cm, and what its region is known to.
MARGIN = 0.011


@dataclass(frozen=True)
class Scenario:
    """A planning problem, and what else is known of it.

    Attributes:
        problem: what :func:`humanoid_planner.contacts.plan_contacts` takes.
        kinematics: of the robot, for tasks.
        friction: of all contacts in the scene.
    """

    problem: ContactProblem
    kinematics: RobotKinematics
    friction: float

    def but(self, **changes: Any) -> Scenario:
        """Return the scenario with fields of its problem changed."""
        return replace(self, problem=replace(self.problem, **changes))

    @property
    def robot(self) -> Robot:
        """Who moves."""
        return self.problem.robot

    @property
    def scene(self) -> Scene:
        """What is around it."""
        return self.problem.scene


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
    problem = ContactProblem(robot=robot, scene=scene, start=_feet(robot, scene, "platform", 0.1), goal=goal, **options)
    return Scenario(problem, kinematics, 0.5)


def five_stairs() -> Scenario:
    """X19: stairs walked up on random footholds within a metre of the pelvis."""
    return _on_feet("hrp2", "five_stairs", ("floor", -0.2), TOP, 10.0, 1.0)


def talos_up_stairs() -> Scenario:
    """TALOS up the same stairs, clear of collisions, within its torque limits, its centre of mass a centimetre inside.

    Its meshes are taken apart and enclosed at first; that takes some seconds.
    """
    return _on_feet("talos", "five_stairs", ("floor", -0.2), (*TOP[:2], 1.627), 10.0, 1.25).but(**safely())


def g1_up_stairs() -> Scenario:
    """Unitree's G1 likewise; its detailed meshes take half a minute of the processor the first time."""
    return _on_feet("g1", "five_stairs", ("floor", -0.12), (*TOP[:2], 1.42), 10.0, 1.0).but(**safely())


def slabs_and_bars() -> Scenario:
    """Footsteps alone: sixteen slabs of several heights, and bars between them."""
    return _on_feet("hrp2", "slabs_and_bars", ("slab_1", 0.0), END, 8.0, 0.95)


def bip_over_bars() -> Scenario:
    """BIP over the first bars, likewise; its feet are as long as the stairs are deep, so that these aren't for it."""
    scenario = _on_feet("bip", "slabs_and_bars", ("slab_1", -0.03), (1.74, 0.0, 0.97), 8.0, 1.25)
    return scenario.but(**safely(), children=2)


def _on_feet(
    name: str, place: str, start: tuple[str, float], over: Sequence[float], density: float, radius: float
) -> Scenario:
    """Put a robot that walks on random footholds into a scene.

    Args:
        name: of the robot.
        place: name of the scene.
        start: surface that the robot stands on at first, and its soles' x there [m].
        over: (3,) where its centre of mass has to be at the end, within 0.2 m [m].
        density: of footholds [1/m].
        radius: of the sphere about the pelvis that they are in [m].
    """
    robot, scene = load_robot(name), load_scene(place)
    kinematics = RobotKinematics(robot)
    options = {
        "locations": ["left_sole", "right_sole"],
        "candidates": RandomCandidates(density=density, radius=radius, headings=(0.0,), turn=0.1),
        "potential": CentreOfMassAttractor(Attractor(over, 0.0)),
        **_usual(robot, kinematics),
    }
    goal: list[Task] = [centre_of_mass_at(over, 0.2)]
    problem = ContactProblem(robot=robot, scene=scene, start=_feet(robot, scene, *start), goal=goal, **options)
    return Scenario(problem, kinematics, 0.8)


def safely() -> dict[str, Any]:
    """Options that ask for all that the verifier looks at."""
    return {"collisions": True, "torque_limits": True, "centre_margin": MARGIN, "options": ROUGH}


def chair_to_standing(beyond: float = 2.0) -> Scenario:
    """X24: up from a chair at a table and away to its left, by a guide of five key postures.

    The thesis' robot sits on both thighs, which HRP-2-like's can't leave one after the other: it sits on its seat.

    Args:
        beyond: what the pelvis' y has to exceed at the end [m].
    """
    robot, scene = load_robot("hrp2"), load_scene("chair_and_table")
    kinematics = RobotKinematics(robot)
    guide = [
        _seated(robot),
        *(_standing(robot, *place) for place in ((0.05, 0.0, 0.0), (0.05, 0.15, 0.6), (0.0, 0.45, 1.57))),
        _standing(robot, 0.0, beyond + 0.15, 1.57),
    ]
    options = _along_guide(robot, scene, kinematics, guide, {"seat": 0.3})
    options["locations"] = ["left_sole", "right_sole", "left_hand_fingers", "right_hand_fingers", "seat"]
    options["forbidden"] = _at_the_table(options["locations"])
    options["goal_holds"] = [("left_sole", "floor"), ("right_sole", "floor")]
    start = _feet(robot, scene, "floor", 0.06)
    seat: Surface = next(one for one in scene.surfaces if one.name == "seat")
    start = Stance((*start.contacts, Contact(robot.contacts["seat"], seat, SEATED, 0.0, 0.0)))
    goal: list[Task] = [point_beyond(kinematics, "WAIST", [0, 0, 0], [0, beyond, 0], [0, 1, 0], "pelvis beside")]
    problem = ContactProblem(robot=robot, scene=scene, start=start, goal=goal, **options)
    return Scenario(problem, kinematics, 0.5)


def sitting_with_glass() -> Scenario:
    """X25: from beside the chair down onto it, a glass in the right hand upright in every posture."""
    robot, scene = load_robot("hrp2"), load_scene("chair_and_table")
    kinematics = RobotKinematics(robot)
    places = ((0.0, 0.75, -1.57), (0.0, 0.45, -1.57), (0.05, 0.15, -0.6), (0.05, 0.0, 0.0))
    guide = [*(_standing(robot, *place) for place in places), _seated(robot)]
    options = _along_guide(robot, scene, kinematics, guide, {"seat": -0.3})
    options["locations"] = ["left_sole", "right_sole", "left_hand_fingers", "seat"]
    options["forbidden"] = _at_the_table(options["locations"])
    options["tasks"] = [axis_along(kinematics, "RARM_LINK5", [1, 0, 0], [0, 0, 1], name="glass")]
    floor: Surface = next(one for one in scene.surfaces if one.name == "floor")
    options["goal_holds"] = [("seat", "seat"), ("left_sole", "floor"), ("right_sole", "floor")]
    start = Stance(
        tuple(
            Contact(robot.contacts[f"{side}_sole"], floor, x, 0.72, -math.pi / 2)
            for side, x in (("left", 0.095), ("right", -0.095))
        )
    )
    seat = robot.contacts["seat"].placement_link_patch.translation
    middle: list[Task] = [point_in_slab(kinematics, "WAIST", seat, [0, 0, SEAT], [0, 1, 0], 0.1, "in its middle")]
    problem = ContactProblem(robot=robot, scene=scene, start=start, goal=middle, **options)
    return Scenario(problem, kinematics, 0.5)


def under_the_table(links: Sequence[str] = ("LLEG_LINK5", "RLEG_LINK5", "HEAD_LINK1", "CHEST_LINK1")) -> Scenario:
    """X20: crouching through under a table and up again, on feet and, where they help, hands.

    The thesis' robot crawls; HRP-2-like's ankles keep its knees from lying flat, and the table is higher: 0.90 m. The
    guide keeps under it and in balance, and counts three times: where it doesn't, feet go ahead under the table and the
    trunk stays upright before it, from where no way leads under it.

    Args:
        links: whose own potentials are added to the guide's.
    """
    robot, scene = load_robot("hrp2"), load_scene("under_the_table")
    kinematics = RobotKinematics(robot)
    guide = [_standing(robot, 0.0, 0.0, 0.0), _crouching(robot, 0.1), _crouching(robot, 1.75)]
    guide.append(_standing(robot, 2.0, 0.0, 0.0))
    options = _along_guide(robot, scene, kinematics, guide, {}, links, 3.0)
    options["locations"] = ["left_sole", "right_sole", "left_hand_fingers", "right_hand_fingers"]
    options["goal_holds"] = [("left_sole", "floor"), ("right_sole", "floor")]
    goal: list[Task] = [
        point_beyond(kinematics, "WAIST", [0, 0, 0], [1.8, 0, 0], [1, 0, 0], "pelvis behind"),
        point_beyond(kinematics, "WAIST", [0, 0, 0], [0, 0, 0.6], [0, 0, 1], "upright"),
    ]
    problem = ContactProblem(robot=robot, scene=scene, start=_feet(robot, scene, "floor", 0.0), goal=goal, **options)
    return Scenario(problem, kinematics, 0.5)


def backward_walk() -> Scenario:
    """Walk a metre backwards and turn a quarter to the left meanwhile."""
    robot, scene = load_robot("hrp2"), load_scene("stand")
    kinematics = RobotKinematics(robot)
    guide = [_standing(robot, 0.0, 0.0, 0.0), _standing(robot, -0.6, 0.0, 0.3), _standing(robot, -1.1, 0.35, 1.57)]
    options = _along_guide(robot, scene, kinematics, guide, {})
    options["locations"] = ["left_sole", "right_sole"]
    options["goal_holds"] = [("left_sole", "floor"), ("right_sole", "floor")]
    goal: list[Task] = [
        point_beyond(kinematics, "WAIST", [0, 0, 0], [-1.0, 0, 0], [-1, 0, 0], "pelvis behind"),
        axis_along(kinematics, "WAIST", [1, 0, 0], [0, 1, 0], 0.2, "turned"),
    ]
    problem = ContactProblem(robot=robot, scene=scene, start=_feet(robot, scene, "floor", 0.0), goal=goal, **options)
    return Scenario(problem, kinematics, 0.5)


def step_with_rail() -> Scenario:
    """Up a step of 0.30 m, the right hand on a handrail."""
    robot, scene = load_robot("hrp2"), load_scene("rail_and_step")
    kinematics = RobotKinematics(robot)
    hand, over = "right_hand_fingers", (0.42, 0.0, 1.1)
    options = _with_hands(robot, scene, kinematics, ["left_sole", "right_sole"], [hand], over)
    options["forbidden"] = [(hand, "floor"), (hand, "step"), ("left_sole", "rail"), ("right_sole", "rail")]
    options["goal_holds"] = [("left_sole", "step"), ("right_sole", "step"), (hand, "rail")]
    goal: list[Task] = [centre_of_mass_at(over, 0.15)]
    problem = ContactProblem(robot=robot, scene=scene, start=_feet(robot, scene, "floor", 0.0), goal=goal, **options)
    return Scenario(problem, kinematics, 0.6)


def gap_with_wall() -> Scenario:
    """Across a gap of 0.40 m, the hands on the wall behind it."""
    robot, scene = load_robot("hrp2"), load_scene("gap_before_wall")
    kinematics = RobotKinematics(robot)
    feet, hands, over = ["left_sole", "right_sole"], ["left_hand_fingers", "right_hand_fingers"], (0.66, 0.0, 0.75)
    options = _with_hands(robot, scene, kinematics, feet, hands, over)
    options["forbidden"] = [
        *((hand, side) for hand in hands for side in ("near_side", "ledge")),
        *((foot, "wall") for foot in feet),
    ]
    options["goal_holds"] = [(foot, "ledge") for foot in feet]
    goal: list[Task] = [centre_of_mass_at(over, 0.15)]
    start = _feet(robot, scene, "near_side", 0.35)
    problem = ContactProblem(robot=robot, scene=scene, start=start, goal=goal, **options)
    return Scenario(problem, kinematics, 0.6)


def ladder() -> Scenario:
    """Up a ladder of six rungs, until the balls of both feet are on the third one and the hands on the last.

    As on any ladder three points of contact are kept, and each hand and foot stays on its own side. Contacts are drawn
    to the middle of those of the goal. The robot stands on the floor with its soles, not on the balls of its feet.
    """
    robot, scene = load_robot("hrp2"), load_scene("ladder")
    kinematics = RobotKinematics(robot)
    soles, balls = ["left_sole", "right_sole"], ["left_ball", "right_ball"]
    hands, high = ["left_hand_fingers", "right_hand_fingers"], (0.65, 0.0, 1.5)
    rungs = [f"rung_{number}" for number in range(1, 7)]
    options = _with_hands(robot, scene, kinematics, [*soles, *balls], hands, high)
    options["forbidden"] = [
        *((hand, surface) for hand in hands for surface in ("floor", *rungs[:3])),
        *((ball, surface) for ball in balls for surface in ("floor", *rungs[3:])),
        *((sole, surface) for sole in soles for surface in rungs),
    ]
    options["terms"] = [
        ContactCount(0.1, preferred=4.0),
        BarycentreNear(np.array([0.76, 0.0, 0.99]), _surface_placements(scene), 0.3),
        *uncrossed(scene, 0.18, itertools.product((soles[0], balls[0]), (soles[1], balls[1]))),
        *uncrossed(scene, 0.3, [(hands[0], hands[1])]),
    ]
    options["goal_holds"] = [*((ball, "rung_3") for ball in balls), *((hand, "rung_6") for hand in hands)]
    options["failure_penalty"] = 0.03
    goal: list[Task] = [point_beyond(kinematics, "WAIST", [0, 0, 0], [0, 0, 1.15], [0, 0, 1], "pelvis high")]
    problem = ContactProblem(robot=robot, scene=scene, start=_feet(robot, scene, "floor", 0.1), goal=goal, **options)
    return Scenario(problem, kinematics, 0.6)


def uncrossed(scene: Scene, width: float, pairs: Iterable[tuple[str, str]]) -> list[CrossedPenalty]:
    """Return terms by which left and right locations keep a width beside each other [m]."""
    surfaces = _surface_placements(scene)
    return [CrossedPenalty(surfaces, width=width, left=left, right=right) for left, right in pairs]


def _surface_placements(scene: Scene) -> dict[str, pin.SE3]:
    """World placements of surfaces by name."""
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    return {one.name: bodies[one.body] * one.placement_body_surface for one in scene.surfaces}


def _with_hands(
    robot: Robot,
    scene: Scene,
    kinematics: RobotKinematics,
    feet: Sequence[str],
    hands: Sequence[str],
    target: Sequence[float],
) -> dict[str, Any]:
    """Options of a search that draws the centre of mass to a place [m] and likes hands to hold."""
    return {
        "locations": [*feet, *hands],
        "candidates": RandomCandidates(density=12.0, radius=1.1, headings=(0.0,), turn=0.1),
        "children": 2,
        "potential": CentreOfMassAttractor(Attractor(target, 0.0)),
        "criterion": NearReference(kinematics, robot.postures["half_sitting"]),
        "terms": [ContactCount(0.02), LocationPenalty(dict.fromkeys(hands, -0.1))],
        "collisions": CollisionModel(robot, scene, r=NARROW),
        "torque_limits": True,
        "friction": 0.54,
        "centre_margin": MARGIN,
        "options": ROUGH,
    }


def chosen_footholds(scenario: Scenario, method: str) -> Scenario:
    """Return a scenario with places chosen by the posture generator, whose criterion is the potential."""
    volumes = SearchVolumes(size=0.15, angle=math.radians(60))
    return scenario.but(criterion=None, potential=_stretched(scenario.problem), candidates=volumes, method=method)


def _stretched(problem: ContactProblem, potential: Criterion | None = None) -> Criterion:
    """Return a potential, None for a problem's own, and a little of the problem's criterion."""
    parts = potential or problem.potential, problem.criterion
    assert parts[0] is not None and parts[1] is not None  # noqa: PT018
    return WeightedSum([(1.0, parts[0]), (0.02, parts[1])])


def _along_guide(
    robot: Robot,
    scene: Scene,
    kinematics: RobotKinematics,
    guide: Sequence[NDArray[np.float64]],
    penalty: Mapping[str, float],
    links: Sequence[str] = ("LLEG_LINK5", "RLEG_LINK5"),
    weight: float = 1.0,
) -> dict[str, Any]:
    """Options of a search along a guide: VBFP, whose postures and order a weighted valley and those of links give.

    A foot that steps far ahead of the robot, and one foot alone, are no progress: the links' weight is small, single
    support costs a little. Hands help where they have to. Postures are solved roughly, as most are thrown away; the
    friction that they may use is a tenth less than the scene's.
    """
    valley = NearGuide(kinematics, guide, progress=1.0, switch=1.0)
    terms = [(weight, valley), *((1.0, PointAlongGuide(kinematics, guide, link, progress=0.3)) for link in links)]
    hands = {"left_hand_fingers": 0.15, "right_hand_fingers": 0.15}
    return {
        "method": "vbfp",
        "candidates": SearchVolumes(size=0.3, angle=math.radians(120)),
        "potential": WeightedSum(terms),
        "terms": [ContactCount(0.05, 2.0), LocationPenalty(hands | dict(penalty))],
        "start_posture": guide[0],
        "collisions": CollisionModel(robot, scene, r=NARROW),
        "torque_limits": True,
        "friction": 0.45,
        "centre_margin": MARGIN,
        "goal_potential": -0.75 * weight * valley.path.length,
        "options": ROUGH,
    }


def _at_the_table(locations: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs that X24 forbids: hands on the floor, feet on the furniture; and the seat on anything but the chair."""
    hands = [(name, "floor") for name in locations if "sole" not in name]
    feet = [(name, surface) for name in locations if "sole" in name for surface in ("seat", "table_top")]
    return [*hands, *feet, ("seat", "table_top")]


def _posture(
    robot: Robot, name: str, place: Sequence[float], yaw: float, joints: Mapping[str, float]
) -> NDArray[np.float64]:
    """(nq,) one of a robot's postures at a place [m], turned [rad], some joints of both sides otherwise."""
    q = robot.postures[name].copy()
    q[:3], q[3:7] = place, [0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)]
    for joint, value in joints.items():
        for side in "LR":
            q[robot.model.joints[robot.model.getJointId(f"{side}{joint}")].idx_q] = value
    return q


def _standing(robot: Robot, x: float, y: float, yaw: float) -> NDArray[np.float64]:
    return _posture(robot, "half_sitting", (x, y, 0.6487), yaw, {})


def _seated(robot: Robot) -> NDArray[np.float64]:
    legs = {"LEG_JOINT2": -1.0, "LEG_JOINT3": 1.8, "LEG_JOINT4": -0.8}
    return _posture(robot, "sitting", (-0.08, 0.0, 0.4), 0.0, legs)


def _crouching(robot: Robot, x: float) -> NDArray[np.float64]:
    """(nq,) balanced, and 2 cm under the table where it is."""
    legs = {"LEG_JOINT2": -1.57, "LEG_JOINT3": 2.36, "LEG_JOINT4": -1.02, "ARM_JOINT0": -0.75}
    q = _posture(robot, "squat", (x, 0.0, 0.33), 0.0, legs)
    q[3:7] = 0.0, math.sin(0.112), 0.0, math.cos(0.112)
    q[robot.model.joints[robot.model.getJointId("CHEST_JOINT1")].idx_q] = 1.05
    return q


def reaching(scenario: Scenario, contacts: int = 3) -> Scenario:
    """Return the can with postures that reach for it, with torque limits and collisions.

    The hand's distance is potential and criterion: postures stretch towards the can, so that the last one is near. The
    search keeps about so many contacts, instead of trying all places of one foot first.
    """
    hand = PointAttractor(Attractor(CAN, 0.0), "LARM_LINK6", _fingers(scenario.robot))
    return scenario.but(
        potential=_stretched(scenario.problem, hand),
        criterion=None,
        terms=[ContactCount(0.1, preferred=contacts)],
        torque_limits=True,
        collisions=True,
    )


def _fingers(robot: Robot) -> NDArray[np.float64]:
    return np.asarray(robot.contacts["left_hand_fingers"].placement_link_patch.translation)


def _usual(robot: Robot, kinematics: RobotKinematics) -> dict[str, Any]:
    upright = _upright(robot)
    return {
        "criterion": NearReference(kinematics, upright),
        "terms": [ContactCount(0.02)],
        "start_posture": upright,
        "collisions": False,
    }


def _upright(robot: Robot) -> NDArray[np.float64]:
    """(nq,) how it stands."""
    return np.asarray(robot.postures["half_sitting" if "half_sitting" in robot.postures else "standing"])


def _feet(robot: Robot, scene: Scene, surface: str, x: float) -> Stance:
    """Contacts of both feet on a surface, as far apart as the robot stands [m]."""
    under: Surface = next(one for one in scene.surfaces if one.name == surface)
    links, sides = robot.link_placements(_upright(robot)), {"left": 1.0, "right": -1.0}
    y = round(float(links[robot.contacts["left_sole"].link].translation[1]), 3)
    return Stance(
        tuple(Contact(robot.contacts[f"{side}_sole"], under, x, sign * y, 0.0) for side, sign in sides.items())
    )
