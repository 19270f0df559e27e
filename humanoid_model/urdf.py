# SPDX-License-Identifier: Apache-2.0
"""Reader of URDF files: any legal one loads, a wrong one is refused by file, line, element and remedy.

Own reader rather than urdfdom's: line numbers in errors, undeclared root links, prismatic joints without
limits and unknown elements (specification 004 section 2.6) are beyond the latter.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.checks import LISTED, listed
from humanoid_model.description import (
    DEFAULT_COLOUR,
    JOINT_TYPES,
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Inertial,
    Joint,
    JointLimit,
    Link,
    Mesh,
    Mimic,
    RobotDescription,
    Shape,
    Sphere,
)
from humanoid_model.errors import RobotError, RobotWarning
from humanoid_model.files import read_text, resolve_mesh_path
from humanoid_model.inertia import inertia_problem, is_positive
from humanoid_model.loop_closure import KINDS, LoopClosure, turned_to
from humanoid_model.xml_element import XmlElement, parse_xml

#: What the types of a ``<constraint>`` hold, by kind of cut.
CONSTRAINTS = {"revolute": "axis", "prismatic": "slide", "spherical": "point", "link": "frame"}
_CONSTRAINT_PARTS = tuple(f"{side}{part}" for side in ("parent", "child") for part in ("", "_origin", "_axis"))

#: Written into the URDF text where the standard demands a limit and the file gives none.
_NO_LIMIT = "1e9"


def read_urdf(path_or_text: str | Path, *, geometry: bool = True) -> RobotDescription:
    """Read a URDF file, or a URDF text (recognised by its first character ``<``).

    Warned of (:class:`RobotWarning`) and kept: a link whose principal moments violate the triangle inequality, a
    fixed joint that mimics another.

    Args:
        path_or_text: path of the file, or the XML text itself.
        geometry: False leaves visual and collision shapes unread, so that meshes may be missing.

    Raises:
        RobotError: the file is missing, not XML, or not a legal robot; the message names file, line, element,
            value and remedy.
    """
    if isinstance(path_or_text, str) and path_or_text.lstrip().startswith("<"):
        text, source, folder = path_or_text.strip(), "URDF text", Path()
    else:
        path = Path(path_or_text)
        text = read_text(path, RobotError, "Give the path of a URDF file")
        source, folder = str(path), path.parent
    return _Reader(parse_xml(text, source, RobotError), text, folder, geometry).description()


class _Reader:
    """Turns the XML tree of one robot into its description."""

    def __init__(self, robot: XmlElement, text: str, folder: Path, geometry: bool) -> None:
        self.robot = robot
        self.text = text
        self.folder = folder
        self.geometry = geometry
        self.changed = False  # whether the legal text differs from the file
        self.materials: dict[str, np.ndarray] = {}

    def description(self) -> RobotDescription:
        robot = self.robot
        if robot.tag != "robot":
            raise robot.fail(
                f"the document's root is <{robot.tag}>, not <robot>", "Give a URDF document"
            )
        name = robot.attribute("name")
        self.read_materials()
        for element in robot.all("constraint"):
            if element.attributes.get("type") == "universal":
                self.add_cross(element)
        link_elements = self.by_name("link")
        joint_elements = self.by_name("joint")
        if not link_elements and not joint_elements:
            raise robot.fail("has no <link>", "Add at least one link")
        links = {key: self.read_link(element) for key, element in link_elements.items()}
        joints = {key: self.read_joint(element) for key, element in joint_elements.items()}
        self.check_mimics(joints, joint_elements)
        root = self.check_tree(links, joints, joint_elements)
        text = self.robot.to_text() if self.changed else self.text
        loops = tuple(self.read_constraint(element, links) for element in self.by_name("constraint").values())
        return RobotDescription(name, links, joints, root, loops, robot.source, text)

    def by_name(self, tag: str) -> dict[str, XmlElement]:
        found: dict[str, XmlElement] = {}
        for element in self.robot.all(tag):
            name = element.attribute("name")
            if name in found:
                raise element.fail(
                    f"duplicate name, first used in line {found[name].line}",
                    f"Give each {tag} a name of its own",
                )
            found[name] = element
        return found

    # Links ---------------------------------------------------------------------------------------------

    def read_materials(self) -> None:
        used: dict[str, None] = {}
        for material in self.robot.walk():
            if material.tag != "material" or "name" not in material.attributes:
                continue
            name = material.attributes["name"]
            used[name] = None
            colour = material.first("color")
            if colour is not None:
                self.materials.setdefault(name, _read_colour(colour))
            elif material.first("texture") is not None:
                self.materials.setdefault(name, np.array(DEFAULT_COLOUR))
        added: list[XmlElement] = []
        for name in used:
            if name and name not in self.materials:
                # A colour is no reason to refuse a robot, but the standard requires each one to be defined.
                rgba = " ".join(str(part) for part in DEFAULT_COLOUR)
                material = XmlElement("material", {"name": name}, "", 0, RobotError)
                material.children.append(XmlElement("color", {"rgba": rgba}, "", 0, RobotError))
                added.insert(0, material)
                self.materials[name] = np.array(DEFAULT_COLOUR)
                self.changed = True
        self.robot.children[:0] = added

    def read_link(self, element: XmlElement) -> Link:
        inertial = element.first("inertial")
        return Link(
            element.attributes["name"],
            None if inertial is None else _read_inertial(inertial, element),
            self.read_geometries("visual", element),
            self.read_geometries("collision", element),
        )

    def read_geometries(self, tag: str, link: XmlElement) -> tuple[Geometry, ...]:
        if not self.geometry:
            return ()
        return tuple(self.read_geometry(element, link) for element in link.all(tag))

    def read_geometry(self, element: XmlElement, link: XmlElement) -> Geometry:
        geometry = element.need("geometry")
        if len(geometry.children) != 1:
            raise geometry.fail(
                f"of {link} holds {len(geometry.children)} shapes",
                "Give exactly one of <box>, <sphere>, <cylinder>, <capsule>, <mesh>",
            )
        colour = np.array(DEFAULT_COLOUR)
        material = element.first("material")
        if material is not None:
            inline = material.first("color")
            if inline is not None:
                colour = _read_colour(inline)
            else:
                colour = self.materials.get(material.attributes.get("name", ""), colour)
        return Geometry(
            element.attributes.get("name", ""),
            self.read_shape(geometry.children[0]),
            _read_origin(element),
            colour,
        )

    def read_shape(self, element: XmlElement) -> Shape:
        if element.tag == "box":
            return Box(_positive(element, "size", 3))
        if element.tag == "sphere":
            return Sphere(float(_positive(element, "radius", 1)[0]))
        if element.tag in ("cylinder", "capsule"):
            radius = float(_positive(element, "radius", 1)[0])
            length = float(_positive(element, "length", 1)[0])
            return Cylinder(radius, length) if element.tag == "cylinder" else Capsule(radius, length)
        if element.tag == "mesh":
            address = element.attribute("filename")
            path = resolve_mesh_path(address, self.folder, element.fail)
            if path is None:
                raise element.fail(
                    f"mesh file '{address}' not found",
                    "Give a path relative to the URDF, or package://<package>/<path> with the package in "
                    "AMENT_PREFIX_PATH, in ROS_PACKAGE_PATH or above the URDF",
                )
            scale = element.numbers("scale", 3, (1.0, 1.0, 1.0))
            if not scale.all():
                raise element.fail(f"scale is {_tuple(scale)}", "Give non-zero factors")
            if element.attributes["filename"] != path.as_uri():
                element.attributes["filename"] = path.as_uri()
                self.changed = True
            return Mesh(path, scale)
        raise element.fail(
            f"unknown shape <{element.tag}>",
            "Use one of <box>, <sphere>, <cylinder>, <capsule>, <mesh>",
        )

    # Joints --------------------------------------------------------------------------------------------

    def read_joint(self, element: XmlElement) -> Joint:
        kind = element.attribute("type")
        if kind not in JOINT_TYPES:
            raise element.fail(
                f"unknown joint type '{kind}'", f"Use one of {', '.join(JOINT_TYPES)}"
            )
        dynamics = element.first("dynamics")
        damping = 0.0 if dynamics is None else dynamics.number("damping", 0.0)
        friction = 0.0 if dynamics is None else dynamics.number("friction", 0.0)
        if dynamics is not None and min(damping, friction) < 0:
            raise dynamics.fail(
                f"of {element} has damping {damping:g} and friction {friction:g}",
                "Give values of 0 or more",
            )
        mimic = element.first("mimic")
        if mimic is not None and kind == "fixed":
            # TALOS' reduced model has such joints: left over from when they moved.
            doubt = mimic.fail(f"of {element}: a fixed joint follows none; ignored", "Leave it out")
            warnings.warn(str(doubt), RobotWarning, stacklevel=2)
            mimic = None
        return Joint(
            name=element.attributes["name"],
            type=kind,
            parent=element.need("parent").attribute("link"),
            child=element.need("child").attribute("link"),
            placement=_read_origin(element),
            axis=self.read_axis(element, kind),
            limit=self.read_limit(element, kind),
            damping=damping,
            friction=friction,
            mimic=None
            if mimic is None
            else Mimic(
                mimic.attribute("joint"),
                mimic.number("multiplier", 1.0),
                mimic.number("offset", 0.0),
            ),
        )

    def read_axis(self, joint: XmlElement, kind: str) -> np.ndarray:
        element = joint.first("axis")
        axis = np.array([1.0, 0.0, 0.0])
        if element is not None and kind not in ("fixed", "floating"):
            axis = element.numbers("xyz", 3, axis)
            if np.linalg.norm(axis) < 1e-9:
                raise joint.fail(f"axis is {_tuple(axis)}", "Give a non-zero axis")
        return axis / np.linalg.norm(axis)

    def read_limit(self, joint: XmlElement, kind: str) -> JointLimit | None:
        if kind in ("fixed", "floating", "planar"):
            return None
        element = joint.first("limit")
        if element is None:
            if kind != "continuous":
                limits = {"lower": f"-{_NO_LIMIT}", "upper": _NO_LIMIT}
                limits |= {"effort": _NO_LIMIT, "velocity": _NO_LIMIT}
                joint.children.append(XmlElement("limit", limits, "", 0, RobotError))
                self.changed = True
            return JointLimit(-math.inf, math.inf, math.inf, math.inf)
        effort = element.number("effort", math.inf)
        velocity = element.number("velocity", math.inf)
        for name, value in (("effort", effort), ("velocity", velocity)):
            if value < 0:
                raise element.fail(f"of {joint} has {name} {value:g}", "Give 0 or more")
            if math.isinf(value):
                element.attributes[name] = _NO_LIMIT
                self.changed = True
        if kind == "continuous":
            return JointLimit(-math.inf, math.inf, velocity, effort)
        lower, upper = element.number("lower", 0.0), element.number("upper", 0.0)
        if lower > upper:
            raise element.fail(
                f"of {joint} has lower {lower:g} above upper {upper:g}", "Swap or mend the two"
            )
        return JointLimit(lower, upper, velocity, effort)

    def check_mimics(self, joints: dict[str, Joint], elements: dict[str, XmlElement]) -> None:
        sound: set[str] = set()
        for name, joint in joints.items():
            followed = {name: None}
            while joint.mimic is not None and joint.name not in sound:
                target = joint.mimic.joint
                if target not in joints:
                    raise elements[joint.name].need("mimic").fail(
                        f"of {elements[joint.name]} names the unknown joint '{target}'",
                        "Name a joint of this robot",
                    )
                if target in followed:
                    raise elements[name].need("mimic").fail(
                        f"joint follows itself: {' -> '.join([*list(followed)[:LISTED], target])}",
                        "Let one joint of the ring move by itself",
                    )
                for end in (joint, joints[target]):
                    if end.limit is None:
                        raise elements[joint.name].need("mimic").fail(
                            f"of {elements[joint.name]} involves the {end.type} joint '{end.name}'",
                            "Only revolute, continuous and prismatic joints can mimic or be mimicked",
                        )
                followed[target] = None
                joint = joints[target]
            sound.update(followed)

    def add_cross(self, element: XmlElement) -> None:
        """Give the cross of a cut universal joint a link of its own on a hinge, so that a second hinge is cut.

        No row of a closure says that two axes stay at right angles.
        """
        first = element.first("parent_axis")
        axis = np.array([1.0, 0.0, 0.0]) if first is None else first.numbers("xyz", 3)
        across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        cross, hinge = (f"{element.attribute('name')}_{end}" for end in ("cross", "hinge"))
        parent = element.need("parent")
        origin = element.first("parent_origin")

        def new(tag: str, *children: XmlElement, **attributes: str) -> XmlElement:
            return XmlElement(tag, attributes, element.source, element.line, RobotError, list(children))

        joint = new("joint", new("parent", link=parent.attribute("link")), new("child", link=cross),
                    new("axis", xyz=" ".join(map(repr, axis.tolist()))), name=hinge, type="continuous")  # fmt: skip
        if origin is not None:
            element.children.remove(origin)
            origin.tag = "origin"
            joint.children.insert(0, origin)
        if first is not None:
            element.children.remove(first)
        element.children.append(new("parent_axis", xyz=" ".join(map(repr, across.tolist()))))
        element.attributes["type"] = "revolute"
        parent.attributes["link"] = cross
        self.robot.children += [new("link", name=cross), joint]
        self.changed = True

    def read_constraint(self, element: XmlElement, links: dict[str, Link]) -> LoopClosure:
        """Return the cut of a ``<constraint>``, as proposed in ros/urdfdom#264 and ros/urdfdom_headers#108."""
        kind = element.attribute("type")
        if kind not in CONSTRAINTS:
            raise element.fail(f"unknown constraint type '{kind}'", f"Use one of {', '.join(CONSTRAINTS)}, universal")
        for part in element.children:
            if part.tag not in _CONSTRAINT_PARTS:
                raise part.fail(f"unknown in {element}", f"Use {', '.join(_CONSTRAINT_PARTS)}")
        ends = []
        axis = np.array([1.0, 0.0, 0.0])  # as of a joint; the child's is the parent's unless it is given
        for side in ("parent", "child"):
            name = element.need(side).attribute("link")
            if name not in links:
                raise element.need(side).fail(f"of {element}: no link is named '{name}'", "Declare that link")
            placement = _read_origin(element, f"{side}_origin")
            given = element.first(f"{side}_axis")
            if given is not None:
                axis = given.numbers("xyz", 3)
                if np.linalg.norm(axis) < 1e-9:
                    raise given.fail(f"of {element} is {_tuple(axis)}", "Give a non-zero axis")
            if CONSTRAINTS[kind] in ("axis", "slide"):
                placement = placement * pin.SE3(turned_to(axis), np.zeros(3))
            ends.append((name, placement))
        (parent, placement_a), (child, placement_b) = ends
        if parent == child:
            raise element.fail(f"joins '{parent}' with itself", "Name two different links")
        return LoopClosure(
            element.attributes["name"], parent, placement_a, child, placement_b, KINDS[CONSTRAINTS[kind]]
        )

    # Tree ----------------------------------------------------------------------------------------------

    def check_tree(
        self, links: dict[str, Link], joints: dict[str, Joint], elements: dict[str, XmlElement]
    ) -> str:
        """Return checks that the joints make one tree of the links and returns its root's name."""
        moved_by: dict[str, Joint] = {}
        for name, joint in joints.items():
            if joint.child not in links:
                raise elements[name].need("child").fail(
                    f"of {elements[name]}: no link is named '{joint.child}'", "Declare that link"
                )
            if joint.child in moved_by:
                raise elements[name].fail(
                    f"link '{joint.child}' is already the child of joint '{moved_by[joint.child].name}'",
                    "A URDF is a tree: keep one parent per link",
                )
            moved_by[joint.child] = joint
        roots = [link for link in links if link not in moved_by]
        undeclared = {joint.parent: name for name, joint in joints.items() if joint.parent not in links}
        if undeclared:
            if len(undeclared) > 1 or roots:
                parent, name = next(iter(undeclared.items()))
                raise elements[name].need("parent").fail(
                    f"of {elements[name]}: no link is named '{parent}'", "Declare that link"
                )
            # Specification 004 section 2.6: the root link ("world", "base") may be undeclared.
            root = next(iter(undeclared))
            self.robot.children.insert(0, XmlElement("link", {"name": root}, "", 0, RobotError))
            self.changed = True
            declared = dict(links)
            links.clear()
            links[root] = Link(root)
            links.update(declared)
            roots = [root]
        if len(roots) > 1:
            raise self.robot.fail(
                f"has {len(roots)} root links: {listed(roots)}",
                "Connect them by joints so that one link has no parent",
            )
        children: dict[str, list[str]] = {}
        for joint in joints.values():
            children.setdefault(joint.parent, []).append(joint.child)
        reached = set(roots)
        frontier = list(roots)
        while frontier:
            below = children.get(frontier.pop(), [])
            reached.update(below)
            frontier.extend(below)
        for name, joint in joints.items():
            if joint.child not in reached:
                way = {joint.child: 0}
                while (above := moved_by[next(reversed(way))].parent) not in way:
                    way[above] = len(way)
                ring = [*list(way)[way[above] :][:LISTED], above]
                raise elements[name].fail(
                    f"the links make a loop: {' <- '.join(ring)}",
                    "A URDF is a tree: cut the loop at one joint",
                )
        return roots[0]


def _read_inertial(element: XmlElement, link: XmlElement) -> Inertial:
    mass_element = element.need("mass")
    mass = mass_element.number("value")
    if mass < 0:
        raise mass_element.fail(f"of {link} is {mass:g} kg", "Give a mass of 0 or more")
    tensor = element.need("inertia")
    ixx, ixy, ixz, iyy, iyz, izz = (
        tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    inertia = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    problem = inertia_problem(inertia)
    if problem is not None:
        doubt = tensor.fail(
            f"of {link}: {problem}",
            "Give the inertia about the centre of mass of a possible body, kg m^2",
        )
        if not is_positive(inertia):
            raise doubt
        # Every fourth published robot has such a link, and its dynamics is well defined.
        warnings.warn(str(doubt), RobotWarning, stacklevel=2)
    return Inertial(mass, _read_origin(element), inertia)


def _read_origin(element: XmlElement, tag: str = "origin") -> pin.SE3:
    origin = element.first(tag)
    if origin is None:
        return pin.SE3.Identity()
    xyz = origin.numbers("xyz", 3, (0.0, 0.0, 0.0))
    roll, pitch, yaw = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    return pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), xyz)


def _read_colour(element: XmlElement) -> np.ndarray:
    rgba = element.numbers("rgba", 4)
    if rgba.min() < 0 or rgba.max() > 1:
        raise element.fail(f"rgba is {_tuple(rgba)}", "Give four numbers between 0 and 1")
    return rgba


def _positive(element: XmlElement, name: str, count: int) -> np.ndarray:
    values = element.numbers(name, count)
    if values.min() <= 0:
        raise element.fail(f"{name} is {_tuple(values)}", "Give positive lengths in metres")
    return values


def _tuple(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"
