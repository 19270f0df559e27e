# SPDX-License-Identifier: Apache-2.0
"""Parser of URDF files into lists of texts, one private function per tag (thesis §3.3).

A new tag, friction for example, needs one more function with ``@_parser_of("friction")`` above it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from humanoid_model.errors import RobotError
from humanoid_model.files import read_text
from humanoid_model.urdf import read_urdf
from humanoid_model.xml_element import XmlElement, parse_xml

_TagParser = Callable[[XmlElement], list[list[str]]]

_PARSERS: dict[str, _TagParser] = {}


def parser_urdf(path: str | Path) -> tuple[str, dict[str, list[list[str]]]]:
    """Read a URDF file, or a URDF text (recognised by its first character ``<``).

    Args:
        path: of the file, or the text itself.

    Returns:
        The robot's name, and one list of records per tag, in the order of the file. All entries are texts as written,
        what the file leaves out has URDF's default:

        - ``joint``: ``[name, type, parent, child, origin.xyz, origin.rpy, axis.xyz]``
        - ``link``: ``[name, origin.xyz, origin.rpy, mass, ixx, ixy, ixz, iyy, iyz, izz]``, only ``[name]`` when empty
        - ``mimic``: ``[joint, leader, multiplier, offset]``
        - ``limit``: ``[joint, lower, upper, velocity, effort]``, ``""`` where not given
        - ``force``: ``[name, link, origin.xyz, vector.xyz, vector.frame, moment.xyz, moment.frame]``

    Raises:
        RobotError: the file is missing, not XML, or not a legal robot; the message names file, line, element, value
            and remedy.
    """
    description = read_urdf(path, geometry=False)
    is_text = isinstance(path, str) and path.lstrip().startswith("<")
    text = str(path).strip() if is_text else read_text(path, RobotError)
    # Not the description's own text: there, what was filled in shifts the lines that errors name.
    robot = parse_xml(text, description.source, RobotError)
    return description.name, {tag: parse(robot) for tag, parse in _PARSERS.items()}


def _parser_of(tag: str) -> Callable[[_TagParser], _TagParser]:
    """Register a function as the one that reads all elements of a tag."""

    def register(parser: _TagParser) -> _TagParser:
        _PARSERS[tag] = parser
        return parser

    return register


@_parser_of("joint")
def _parse_joint(robot: XmlElement) -> list[list[str]]:
    return [
        [
            joint.attribute("name"),
            joint.attribute("type"),
            joint.need("parent").attribute("link"),
            joint.need("child").attribute("link"),
            *_origin(joint),
            _text(joint.first("axis"), "xyz", "1 0 0"),
        ]
        for joint in robot.all("joint")
    ]


@_parser_of("link")
def _parse_link(robot: XmlElement) -> list[list[str]]:
    records = []
    for link in robot.all("link"):
        record = [link.attribute("name")]
        inertial = link.first("inertial")
        if inertial is not None:
            inertia = inertial.need("inertia")
            record += [*_origin(inertial), inertial.need("mass").attribute("value")]
            record += [inertia.attribute(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")]
        records.append(record)
    return records


@_parser_of("mimic")
def _parse_mimic(robot: XmlElement) -> list[list[str]]:
    return [
        [
            joint.attribute("name"),
            joint.need("mimic").attribute("joint"),
            _text(joint.first("mimic"), "multiplier", "1"),
            _text(joint.first("mimic"), "offset", "0"),
        ]
        for joint in robot.all("joint")
        if joint.all("mimic")
    ]


@_parser_of("limit")
def _parse_limit(robot: XmlElement) -> list[list[str]]:
    return [
        [
            joint.attribute("name"),
            *(_text(joint.first("limit"), key, "") for key in ("lower", "upper", "velocity", "effort")),
        ]
        for joint in robot.all("joint")
        if joint.all("limit")
    ]


@_parser_of("force")
def _parse_force(robot: XmlElement) -> list[list[str]]:
    """Return forces of the environment on links, an element of this stack's own (specification 004 §8.4).

    ``<force name="f1"><link link="tool"/><origin xyz="0 0 0"/><vector xyz="1 2 -3" frame="world"/>
    <moment xyz="0 0 0"/></force>``: a force [N] exerted at a point [m, in the link frame] of the link, and a moment
    [N m]; both along the axes of the world (which is the default) or of the link, the moment like the force unless it
    says otherwise.
    """
    joints = robot.all("joint")
    moved = {joint.need("child").attribute("link") for joint in joints}
    known = moved | {link.attribute("name") for link in robot.all("link")}
    known |= {joint.need("parent").attribute("link") for joint in joints}
    names: set[str] = set()
    records = []
    for force in robot.all("force"):
        name = force.attribute("name")
        if name in names:
            raise force.fail("second force of that name", "Give each force a name of its own")
        names.add(name)
        link = force.need("link").attribute("link")
        if link not in known:
            raise force.fail(f"no link is named '{link}'", "Name a link of this robot")
        if link not in moved:
            raise force.fail(f"link '{link}' is the root, which no joint moves", "Name a link that moves")
        origin = force.first("origin")
        if origin is not None and "rpy" in origin.attributes:
            raise origin.fail(f"of {force} has rpy", 'A force turns by <vector frame="link"/>: remove rpy')
        vector = force.need("vector")
        moment = force.first("moment")
        frame = _frame(vector, "world")
        records.append(
            [
                name,
                link,
                _three(origin, "0 0 0"),
                _three(vector, ""),
                frame,
                _three(moment, "0 0 0"),
                frame if moment is None else _frame(moment, frame),
            ]
        )
    return records


def _frame(element: XmlElement, default: str) -> str:
    frame = _text(element, "frame", default)
    if frame not in ("world", "link"):
        raise element.fail(f"frame is '{frame}'", "Use world or link")
    return frame


def _origin(element: XmlElement) -> list[str]:
    origin = element.first("origin")
    return [_text(origin, "xyz", "0 0 0"), _text(origin, "rpy", "0 0 0")]


def _three(element: XmlElement | None, default: str) -> str:
    """Three numbers in attribute ``xyz``; required when there is no default."""
    if element is None:
        return default
    element.numbers("xyz", 3)
    return element.attribute("xyz")


def _text(element: XmlElement | None, name: str, default: str) -> str:
    if element is None or name not in element.attributes:
        return default
    return element.attributes[name].strip()
