# SPDX-License-Identifier: Apache-2.0
"""A scene: robots and bodies in a world, what may touch what and how, and how to look at it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase

import numpy as np
import pinocchio as pin

from humanoid_model.actuator import Tendon
from humanoid_model.checks import check_known
from humanoid_model.contact import Surface
from humanoid_model.description import Geometry
from humanoid_model.errors import InputError
from humanoid_model.loop_closure import LoopClosure
from humanoid_model.robot import Robot
from humanoid_model.sensor import Camera
from humanoid_model.value_equality import ValueEquality

#: Gravity of a scene that names none, m/s^2.
STANDARD_GRAVITY = (0.0, 0.0, -9.81)
#: Time step of a scene that names none, s (specification 000 section 3.1.6).
DEFAULT_TIME_STEP = 1e-3
#: Friction between things for which the scene names none (specification 000 section 26.1).
DEFAULT_FRICTION = 0.4
#: How contacts of a pair are found, the default first (specification 000 section 13): the patch of points where the
#: shapes touch; the nearest points; whether they overlap, without forces; where their triangles intersect; the patch at
#: the first time of contact.
CONTACT_METHODS = ("patch", "distance", "boolean", "penetration", "continuous")


@dataclass(frozen=True)
class PairProperties:
    """How two bodies touch.

    Attributes:
        friction: Coulomb coefficient of a contact that sticks, 0 or more.
        restitution: Newton's coefficient, in 0..1.
        method: how contacts are found, one of ``CONTACT_METHODS``.
        dynamic_friction: coefficient of a contact that slides; None is ``friction``.
        torsional_friction: largest torque about the normal per normal force [m], of each contact point, beside what
            the friction of the points of a patch holds by their distances: a disc's, on its rim, 50 % more than under
            uniform pressure.
        rolling_friction: largest torque across the normal per normal force [m].
        viscous_friction: tangential force per sliding speed at each contact point [N s/m].
        compliance: by how much each contact point yields along the normal per force [m/N].
    """

    friction: float = DEFAULT_FRICTION
    restitution: float = 0.0
    method: str = CONTACT_METHODS[0]
    dynamic_friction: float | None = None
    torsional_friction: float = 0.0
    rolling_friction: float = 0.0
    viscous_friction: float = 0.0
    compliance: float = 0.0


@dataclass(frozen=True)
class PairRule:
    """Properties of all pairs of bodies whose names match two patterns, in either order.

    None leaves what an earlier rule says.

    Attributes:
        first: name or pattern, for example ``hrp2/*``.
        second: likewise.
        friction: see :class:`PairProperties`; a rule that gives no dynamic friction beside it makes both equal.
        restitution: likewise.
        collide: whether the pairs may touch.
        method: how contacts are found, one of ``CONTACT_METHODS``.
        dynamic_friction: likewise.
        torsional_friction: likewise.
        rolling_friction: likewise.
        viscous_friction: likewise.
        compliance: likewise.
    """

    first: str
    second: str
    friction: float | None = None
    restitution: float | None = None
    collide: bool | None = None
    method: str | None = None
    dynamic_friction: float | None = None
    torsional_friction: float | None = None
    rolling_friction: float | None = None
    viscous_friction: float | None = None
    compliance: float | None = None

    def matches(self, a: str, b: str) -> bool:
        """Return whether the rule is about two bodies."""
        return (fnmatchcase(a, self.first) and fnmatchcase(b, self.second)) or (
            fnmatchcase(b, self.first) and fnmatchcase(a, self.second)
        )


@dataclass(frozen=True, eq=False)
class SceneBody(ValueEquality):
    """A single rigid body.

    Attributes:
        name: unique among bodies and robots.
        label: text to show.
        mass: kg; 0 makes the body fixed.
        com: (3,) centre of mass in the body frame, metres.
        inertia: (3, 3) rotational inertia about the centre of mass, in the body frame's axes, kg m^2.
        placement_world_body: start pose.
        twist: (6,) start velocity in the body frame, linear then angular.
        geometries: shapes, seen and touched.
        simulated: False keeps a body with a mass where it is.
    """

    name: str
    label: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    placement_world_body: pin.SE3
    twist: np.ndarray
    geometries: tuple[Geometry, ...]
    simulated: bool = True

    @property
    def fixed(self) -> bool:
        """Whether the body has no mass and thus stays where it is."""
        return self.mass == 0.0


@dataclass(frozen=True, eq=False)
class SceneRobot(ValueEquality):
    """A robot in a scene.

    Attributes:
        name: unique among bodies and robots; its links are called ``name/link``.
        robot: what it is.
        posture: name of the posture that it starts in.
        placement: of its base frame's footprint: the posture's own base placement is moved by it; a robot fixed
            to the world has its root link there.
        q: (nq,) start configuration, the base at its place in the world.
        label: text to show.
    """

    name: str
    robot: Robot = field(compare=False)
    posture: str
    placement: pin.SE3
    q: np.ndarray
    label: str = ""


@dataclass(frozen=True, eq=False)
class Light(ValueEquality):
    """An OpenGL-like light.

    Attributes:
        position: (4,) x y z w, metres; w = 0 is a direction.
        ambient: (4,) r g b a.
        diffuse: (4,) r g b a.
        specular: (4,) r g b a.
    """

    position: np.ndarray
    ambient: np.ndarray
    diffuse: np.ndarray
    specular: np.ndarray


#: Names of what two bodies touch with, which planners ask for again and again.
_PROPERTIES = tuple(item.name for item in fields(PairProperties))


@dataclass(frozen=True, eq=False)
class Scene(ValueEquality):
    """What a simulation starts from.

    Attributes:
        name: of the scene.
        robots: in the order of the file.
        bodies: fixed and mobile, in the order of the file.
        surfaces: faces that a planner may use.
        rules: properties of pairs; of several rules that match a pair the last one that says something counts.
        loops: what is held together, by the names of bodies in the scene; robots have their own besides.
        tendons: by the names of bodies and joints in the scene.
        gravity: (3,) m/s^2.
        time_step: s.
        self_collision: whether links of one robot may touch each other.
        camera: None when the file names none.
        lights: in the order of the file.
        source: file that the scene comes from.
    """

    name: str
    robots: tuple[SceneRobot, ...] = ()
    bodies: tuple[SceneBody, ...] = ()
    surfaces: tuple[Surface, ...] = ()
    rules: tuple[PairRule, ...] = ()
    loops: tuple[LoopClosure, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    gravity: np.ndarray = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    time_step: float = DEFAULT_TIME_STEP
    self_collision: bool = False
    camera: Camera | None = None
    lights: tuple[Light, ...] = ()
    source: str = field(compare=False, default="")

    def body_names(self) -> list[str]:
        """Return names of all bodies and of all links of all robots (``robot/link``)."""
        links = [
            f"{placed.name}/{link}" for placed in self.robots for link in placed.robot.description.links
        ]
        return [*(body.name for body in self.bodies), *links]

    def closures(self) -> list[LoopClosure]:
        """Return all loops, first those of the robots, their links called as in the scene."""
        own = [
            replace(loop, link_a=f"{placed.name}/{loop.link_a}", link_b=f"{placed.name}/{loop.link_b}")
            for placed in self.robots
            for loop in placed.robot.loops
        ]
        return [*own, *self.loops]

    def pairs(self, a: str, b: str) -> PairProperties:
        """Return how two bodies touch, by their names (``robot/link`` for a robot's links)."""
        properties = PairProperties()
        for rule in self.rules:
            if rule.matches(a, b):
                given = {name: getattr(rule, name) for name in _PROPERTIES}
                if rule.friction is not None:  # an earlier rule's dynamic friction belongs to its static one
                    properties = replace(properties, dynamic_friction=None)
                properties = replace(properties, **{k: value for k, value in given.items() if value is not None})
        return properties

    def collides(self, a: str, b: str) -> bool:
        """Return whether two bodies may touch at all; by default all may."""
        answer = True
        for rule in self.rules:
            if rule.collide is not None and rule.matches(a, b):
                answer = rule.collide
        return answer


def with_robot(scene: Scene, robot: Robot) -> Scene:
    """Return a scene with another robot in the place of its only one, in its default posture on the same footprint.

    Surfaces of the old robot's links go with it; so do properties of pairs that name them.

    Raises:
        InputError: the scene has no robot or several, or a body has the new one's name.
    """
    if len(scene.robots) != 1:
        names = ", ".join(placed.name for placed in scene.robots) or "none"
        raise InputError(
            f"the scene '{scene.name}' has {len(scene.robots)} robots ({names})",
            element="robot",
            remedy="Give a scene with one robot, or none of another",
        )
    if any(body.name == robot.name for body in scene.bodies):
        raise InputError(f"a body of the scene is called '{robot.name}' too", element="robot", remedy="Rename it")
    old = scene.robots[0]
    posture = _default_posture(robot)
    new = SceneRobot(
        robot.name, robot, posture, old.placement, place_robot(robot, posture, old.placement), robot.name
    )

    return replace(without(scene, old.name), robots=(new,))


def _default_posture(robot: Robot) -> str:
    """Return ``half_sitting`` where the robot knows it, else the first posture of its file, without one ``zero``."""
    own = [name for name in robot.postures if name != "zero"]
    return "half_sitting" if "half_sitting" in own else next(iter(own), "zero")


def without(scene: Scene, name: str) -> Scene:
    """Return a scene without one robot or body; what names it goes too: surfaces, loops, tendons, properties of pairs.

    Raises:
        InputError: the scene has none of that name.
    """
    check_known(name, [*(own.name for own in scene.robots), *(own.name for own in scene.bodies)], "name", "entity")

    def stays(other: str) -> bool:
        return other != name and not other.startswith(f"{name}/")

    return replace(
        scene,
        robots=tuple(own for own in scene.robots if own.name != name),
        bodies=tuple(own for own in scene.bodies if own.name != name),
        surfaces=tuple(surface for surface in scene.surfaces if stays(surface.body)),
        rules=tuple(rule for rule in scene.rules if stays(rule.first) and stays(rule.second)),
        loops=tuple(loop for loop in scene.loops if stays(loop.link_a) and stays(loop.link_b)),
        tendons=tuple(tendon for tendon in scene.tendons if not tendon.holds(name)),
    )


def with_entity(scene: Scene, name: str, robot: Robot, placement: pin.SE3) -> Scene:
    """Return a scene with one more robot, or with one more body where the robot has no joint that moves.

    Args:
        scene: to add to.
        name: of the robot or body, new in the scene.
        robot: what it is; it stands in its default posture.
        placement: in the world: of the footprint of a robot, of the root link of a body.
    """
    if robot.joint_names:
        posture = _default_posture(robot)
        q = place_robot(robot, posture, placement)
        return replace(scene, robots=(*scene.robots, SceneRobot(name, robot, posture, placement, q, name)))
    links, root = robot.parts.links, robot.parts.links[robot.description.root].placement_joint_link
    inertia = pin.Inertia.Zero() if robot.base_joint is None else robot.model.inertias[robot.base_joint]
    inertia = root.actInv(inertia)
    body = SceneBody(
        name, name, float(inertia.mass), np.array(inertia.lever), np.array(inertia.inertia), placement, np.zeros(6),
        tuple(
            replace(geometry, placement=root.actInv(links[link].placement_joint_link) * geometry.placement)
            for link, own in robot.description.links.items()
            for geometry in own.collisions
        ),
    )  # fmt: skip
    return replace(scene, bodies=(*scene.bodies, body))


def place_robot(robot: Robot, posture: str, placement: pin.SE3) -> np.ndarray:
    """Return the configuration (nq,) of a robot that stands in a posture at a place in the world.

    A posture puts a floating base above the origin of its footprint, the soles on z = 0: ``placement`` moves that
    footprint. A robot fixed to the world keeps its coordinates; its root goes where the world's model puts it.

    Args:
        robot: the robot.
        posture: name of one of its postures.
        placement: of the footprint in the world.
    """
    q = np.array(robot.postures[posture])
    if robot.base_joint is None:
        return q
    return robot.place_base(q, placement * robot.placement_base(q))
