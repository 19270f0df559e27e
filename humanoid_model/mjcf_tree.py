# SPDX-License-Identifier: Apache-2.0
"""Bodies of an MJCF file as a robot: links, joints, actuators, postures; and what holds bodies together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_model.actuator import Spring
from humanoid_model.description import HalfSpace, Joint, JointLimit, Link, Mimic, RobotDescription
from humanoid_model.loop_closure import KINDS, LoopClosure
from humanoid_model.mjcf_bodies import MjcfBody, MjcfJoint
from humanoid_model.mjcf_document import MjcfDocument
from humanoid_model.robot import Robot, build_robot
from humanoid_model.robot_file import RobotFile
from humanoid_model.urdf_text import urdf_text
from humanoid_model.xml_element import XmlElement

WORLD = "world"
"""Name of the link that doesn't move."""
_X = np.array([1.0, 0.0, 0.0])
_ACTUATOR = (
    "joint", "tendon", "gear", "kp", "kv", "ctrlrange", "ctrllimited", "forcerange", "forcelimited", "gaintype",
    "biastype", "gainprm", "biasprm", "dyntype",
)  # fmt: skip


@dataclass(frozen=True)
class JointLaw:
    """A joint that follows another one: q[joint] = factor q[followed] + offset; followed is empty for a held joint."""

    joint: str
    followed: str
    factor: float
    offset: float
    element: XmlElement


def build_tree(
    name: str, bodies: Sequence[MjcfBody], fixed: MjcfBody, document: MjcfDocument,
    actuators: Mapping[str, dict[str, float]], laws: Sequence[JointLaw] = (), loops: Sequence[LoopClosure] = (),
) -> Robot:  # fmt: skip
    """Return bodies with all that they carry as a robot, in the reference configuration as posture ``qpos0``.

    Args:
        name: of the robot.
        bodies: that the world carries.
        fixed: the world, whose own shapes and sites are taken; without them for a robot among others.
        document: for warnings.
        actuators: by joint, from :func:`read_actuators`.
        laws: of its joints.
        loops: between its links.

    Raises:
        InputError: what a robot can't be.
    """
    tree = _Tree(document, actuators, {law.joint: law for law in laws if law.followed})
    tree.add_link(WORLD, fixed)
    for body in bodies:
        tree.add(body, WORLD)
    description = RobotDescription(name, tree.links, tree.joints, WORLD, tuple(loops), document.top.source)
    told = dataclasses.replace(description, links={link: _with_ends(own) for link, own in tree.links.items()})
    description = dataclasses.replace(description, text=urdf_text(told))
    file = RobotFile(ball_joints=tree.balls, actuators=tree.actuators, springs=tree.springs)
    robot = build_robot(description, file)
    moved = [(body, joint) for root in bodies for body in root.walk() for joint in body.joints]
    start = {joint.name: reference_position(body, joint) for body, joint in moved}
    return dataclasses.replace(robot, postures={**robot.postures, "qpos0": configuration(robot, start)})


def _with_ends(link: Link) -> Link:
    """Return a link without grounds without end, which URDF has no word for."""
    seen, touching = (
        tuple(geometry for geometry in geometries if not isinstance(geometry.shape, HalfSpace))
        for geometries in (link.visuals, link.collisions)
    )
    return dataclasses.replace(link, visuals=seen, collisions=touching)


class _Tree:
    def __init__(
        self, document: MjcfDocument, actuators: Mapping[str, dict[str, float]], laws: Mapping[str, JointLaw]
    ) -> None:
        self.document, self.given, self.laws = document, actuators, laws
        self.links: dict[str, Link] = {}
        self.joints: dict[str, Joint] = {}
        self.balls: dict[str, tuple[str, ...]] = {}
        self.actuators: dict[str, dict[str, float]] = {}
        self.springs: dict[str, Spring] = {}

    def add_link(self, name: str, body: MjcfBody) -> None:
        seen = tuple(geom.geometry for geom in body.geoms if geom.seen)
        touching = tuple(geom.geometry for geom in body.geoms if geom.touches)
        self.links[name] = Link(name, body.inertial, seen, touching)
        for site, placement in body.sites.items():
            self.links[site] = Link(site)
            self.joint(f"{site}_fixed", "fixed", name, site, placement)

    def joint(
        self, name: str, kind: str, parent: str, child: str, placement: pin.SE3, axis: np.ndarray = _X,
        own: MjcfJoint | None = None,
    ) -> None:  # fmt: skip
        limit = None
        if kind not in ("fixed", "floating"):
            limit = JointLimit(-math.inf, math.inf, math.inf, math.inf)
            if own is not None:
                limit = JointLimit(*own.limits, math.inf, math.inf)
        law = self.laws.get(name)
        mimic = None if law is None else Mimic(law.followed, law.factor, law.offset)
        self.joints[name] = Joint(
            name, kind, parent, child, placement, axis, limit,
            0.0 if own is None else own.damping, 0.0 if own is None else own.friction, mimic,
        )  # fmt: skip

    def add(self, body: MjcfBody, parent: str) -> None:
        """Add a body behind its joints, each of which turns about an anchor of its own, and what it carries."""
        before = body.placement
        for number, joint in enumerate(body.joints):
            last = number == len(body.joints) - 1 and not joint.anchor.any()
            child = body.name if last else f"{joint.name}_link"
            if not last:
                self.links[child] = Link(child)
            self.add_joint(joint, parent, child, before)
            before, parent = pin.SE3(np.eye(3), -joint.anchor), child
        self.add_link(body.name, body)
        if parent != body.name:
            self.joint(f"{body.name}_fixed", "fixed", parent, body.name, before)
        for child_body in body.children:
            self.add(child_body, body.name)

    def add_joint(self, joint: MjcfJoint, parent: str, child: str, before: pin.SE3) -> None:
        name, at = joint.name, before * pin.SE3(np.eye(3), joint.anchor)
        if joint.type == "free":
            for what in ("damping", "friction", "armature"):
                if getattr(joint, what):
                    self.document.note(joint.element, joint.element.attributes.keys() - {what, "frictionloss"})
            self.joint(name, "floating", parent, child, pin.SE3.Identity())
            return
        if joint.type == "ball":
            members = tuple(f"{name}_{axis}" for axis in "xyz")
            for k, member in enumerate(members):
                end = child if k == 2 else f"{member}_link"
                self.links.setdefault(end, Link(end))
                self.joint(member, "continuous", parent, end, at if k == 0 else pin.SE3.Identity(), np.eye(3)[k], joint)
                parent = end
            self.balls[name] = members
        elif joint.type == "slide":
            back = pin.SE3(np.eye(3), -joint.reference * joint.axis)
            self.joint(name, "prismatic", parent, child, at * back, joint.axis, joint)
        else:
            kind = "revolute" if np.isfinite(joint.limits).all() else "continuous"
            back = pin.SE3(pin.exp3(-joint.reference * joint.axis), np.zeros(3))
            self.joint(name, kind, parent, child, at * back, joint.axis, joint)
        given = self.given.get(name)
        if joint.stiffness > 0.0:
            if given is None and joint.armature == 0.0:
                self.springs[name] = Spring(joint.stiffness, 0.0, joint.rest)
            else:  # a spring or a drive: a joint has one of them
                self.document.note(joint.element, joint.element.attributes.keys() - {"stiffness"})
        if given is None and joint.armature > 0.0:
            given = {"stiffness": 0.0, "damping": 0.0, "effort": 0.0}
        if given is not None:
            self.actuators[name] = {**given, "armature": joint.armature}


def reference_position(body: MjcfBody, joint: MjcfJoint) -> np.ndarray:
    """Position of a joint, in Pinocchio's coordinates, in which the bodies are as the file places them."""
    if joint.type == "free":
        return np.asarray(pin.SE3ToXYZQUAT(body.placement))
    if joint.type == "ball":
        return np.array([0.0, 0.0, 0.0, 1.0])
    return np.array([joint.reference])


def configuration(robot: Robot, positions: Mapping[str, np.ndarray]) -> np.ndarray:
    """(nq,) configuration of a robot with its joints at given positions, in Pinocchio's coordinates."""
    q = pin.neutral(robot.model)
    for joint, position in positions.items():
        if joint in robot.parts.joint_ids:
            start = robot.index_q(joint)
            q[start : start + len(position)] = position
    return q


def read_keyframes(document: MjcfDocument, world: MjcfBody) -> dict[str, dict[str, np.ndarray]]:
    """Positions of all joints, in Pinocchio's coordinates, by keyframe and joint.

    Raises:
        InputError: a wrong number of positions.
    """
    joints = [(body, joint) for body in world.walk() for joint in body.joints]
    widths = [{"free": 7, "ball": 4}.get(joint.type, 1) for _, joint in joints]
    frames: dict[str, dict[str, np.ndarray]] = {}
    for element in (key for group in document.top.all("keyframe") for key in group.all("key")):
        document.note(element, ("qpos", "time"))
        document.growth.add(sum(widths), "positions of keyframes", element.fail)
        found = {joint.name: reference_position(body, joint) for body, joint in joints}
        if "qpos" in element.attributes:
            values = element.numbers("qpos", sum(widths))
            parts = np.split(values, np.cumsum(widths)[:-1]) if widths else []
            for (_, joint), part in zip(joints, parts, strict=True):
                if len(part) > 1:  # quaternions begin with w
                    turn = np.roll(part[-4:], -1)
                    if np.linalg.norm(turn) < 1e-12:
                        raise element.fail(f"the quaternion of '{joint.name}' is zero", "Give one of unit length")
                    part = np.concatenate([part[:-4], turn / np.linalg.norm(turn)])
                found[joint.name] = part
        frames[element.attributes.get("name") or f"key_{len(frames) + 1}"] = found
    return frames


def read_actuators(document: MjcfDocument, world: MjcfBody) -> dict[str, dict[str, float]]:
    """Gains and largest efforts of the joints that motors, position and velocity servos drive, by joint.

    Others are not read, and warned of.

    Raises:
        InputError: an unknown joint, or a value that can't be.
    """
    kinds = {joint.name: joint for body in world.walk() for joint in body.joints}
    found: dict[str, dict[str, float]] = {}
    for given in (child for group in document.top.all("actuator") for child in group.children):
        element = document.of_class(given, "main")
        if "tendon" in element.attributes:  # read with the tendons
            continue
        joint = element.attributes.get("joint", "")
        if _gains(element) is None or not joint or joint in found:
            document.note_all(given)
            continue
        if joint not in kinds:
            raise given.fail(f"names the unknown joint '{joint}'", f"Joints are {', '.join(kinds)}")
        if kinds[joint].type not in ("hinge", "slide"):
            document.note_all(given)
            continue
        drive = read_drive(document, element)
        assert drive is not None
        stiffness, damping, effort = drive
        effort = min(effort, _largest(document, kinds[joint].element, "actuatorfrcrange", "actuatorfrclimited"))
        found[joint] = {"stiffness": stiffness, "damping": damping}
        if math.isfinite(effort):
            found[joint]["effort"] = effort
    return found


def read_drive(document: MjcfDocument, element: XmlElement) -> tuple[float, float, float] | None:
    """Stiffness, damping and largest effort behind the gear of a motor or servo; None for other actuators."""
    gains = _gains(element)
    if gains is None:
        return None
    document.note(element, _ACTUATOR)
    gear = _words(element, "gear", "1")[0]
    gain, stiffness, damping = gains
    effort = _largest(document, element, "forcerange", "forcelimited")
    if element.tag in ("motor", "general") and stiffness == 0.0:
        effort = min(effort, abs(gain) * _largest(document, element, "ctrlrange", "ctrllimited"))
    return stiffness * gear**2, damping * gear**2, effort * abs(gear)


def _gains(element: XmlElement) -> tuple[float, float, float] | None:
    """Effort per control, stiffness and damping of an actuator; None for one that a joint can't have here."""
    if element.tag == "motor":
        return 1.0, 0.0, 0.0
    if element.tag == "position":
        return 1.0, element.number("kp", 1.0), element.number("kv", 0.0)
    if element.tag == "velocity":
        return 1.0, 0.0, element.number("kv", 1.0)
    if element.tag != "general" or element.attributes.get("dyntype", "none") != "none":
        return None
    if element.attributes.get("gaintype", "fixed") != "fixed":
        return None
    gain = _words(element, "gainprm", "1")[0]
    bias = [*_words(element, "biasprm", "0"), 0.0, 0.0]
    if element.attributes.get("biastype", "none") == "none":
        return gain, 0.0, 0.0
    if element.attributes["biastype"] == "affine" and bias[0] == 0.0 and bias[1] == -gain:
        return 1.0, gain, -bias[2]
    return None


def _words(element: XmlElement, name: str, otherwise: str) -> list[float]:
    """Return the numbers of an attribute, one at least."""
    count = max(len(element.attributes.get(name, otherwise).split()), 1)
    return [float(value) for value in element.numbers(name, count, [float(word) for word in otherwise.split()])]


def _largest(document: MjcfDocument, element: XmlElement, attribute: str, switch: str) -> float:
    """Return the larger end of a range, infinite where it isn't in force."""
    low, high = read_limits(document, element, attribute, switch)
    if low != -high:
        document.note(element, element.attributes.keys() - {attribute})
    return float(max(abs(low), abs(high)))


def read_limits(document: MjcfDocument, element: XmlElement, attribute: str, switch: str) -> tuple[float, float]:
    """Return a range, infinite where it isn't in force.

    Raises:
        InputError: its ends are in the wrong order.
    """
    limited = element.attributes.get(switch, "auto")
    if limited == "false" or attribute not in element.attributes or (limited == "auto" and not document.autolimits):
        return -math.inf, math.inf
    low, high = element.numbers(attribute, 2)
    if low >= high:
        raise element.fail(f"{attribute} is '{element.attributes[attribute]}'", "Give the lower end first")
    return float(low), float(high)


def reference_places(world: MjcfBody) -> tuple[dict[str, pin.SE3], dict[str, tuple[str, pin.SE3]]]:
    """Return where the file places the bodies, and of each site its body and its placement in that."""
    places: dict[str, pin.SE3] = {WORLD: pin.SE3.Identity()}
    sites = {site: (WORLD, place) for site, place in world.sites.items()}

    def put(body: MjcfBody, outer: pin.SE3) -> None:
        for child in body.children:
            places[child.name] = outer * child.placement
            sites.update({site: (child.name, place) for site, place in child.sites.items()})
            put(child, places[child.name])

    put(world, pin.SE3.Identity())
    return places, sites


def read_equalities(document: MjcfDocument, world: MjcfBody) -> tuple[list[LoopClosure], list[JointLaw]]:
    """Return what holds bodies, by their names, together, and joints that follow others.

    Where MuJoCo takes the second body's end from the reference configuration, so does this.

    Raises:
        InputError: an equality that the stack has no word for, or an unknown name.
    """
    places, sites = reference_places(world)
    kinds = {joint.name: joint for body in world.walk() for joint in body.joints}
    loops: list[LoopClosure] = []
    laws: list[JointLaw] = []
    for given in (child for group in document.top.all("equality") for child in group.children):
        element = document.of_class(given, "main")
        if element.attributes.get("active", "true") == "false":
            continue
        name = element.attributes.get("name") or f"{element.tag}_{len(loops) + len(laws)}"
        if element.tag in ("connect", "weld"):
            document.note(element, ("body1", "body2", "site1", "site2", "anchor", "relpose"))
            loops.append(_loop(element, name, places, sites))
        elif element.tag == "joint":
            document.note(element, ("joint1", "joint2", "polycoef"))
            laws.append(_law(element, kinds))
        else:
            raise element.fail(f"equality <{element.tag}> is not read", "Use connect, weld or joint")
    return loops, laws


def _known(element: XmlElement, key: str, names: Mapping[str, object]) -> str:
    name = element.attribute(key)
    if name not in names:
        raise element.fail(f"names the unknown {key[:-1]} '{name}'", f"Name one of {', '.join(names)}")
    return name


def _loop(
    element: XmlElement, name: str, places: Mapping[str, pin.SE3], sites: Mapping[str, tuple[str, pin.SE3]]
) -> LoopClosure:
    rows = KINDS["point" if element.tag == "connect" else "frame"]
    if "site1" in element.attributes:
        (first, at_first), (second, at_second) = (sites[_known(element, key, sites)] for key in ("site1", "site2"))
        return LoopClosure(name, first, at_first, second, at_second, rows)
    first = _known(element, "body1", places)
    second = _known(element, "body2", places) if "body2" in element.attributes else WORLD
    between = places[first].actInv(places[second])
    if element.tag == "connect":
        anchor = pin.SE3(np.eye(3), element.numbers("anchor", 3))
        other = between.actInv(anchor)
        return LoopClosure(name, first, anchor, second, pin.SE3(np.eye(3), other.translation), rows)
    if "anchor" in element.attributes and element.numbers("anchor", 3).any():
        raise element.fail(f"anchor is '{element.attributes['anchor']}'", "Leave it out: a weld holds the whole frame")
    pose = element.numbers("relpose", 7, (0, 1, 0, 0, 0, 0, 0))
    if np.linalg.norm(pose[3:]) > 0:
        quaternion = pin.Quaternion(pose[3], pose[4], pose[5], pose[6]).normalized()
        between = pin.SE3(quaternion.matrix(), pose[:3])
    return LoopClosure(name, first, between, second, pin.SE3.Identity(), rows)


def _law(element: XmlElement, kinds: Mapping[str, MjcfJoint]) -> JointLaw:
    """Joint 1 from its reference is a polynomial of joint 2 from its reference; here of degree 1 at most."""
    keys = [key for key in ("joint1", "joint2") if key in element.attributes]
    joints = []
    for key in keys:
        name = element.attributes[key]
        if name not in kinds or kinds[name].type not in ("hinge", "slide"):
            own = [joint for joint, kind in kinds.items() if kind.type in ("hinge", "slide")]
            raise element.fail(f"names the unknown joint '{name}'", f"Joints are {', '.join(own)}")
        joints.append(kinds[name])
    words = element.attributes.get("polycoef", "0 1 0 0 0").split()
    factors = [*element.numbers("polycoef", len(words), (0, 1, 0, 0, 0)), 0.0, 0.0]
    if any(factors[2:]):
        raise element.fail(f"polycoef is '{element.attributes['polycoef']}'", "Give a polynomial of degree 1")
    if len(joints) == 1:
        return JointLaw(joints[0].name, "", 0.0, float(factors[0]) + joints[0].reference, element)
    offset = factors[0] + joints[0].reference - factors[1] * joints[1].reference
    return JointLaw(joints[0].name, joints[1].name, float(factors[1]), float(offset), element)
