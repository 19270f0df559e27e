# SPDX-License-Identifier: Apache-2.0
"""What the public calls behind each area give today, as numbers and words, for :mod:`recorded.record`.

Each area is a function that makes a few calls and returns quantities by name. A tolerance is what the mathematics
leaves open between processors: rounding where a result is computed in closed form, the solver's own tolerance and what
it grows to where one is iterated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_model import Contact, Robot, Scene, Stance, load_robot, load_scene

ROOT = Path(__file__).parents[2]
ROUNDING = 1e-9
"""Of sums and products of some thousand numbers around 1: no one knows the order in which a processor adds them."""


@dataclass(frozen=True)
class Quantity:
    """A result.

    Attributes:
        value: a number, an array of numbers of any shape, or anything of words and whole numbers.
        tolerance: by how much its numbers may differ, absolute; 0 where it has to be the same.
    """

    value: Any
    tolerance: float = 0.0


Quantities = Mapping[str, Quantity]


def some(values: Sequence[float], count: int = 50) -> list[float]:
    """Return their sum, and values at equal distances, about so many."""
    return [float(sum(values)), *map(float, values[:: max(1, len(values) // count)])]


def soles(robot: Robot, scene: Scene, x: float = 0.0) -> Stance:
    """Return both soles of HRP-2 on the floor."""
    floor = scene.surfaces[0]
    sides = (("left_sole", 0.095), ("right_sole", -0.095))
    return Stance(tuple(Contact(robot.contacts[name], floor, x, y, 0.0) for name, y in sides))


def models() -> Quantities:
    """Robots as they are read: masses, limits, places of links, inertia matrix."""
    found: dict[str, Quantity] = {}
    for name in ("hrp2", "bip", "avatar", "rabbit", "tree4"):
        robot = load_robot(name, geometry=False)
        posture, q = next(iter(robot.postures.items()))
        data = robot.model.createData()
        places = robot.link_placements(q)
        found[f"{name}: joints"] = Quantity(list(robot.joint_names))
        found[f"{name}: mass, {posture}"] = Quantity(
            [robot.total_mass, *pin.centerOfMass(robot.model, data, q)], ROUNDING
        )
        found[f"{name}: limits"] = Quantity(
            np.nan_to_num([robot.limits.lower, robot.limits.upper], posinf=1e6, neginf=-1e6), ROUNDING
        )
        found[f"{name}: links"] = Quantity([list(places[link].translation) for link in sorted(places)], ROUNDING)
        found[f"{name}: inertia"] = Quantity(np.diag(pin.crba(robot.model, data, q)), 1e-8)
    return found


def scenes() -> Quantities:
    """Scenes of the repository: what is in them."""
    found = {}
    for path in sorted((ROOT / "config" / "scenes").glob("*.yaml")):
        scene = load_scene(path.stem)
        found[path.stem] = Quantity({
            "robots": [placed.name for placed in scene.robots],
            "bodies": [body.name for body in scene.bodies],
            "surfaces": [surface.name for surface in scene.surfaces],
        })  # fmt: skip
    return found


def distances() -> Quantities:
    """Distances between HRP-2's volumes in its standing posture with an arm aside, and of two boxes that approach."""
    from humanoid_planner.distance import SphereTorusVolume
    from humanoid_planner.distance.distance_pairs import DistancePairs
    from humanoid_planner.distance.placed_volumes import PlacedVolume

    box = 0.1 * np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-2.0, 2.0) for z in (-3.0, 3.0)])
    volume = SphereTorusVolume.from_points(box, 0.01, 10.0)
    pairs = DistancePairs([PlacedVolume(str(body), body, volume) for body in (0, 1)], [[0, 1]])
    rows = []
    for step in range(8):
        turned = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.2 * step, 0.1), np.array([0.3 + 0.05 * step, 0.1, -0.2]))
        pairs.evaluate(np.stack([np.eye(3), turned.rotation]), np.stack([np.zeros(3), turned.translation]))
        rows.append([pairs.values[0], *pairs.normals[0], *pairs.points_a[0], *pairs.points_b[0]])
    # Faces are of spheres of 10 m: an error of the normal moves points ten times as far.
    return {"boxes": Quantity(rows, 1e-7)}


def postures() -> Quantities:
    """A posture nearest to a reference, unique as the criterion is strictly convex about it, and one that can't be."""
    from humanoid_planner.kinematics import RobotKinematics
    from humanoid_planner.posture import NearReference, check_stance, generate_posture
    from humanoid_planner.posture.tasks import centre_of_mass_at

    robot, scene = load_robot("hrp2"), load_scene("stand")
    near = NearReference(RobotKinematics(robot), robot.postures["half_sitting"])
    found = {}
    for name, tasks in (("standing", []), ("leaning", [centre_of_mass_at([0.03, 0.02, 0.72], 0.005)])):
        result = generate_posture(
            robot, soles(robot, scene), tasks=tasks, scene=scene, criterion=near, torque_limits=True, collisions=False
        )
        # The optimum is known to the root of the optimality tolerance of 1e-6 or so.
        found[name] = Quantity(result.q, 2e-3)
        found[f"{name}: outcome"] = Quantity([result.success, len(result.forces)])
    out_of_reach = generate_posture(
        robot, soles(robot, scene), tasks=[centre_of_mass_at([2.0, 0.0, 0.7], 0.01)], scene=scene, criterion=near
    )
    found["out of reach"] = Quantity(out_of_reach.success)
    balance = check_stance(robot, soles(robot, scene), centre_of_mass=[0.0, 0.0, 0.8])
    found["balance"] = Quantity(balance.equilibrium)
    found["balance: margin"] = Quantity([balance.margin], 1e-4)
    return found


def plans() -> Quantities:
    """A plan of a few steps, and what its motion is like. Ties are broken by the seed, which the search has its own."""
    from humanoid_planner.contacts import (
        Attractor,
        CentreOfMassAttractor,
        ContactProblem,
        RandomCandidates,
        plan_contacts,
        verify_plan,
    )
    from humanoid_planner.kinematics import RobotKinematics
    from humanoid_planner.motion import generate_motion
    from humanoid_planner.posture import NearReference
    from humanoid_planner.posture.tasks import centre_of_mass_at

    robot, scene = load_robot("hrp2"), load_scene("stand")
    ahead = [0.4, 0.0, 0.78]
    problem = ContactProblem(
        robot=robot, scene=scene, start=soles(robot, scene), goal=[centre_of_mass_at(ahead, 0.1)],
        locations=["left_sole", "right_sole"], candidates=RandomCandidates(headings=(0.0,), turn=0.1),
        potential=CentreOfMassAttractor(Attractor(ahead, 0.0)),
        criterion=NearReference(RobotKinematics(robot), robot.postures["half_sitting"]), torque_limits=True,
        collisions=False,
    )  # fmt: skip
    plan = plan_contacts(problem)
    motion = generate_motion(robot, scene, plan, collisions=False)
    contacts = [contact for stance in plan.stances for contact in stance.contacts]
    # Places are drawn about where postures lie, which are optima.
    places = [[contact.x, contact.y, contact.theta] for contact in contacts]
    return {
        "plan": Quantity([plan.success, verify_plan(robot, scene, plan.stances, plan.postures).success]),
        "stances": Quantity([[contact.location.name, contact.surface.name] for contact in contacts]),
        "places": Quantity(places, 5e-3),
        "motion": Quantity([motion.success, verify_plan(robot, scene, *motion.parts()).success]),
        "duration": Quantity(motion.trajectory.duration, 0.2),
    }


def simulations() -> Quantities:
    """The simulator stands, is pushed, walks, falls and stacks; solved to 1e-9, and what is stable stays as near."""
    from humanoid_control.walking import generate_walk, plan_footsteps
    from humanoid_sim import Simulation
    from humanoid_sim.playback import play_motion

    found = {}
    standing = Simulation("stand")
    standing.run(0.5)
    found["standing"] = Quantity(standing.q, 1e-7)
    found["standing: forces"] = Quantity(standing.contacts.force.sum(axis=0), 1e-4)
    standing.apply_wrench("hrp2/CHEST_LINK1", force=[0.0, 80.0, 0.0], duration=0.1)
    standing.run(1.0)
    found["pushed"] = Quantity(standing.q, 1e-6)

    walking = Simulation("walk")
    robot = walking.robots["hrp2"].robot
    walk = generate_walk(robot, plan_footsteps(robot, "half_sitting", steps=2, length=0.15), "half_sitting")
    found["walk: centre of mass"] = Quantity(walk.centre_of_mass[::20], 1e-6)
    played = play_motion(walking, "hrp2", walk.motion(robot))
    found["walking"] = Quantity(walking.q, 1e-5)
    found["walking: fallen"] = Quantity(bool(played.fallen))

    falling = Simulation("stand")
    for name in falling.robots["hrp2"].joint_names:
        falling.robots["hrp2"].set_effort([0.0], joints=[name])
    falling.run(0.4)
    # An unstable motion doubles its differences some ten times on the way.
    found["falling"] = Quantity(falling.q, 1e-5)

    stacked = Simulation("boxes")
    stacked.run(1.0)
    found["stacked"] = Quantity(stacked.q, 1e-5)
    found["energy"] = Quantity(stacked.energy().kinetic, 1e-6)
    return found


def mechanisms() -> Quantities:
    """Mechanisms with loops, moved by their tools and drives, and relays; loops are closed to 1e-9."""
    from humanoid_kinematics import MechanismSolver, Relay, ToolMotion, load_mechanism
    from humanoid_kinematics.analysis.dexterity import mobility

    found = {}
    for path in sorted((ROOT / "urdf" / "mechanisms").glob("*.mad")):
        if path.stem == "two_robots":
            continue
        mechanism = load_mechanism(path.stem)
        solver = MechanismSolver(mechanism)
        found[f"{path.stem}: mobility"] = Quantity([mobility(solver).mobility, mobility(solver).generic])
        if mechanism.tools:
            for _ in range(3):
                solver.command(ToolMotion(mechanism.tools[0].name, linear=(0.002, 0.001, 0.001)))
            found[f"{path.stem}: moved"] = Quantity(solver.q, 1e-6)
        if mechanism.loops and mechanism.driven:
            relay = Relay(mechanism)
            state = relay.update([mechanism.initial[mechanism.robot.index_q(drive)] for drive in relay.driven])
            found[f"{path.stem}: relay"] = Quantity(state.q, 1e-6)
    return found


def gaits() -> Quantities:
    """Steps of HRP-2; costs are flat at an optimum, so far better known than states."""
    from humanoid_gait import WalkRequest, generate_gait

    walk = generate_gait(load_robot("hrp2", geometry=False), WalkRequest(0.2, intervals=(3, 8)), 3)
    return {
        "step": Quantity([len(walk.motion.times), len(walk.motion.contacts)]),
        "cost": Quantity([walk.cost, walk.cost_of_transport, walk.distance], 1e-3),
    }


def generated_code() -> Quantities:
    """Generated functions: how many operations, what they give, and the C that is written of a robot of two joints."""
    from humanoid_codegen import DynamicModel, generate
    from humanoid_codegen.expression.function import count_operations, evaluate

    found = {}
    for name in ("robot_2r_a", "bip", "hrp2"):
        model = DynamicModel(name)
        rng = np.random.default_rng(1)
        q = pin.integrate(model.robot.model, pin.neutral(model.robot.model), rng.normal(size=model.mechanism.nv))
        arrays = {"q": q, "v": rng.normal(size=model.mechanism.nv), "a": rng.normal(size=model.mechanism.nv)}
        for label in ("inverse_dynamics", "mass_matrix", "kinematics"):
            function = model.function(label)
            values = evaluate(function, tuple(arrays[argument.name] for argument in function.arguments))
            found[f"{name}: {label}"] = Quantity(some([entry for part in values for entry in part]), 1e-8)
            # Parameters are grouped by numbers: one that is nothing on one processor may be 1e-17 on another.
            found[f"{name}: {label}, operations"] = Quantity(count_operations(function).arithmetic, 10.0)
    made = generate("robot_2r_a", lang=["c", "python", "matlab"], out=None)
    found["files"] = Quantity(sorted(made.files))
    found["header"] = Quantity([line for line in made.files["robot_2r_a.h"].splitlines() if "(" in line])
    return found


def interfaces() -> Quantities:
    """Definitions of all messages, services and actions: one field more, less or elsewhere is another wire format."""
    found = {}
    for kind in ("msg", "srv", "action"):
        for path in sorted((ROOT / kind).glob(f"*.{kind}")):
            fields = [line.split("#")[0].split() for line in path.read_text().splitlines()]
            text = "\n".join(" ".join(words) for words in fields if words)
            found[path.name] = Quantity(hashlib.sha256(text.encode()).hexdigest()[:16])
    return found


def messages() -> Quantities:
    """Messages that nodes make of what the libraries give: their words as they are, their numbers in order."""
    from humanoid_control.walking import generate_walk, plan_footsteps
    from humanoid_ros.messages.markers import scene_view
    from humanoid_ros.messages.motion_messages import whole_body_message
    from humanoid_ros.messages.posture_messages import configuration, posture_message
    from humanoid_ros.messages.stance_messages import contact_location_message, stance_message, surface_message

    robot, scene = load_robot("hrp2"), load_scene("stand")
    q = robot.postures["half_sitting"]
    walk = generate_walk(robot, plan_footsteps(robot, "half_sitting", steps=2, length=0.15), "half_sitting")
    identity = pin.SE3.Identity()
    avatar = load_robot("avatar", geometry=False)
    lying = next(iter(avatar.postures.values()))
    stance = soles(robot, scene)
    made = {
        "posture": posture_message(robot, q),
        "posture of ball joints": posture_message(avatar, lying),
        "stance": stance_message(stance, dict.fromkeys(("left_sole", "right_sole", "floor"), (identity, identity))),
        "surface": surface_message(scene.surfaces[0]),
        "location": contact_location_message(robot.contacts["left_sole"]),
        "view": scene_view(scene, "world"),
        "motion": whole_body_message(walk.motion(robot), "world"),
    }
    found = {}
    for name, message in made.items():
        words, numbers = parts(message)
        found[f"{name}: words"] = Quantity(hashlib.sha256("\n".join(words).encode()).hexdigest()[:16])
        found[f"{name}: numbers"] = Quantity([len(numbers), *some(numbers)], 1e-6)
    found["posture comes back"] = Quantity(
        np.abs(configuration(made["posture of ball joints"], avatar, "q") - lying).max(), ROUNDING
    )
    return found


def parts(message: Any) -> tuple[list[str], list[float]]:
    """Return the words of a message, names of its fields included, and its numbers, both in order."""
    words: list[str] = []
    numbers: list[float] = []
    for field, kind in message.get_fields_and_field_types().items():
        words.append(f"{field}: {kind}")
        value = getattr(message, field)
        for item in value if isinstance(value, (list, tuple, np.ndarray)) or hasattr(value, "typecode") else [value]:
            if hasattr(item, "get_fields_and_field_types"):
                more = parts(item)
                words += more[0]
                numbers += more[1]
            elif isinstance(item, (str, bytes)):
                words.append(str(item))
            else:
                numbers.append(float(item))
    return words, numbers


AREAS: Mapping[str, Callable[[], Quantities]] = {
    area.__name__: area
    for area in (
        models, scenes, distances, postures, plans, simulations, mechanisms, gaits, generated_code, interfaces, messages
    )
}  # fmt: skip
"""By name."""
