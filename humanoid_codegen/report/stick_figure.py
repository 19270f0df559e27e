# SPDX-License-Identifier: Apache-2.0
"""The robot at its zero posture as lines from joint to joint, with the joints' axes."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_codegen.dynamics.mechanism import JointKind, Mechanism
from humanoid_codegen.report.drawing import Disc, Drawing, Label, Line, Point
from humanoid_model import Robot

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
