# SPDX-License-Identifier: Apache-2.0
"""Scenes from MJCF files: trees with joints become robots, free bodies and what is fixed become bodies.

Tendons come with what drives them.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.actuator import Tendon, TendonDrive, TendonPoint
from humanoid_model.errors import SceneError
from humanoid_model.files import read_text
from humanoid_model.loop_closure import LoopClosure
from humanoid_model.mjcf_bodies import MjcfBody, MjcfGeom, MjcfJoint, read_bodies, read_friction
from humanoid_model.mjcf_document import MjcfDocument
from humanoid_model.mjcf_tree import (
    WORLD,
    JointLaw,
    build_tree,
    configuration,
    read_actuators,
    read_drive,
    read_equalities,
    read_keyframes,
    read_limits,
    reference_places,
)
from humanoid_model.scene import Light, PairRule, Scene, SceneBody, SceneRobot
from humanoid_model.sensor import Camera
from humanoid_model.xml_element import XmlElement

_TENDON = ("range", "limited", "stiffness", "damping", "springlength", "width")


def read_tendons(document: MjcfDocument, world: MjcfBody, names: Mapping[str, str]) -> tuple[Tendon, ...]:
    """Return the tendons of a file; drives that are neither motors nor servos are warned of.

    Args:
        document: the file.
        world: all its bodies.
        names: of the bodies in the scene, by those in the file; links as ``robot/link``.

    Raises:
        InputError: a tendon that wraps around shapes, an unknown name, a value that can't be; with file and line.
    """
    return _Reader(document, world, names).read()


class _Reader:
    def __init__(self, document: MjcfDocument, world: MjcfBody, names: Mapping[str, str]) -> None:
        self.document = document
        self.names = names
        self.places, self.sites = reference_places(world)
        self.joints = {
            joint.name: (f"{names[body.name].partition('/')[0]}/{joint.name}", joint)
            for body in world.walk()
            for joint in body.joints
            if joint.type in ("hinge", "slide")
        }

    def read(self) -> tuple[Tendon, ...]:
        found: dict[str, Tendon] = {}
        for given in (child for group in self.document.top.all("tendon") for child in group.children):
            tendon = self.tendon(given, given.attributes.get("name") or f"tendon_{len(found) + 1}")
            if tendon.name in found:
                raise given.fail(f"a second tendon is called '{tendon.name}'", "Give each its own name")
            found[tendon.name] = tendon
        for given in (child for group in self.document.top.all("actuator") for child in group.children):
            element = self.document.of_class(given, "main")
            name = element.attributes.get("tendon")
            if name is None:
                continue
            if name not in found:
                raise given.fail(f"names the unknown tendon '{name}'", f"Tendons are {', '.join(found) or 'none'}")
            drive = None if found[name].drive else read_drive(self.document, element)
            if drive is None:
                self.document.note_all(given)
            else:
                found[name] = dataclasses.replace(found[name], drive=TendonDrive(*drive))
        return tuple(found.values())

    def tendon(self, given: XmlElement, name: str) -> Tendon:
        if given.tag not in ("fixed", "spatial"):
            raise given.fail("is no tendon", "Use fixed and spatial ones")
        as_tendon = self.document.of_class(dataclasses.replace(given, tag="tendon"), "main")  # the defaults' word
        element = dataclasses.replace(as_tendon, tag=given.tag)
        self.document.note(element, _TENDON)
        joints = tuple(self.joint(child) for child in element.children) if given.tag == "fixed" else ()
        if given.tag == "fixed" and not joints:
            raise given.fail("has no joint", "Give it joints with their coef")
        positive = {key: element.number(key, 0.0) for key in ("stiffness", "damping")}
        for key, value in positive.items():
            if value < 0.0:
                raise given.fail(f"{key} is {value:g}", "Give 0 or more")
        tendon = Tendon(
            name, tuple((joint, coefficient) for joint, coefficient, _ in joints),
            self.branches(element) if given.tag == "spatial" else (),
            positive["stiffness"], positive["damping"], limits=read_limits(self.document, element, "range", "limited"),
        )  # fmt: skip
        if tendon.stiffness == 0.0:
            return tendon
        return dataclasses.replace(tendon, rest=self.rest(element, tendon, joints))

    def joint(self, element: XmlElement) -> tuple[str, float, MjcfJoint]:
        name = element.attribute("joint")
        if element.tag != "joint" or name not in self.joints:
            raise element.fail(f"names the unknown joint '{name}'", f"Joints are {', '.join(self.joints) or 'none'}")
        self.document.note(element, ("joint", "coef"))
        return self.joints[name][0], element.number("coef"), self.joints[name][1]

    def branches(self, element: XmlElement) -> tuple[tuple[float, tuple[TendonPoint, ...]], ...]:
        """Return the straight pieces of a spatial tendon; a pulley begins a new branch."""
        parts: list[tuple[float, list[TendonPoint]]] = [(1.0, [])]
        for child in element.children:
            self.document.note(child, ("site", "divisor"))
            if child.tag == "pulley":
                divisor = child.number("divisor")
                if divisor <= 0.0:
                    raise child.fail(f"divisor is {divisor:g}", "Give more than 0")
                parts.append((divisor, []))
            elif child.tag == "site":
                name = child.attribute("site")
                if name not in self.sites:
                    raise child.fail(f"names the unknown site '{name}'", f"Sites are {', '.join(self.sites) or 'none'}")
                body, place = self.sites[name]
                own = "" if body == WORLD else self.names[body]
                parts[-1][1].append(TendonPoint(own, np.array(place.translation)))
            else:
                raise child.fail("wraps the tendon around a shape", "Lead it straight, from site to site")
        if len(parts) > 1 and not parts[0][1]:  # the pulley stands first
            del parts[0]
        for _, points in parts:
            if len(points) < 2:
                raise element.fail(f"has a branch of {len(points)} sites", "Give each branch two sites or more")
        return tuple((divisor, tuple(points)) for divisor, points in parts)

    def rest(
        self, element: XmlElement, tendon: Tendon, joints: tuple[tuple[str, float, MjcfJoint], ...]
    ) -> tuple[float, float]:
        """Lengths without force; where none is given the one with all springs of joints at rest, as in MuJoCo."""
        words = element.attributes.get("springlength", "-1").split()
        values = [float(value) for value in element.numbers("springlength", len(words), (-1,))]
        if len(values) > 2 or (len(values) == 2 and values[0] > values[1]):
            raise element.fail(f"springlength is '{' '.join(words)}'", "Give one length, or two, the shorter first [m]")
        if values[0] != -1.0:
            return values[0], values[-1]
        if tendon.joints:
            length = sum(coefficient * joint.rest for _, coefficient, joint in joints)
            return length, length
        bent = [joint.name for _, joint in self.joints.values() if joint.rest != joint.reference]
        if bent:
            raise element.fail(
                f"has no springlength, and the spring of '{bent[0]}' rests elsewhere than the file places it",
                "Give the springlength [m]",
            )
        length = 0.0
        sites = iter(child.attribute("site") for child in element.children if child.tag == "site")
        for divisor, points in tendon.branches:
            places = [self.places[body].act(place.translation) for body, place in
                      (self.sites[next(sites)] for _ in points)]  # fmt: skip
            length += sum(math.dist(a, b) for a, b in itertools.pairwise(places)) / divisor
        return length, length


_TIME_STEP = 0.002
_FIELD_OF_VIEW = 45.0
_NOTHING_MECHANICAL = ("visual", "statistic", "size", "custom", "asset", "default", "compiler")
_READ = ("option", "worldbody", "contact", "equality", "actuator", "tendon", "keyframe")


def read_scene_mjcf(path: Path) -> Scene:
    """Read a scene that MuJoCo reads too.

    A body with joints below becomes a robot of its name, fixed to the world or floating by its free joint; a body that
    is free and carries no other becomes a free body; what has no joints stays where it is. All start in the first
    keyframe, without one where the file places them. What the stack has no word for and can be left out is warned of
    (:class:`~humanoid_model.errors.RobotWarning`).

    Args:
        path: the file.

    Raises:
        SceneError: broken XML, or what the stack has no word for; it names file, line, element and remedy.
        InputError: a mesh can't be used.
    """
    text = read_text(path, SceneError, "Give the path of a scene")
    return _Builder(MjcfDocument(text, str(path), path.parent, SceneError)).build(path)


class _Builder:
    def __init__(self, document: MjcfDocument) -> None:
        self.document = document
        self.world = read_bodies(document)
        self.frames = read_keyframes(document, self.world)
        self.actuators = read_actuators(document, self.world)
        self.robots: list[SceneRobot] = []
        self.bodies: list[SceneBody] = []
        self.names: dict[str, str] = {}  # of the bodies of the file in the scene
        self.touching: dict[str, tuple[MjcfGeom, ...]] = {}  # shapes that touch, by names of the scene
        self.rules: list[PairRule] = []

    def build(self, path: Path) -> Scene:
        document, top = self.document, self.document.top
        for child in top.children:
            if child.tag not in (*_READ, *_NOTHING_MECHANICAL):
                if child.tag in ("deformable", "extension"):
                    raise child.fail("is not read", "Leave it out")
                document.note_all(child)
        loops, laws = read_equalities(document, self.world)
        taken = {body.name for body in self.world.walk()}
        for number, geom in enumerate(self.world.geoms):
            name = geom.geometry.name or f"ground_{number + 1}"
            while name in taken:
                name += "_geom"
            taken.add(name)
            self.add_fixed(name, (geom,), pin.SE3.Identity())
        trees = [{joint.name for inner in body.walk() for joint in inner.joints} for body in self.world.children]
        for law in laws:
            if not any({law.joint, law.followed} <= tree for tree in trees):
                raise law.element.fail(
                    f"couples '{law.joint}' and '{law.followed}' of two robots"
                    if law.followed
                    else f"holds '{law.joint}' alone",
                    "Couple two joints of one tree, or take the joint away",
                )
        for body in self.world.children:
            self.add(body, laws)
        if any(WORLD in (loop.link_a, loop.link_b) for loop in loops):
            self.names[WORLD] = WORLD
            self.bodies.append(_fixed(WORLD, (), pin.SE3.Identity()))
        gravity, time_step = self.options()
        self.add_rules(top)
        tendons = read_tendons(document, self.world, self.names)
        camera, lights = self.view()
        document.warn()
        return Scene(
            name=document.name,
            robots=tuple(self.robots),
            bodies=tuple(self.bodies),
            rules=tuple(self.rules),
            loops=tuple(self.loop(loop) for loop in loops),
            tendons=tendons,
            gravity=gravity,
            time_step=time_step,
            self_collision=any(
                sum(name.startswith(f"{placed.name}/") and bool(geoms) for name, geoms in self.touching.items()) > 1
                for placed in self.robots
            ),
            camera=camera,
            lights=lights,
            source=str(path),
        )

    # Bodies -----------------------------------------------------------------------------------------------

    def add(self, body: MjcfBody, laws: Sequence[JointLaw]) -> None:
        self.check_name(body)
        for inner in body.walk():
            if inner.joints and inner.inertial is None and not inner.children:
                raise inner.element.fail("moves and has no mass", "Give it shapes with a mass, or an <inertial>")
        if not any(inner.joints for inner in body.walk()):
            self.add_fixed_tree(body, pin.SE3.Identity())
            return
        seen_and_touched = all(geom.touches for geom in body.geoms) and not body.children
        if len(body.joints) == 1 and body.joints[0].type == "free" and seen_and_touched and body.geoms:
            joint = body.joints[0]
            for what in ("damping", "frictionloss", "armature"):
                if joint.element.number(what, 0.0):
                    self.document.note(joint.element, joint.element.attributes.keys() - {what})
            frame = next(iter(self.frames.values()), {})
            placement = pin.XYZQUATToSE3(frame[joint.name]) if joint.name in frame else body.placement
            assert body.inertial is not None
            turn = body.inertial.placement_link_com.rotation
            self.bodies.append(
                SceneBody(
                    body.name, body.name, body.inertial.mass, np.array(body.inertial.placement_link_com.translation),
                    turn @ body.inertial.inertia @ turn.T, placement, np.zeros(6),
                    tuple(geom.geometry for geom in body.geoms),
                )
            )  # fmt: skip
            self.know(body, body.name)
            return
        self.document.growth.add(1, "robots", body.element.fail)
        nothing = dataclasses.replace(self.world, geoms=(), sites={}, inertial=None)
        joints = {joint.name for inner in body.walk() for joint in inner.joints}
        own = [law for law in laws if law.joint in joints]
        robot = build_tree(body.name, [body], nothing, self.document, self.actuators, own)
        frames = {name: configuration(robot, frame) for name, frame in self.frames.items()}
        robot = dataclasses.replace(robot, postures={**robot.postures, **frames})
        posture = next(iter(frames), "qpos0")
        self.robots.append(
            SceneRobot(body.name, robot, posture, pin.SE3.Identity(), np.array(robot.postures[posture]), body.name)
        )
        for inner in body.walk():
            self.know(inner, f"{body.name}/{inner.name}")
            # MuJoCo lets no body touch the one that carries it.
            for child in inner.children:
                self.rules.append(PairRule(f"{body.name}/{inner.name}", f"{body.name}/{child.name}", collide=False))

    def know(self, body: MjcfBody, name: str) -> None:
        self.names[body.name] = name
        self.touching[name] = tuple(geom for geom in body.geoms if geom.touches)

    def check_name(self, body: MjcfBody) -> None:
        special = sorted(set(body.name) & set("/*?[]"))
        if special:
            raise body.element.fail(f"the name holds {special[0]}", "Use letters, digits, - and _")

    def add_fixed(self, name: str, geoms: tuple[MjcfGeom, ...], placement: pin.SE3) -> None:
        self.bodies.append(_fixed(name, geoms, placement))
        self.touching[name] = tuple(geom for geom in geoms if geom.touches)
        if geoms and not self.touching[name]:
            self.rules.append(PairRule(name, "*", collide=False))

    def add_fixed_tree(self, body: MjcfBody, outer: pin.SE3) -> None:
        self.check_name(body)
        self.names[body.name] = body.name
        self.add_fixed(body.name, body.geoms, outer * body.placement)
        for child in body.children:
            self.add_fixed_tree(child, outer * body.placement)

    # What holds between them ------------------------------------------------------------------------------

    def loop(self, loop: LoopClosure) -> LoopClosure:
        return dataclasses.replace(loop, link_a=self.names[loop.link_a], link_b=self.names[loop.link_b])

    def add_rules(self, top: XmlElement) -> None:
        """Add friction, the larger one of two bodies counts, and what doesn't touch."""
        friction = {}
        for name, geoms in self.touching.items():
            values = {tuple(geom.friction.tolist()) for geom in geoms}
            if len(values) > 1:
                self.document.note(geoms[-1].element, geoms[-1].element.attributes.keys() - {"friction", "condim"})
            if values:
                friction[name] = tuple(np.max(list(values), axis=0).tolist())
        for field, index in (("friction", 0), ("torsional_friction", 1), ("rolling_friction", 2)):
            levels = sorted({values[index] for values in friction.values()})
            for level in levels[:1]:
                self.rules.append(PairRule("*", "*", **{field: level}))
            for level in levels[1:]:  # of the rules that match, the last one counts: the one of the rougher body
                self.rules += [
                    PairRule(name, "*", **{field: level})
                    for name, values in friction.items()
                    if values[index] == level
                ]
        bits = {name: _bits(geoms) for name, geoms in self.touching.items() if geoms}
        names = list(bits)
        if len(set(bits.values())) > 1 or any(not _meet(own, own) for own in bits.values()):
            for k, first in enumerate(names):
                apart = [second for second in names[k + 1 :] if not _meet(bits[first], bits[second])]
                self.document.growth.add(len(apart), "pairs that don't touch", top.fail)
                self.rules += [PairRule(first, second, collide=False) for second in apart]
        contacts = [child for group in top.all("contact") for child in group.children]
        for element in contacts:
            self.document.growth.add(1, "rules of pairs", element.fail)
            if element.tag == "exclude":
                ends = [self.names.get(element.attribute(key)) for key in ("body1", "body2")]
                for key, end in zip(("body1", "body2"), ends, strict=True):
                    if end is None:
                        raise element.fail(f"names the unknown body '{element.attributes[key]}'", "Name two bodies")
                self.rules.append(PairRule(str(ends[0]), str(ends[1]), collide=False))
            elif element.tag != "pair":
                raise element.fail("is not read", "Give pairs, and exclude what doesn't touch")
        for element in contacts:  # a pair touches whatever else is said
            if element.tag == "pair":
                self.rules.append(self.pair(self.document.of_class(element, "main")))

    def pair(self, element: XmlElement) -> PairRule:
        """Return what a pair of shapes says of the bodies that they make up."""
        self.document.note(element, ("geom1", "geom2", "condim", "friction"))
        given = element.attributes.get("friction", "").split()
        if len(given) > 5 or len({*given[:2]}) > 1 or len({*given[3:]}) > 1:
            raise element.fail(f"friction is '{' '.join(given)}'", "Give one number twice along, one about, one twice")
        names, geoms = [], []
        for key in ("geom1", "geom2"):
            wanted = element.attribute(key)
            own = [(name, all_) for name, all_ in self.touching.items() if wanted in {g.geometry.name for g in all_}]
            if not own:
                raise element.fail(f"names the unknown geom '{wanted}'", "Name two geoms")
            if len(own[0][1]) > 1:
                raise element.fail(f"'{wanted}' is one of several shapes of a body", "Give it a body of its own")
            names.append(own[0][0])
            geoms.append(own[0][1][0])
        if names[0].partition("/")[1] and names[0].partition("/")[0] == names[1].partition("/")[0]:
            raise element.fail("names two bodies of one robot", "Exclude what doesn't touch there")
        rougher = np.maximum(*(read_friction(geom.element, (0, 1, 2)) for geom in geoms))
        slides, turns, rolls = read_friction(element, (0, 2, 3), rougher).tolist()
        return PairRule(
            names[0], names[1], friction=slides, torsional_friction=turns, rolling_friction=rolls, collide=True
        )

    # The rest ---------------------------------------------------------------------------------------------

    def options(self) -> tuple[np.ndarray, float]:
        gravity, time_step = np.array([0.0, 0.0, -9.81]), _TIME_STEP
        for element in self.document.top.all("option"):
            self.document.note(element, ("timestep", "gravity"))
            for child in element.children:
                self.document.note_all(child)
            gravity = element.numbers("gravity", 3, gravity)
            time_step = element.number("timestep", time_step)
            if time_step <= 0.0:
                raise element.fail(f"timestep is {time_step:g}", "Give more than 0 [s]")
        return gravity, time_step

    def view(self) -> tuple[Camera | None, tuple[Light, ...]]:
        """Return the first camera that the world carries, and its lights."""
        camera, lights, colours = None, [], {"ambient": 0.0, "diffuse": 0.7, "specular": 0.3}
        for world in self.document.top.all("worldbody"):
            for given in world.children:
                element = self.document.of_class(given, "main")
                if given.tag == "camera" and camera is None:
                    angle = np.radians(element.number("fovy", _FIELD_OF_VIEW))
                    if not 0.0 < angle < np.pi:
                        raise given.fail(f"fovy is {np.degrees(angle):g}", "Give an angle between 0 and 180 [degrees]")
                    camera = Camera(self.document.placement(element), float(angle))
                elif given.tag == "camera":
                    self.document.note_all(given)
                elif given.tag == "light":
                    own = {
                        name: np.append(element.numbers(name, 3, [grey] * 3), 1.0) for name, grey in colours.items()
                    }
                    far = element.attributes.get("directional", "false") == "true"
                    place = -element.numbers("dir", 3, (0, 0, -1)) if far else element.numbers("pos", 3, (0, 0, 0))
                    lights.append(Light(np.append(place, 0.0 if far else 1.0), **own))
        return camera, tuple(lights)


def _fixed(name: str, geoms: Sequence[MjcfGeom], placement: pin.SE3) -> SceneBody:
    shapes = tuple(geom.geometry for geom in geoms)
    return SceneBody(name, name, 0.0, np.zeros(3), np.zeros((3, 3)), placement, np.zeros(6), shapes)


def _bits(geoms: Sequence[MjcfGeom]) -> tuple[int, int]:
    types, affinities = 0, 0
    for geom in geoms:
        types, affinities = types | geom.bits[0], affinities | geom.bits[1]
    return types, affinities


def _meet(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return bool(first[0] & second[1] or second[0] & first[1])
