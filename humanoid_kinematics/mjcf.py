# SPDX-License-Identifier: Apache-2.0
"""Mechanisms from MJCF files, as far as Pinocchio reads them, with their ``<equality>`` constraints."""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_kinematics.mechanism import Coupling, Mechanism, Tool
from humanoid_model import RobotError
from humanoid_model.description import Inertial, Joint, JointLimit, Link, RobotDescription
from humanoid_model.input_file import read_text
from humanoid_model.loop_closure import KINDS, LoopClosure
from humanoid_model.robot import build_robot
from humanoid_model.robot_file import RobotFile
from humanoid_model.urdf_text import urdf_text
from humanoid_model.xml_element import XmlElement, parse_xml

#: Name of the posture of a model without keyframes.
_REFERENCE = "qpos0"


def load_mjcf(path: str | Path) -> Mechanism:
    """Load a MuJoCo model; shapes are left out, sites become tools.

    ``connect`` and ``weld`` become loops, ``joint`` a coupling where it is linear. Where MuJoCo takes the second body's
    end from the reference configuration, so does this. The declared posture is the first keyframe, if any.

    Args:
        path: the file.

    Raises:
        RobotError: no MJCF, or what Pinocchio or the stack has no word for; with line and remedy where they are known.
    """
    return _mechanism(read_text(path, RobotError, "Give the path of an MJCF file"), str(path), Path(path))


def read_mjcf(text: str, source: str = "text") -> Mechanism:
    """Return the mechanism of an MJCF text, which names no other files; see :func:`load_mjcf`.

    Raises:
        RobotError: as of :func:`load_mjcf`; the text is called ``source``.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{Path(source).stem}.xml"  # Pinocchio reads files only
        path.write_text(text, encoding="utf-8")
        return _mechanism(text, source, path)


def _mechanism(text: str, source: str, path: Path) -> Mechanism:
    top = parse_xml(text, source, RobotError)
    if top.tag != "mujoco":
        raise top.fail(f"the document's root is <{top.tag}>, not <mujoco>", "Give an MJCF document")
    bodies = [body for world in top.all("worldbody") for body in world.all("body")]
    if len(bodies) != 1:
        where = bodies[1] if bodies else top
        raise where.fail(f"<worldbody> has {len(bodies)} bodies; Pinocchio reads one", "Put them into one body")
    try:
        model = pin.buildModelFromMJCF(str(path))
    except Exception as problem:  # Pinocchio raises bare RuntimeError and ValueError
        raise top.fail(f"Pinocchio can't read it: {' '.join(str(problem).split())}", "Mend the model") from None
    tree = _Tree(model, source, _joint_names(top))
    tree.add()
    reference = {item.key(): np.array(item.data()) for item in model.referenceConfigurations}
    zero = reference.pop(_REFERENCE, pin.neutral(model))
    loops, couplings = _Equalities(model, tree, zero).read(top)
    name = top.attributes.get("model") or Path(source).stem
    description = RobotDescription(name, tree.links, tree.joints, "world", loops, source)
    description = dataclasses.replace(description, text=urdf_text(description))
    robot = build_robot(description, RobotFile(ball_joints=tree.balls))
    robot = dataclasses.replace(robot, postures={**robot.postures, _REFERENCE: zero, **reference})
    tools = tuple(Tool(site, site) for site in tree.sites)
    mechanism = Mechanism.from_robot(robot, tools, couplings)
    moved = {element.attributes.get("joint") for group in top.all("actuator") for element in group.children} - {None}
    driven = tuple(joint for joint in robot.joint_names if joint in moved) if moved else None
    return dataclasses.replace(mechanism, initial=next(iter(reference.values()), zero), driven=driven)


def _joint_names(top: XmlElement) -> dict[str, list[str]]:
    """Names of the joints of each body that has several, by the first."""
    found = {}
    for body in top.walk():
        joints = [joint.attributes.get("name", "") for joint in body.all("joint")] if body.tag == "body" else []
        if len(joints) > 1:
            found[joints[0]] = joints
    return found


@dataclass
class _Tree:
    """Links and joints of a Pinocchio model, in its order."""

    model: pin.Model
    source: str
    several: Mapping[str, list[str]]
    links: dict[str, Link] = field(default_factory=lambda: {"world": Link("world")})
    joints: dict[str, Joint] = field(default_factory=dict)
    balls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sites: list[str] = field(default_factory=list)
    carriers: dict[int, str] = field(default_factory=lambda: {0: "world"})

    def add(self) -> None:
        """Add everything: joints with what they move, then what is fixed to that."""
        bodies = {frame.parentJoint: frame.name for frame in reversed(self.model.frames.tolist())
                  if frame.type == pin.FrameType.BODY and frame.placement.isIdentity(1e-12)}  # fmt: skip
        for j in range(1, self.model.njoints):
            self.add_joint(j, bodies.get(j, f"{self.model.names[j]}_link"))
        for frame in self.model.frames.tolist()[1:]:
            if frame.type in (pin.FrameType.BODY, pin.FrameType.OP_FRAME) and frame.name not in self.links:
                self.links[frame.name] = Link(frame.name)
                parent = self.carriers[frame.parentJoint]
                self.fix(f"{frame.name}_fixed", parent, frame.name, frame.placement)
                if frame.type == pin.FrameType.OP_FRAME:
                    self.sites.append(frame.name)

    def fix(self, name: str, parent: str, child: str, placement: pin.SE3) -> None:
        self.joints[name] = Joint(name, "fixed", parent, child, placement, np.array([1.0, 0.0, 0.0]))

    def add_joint(self, j: int, link: str) -> None:
        model = self.model
        joint, name = model.joints[j], str(model.names[j]).removeprefix("Composite_")
        concrete = joint.extract() if hasattr(joint, "extract") else joint
        steps = [(concrete, model.jointPlacements[j])]
        if joint.shortname() == "JointModelComposite":
            placements = list(concrete.jointPlacements)
            placements[0] = model.jointPlacements[j] * placements[0]
            steps = list(zip(concrete.joints, placements, strict=True))
        names = self.several.get(name, [])
        if len(names) != len(steps):
            names = [name, *(f"{name}_{index}" for index in range(2, len(steps) + 1))]
        parent, index = self.carriers[model.parents[j]], joint.idx_q
        for step, (part, placement) in enumerate(steps):
            child = link if step == len(steps) - 1 else f"{names[step]}_link"
            self.links[child] = Link(child)
            parent, index = self.add_step(part, names[step], parent, child, placement, index)
        inertia = model.inertias[j]
        if inertia.mass > 0:
            self.links[link] = Link(link, Inertial(inertia.mass, pin.SE3(np.eye(3), inertia.lever), inertia.inertia))
        self.carriers[j] = link

    def add_step(
        self, part: pin.JointModel, name: str, parent: str, child: str, placement: pin.SE3, index: int
    ) -> tuple[str, int]:
        """Add a joint that isn't made of others; returns its link and the next coordinate."""
        part = part.extract() if hasattr(part, "extract") else part
        kind = part.shortname().removeprefix("JointModel")
        if kind == "FreeFlyer":
            self.joints[name] = Joint(name, "floating", parent, child, placement, np.array([1.0, 0.0, 0.0]))
            return child, index + 7
        if kind == "Spherical":
            members = tuple(f"{name}_{axis}" for axis in "xyz")
            for k, member in enumerate(members):
                end = child if k == 2 else f"{member}_link"
                self.links[end] = Link(end)
                at = placement if k == 0 else pin.SE3.Identity()
                unlimited = JointLimit(-math.inf, math.inf, math.inf, math.inf)
                self.joints[member] = Joint(member, "continuous", parent, end, at, np.eye(3)[k], unlimited)
                parent = end
            self.balls[name] = members
            return child, index + 4
        if kind in ("RevoluteUnaligned", "PrismaticUnaligned"):
            axis = np.array(part.axis, dtype=float).reshape(3)
        elif len(kind) == 2 and kind[0] in "RP" and kind[1] in "XYZ":
            axis = np.eye(3)["XYZ".index(kind[1])]
        else:
            raise RobotError(
                f"is of kind '{kind}'", source=self.source, element=f"joint '{name}'",
                remedy="Use hinges, slides, balls and free joints",
            )  # fmt: skip
        lower, upper = float(self.model.lowerPositionLimit[index]), float(self.model.upperPositionLimit[index])
        turning = "revolute" if math.isfinite(lower) and math.isfinite(upper) else "continuous"
        limit = JointLimit(lower, upper, math.inf, math.inf)
        self.joints[name] = Joint(
            name, "prismatic" if kind[0] == "P" else turning, parent, child, placement, axis, limit
        )
        return child, index + 1


class _Equalities:
    """Reads ``<equality>``."""

    def __init__(self, model: pin.Model, tree: _Tree, zero: np.ndarray) -> None:
        self.model = model
        self.tree = tree
        self.zero = zero
        self.data = model.createData()
        pin.framesForwardKinematics(model, self.data, zero)

    def read(self, top: XmlElement) -> tuple[tuple[LoopClosure, ...], tuple[Coupling, ...]]:
        loops: list[LoopClosure] = []
        couplings: list[Coupling] = []
        for element in (item for group in top.all("equality") for item in group.children):
            if element.attributes.get("active", "true") == "false":
                continue
            name = element.attributes.get("name") or f"{element.tag}_{len(loops) + len(couplings)}"
            if element.tag == "joint":
                couplings.append(self.coupling(element, name))
            elif element.tag in ("connect", "weld"):
                loops.append(self.loop(element, name))
            else:
                raise element.fail(f"equality <{element.tag}> is not read", "Use connect, weld or joint")
        return tuple(loops), tuple(couplings)

    def frame(self, element: XmlElement, key: str) -> pin.Frame:
        name = element.attribute(key)
        kinds = pin.FrameType.OP_FRAME if key.startswith("site") else pin.FrameType.BODY
        if name == "world":
            return self.model.frames[0]
        if not self.model.existFrame(name, kinds):
            raise element.fail(f"names the unknown {key[:-1]} '{name}'", f"Name a {key[:-1]} of the model")
        return self.model.frames[self.model.getFrameId(name, kinds)]

    def loop(self, element: XmlElement, name: str) -> LoopClosure:
        rows = KINDS["point" if element.tag == "connect" else "frame"]
        if "site1" in element.attributes:
            first, second = (self.frame(element, key) for key in ("site1", "site2"))
            names = (first.name, second.name)
            return LoopClosure(name, names[0], pin.SE3.Identity(), names[1], pin.SE3.Identity(), rows)
        first = self.frame(element, "body1")
        second = self.frame(element, "body2") if "body2" in element.attributes else self.model.frames[0]
        places = [self.data.oMf[self.model.getFrameId(frame.name, frame.type)] if frame.name != "universe"
                  else pin.SE3.Identity() for frame in (first, second)]  # fmt: skip
        links = [frame.name if frame.name != "universe" else "world" for frame in (first, second)]
        between = places[0].actInv(places[1])
        if element.tag == "connect":
            anchor = pin.SE3(np.eye(3), element.numbers("anchor", 3))
            other = between.actInv(anchor)
            return LoopClosure(name, links[0], anchor, links[1], pin.SE3(np.eye(3), other.translation), rows)
        pose = element.numbers("relpose", 7, (0, 1, 0, 0, 0, 0, 0))
        if np.linalg.norm(pose[3:]) > 0:
            quaternion = pin.Quaternion(pose[3], pose[4], pose[5], pose[6]).normalized()
            between = pin.SE3(quaternion.matrix(), pose[:3])
        return LoopClosure(name, links[0], between, links[1], pin.SE3.Identity(), rows)

    def coupling(self, element: XmlElement, name: str) -> Coupling:
        """Joint 1 from its reference is a polynomial of joint 2 from its reference; here of degree 1 at most."""
        joints = [element.attributes[key] for key in ("joint1", "joint2") if key in element.attributes]
        words = element.attributes.get("polycoef", "0 1 0 0 0").split()
        factors = [float(word) for word in words] + [0.0] * (5 - len(words))
        if any(factors[2:]):
            raise element.fail(f"polycoef is '{element.attributes['polycoef']}'", "Give a polynomial of degree 1")
        order = [joint for joint in self.tree.joints if self.tree.joints[joint].limit is not None]
        positions = {}
        for joint in joints:
            if joint not in order:
                raise element.fail(f"names the unknown joint '{joint}'", f"Joints are {', '.join(order)}")
            positions[joint] = self.position(joint)
        if len(joints) == 1:
            return Coupling(name, {joints[0]: 1.0}, factors[0] + positions[joints[0]])
        offset = factors[0] + positions[joints[0]] - factors[1] * positions[joints[1]]
        return Coupling(name, {joints[0]: 1.0, joints[1]: -factors[1]}, offset)

    def position(self, joint: str) -> float:
        """Return a joint's coordinate in the reference configuration."""
        index = 0
        for name, item in self.tree.joints.items():
            if name == joint:
                break
            ball = any(name == members[0] for members in self.tree.balls.values())
            inside = any(name in members[1:] for members in self.tree.balls.values())
            sizes = {"fixed": 0, "floating": 7}
            index += 4 if ball else 0 if inside else sizes.get(item.type, 1)
        return float(self.zero[index])
