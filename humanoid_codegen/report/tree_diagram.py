# SPDX-License-Identifier: Apache-2.0
"""The robot's tree: links as boxes, joints as signs on the lines between them, from the root downwards."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from humanoid_codegen.dynamics.mechanism import Body, JointKind, Mechanism
from humanoid_codegen.report.coordinates import body_of, coordinate_range, free_base, kind_name
from humanoid_codegen.report.drawing import Disc, Drawing, Label, Line, Point, Polygon
from humanoid_model import Robot
from humanoid_model.description import Joint

_BOX_HEIGHT = 7.5
_ROW = 19.5
_LETTERS = 2.3
_SIGN = 2.0
_GAP = 4.0


@dataclass
class _Node:
    """A box of the diagram with what hangs below it.

    Attributes:
        lines: text in the box.
        massless: drawn with a dashed border.
        joint: sign on the line to the parent, None for links fixed there.
        joint_lines: text beside that sign.
        children: below.
        offsets: places of the children relative to the box's middle [mm].
        outline: left and right end of what stands in each row from the box's own on, relative to its middle [mm].
    """

    lines: list[str]
    massless: bool
    joint: str | None
    joint_lines: list[Label]
    children: list[_Node]
    offsets: list[float] = field(default_factory=list)
    outline: list[tuple[float, float]] = field(default_factory=list)


def tree_diagram(robot: Robot, mechanism: Mechanism) -> Drawing:
    """Draw the tree.

    Args:
        robot: whose links and joints are drawn.
        mechanism: of the robot, for the coordinates' numbers.
    """
    root = _node(robot, mechanism, robot.description.root, None, [])
    base = free_base(robot, mechanism)
    if base is not None:
        root.joint, root.joint_lines = "several", _joint_lines(base.name, base, "")
        root = _Node(["world"], True, None, [], [root])
    _measure(root)
    drawing = Drawing()
    _draw(drawing, root, 0.0, 0.0)
    _legend(drawing)
    return drawing


def _node(robot: Robot, mechanism: Mechanism, name: str, joint: str | None, joint_lines: list[Label]) -> _Node:
    description = robot.description
    inertial = description.links[name].inertial
    massless = inertial is None or inertial.mass == 0.0
    lines = [name] if inertial is None or massless else [name, f"{inertial.mass:.4g} kg"]
    node = _Node(lines, massless, joint, joint_lines, [])
    attached = []
    for child in description.child_joints[name]:
        if child.type == "fixed" and not description.child_joints[child.child]:
            attached.append(child.child)
            continue
        body = body_of(robot, mechanism, child)
        node.children.append(_node(robot, mechanism, child.child, _sign(child, body), _texts(robot, child, body)))
    if attached:
        # Frames and sensors fixed to a link share one box, so that they don't take the width of a limb each.
        node.children.append(_Node(attached, True, None, [], []))
    return node


def _sign(joint: Joint, body: Body | None) -> str:
    if body is None:
        return "fixed"
    return body.kind.value if body.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC) else "several"


def _texts(robot: Robot, joint: Joint, body: Body | None) -> list[Label]:
    if body is None:
        return [Label(joint.name, (0.0, 0.0), colour="grey")]
    axis = _axis_name(joint.axis)
    if joint.name in robot.mimics:
        return [
            Label(joint.name, (0.0, 0.0)),
            Label(f"follows {robot.mimics[joint.name].joint}", (0.0, 0.0), colour="grey"),
        ]
    how = {"revolute": f" about {axis}", "prismatic": f" along {axis}"}.get(body.kind.value, f" {kind_name(body)}")
    return _joint_lines(joint.name, body, how)


def _joint_lines(name: str, body: Body, how: str) -> list[Label]:
    return [
        Label(name, (0.0, 0.0)),
        Label("q", (0.0, 0.0), subscript=coordinate_range(body), rest=how or f" {kind_name(body)}", colour="grey"),
    ]


def _axis_name(axis: np.ndarray) -> str:
    for k, letter in enumerate("xyz"):
        if abs(abs(axis[k]) - 1.0) < 1e-9:
            return letter if axis[k] > 0 else f"\N{MINUS SIGN}{letter}"
    return "(" + ", ".join(f"{value:.3g}" for value in axis) + ")"


def _width(node: _Node) -> float:
    return max(Label(line, (0.0, 0.0), _LETTERS).width for line in node.lines) + 3.0


def _measure(node: _Node) -> None:
    """Places the children of a node and what hangs below them, as close together as their texts allow."""
    for child in node.children:
        _measure(child)
    half = 0.5 * _width(node)
    beside = max((label.width for label in node.joint_lines), default=0.0)
    right = max(half, _SIGN + 1.0 + beside) if node.joint is not None else half
    own = [(-max(half, _SIGN), right)] * (1 + math.ceil(_extra_height(node) / _ROW))
    below: list[tuple[float, float]] = []
    places: list[float] = []
    for child in node.children:
        shared = zip(below, child.outline, strict=False)
        places.append(max((before[1] + _GAP - after[0] for before, after in shared), default=0.0))
        below = _beside(below, [(a + places[-1], b + places[-1]) for a, b in child.outline])
    middle = 0.5 * (places[0] + places[-1]) if places else 0.0
    node.offsets = [place - middle for place in places]
    node.outline = own[:1] + _beside(own[1:], [(a - middle, b - middle) for a, b in below])


def _beside(
    left: list[tuple[float, float]], right: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return the outline of two outlines together, row by row."""
    together = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(left, right, strict=False)]
    return together + left[len(together) :] + right[len(together) :]


def _draw(drawing: Drawing, node: _Node, x: float, y: float) -> None:
    bottom = y + 0.5 * _BOX_HEIGHT + _extra_height(node)
    if node.children:
        bus = bottom + 2.5
        for child, offset in zip(node.children, node.offsets, strict=True):
            child_y = bottom + _ROW - 0.5 * _BOX_HEIGHT
            top = child_y - 0.5 * _BOX_HEIGHT
            path: tuple[Point, ...] = ((x, bottom), (x, bus), (x + offset, bus), (x + offset, top))
            drawing.shapes.append(Line(path, dashed=child.joint in (None, "fixed")))
            if child.joint is not None:
                sign_y = 0.5 * (bus + top) + 0.3
                drawing.shapes.append(sign(child.joint, (x + offset, sign_y)))
                for k, label in enumerate(child.joint_lines):
                    line_y = sign_y + (k - 0.5 * (len(child.joint_lines) - 1)) * 1.35 * _LETTERS
                    drawing.shapes.append(replace(label, place=(x + offset + _SIGN + 1.0, line_y)))
            _draw(drawing, child, x + offset, child_y)
    half, top = 0.5 * _width(node), y - 0.5 * _BOX_HEIGHT
    corners = ((x - half, top), (x + half, top), (x + half, bottom), (x - half, bottom))
    drawing.shapes.append(Polygon(corners, "paper" if node.massless else "link", "line", dashed=node.massless))
    middle = 0.5 * (top + bottom)
    for k, line in enumerate(node.lines):
        place = (x, middle + (k - 0.5 * (len(node.lines) - 1)) * 1.35 * _LETTERS)
        is_mass = k > 0 and not node.massless
        drawing.shapes.append(Label(line, place, _LETTERS, "middle", "grey" if is_mass else "ink"))


def _extra_height(node: _Node) -> float:
    """Return what a box with more than two lines is higher [mm]."""
    return max(0, len(node.lines) - 2) * 1.35 * _LETTERS


def sign(kind: str, centre: Point, size: float = _SIGN) -> Disc | Polygon:
    """Draw the sign of a joint: disc for revolute, square for prismatic, diamond for several, dot for fixed."""
    x, y = centre
    if kind == "revolute":
        return Disc(centre, size, "revolute")
    if kind == "prismatic":
        s = 0.85 * size
        return Polygon(((x - s, y - s), (x + s, y - s), (x + s, y + s), (x - s, y + s)), "prismatic")
    if kind == "several":
        s = 1.2 * size
        return Polygon(((x, y - s), (x + s, y), (x, y + s), (x - s, y)), "several")
    return Disc(centre, 0.45 * size, "fixed")


def _legend(drawing: Drawing) -> None:
    left, _, _, bottom = drawing.bounds()
    x, y = left + drawing.margin + _SIGN, bottom + 4.0
    for kind in ("revolute", "prismatic", "several", "fixed"):
        word = "several degrees of freedom" if kind == "several" else kind
        drawing.shapes.append(sign(kind, (x, y)))
        label = Label(word, (x + _SIGN + 1.0, y), _LETTERS, colour="grey")
        drawing.shapes.append(label)
        x += label.width + 2 * _SIGN + 4.0
    label = Label("dashed box: no mass", (x - 1.0, y), _LETTERS, colour="grey")
    drawing.shapes.append(label)
