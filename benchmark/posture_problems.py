# SPDX-License-Identifier: Apache-2.0
"""Posture problems of HRP-2 that are measured: a hand on a table, the thesis' three scenes, random stances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model import Contact, ContactKind, PairRule, Robot, Scene, SceneBody, Stance, Surface, load_scene
from humanoid_model.description import Box, Geometry, Shape
from humanoid_model.description import HalfSpace as HalfSpaceShape
from humanoid_planner.distance.collision_pairs import MarginRule
from humanoid_planner.distance.placed_volumes import HalfSpace, PlacedVolume
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.volume_mesh import convex_geometry
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.collision_model import CollisionModel
from humanoid_planner.posture.tasks.criteria import near_middle
from humanoid_planner.posture.tasks.link_tasks import axis_along, point_at
from humanoid_planner.posture.tasks.task import Task

#: Middle of a closed hand in the frame of its wrist's last link [m].
HAND = np.array([0.0, 0.0, -0.14])


@dataclass
class Case:
    """A problem and where its search starts.

    Attributes:
        name: of the problem.
        robot: whose posture is looked for.
        stance: contacts.
        options: what else :class:`PostureProblem` takes, but for the collisions.
        start: (nq,) posture.
        scene: None for a world of surfaces alone.
    """

    name: str
    robot: Robot
    stance: Stance
    start: NDArray[np.float64]
    options: dict[str, Any] = field(default_factory=dict)
    scene: Scene | None = None


def fixed(
    robot: Robot, location: str, surface: Surface, x: float, y: float, theta: float = 0.0, **other: Any
) -> Contact:
    """Return a contact by the name of the location."""
    return Contact(robot.contacts[location], surface, x, y, theta, **other)


def room() -> Scene:
    """Return a ground, a table 0.80 m high, and a wall at x = 0.5 m beside it; friction 0.5."""

    def body(name: str, place: pin.SE3, shape: Shape) -> SceneBody:
        geometry = Geometry(name, shape, pin.SE3.Identity(), np.ones(4))
        return SceneBody(name, "", 0.0, np.zeros(3), np.zeros((3, 3)), place, np.zeros(6), (geometry,))

    flat, upright = np.eye(3), pin.utils.rotate("y", -np.pi / 2)
    bodies = (
        body("ground", pin.SE3.Identity(), HalfSpaceShape()),
        body("table", pin.SE3(flat, np.array([0.55, 0.6, 0.78])), Box(np.array([0.6, 1.2, 0.04]))),
        body("wall", pin.SE3(flat, np.array([0.55, -1.0, 1.0])), Box(np.array([0.1, 1.8, 2.0]))),
    )
    table_top = np.array([[-0.3, -0.6], [0.3, -0.6], [0.3, 0.6], [-0.3, 0.6]])
    surfaces = (
        Surface("ground", "ground", pin.SE3.Identity()),
        Surface("table", "table", pin.SE3(flat, np.array([0.0, 0.0, 0.02])), table_top),
        Surface("wall", "wall", pin.SE3(upright, np.array([-0.05, 0.0, 0.0]))),
    )
    return Scene("room", bodies=bodies, surfaces=surfaces, rules=(PairRule("*", "*", friction=0.5),))


def hand_on(robot: Robot, what: str) -> Case:
    """Two feet on the ground and a hand's fingers on the table or the wall; forces and torque limits.

    The left hand lies on the table and points ahead, the right one is at the wall at shoulder height and points up.
    """
    scene = room()
    surfaces = {surface.name: surface for surface in scene.surfaces}
    hand = {
        "table": lambda: fixed(robot, "left_hand_fingers", surfaces["table"], -0.15, -0.35),
        "wall": lambda: fixed(robot, "right_hand_fingers", surfaces["wall"], 0.25, 0.75),
    }[what]()
    stance = Stance(
        (
            fixed(robot, "left_sole", surfaces["ground"], 0.04, 0.095),
            fixed(robot, "right_sole", surfaces["ground"], 0.04, -0.095),
            hand,
        )
    )
    options = {"stability": "forces", "torque_limits": True}
    return Case(f"hand on {what}", robot, stance, robot.postures["half_sitting"], options, scene)


def perturbed(
    robot: Robot, q: NDArray[np.float64], rng: np.random.Generator, joint: float = 0.3
) -> NDArray[np.float64]:
    """Return posture moved by up to ``joint`` [rad] a joint, 0.1 m and 0.2 rad in the base, within the limits."""
    moved = q.copy()
    lower, upper = robot.limits.lower[7:], robot.limits.upper[7:]
    moved[7:] = np.clip(q[7:] + rng.uniform(-joint, joint, size=len(q) - 7), lower, upper)
    shift = pin.SE3(pin.exp3(rng.uniform(-0.2, 0.2, size=3)), rng.uniform(-0.1, 0.1, size=3))
    base = robot.placement_base(q)
    return robot.place_base(moved, pin.SE3(shift.rotation @ base.rotation, base.translation + shift.translation))


# The scenes of section 11.2 -----------------------------------------------------------------------------------


def scene_case(name: str) -> Case:
    """Return the posture of the thesis in one of the scenes warehouse, fridge and car."""
    scene = load_scene(name)
    robot = scene.robots[0].robot
    kinematics = RobotKinematics(robot)
    surfaces = {surface.name: surface for surface in scene.surfaces}
    stance, tasks, at = _SCENES[name](robot, kinematics, surfaces)
    zero = robot.postures["zero"]
    start = robot.place_base(zero, pin.SE3(np.eye(3), np.array(at)) * robot.placement_base(zero))
    options = {"tasks": tasks, "criterion": near_middle(kinematics)}
    return Case(name, robot, stance, start, options, scene)


_Parts = tuple[Stance, tuple[Task, ...], tuple[float, float, float]]


def _warehouse(robot: Robot, kinematics: RobotKinematics, surfaces: dict[str, Surface]) -> _Parts:
    """X09: both feet on the second tread, the right hand on the rail, the left one far to the front left."""
    stance = Stance(
        (
            fixed(robot, "left_sole", surfaces["tread_2"], 0.0, 0.12),
            fixed(robot, "right_sole", surfaces["tread_2"], 0.0, -0.12),
            fixed(robot, "right_hand_fingers", surfaces["right_rail"], -0.20, 0.0, -np.pi / 2, bilateral=True),
        )
    )
    reach = point_at(kinematics, "LARM_LINK5", HAND, [0.49, 0.70, 1.55], name="left hand at the crate")
    return stance, (reach,), (-0.03, 0.0, 0.5)


def reaching(case: Case, at: NDArray[np.float64]) -> Case:
    """Return the warehouse's posture with the left hand at another point (3,) of the world (m)."""
    reach = point_at(RobotKinematics(case.robot), "LARM_LINK5", HAND, at, name="left hand at a point")
    return replace(case, options={**case.options, "tasks": (reach,)})


def _fridge(robot: Robot, kinematics: RobotKinematics, surfaces: dict[str, Surface]) -> _Parts:
    """X07: feet before the refrigerator, the left hand around the can."""
    stance = Stance(
        (
            fixed(robot, "left_sole", surfaces["floor"], 0.03, 0.095),
            fixed(robot, "right_sole", surfaces["floor"], 0.03, -0.095),
        )
    )
    grasp = point_at(kinematics, "LARM_LINK5", HAND, [0.63, 0.10, 0.94], name="left hand around the can")
    upright = axis_along(kinematics, "LARM_LINK5", [0, 1, 0], [0, 0, 1], 0.2, name="fingers across the can")
    return stance, (grasp, upright), (0.0, 0.0, 0.0)


def _car(robot: Robot, kinematics: RobotKinematics, surfaces: dict[str, Surface]) -> _Parts:
    """X08: the left foot outside, the right one before the seat; stability on the left foot alone."""
    stance = Stance(
        (
            fixed(robot, "left_sole", surfaces["floor"], 0.03, 0.13),
            fixed(robot, "right_sole", surfaces["cabin_floor"], 0.25, 0.13, kind=ContactKind.RELEASED),
        )
    )
    return stance, (), (0.0, -0.54, 0.33)


_SCENES: dict[str, Callable[[Robot, RobotKinematics, dict[str, Surface]], _Parts]] = {
    "warehouse": _warehouse,
    "fridge": _fridge,
    "car": _car,
}
#: Links that touch on purpose without being a contact, by scene: they may be in each other.
_TOUCHING = {
    "fridge": (MarginRule("LARM_LINK[56]", "can", -1.0),),
    "warehouse": (MarginRule("RARM_LINK5", "right_rail", -1.0),),
}


# Collisions ----------------------------------------------------------------------------------------------------


def collision_options(case: Case, model: CollisionModel) -> dict[str, Any]:
    """Return what keeps a case's robot clear of itself and of the scene: options of :class:`PostureProblem`."""
    rules = _TOUCHING.get("" if case.scene is None else case.scene.name, ())
    compound = model.compound_task(RobotKinematics(case.robot))
    tasks = case.options.get("tasks", ()) + (() if compound is None else (compound,))
    return {"collisions": model.task(case.stance, rules=rules), "tasks": tasks}


class PolyhedronPairs:
    """Distances of the polyhedra that the volumes are built on, grown by r: coal's, whose gradient jumps."""

    def __init__(self, volumes: Sequence[PlacedVolume], pairs: NDArray[np.int64]) -> None:
        """Take volumes and pairs as :class:`DistancePairs` does."""
        self.volumes, self.pairs = volumes, np.asarray(pairs)
        self._shapes = [_polyhedron(volume) for volume in volumes]
        self.values: NDArray[np.float64] = np.zeros(len(pairs))
        self.points_a: NDArray[np.float64] = np.zeros((len(pairs), 3))
        self.points_b: NDArray[np.float64] = np.zeros((len(pairs), 3))
        self.normals: NDArray[np.float64] = np.zeros((len(pairs), 3))
        self.slopes: NDArray[np.float64] = np.ones(len(pairs))
        self._request, self._result = coal.DistanceRequest(), coal.DistanceResult()

    def evaluate(self, rotations: NDArray[np.float64], origins: NDArray[np.float64]) -> None:
        """Compute distances at body placements (nb, 3, 3), (nb, 3)."""
        transforms = []
        for volume, (_, local, _) in zip(self.volumes, self._shapes, strict=True):
            R, p = rotations[volume.body], origins[volume.body]
            transforms.append(coal.Transform3s(R @ local.rotation, R @ local.translation + p))
        result = self._result
        for row, (i, j) in enumerate(self.pairs):
            (shape_a, _, radius_a), (shape_b, _, radius_b) = self._shapes[i], self._shapes[j]
            result.clear()
            d = coal.distance(shape_a, transforms[i], shape_b, transforms[j], self._request, result)
            normal = -np.array(result.normal)  # coal's points from the first to the second
            self.values[row] = d - radius_a - radius_b
            self.points_a[row] = result.getNearestPoint1() - radius_a * normal
            self.points_b[row] = result.getNearestPoint2() + radius_b * normal
            self.normals[row] = normal


def _polyhedron(placed: PlacedVolume) -> tuple[coal.CollisionGeometry, pin.SE3, float]:
    """Return a volume's polyhedron, its placement in the body, and how far it is grown."""
    volume, here = placed.volume, pin.SE3.Identity()
    if isinstance(volume, HalfSpace):
        return coal.Halfspace(np.asarray(volume.normal, dtype=float), float(volume.offset)), here, 0.0
    if isinstance(volume, RoundedHull):
        points, radius = volume.points, volume.radius
    else:
        points, radius = volume.vertices, volume.r
    middle = points.mean(axis=0)
    if len(points) == 1:
        return coal.Sphere(radius), pin.SE3(np.eye(3), middle), 0.0
    if len(points) == 2:
        along = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), points[1] - points[0]).matrix()
        length = float(np.linalg.norm(points[1] - points[0]))
        return coal.Capsule(radius, length), pin.SE3(along, middle), 0.0
    return convex_geometry(points), here, radius


# Random stances ------------------------------------------------------------------------------------------------


def random_case(scene: Scene, rng: np.random.Generator) -> Case:
    """Return a stance that a planner might try on the stairs: two feet, and half the time a hand, some within reach."""
    robot = scene.robots[0].robot
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    surfaces = [surface for surface in scene.surfaces if surface.polygon is not None]
    index = int(rng.integers(len(surfaces) - 1))
    contacts = []
    places = []
    for side, location in ((1, "left_sole"), (-1, "right_sole")):
        surface = surfaces[index if side > 0 else min(index + int(rng.integers(2)), len(surfaces) - 1)]
        assert surface.polygon is not None
        low, high = surface.polygon.min(axis=0), surface.polygon.max(axis=0)
        x = float(rng.uniform(low[0] + 0.05, min(high[0], low[0] + 0.5) - 0.05))
        y = float(side * rng.uniform(0.06, 0.25))
        theta = float(rng.uniform(-0.5, 0.5))
        contacts.append(fixed(robot, location, surface, x, y, theta))
        place = bodies[surface.body] * surface.placement_body_surface * contacts[-1].placement_surface_patch
        places.append(place)
    middle = 0.5 * (places[0].translation + places[1].translation)
    yaw = float(np.mean([np.arctan2(place.rotation[1, 0], place.rotation[0, 0]) for place in places]))
    q = robot.postures["half_sitting"]
    footprint = pin.SE3(
        pin.utils.rotate("z", yaw), np.array([middle[0], middle[1], max(p.translation[2] for p in places)])
    )
    q = robot.place_base(q, footprint * robot.placement_base(q))
    if rng.random() < 0.5:
        location = str(rng.choice(["left_hand_fingers", "right_hand_fingers"]))
        surface = surfaces[min(index + int(rng.integers(2, 5)), len(surfaces) - 1)]
        assert surface.polygon is not None
        low, high = surface.polygon.min(axis=0), surface.polygon.max(axis=0)
        x, y = (float(v) for v in rng.uniform(low + 0.03, np.minimum(high, low + 1.2) - 0.03))
        contacts.append(fixed(robot, location, surface, x, y, float(rng.uniform(-0.8, 0.8))))
    return Case("random stance", robot, Stance(tuple(contacts)), q, {}, scene)


def plausible_request(robot: Robot, rng: np.random.Generator) -> Case:
    """Return a step apart, a hand or both at points around the body, or the fingers on a wall or on a table."""
    kinematics, start = RobotKinematics(robot), robot.postures["half_sitting"]
    floor = Surface("floor", "ground", pin.SE3.Identity())
    x, y, theta = rng.uniform([-0.12, 0.08, -0.3], [0.33, 0.25, 0.5])
    feet = (fixed(robot, "right_sole", floor, 0.03, -0.095), fixed(robot, "left_sole", floor, x, y, theta))
    kind = rng.integers(4)
    if kind < 2:
        low, high = ([-0.3, -0.8, 0.1], [0.7, 0.5, 1.6]) if kind == 0 else ([0.0, -0.6, 0.3], [0.6, 0.2, 1.5])
        tasks = [point_at(kinematics, "RARM_LINK6", [0, 0, 0], rng.uniform(low, high), 0.005)]
        if kind == 1:
            at = rng.uniform([0.0, -0.2, 0.3], [0.6, 0.6, 1.5])
            tasks.append(point_at(kinematics, "LARM_LINK6", [0, 0, 0], at, 0.005))
        return Case("reach", robot, Stance(feet), start, {"tasks": tuple(tasks)}, None)
    if kind == 2:
        up, across = rng.uniform([0.3, -0.6], [1.6, 0.1])
        facing = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])  # towards the robot, x up
        surface = Surface("wall", "ground", pin.SE3(facing, np.array([0.45, across, up])))
    else:
        surface = Surface("table", "ground", pin.SE3(np.eye(3), rng.uniform([0.2, -0.6, 0.1], [0.6, 0.0, 1.2])))
    hand = fixed(robot, "right_hand_fingers", surface, 0.0, 0.0, float(rng.uniform(-1.5, 1.5)))
    options = {"stability": "forces", "torque_limits": True}
    return Case(surface.name, robot, Stance((*feet, hand)), start, options, None)
