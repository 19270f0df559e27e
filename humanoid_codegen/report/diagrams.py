# SPDX-License-Identifier: Apache-2.0
"""Pictures of a robot: its tree from the root downwards, and lines from joint to joint at its zero posture.

Links of the tree are boxes, joints signs on the lines between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin

from humanoid_codegen.dynamics.mechanism import Body, JointKind, Mechanism
from humanoid_codegen.report.document import Disc, Drawing, Label, Line, Point, Polygon
from humanoid_model import Robot
from humanoid_model.description import Joint

#: What a joint with several degrees of freedom is called.
_SEVERAL = {JointKind.FREE_FLYER: "free flyer", JointKind.SPHERICAL: "ball", JointKind.PLANAR: "planar"}


def body_of(robot: Robot, mechanism: Mechanism, joint: Joint) -> Body | None:
    """Return the body that a joint moves, None for a fixed joint; three joints that make a ball have one body."""
    name = joint.name
    for ball, members in robot.ball_joints.items():
        if name in members:
            name = ball
    return next((body for body in mechanism.bodies if body.name == name), None)


def free_base(robot: Robot, mechanism: Mechanism) -> Body | None:
    """Return the free-flying body of the root link that no joint of the URDF describes, None on a fixed robot."""
    first = mechanism.bodies[0] if mechanism.bodies else None
    if first is not None and first.kind is JointKind.FREE_FLYER and first.name not in robot.description.joints:
        return first
    return None


def kind_name(body: Body) -> str:
    """Return the kind of a body's joint, in words."""
    return _SEVERAL.get(body.kind, body.kind.value)


def coordinate_range(body: Body) -> str:
    """Return numbers of a body's coordinates from 1: ``3`` or ``1-7``, with an en dash."""
    return _range(body.first_q + 1, body.nq)


def velocity_range(body: Body) -> str:
    """Return numbers of a body's velocity coordinates from 1."""
    return _range(body.first_v + 1, body.nv)


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}\N{EN DASH}{first + count - 1}"


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


_SIZE = 110.0
#: The camera looks down a little and from the side, so that no coordinate axis is seen end-on.
_AZIMUTH, _ELEVATION = math.radians(42.0), math.radians(16.0)
#: With more joints than this their numbers would cover the figure.
_MAX_NUMBERS = 8


def stick_figure(robot: Robot, mechanism: Mechanism) -> Drawing:
    """Draw the robot with gravity pointing down the page.

    Args:
        robot: whose zero posture is drawn.
        mechanism: of the robot, for gravity and the coordinates' numbers.
    """
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, robot.postures["zero"])
    camera = _camera(np.array(mechanism.gravity, dtype=float))
    points = {name: camera @ _place(robot, data, name).translation for name in robot.description.links}
    centres = {}
    for name, link in robot.description.links.items():
        if link.inertial is not None and link.inertial.mass > 0:
            centres[name] = camera @ _place(robot, data, name).act(link.inertial.placement_link_com.translation)
    flat = np.array([point[:2] for point in (*points.values(), *centres.values())])
    size = max(float(np.ptp(flat, axis=0).max()), 1e-3)
    scale = _SIZE / size if len(points) > 4 else 0.7 * _SIZE / size

    def on_paper(point: np.ndarray) -> Point:
        return (float(scale * point[0]), float(-scale * point[1]))

    drawing = Drawing(margin=4.0)
    for joint in robot.description.joints.values():
        drawing.shapes.append(Line((on_paper(points[joint.parent]), on_paper(points[joint.child])), "line", 1.1))
    for name, centre in centres.items():
        if not robot.description.child_joints[name]:
            drawing.shapes.append(Line((on_paper(points[name]), on_paper(centre)), "line", 1.1))
        drawing.shapes.append(Disc(on_paper(centre), 0.8, "grey"))
    numbers = []
    for j, body in enumerate(mechanism.bodies, start=1):
        placement = data.oMi[j]
        at = on_paper(camera @ placement.translation)
        if body.kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            drawing.shapes.append(Disc(at, 1.1, "several"))
            continue
        axis = _axis(model, data, j)
        tip = on_paper(camera @ (placement.translation + (9.0 / scale) * axis))
        drawing.shapes.append(Line((at, tip), body.kind.value, 0.45, arrow=True))
        drawing.shapes.append(Disc(at, 0.9, body.kind.value))
        numbers.append(Label("q", _beyond(at, tip), 3.0, "middle", subscript=str(body.first_q + 1)))
    if len(mechanism.bodies) <= _MAX_NUMBERS:
        drawing.shapes += numbers
    _world_axes(drawing, camera)
    return drawing


def _camera(gravity: np.ndarray) -> np.ndarray:
    """Rows: to the right, upwards and towards the viewer, in world axes, (3, 3)."""
    strength = float(np.linalg.norm(gravity))
    up = -gravity / strength if strength > 0 else np.array([0.0, 0.0, 1.0])
    # Forward is x, as robots are built; seen from its left front, or from the front where gravity points along x.
    forward = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 0.0, 1.0])
    forward = forward - up * float(forward @ up)
    forward /= np.linalg.norm(forward)
    left = np.cross(up, forward)
    # A planar arm moves in the plane of forward and up, a humanoid faces forward: the side view shows both.
    viewer = math.sin(_AZIMUTH) * forward - math.cos(_AZIMUTH) * left
    right = np.cross(up, viewer)
    towards = math.cos(_ELEVATION) * viewer + math.sin(_ELEVATION) * up
    return np.array([right, np.cross(towards, right), towards])


def _place(robot: Robot, data: pin.Data, link: str) -> pin.SE3:
    attachment = robot.parts.links[link]
    return data.oMi[attachment.joint_id] * attachment.placement_joint_link


def _axis(model: pin.Model, data: pin.Data, j: int) -> np.ndarray:
    """Return the direction of a joint of one degree of freedom in the world, (3,)."""
    # Pinocchio drops a dimension of the Jacobian when there is but one velocity.
    column = np.asarray(data.J).reshape(6, model.nv)[:, model.joints[j].idx_v]
    linear, angular = np.split(column, 2)
    return angular if np.linalg.norm(angular) > 0.5 else linear


def _beyond(start: Point, tip: Point) -> Point:
    """Place for a label behind and above the tip of an arrow, clear of a link along it [mm]."""
    dx, dy = tip[0] - start[0], tip[1] - start[1]
    length = math.hypot(dx, dy)
    if length < 0.5:
        return (tip[0], tip[1] - 3.2)
    along_x, along_y = dx / length, dy / length
    side = 2.6 if along_x < 0 else -2.6
    return (tip[0] + 2.0 * along_x - side * along_y, tip[1] + 2.0 * along_y + side * along_x)


def _world_axes(drawing: Drawing, camera: np.ndarray) -> None:
    left, _, _, bottom = drawing.bounds()
    origin = (left + 8.0, bottom + 6.0)
    for k, letter in enumerate("xyz"):
        dx, dy = 9.0 * float(camera[0, k]), -9.0 * float(camera[1, k])
        tip = (origin[0] + dx, origin[1] + dy)
        drawing.shapes.append(Line((origin, tip), f"axis_{letter}", 0.4, arrow=True))
        drawing.shapes.append(Label(letter, (tip[0] + 0.2 * dx, tip[1] + 0.2 * dy), 2.6, "middle", f"axis_{letter}"))
