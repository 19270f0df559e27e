# SPDX-License-Identifier: Apache-2.0
"""Bodies of an MJCF file with their joints and shapes."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HalfSpace,
    HeightField,
    Inertial,
    Mesh,
    Shape,
    Sphere,
)
from humanoid_model.height_field import read_heights
from humanoid_model.inertia import inertia_problem, solid_inertia
from humanoid_model.mjcf_document import MjcfDocument
from humanoid_model.xml_element import XmlElement

_PLACE = ("pos", "quat", "axisangle", "euler", "xyaxes", "zaxis")
_GEOM = (
    *_PLACE, "type", "size", "fromto", "mesh", "hfield", "mass", "density", "friction", "condim", "contype",
    "conaffinity", "shellinertia",
)  # fmt: skip
_JOINT = (
    "type", "pos", "axis", "range", "limited", "ref", "springref", "stiffness", "damping", "frictionloss", "armature",
    "actuatorfrcrange", "actuatorfrclimited",
)  # fmt: skip
_DENSITY = 1000.0
_FRICTION = np.array([1.0, 0.005, 0.0001])
_HIDDEN = 3
"""Groups of shapes from this one on are not shown."""


@dataclass(frozen=True, eq=False)
class MjcfJoint:
    """A joint.

    Attributes:
        name: given or made up.
        type: ``hinge``, ``slide``, ``ball`` or ``free``.
        anchor: (3,) in the body frame [m].
        axis: (3,) of unit length.
        limits: lowest and highest position [rad or m], infinite where there are none.
        reference: position in which the bodies are as the file places them [rad or m].
        stiffness: of its spring, zero for none [N m/rad or N/m].
        rest: position of the spring's rest [rad or m].
        damping: viscous friction.
        friction: dry friction [N m or N].
        armature: inertia of the rotor [kg m^2 or kg].
        element: in the file.
    """

    name: str
    type: str
    anchor: np.ndarray
    axis: np.ndarray
    limits: tuple[float, float]
    reference: float
    stiffness: float
    rest: float
    damping: float
    friction: float
    armature: float
    element: XmlElement


@dataclass(frozen=True, eq=False)
class MjcfGeom:
    """A shape.

    Attributes:
        geometry: in the body frame.
        friction: (3,) sliding, torsional [m] and rolling [m], zero where its ``condim`` leaves them out.
        bits: ``contype`` and ``conaffinity``: two shapes touch if one's first and the other's second share a bit.
        paired: whether a ``<pair>`` names it, which lets it touch the other whatever its bits.
        seen: whether it is shown.
        element: in the file.
    """

    geometry: Geometry
    friction: np.ndarray
    bits: tuple[int, int]
    paired: bool
    seen: bool
    element: XmlElement

    @property
    def touches(self) -> bool:
        """Whether it may touch anything."""
        return self.paired or self.bits != (0, 0)


@dataclass(frozen=True, eq=False)
class MjcfBody:
    """A body.

    Attributes:
        name: given or made up.
        placement: in the parent's frame, in the reference configuration.
        joints: between its parent and it, in their order.
        geoms: its shapes.
        inertial: mass properties, None without a mass.
        sites: placements in the body frame by name.
        children: bodies that it carries.
        element: in the file.
    """

    name: str
    placement: pin.SE3
    joints: tuple[MjcfJoint, ...]
    geoms: tuple[MjcfGeom, ...]
    inertial: Inertial | None
    sites: dict[str, pin.SE3]
    children: tuple[MjcfBody, ...]
    element: XmlElement = field(repr=False)

    def walk(self) -> Iterator[MjcfBody]:
        """Yield this body and all that it carries, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_friction(element: XmlElement, places: tuple[int, int, int], otherwise: np.ndarray = _FRICTION) -> np.ndarray:
    """Sliding, torsional [m] and rolling [m] friction of a geom or a pair, zero where its ``condim`` leaves them out.

    Args:
        element: with its class' defaults.
        places: of the three among the element's numbers.
        otherwise: where the element gives fewer numbers, shape (3,).

    Raises:
        InputError: no such ``condim``, or too many numbers.
    """
    words = element.attributes.get("friction", "").split()
    values = element.numbers("friction", len(words)) if words else np.zeros(0)
    friction = np.array([values[k] if k < len(values) else value for k, value in zip(places, otherwise, strict=True)])
    condim = int(element.number("condim", 3))
    if condim not in (1, 3, 4, 6):
        raise element.fail(f"condim is {condim}", "Give 1, 3, 4 or 6")
    friction[{1: 0, 3: 1, 4: 2, 6: 3}[condim] :] = 0.0
    return friction


def read_bodies(document: MjcfDocument) -> MjcfBody:
    """Return the world with all bodies, whose names are unlike each other.

    Raises:
        InputError: what the stack has no word for, or a value that can't be; with file and line.
    """
    return _Reader(document).read()


class _Reader:
    def __init__(self, document: MjcfDocument) -> None:
        self.document = document
        self.names: dict[str, set[str]] = {"body": {"world"}, "joint": set()}
        self.numbers: Counter[str] = Counter()  # of names made up
        pairs = [pair for group in document.top.all("contact") for pair in group.all("pair")]
        self.paired = {pair.attributes.get(key, "") for pair in pairs for key in ("geom1", "geom2")} - {""}

    def read(self) -> MjcfBody:
        worlds = self.document.top.all("worldbody")
        if not worlds:
            raise self.document.top.fail("has no <worldbody>", "Add one with the bodies")
        merged = dataclasses.replace(worlds[0], children=[child for world in worlds for child in world.children])
        world = self.body(merged, "main", "world")
        for body in (inner for top in world.children for child in top.children for inner in child.walk()):
            for joint in body.joints:
                if joint.type == "free":
                    raise joint.element.fail("is inside another body", "Free bodies stand in <worldbody>")
        names = {body.name for body in world.walk()}
        for body in world.walk():
            for site in [site for site in body.sites if site in names]:
                body.sites[f"{site}_site"] = body.sites.pop(site)
        return world

    def name(self, kind: str, element: XmlElement, otherwise: str) -> str:
        names = self.names[kind]
        name = element.attributes.get("name", "")
        if name in names:
            raise element.fail(f"a second {kind} is called '{name}'", "Give each its own name")
        if not name:
            while not name or name in names:
                self.numbers[otherwise] += 1
                name = f"{otherwise}_{self.numbers[otherwise]}"
        names.add(name)
        return name

    def body(self, element: XmlElement, inherited: str, name: str) -> MjcfBody:
        self.document.growth.add(1, "bodies", element.fail)
        inherited = element.attributes.get("childclass", inherited)
        joints: list[MjcfJoint] = []
        geoms: list[MjcfGeom] = []
        sites: dict[str, pin.SE3] = {}
        children: list[MjcfBody] = []
        given: Inertial | None = None
        for child, placement, own in self.content(element, inherited, pin.SE3.Identity()):
            read = self.document.of_class(child, own)
            if child.tag == "body":
                self.document.note(child, _PLACE)
                inner = self.body(child, own, self.name("body", child, "body"))
                children.append(dataclasses.replace(inner, placement=placement * inner.placement))
            elif child.tag == "geom":
                geoms.append(self.geom(read, placement))
            elif child.tag == "site":
                sites[child.attributes.get("name") or f"{name}_site_{len(sites) + 1}"] = (
                    placement * self.document.placement(read)
                )
            elif child.tag in ("joint", "freejoint"):
                joints.append(self.joint(read, name))
            elif child.tag == "inertial":
                given = self.inertial(child)
            elif child.tag in ("composite", "flexcomp", "attach", "plugin"):
                raise child.fail("is not read", "Save the model from MuJoCo, which writes out what it stands for")
            elif child.tag not in ("camera", "light"):
                raise child.fail(f"unknown element in {element}", "Known: body, geom, joint, freejoint, inertial, site")
            elif name != "world":
                self.document.note_all(child)
        free = [joint for joint in joints if joint.type == "free"]
        if free and (len(joints) > 1):
            raise free[0].element.fail("stands beside other joints", "A free body has no other joint")
        if name == "world" and joints:
            raise joints[0].element.fail("moves the world", "Put it into a body")
        mode = self.document.inertia_from_geom
        if (given is None and mode != "false") or mode == "true":
            given = self.of_geoms(geoms)
        placed = pin.SE3.Identity() if name == "world" else self.document.placement(element)
        return MjcfBody(name, placed, tuple(joints), tuple(geoms), given, sites, tuple(children), element)

    def content(
        self, element: XmlElement, inherited: str, placement: pin.SE3
    ) -> Iterator[tuple[XmlElement, pin.SE3, str]]:
        """Yield the children of a body with the placement and the class that the frames around them give."""
        for child in element.children:
            if child.tag == "frame":
                inner = placement * self.document.placement(child)
                yield from self.content(child, child.attributes.get("childclass", inherited), inner)
            else:
                yield child, placement, inherited

    def joint(self, element: XmlElement, body: str) -> MjcfJoint:
        self.document.note(element, _JOINT)
        kind = "free" if element.tag == "freejoint" else element.attributes.get("type", "hinge")
        if kind not in ("hinge", "slide", "ball", "free"):
            raise element.fail(f"is of kind '{kind}'", "Use hinges, slides, balls and free joints")
        self.document.growth.add({"free": 6, "ball": 3}.get(kind, 1), "moving coordinates", element.fail)
        turns = kind == "hinge"
        axis = element.numbers("axis", 3, (0, 0, 1))
        if np.linalg.norm(axis) < 1e-12:
            raise element.fail(f"axis is '{element.attributes['axis']}'", "Give an axis that isn't zero")

        def position(name: str) -> float:
            value = element.number(name, 0.0)
            return self.document.angle(value) if turns else value

        limits = -np.inf, np.inf
        limited = element.attributes.get("limited", "auto")
        if limited == "auto" and not self.document.autolimits and "range" in element.attributes:
            raise element.fail("has a range, and nothing says whether it limits", 'Add limited="true" or "false"')
        if limited == "true" or (limited == "auto" and self.document.autolimits and "range" in element.attributes):
            low, high = element.numbers("range", 2)
            if kind not in ("hinge", "slide"):
                self.document.note(element, set(element.attributes) - {"range"})
            elif low >= high:
                raise element.fail(f"range is '{element.attributes['range']}'", "Give the lower limit first")
            elif turns:
                limits = self.document.angle(low), self.document.angle(high)
            else:
                limits = float(low), float(high)
        positive = {name: element.number(name, 0.0) for name in ("stiffness", "damping", "frictionloss", "armature")}
        for name, value in positive.items():
            if value < 0.0:
                raise element.fail(f"{name} is {value:g}", "Give 0 or more")
        if kind in ("ball", "free") and positive["stiffness"] > 0.0:
            raise element.fail("has a spring", "Springs hold hinges and slides")
        return MjcfJoint(
            self.name("joint", element, f"{body}_joint"), kind, element.numbers("pos", 3, (0, 0, 0)),
            axis / np.linalg.norm(axis), limits, position("ref"), positive["stiffness"], position("springref"),
            positive["damping"], positive["frictionloss"], positive["armature"], element,
        )  # fmt: skip

    def inertial(self, element: XmlElement) -> Inertial | None:
        self.document.note(element, (*_PLACE, "mass", "diaginertia", "fullinertia"))
        mass = element.number("mass")
        if mass < 0.0:
            raise element.fail(f"mass is {mass:g}", "Give 0 or more [kg]")
        if "fullinertia" in element.attributes:
            xx, yy, zz, xy, xz, yz = element.numbers("fullinertia", 6)
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            inertia = np.diag(element.numbers("diaginertia", 3))
        problem = inertia_problem(inertia)
        if problem:
            raise element.fail(problem, "Give the inertia about the centre of mass [kg m^2]")
        return Inertial(mass, self.document.placement(element), inertia) if mass > 0.0 else None

    def of_geoms(self, geoms: list[MjcfGeom]) -> Inertial | None:
        total = pin.Inertia.Zero()
        for geom in geoms:
            given = "mass" if "mass" in geom.element.attributes else "density"
            value = geom.element.number(given, _DENSITY)
            if value < 0.0:
                raise geom.element.fail(f"{given} is {value:g}", "Give 0 or more")
            if isinstance(geom.geometry.shape, (HalfSpace, HeightField)) or value == 0.0:
                continue
            solid = solid_inertia(geom.geometry)
            if solid is None or geom.element.attributes.get("shellinertia", "false") == "true":
                raise geom.element.fail("encloses no volume to have a mass", "Give an <inertial>, or close the mesh")
            factor = value / solid.mass if given == "mass" else value
            total = total + pin.Inertia(factor * solid.mass, solid.lever, factor * solid.inertia)
        if total.mass == 0.0:
            return None
        return Inertial(float(total.mass), pin.SE3(np.eye(3), np.array(total.lever)), np.array(total.inertia))

    def geom(self, element: XmlElement, outer: pin.SE3) -> MjcfGeom:
        self.document.growth.add(1, "shapes", element.fail)
        self.document.note(element, _GEOM)
        placement = self.document.placement(element)
        shape, placement = self.shape(element, placement)
        colour = np.array([0.5, 0.5, 0.5, 1.0])
        if "rgba" in element.attributes:
            colour = element.numbers("rgba", 4)
        elif "material" in element.attributes:
            material = self.document.asset("material", element.attributes["material"], element)
            self.document.note(material, ())
            colour = material.numbers("rgba", 4, (1, 1, 1, 1))
        friction = read_friction(element, (0, 1, 2))
        bits = int(element.number("contype", 1)), int(element.number("conaffinity", 1))
        seen = int(element.number("group", 0)) < _HIDDEN and colour[3] > 0.0
        name = element.attributes.get("name", "")
        geometry = Geometry(name, shape, outer * placement, np.clip(colour, 0.0, 1.0))
        return MjcfGeom(geometry, friction, bits, name in self.paired, seen, element)

    def shape(self, element: XmlElement, placement: pin.SE3) -> tuple[Shape, pin.SE3]:
        kind = element.attributes.get("type", "sphere")
        if kind == "plane":
            return HalfSpace(), placement
        if kind == "mesh":
            asset = self.document.asset("mesh", element.attribute("mesh"), element)
            self.document.note(asset, ("file", "scale", "inertia", "content_type"))
            if {"refpos", "refquat"} & asset.attributes.keys():
                raise asset.fail("moves its vertices by refpos or refquat", "Move the geoms instead")
            mesh = Mesh(self.document.asset_path(asset), asset.numbers("scale", 3, (1, 1, 1)))
            coal_geometry(mesh)  # a file that is no mesh is refused here
            return mesh, placement
        if kind == "hfield":
            return self.height_field(self.document.asset("hfield", element.attribute("hfield"), element)), placement
        counts = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
        if kind not in counts or "mesh" in element.attributes:
            raise element.fail(
                f"is of type {kind} {'fitted to a mesh' if 'mesh' in element.attributes else ''}".strip(),
                f"Use plane, hfield, mesh, {', '.join(counts)}",
            )
        size = element.attributes.get("size", "").split()
        length = None
        if "fromto" in element.attributes and kind != "sphere":
            ends = element.numbers("fromto", 6).reshape(2, 3)
            along = ends[1] - ends[0]
            length = float(np.linalg.norm(along))
            if length < 1e-12:
                raise element.fail(f"fromto is '{element.attributes['fromto']}'", "Give two points")
            turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), along / length).matrix()
            placement = pin.SE3(turn, 0.5 * (ends[0] + ends[1]))
        needed = counts[kind] if length is None else 1
        if len(size) < needed:
            raise element.fail(f"size is '{' '.join(size)}'", f"Give {needed} half sizes [m]")
        sizes = list(element.numbers("size", len(size))[:needed])
        if min(sizes) <= 0.0:
            raise element.fail(f"size is '{' '.join(size)}'", "Give more than 0 [m]")
        if length is not None:  # of the sizes given MuJoCo takes the first one across
            sizes = [sizes[0]] * (counts[kind] - 1) + [0.5 * length]
        if kind == "sphere":
            return Sphere(float(sizes[0])), placement
        if kind in ("box", "ellipsoid"):
            return Box(2.0 * np.array(sizes)) if kind == "box" else Ellipsoid(np.array(sizes)), placement
        round_shape = Capsule if kind == "capsule" else Cylinder
        return round_shape(float(sizes[0]), 2.0 * float(sizes[1])), placement

    def height_field(self, asset: XmlElement) -> HeightField:
        """Return a height field; its heights are stretched to 0..1 times the third size, as MuJoCo does."""
        self.document.note(asset, ("file", "content_type", "nrow", "ncol", "elevation", "size"))
        sizes = asset.numbers("size", 4)
        if min(sizes) <= 0.0:
            raise asset.fail(f"size is '{asset.attributes['size']}'", "Give more than 0 [m]")
        if "file" in asset.attributes:
            heights = read_heights(self.document.asset_path(asset))
            self.document.growth.add(heights.size, "points of height fields", asset.fail)
        else:
            rows, columns = int(asset.number("nrow")), int(asset.number("ncol"))
            if min(rows, columns) < 2:
                raise asset.fail(f"has {rows} rows and {columns} columns", "Give at least 2 of each")
            self.document.growth.add(rows * columns, "points of height fields", asset.fail)
            heights = np.zeros((rows, columns))
            if "elevation" in asset.attributes:  # as it is seen from above: the first row lies at the largest y
                heights = asset.numbers("elevation", rows * columns).reshape(rows, columns)[::-1]
        low, high = heights.min(), heights.max()
        heights = (heights - low) / (high - low if high > low else 1.0)
        return HeightField(2.0 * sizes[:2], sizes[2] * heights)
