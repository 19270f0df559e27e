# SPDX-License-Identifier: Apache-2.0
"""Reader of scenes in XML, the universe of specification 000 section 1.6; docs/scenes.md describes it.

Lengths are in metres, angles in degrees. What AMELIF's universe lacks and scenes need has elements of its own: shapes
in place of a file, posture, floating base, gravity, time step, surfaces, pairs, start velocity, a point to look at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.description import Geometry
from humanoid_model.errors import SceneError
from humanoid_model.files import require_file
from humanoid_model.loop_closure import KINDS, LoopClosure
from humanoid_model.mjcf_scene import read_scene_mjcf
from humanoid_model.scene import Scene
from humanoid_model.scene_builder import PAIR_FIELDS, SceneBuilder
from humanoid_model.xml_element import XmlElement, XmlField, parse_xml

_XYZ = ("x", "y", "z")
_RGBA = ("r", "g", "b", "a")

# Child elements with one value: the key that SceneBuilder knows it by, and the attributes that may hold it
# instead of the element's text.
_Values = Mapping[str, tuple[str, tuple[str, ...]]]
_PLACE: _Values = {"Translation": ("translation", _XYZ), "Rotation": ("rotation", ("angle", *_XYZ))}
_UNIVERSE: _Values = {
    "Gravity": ("gravity", _XYZ),
    "TimeStep": ("time_step", ()),
    "SelfCollision": ("self_collision", ()),
}
_MULTI_BODY: _Values = {
    "File": ("robot", ()),
    "Posture": ("posture", ()),
    "FloatingBase": ("floating_base", ()),
    "Label": ("label", ()),
    **_PLACE,
}
_BODY: _Values = {
    "File": ("mesh", ()),
    "Mass": ("mass", ()),
    "CoM": ("com", _XYZ),
    "Inertia": ("inertia", ()),
    "Twist": ("twist", ()),
    "Simulated": ("simulated", ()),
    "Label": ("label", ()),
    **_PLACE,
}
_SURFACE: _Values = {"Polygon": ("polygon", ()), "Cylinder": ("cylinder", ()), "Sphere": ("sphere", ()), **_PLACE}
_CAMERA: _Values = {"LookAt": ("look_at", _XYZ), "FieldOfView": ("field_of_view", ()), **_PLACE}
_SHAPE: _Values = {"Colour": ("colour", _RGBA), **_PLACE}
_MESH: _Values = {"File": ("mesh", ()), "Scale": ("scale", _XYZ), "Collision": ("collision", ()), **_SHAPE}
_HEIGHT_FIELD: _Values = {
    "Size": ("size", ("x", "y")),
    "Height": ("height", ()),
    "Cells": ("cells", ("x", "y")),
    "Wavelength": ("wavelength", ()),
    "Seed": ("seed", ()),
    **_SHAPE,
}
_GRAINS: _Values = {
    "Size": ("size", ("x", "y")),
    "Count": ("count", ()),
    "Radius": ("radius", ("least", "largest")),
    "Sunk": ("sunk", ()),
    "Seed": ("seed", ()),
    **_SHAPE,
}
_PARTS = {"mesh": _MESH, "height_field": _HEIGHT_FIELD, "grains": _GRAINS}
_LIGHT_ATTRIBUTES = {
    "position": ("x", "y", "z", "w"), "ambient": _RGBA, "diffuse": _RGBA, "specular": _RGBA,
}  # fmt: skip

# Shapes: their kind and the attributes that hold the size.
_SHAPES = {
    "Box": ("box", _XYZ),
    "Sphere": ("sphere", ("radius",)),
    "Cylinder": ("cylinder", ("radius", "length")),
    "Capsule": ("capsule", ("radius", "length")),
    "Ellipsoid": ("ellipsoid", _XYZ),
    "HalfSpace": ("half_space", ()),
    "Mesh": ("mesh", ()),
    "HeightField": ("height_field", ("from",)),
    "Grains": ("grains", ("kind",)),
}


def read_scene_xml(path: Path) -> Scene:
    """Read a scene; an MJCF document by :func:`~humanoid_model.mjcf_scene.read_scene_mjcf`.

    Args:
        path: the file.

    Raises:
        SceneError: broken XML, unknown element, attribute, value or name; it names file, line, element and remedy.
        InputError: a file that the scene names, a robot's (then a RobotError) or a mesh, can't be used.
    """
    require_file(path, SceneError, "Give the path of a scene")
    text = path.read_bytes()
    universe = parse_xml(text, str(path), SceneError)
    if universe.tag == "mujoco":
        return read_scene_mjcf(path)
    if universe.tag != "Universe":
        raise universe.fail(f"the document's root is <{universe.tag}>, not <Universe>", "Give a Universe")
    others = ("MultiBody", "Body", "Surface", "Loop", "Pair", "Configurations")
    values = _values(universe, _UNIVERSE, others, attributes=("id",))
    if "id" in universe.attributes:
        values["name"] = _attribute(universe, "id")
    builder = SceneBuilder(path)
    for element in universe.all("MultiBody"):
        fields = _values(element, _MULTI_BODY, attributes=("id",))
        builder.add_robot(element.attribute("id"), fields, _placement(fields), _whole(element))
    for element in universe.all("Body"):
        fields = _values(element, _BODY, _SHAPES, attributes=("id",))
        shapes = [child for child in element.children if child.tag in _SHAPES]
        geometries = [geometry for child in shapes for geometry in _read_shape(builder, child)]
        if "mesh" in fields:
            mesh = builder.shapes("mesh", {"mesh": fields["mesh"]}, pin.SE3.Identity(), _whole(element))
            geometries = mesh + geometries
        builder.add_body(element.attribute("id"), fields, geometries, _placement(fields), _whole(element))
    for element in universe.all("Surface"):
        fields = _values(element, _SURFACE, attributes=("id", "body"))
        if "body" in element.attributes:
            fields["body"] = _attribute(element, "body")
        builder.add_surface(element.attribute("id"), fields, _placement(fields), _whole(element))
    for element in universe.all("Loop"):
        fields = _values(element, _PLACE, attributes=("id", "first", "second", "kind"))
        kind = _attribute(element, "kind").string(KINDS)
        first, second = (_attribute(element, side).string() for side in ("first", "second"))
        loop = LoopClosure(element.attribute("id"), first, _placement(fields), second, pin.SE3.Identity(), KINDS[kind])
        builder.add_loop(loop, _whole(element), where_it_is=True)
    for element in universe.all("Pair"):
        _values(element, {}, attributes=("first", "second", *PAIR_FIELDS))
        fields = {key: _attribute(element, key) for key in PAIR_FIELDS if key in element.attributes}
        builder.add_rule(_attribute(element, "first"), _attribute(element, "second"), fields)
    configurations = universe.first("Configurations")
    if configurations is not None:
        _read_configurations(builder, configurations)
    return builder.build(values)


def _read_shape(builder: SceneBuilder, element: XmlElement) -> list[Geometry]:
    kind, size = _SHAPES[element.tag]
    fields = _values(element, _PARTS.get(kind, _SHAPE), attributes=("id", *size))
    if size:
        fields[kind] = XmlField.of_attributes(element, size, str(element))
    if kind == "mesh" and kind not in fields:
        raise element.fail("has no <File>", "Add a <File> element with the path of a mesh")
    if "id" in element.attributes:
        fields["name"] = _attribute(element, "id")
    return builder.shapes(kind, fields, _placement(fields), _whole(element))


def _read_configurations(builder: SceneBuilder, configurations: XmlElement) -> None:
    _values(configurations, {}, ("Camera", "Light"))
    camera = configurations.first("Camera")
    if camera is not None:
        fields = _values(camera, _CAMERA)
        # The rotation turns the world's axes into the view's (x right, y up, z to the viewer), and the translation
        # is the eye's in the turned axes: so the sample of Fig. 3.2 looks horizontally, z up, from x = 4 m.
        placement = _placement(fields)
        view = pin.SE3(placement.rotation.T, placement.rotation.T @ placement.translation)
        builder.set_camera(view, fields, "rotation", math.radians(1.0))
    for light in configurations.all("Light"):
        _values(light, {}, ("LightAttribute",))
        fields = {}
        for child in light.all("LightAttribute"):
            kind = _attribute(child, "type").string(_LIGHT_ATTRIBUTES)
            parts = _LIGHT_ATTRIBUTES[kind]
            _values(child, {}, attributes=("type", *parts))
            if kind in fields:
                raise child.fail(f"second {kind} of {light}", f"Keep one {kind}")
            fields[kind] = XmlField.of_attributes(child, parts, str(child))
        builder.add_light(fields, _whole(light))


def _values(
    element: XmlElement, known: _Values, others: Iterable[str] = (), attributes: Iterable[str] = ()
) -> dict[str, XmlField]:
    """Return the values in an element's children by key, after checking that it holds nothing unknown.

    Args:
        element: the element.
        known: child elements with a value.
        others: further child elements that it may hold.
        attributes: attributes that it may have.
    """
    for attribute in element.attributes:
        if attribute not in attributes:
            raise element.fail(
                f"unknown attribute '{attribute}'",
                f"Known attributes: {', '.join(attributes)}" if attributes else "It has no attributes",
            )
    values = {}
    for child in element.children:
        if child.tag in others:
            continue
        if child.tag not in known:
            raise child.fail(
                f"unknown element in {element}", f"Known elements: {', '.join((*known, *others)) or 'none'}"
            )
        key, parts = known[child.tag]
        if key in values:
            raise child.fail(f"second {child} in {element}", f"Keep one <{child.tag}>")
        _values(child, {}, attributes=parts)
        name = f"<{child.tag}> of {element}"
        if child.attributes:
            if child.text.strip():
                raise child.fail(f"has attributes and the text '{child.text.strip()}'", "Give one of the two")
            values[key] = XmlField.of_attributes(child, parts, name)
        else:
            values[key] = XmlField(child, name, child.text)
    return values


def _attribute(element: XmlElement, name: str) -> XmlField:
    return XmlField.of_attributes(element, (name,), f"{name} of {element}")


def _whole(element: XmlElement) -> XmlField:
    return XmlField(element, str(element), element.text)


def _placement(fields: Mapping[str, XmlField]) -> pin.SE3:
    """Return the translation (metres) and rotation (degrees about an axis of any length), each optional."""
    translation = fields["translation"].numbers(3) if "translation" in fields else np.zeros(3)
    angle, *axis = fields["rotation"].numbers(4) if "rotation" in fields else np.zeros(4)
    length = float(np.linalg.norm(axis))
    if length < 1e-9 and angle != 0.0:
        raise fields["rotation"].fail(
            f"turns by {angle:g} degrees about ({', '.join(f'{part:g}' for part in axis)})", "Give a non-zero axis"
        )
    turn = np.eye(3) if angle == 0.0 else pin.AngleAxis(math.radians(angle), np.array(axis) / length).matrix()
    return pin.SE3(turn, translation)
