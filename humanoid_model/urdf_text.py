# SPDX-License-Identifier: Apache-2.0
"""Text of a URDF from links and joints, for what takes robot_description."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_model.description import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Joint,
    Link,
    Mesh,
    RobotDescription,
    Sphere,
)
from humanoid_model.errors import RobotError
from humanoid_model.files import find_resource
from humanoid_model.loop_closure import KINDS, LoopClosure
from humanoid_model.urdf import CONSTRAINTS
from humanoid_model.xml_element import XmlElement

BALL = "urdf/ball.obj"
"""A ball of radius 1, whose triangles lie up to 2 % of it inside."""


def urdf_text(description: RobotDescription) -> str:
    """Return URDF text from which :func:`humanoid_model.urdf.read_urdf` reads the same links, joints and loops.

    Raises:
        RobotError: a link has a shape, or a loop holds rows, that URDF has no word for.
    """
    robot = _element("robot", name=description.name)
    robot.children += [_link(link) for link in description.links.values()]
    robot.children += [_joint(joint) for joint in description.joints.values()]
    robot.children += [_constraint(loop) for loop in description.loops]
    return robot.to_text()


def _element(tag: str, *children: XmlElement, **attributes: str) -> XmlElement:
    return XmlElement(tag, attributes, "", 0, RobotError, list(children))


def _numbers(values: np.ndarray) -> str:
    # Zeros are written without their sign.
    return " ".join(repr(float(value) + 0.0) for value in values)


def _origin(placement: pin.SE3, tag: str = "origin") -> XmlElement:
    rpy = pin.rpy.matrixToRpy(placement.rotation)
    return _element(tag, xyz=_numbers(placement.translation), rpy=_numbers(rpy))


def _link(link: Link) -> XmlElement:
    element = _element("link", name=link.name)
    if link.inertial is not None:
        tensor = link.inertial.inertia
        moments = {f"i{'xyz'[i]}{'xyz'[j]}": repr(float(tensor[i, j])) for i in range(3) for j in range(i, 3)}
        inertial = _element("inertial", _origin(link.inertial.placement_link_com))
        inertial.children += [_element("mass", value=repr(float(link.inertial.mass))), _element("inertia", **moments)]
        element.children.append(inertial)
    for tag, geometries in (("visual", link.visuals), ("collision", link.collisions)):
        for geometry in geometries:
            shown = _element(tag, _origin(geometry.placement), _element("geometry", _shape(geometry, link.name)))
            if geometry.name:
                shown.attributes["name"] = geometry.name
            if tag == "visual":
                shown.children.append(
                    _element("material", _element("color", rgba=_numbers(geometry.colour)), name="")
                )
            element.children.append(shown)
    return element


def _shape(geometry: Geometry, link: str) -> XmlElement:
    shape = geometry.shape
    if isinstance(shape, Box):
        return _element("box", size=_numbers(shape.size))
    if isinstance(shape, Sphere):
        return _element("sphere", radius=repr(shape.radius))
    if isinstance(shape, (Cylinder, Capsule)):
        tag = "cylinder" if isinstance(shape, Cylinder) else "capsule"
        return _element(tag, radius=repr(shape.radius), length=repr(shape.length))
    if isinstance(shape, Ellipsoid):  # URDF has none: a ball of radius 1 as a mesh, stretched
        return _element("mesh", filename=find_resource(BALL).resolve().as_uri(), scale=_numbers(shape.radii))
    if isinstance(shape, Mesh):
        return _element("mesh", filename=shape.path.resolve().as_uri(), scale=_numbers(shape.scale))
    raise RobotError(
        f"has a {type(shape).__name__}, which URDF doesn't know", element=f"link '{link}'",
        remedy="Use boxes, spheres, cylinders, capsules, ellipsoids or meshes",
    )  # fmt: skip


def _joint(joint: Joint) -> XmlElement:
    element = _element(
        "joint",
        _origin(joint.placement),
        _element("parent", link=joint.parent),
        _element("child", link=joint.child),
        name=joint.name,
        type=joint.type,
    )
    if joint.type not in ("fixed", "floating"):
        element.children.append(_element("axis", xyz=_numbers(joint.axis)))
    if joint.limit is not None:
        limit = joint.limit
        names = ("effort", "velocity") if joint.type == "continuous" else ("lower", "upper", "effort", "velocity")
        # The standard has no word for none.
        values = {name: min(1e9, max(-1e9, getattr(limit, name))) for name in names}
        if any(math.isfinite(getattr(limit, name)) for name in names) or joint.type != "continuous":
            element.children.append(_element("limit", **{name: repr(float(value)) for name, value in values.items()}))
    if joint.damping or joint.friction:
        element.children.append(
            _element("dynamics", damping=repr(float(joint.damping)), friction=repr(float(joint.friction)))
        )
    if joint.mimic is not None:
        mimic = joint.mimic
        element.children.append(
            _element("mimic", joint=mimic.joint, multiplier=repr(mimic.multiplier), offset=repr(mimic.offset))
        )
    return element


def _constraint(loop: LoopClosure) -> XmlElement:
    types = [name for name, kind in CONSTRAINTS.items() if set(KINDS[kind]) == set(loop.rows)]
    if not types:
        raise RobotError(
            f"holds {', '.join(loop.rows)}, for which URDF has no word", element=f"loop '{loop.name}'",
            remedy=f"Hold the rows of a {', '.join(KINDS)}",
        )  # fmt: skip
    return _element(
        "constraint",
        _element("parent", link=loop.link_a),
        _origin(loop.placement_a, "parent_origin"),
        _element("parent_axis", xyz="0 0 1"),
        _element("child", link=loop.link_b),
        _origin(loop.placement_b, "child_origin"),
        _element("child_axis", xyz="0 0 1"),
        name=loop.name,
        type=types[0],
    )
