# SPDX-License-Identifier: Apache-2.0
r"""Gaps between capsules around a robot's bodies and shapes of the scene, as smooth functions of its coordinates.

A capsule is covered by balls on its axis. Their gaps from boxes, cylinders, spheres and planes are those of the signed
distance functions of I. Quilez, corners rounded: :math:`\tfrac12(x+\sqrt{x^2+\epsilon})` stands for what is above 0,
and sums of such for the greatest and the least. Gaps are thus up to 1 cm too small, and never too large by more than
the 2 mm that are taken off.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from humanoid_gait.robot_model import RobotModel
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.capsules import capsules_of
from humanoid_model.description import Box, Capsule, Cylinder, Geometry, HalfSpace, Sphere

_ROUND = 1e-6
"""Epsilon of the rounded corners [m²]."""
_LEFT_OVER = 2e-3
"""By which rounded gaps may be too large [m]."""
_SPACING = 1.0
"""Distance of the balls on an axis, in radii of the capsule."""
_REACH = 0.3
"""Capsules that are farther in the guess than this beyond the gap that they keep are left out [m]."""


def scene_gaps(model: RobotModel, obstacles: Sequence[Geometry], apart: float, reference: Array) -> ca.Function:
    """Return coordinates (n,) to gaps of a robot's capsules from shapes less what they keep, of those that come near.

    Args:
        model: of the robot.
        obstacles: shapes placed in the world.
        apart: gap that is kept [m].
        reference: (K, n) coordinates near the motion.

    Raises:
        InputError: a shape whose distance isn't known.
    """
    robot = model.coordinates.robot
    capsules = capsules_of(robot)
    links = {part.joint_id: name for name, part in robot.parts.links.items() if name in model.links}
    y = ca.SX.sym("y", model.n)
    q, gaps = model.configuration(y), []
    for joint, ends, radius in zip(capsules.joints.tolist(), capsules.ends, capsules.radii.tolist(), strict=True):
        R, p = model.placement(links[joint], q)
        back = robot.parts.links[links[joint]].placement_joint_link.inverse()
        low, high = (back.act(end) for end in ends)
        count = max(2, 1 + int(np.ceil(np.linalg.norm(high - low) / (_SPACING * radius))))
        spacing = float(np.linalg.norm(high - low)) / (count - 1)
        ball = float(np.hypot(radius, 0.5 * spacing))
        places = [p + R @ ca.DM((1.0 - s) * low + s * high) for s in np.linspace(0.0, 1.0, count)]
        for obstacle in obstacles:
            gap = _least([shape_distance(obstacle, place) for place in places])
            gaps.append(gap - ball - apart - _LEFT_OVER)
    every = ca.Function("gaps", [y], [ca.vertcat(ca.SX(0, 1), *gaps)])
    near = np.flatnonzero(np.asarray(every(reference.T)).min(axis=1, initial=np.inf) < _REACH).tolist()
    return ca.Function("gaps", [y], [ca.vertcat(ca.SX(0, 1), *[gaps[k] for k in near])])


def shape_distance(obstacle: Geometry, point: ca.SX) -> ca.SX:
    """Return the distance of a point (3,) of the world from a shape, negative inside, its corners rounded [m].

    Raises:
        InputError: the shape isn't a box, cylinder, capsule, sphere or half-space.
    """
    shape, frame = obstacle.shape, obstacle.placement
    own = ca.DM(frame.rotation.T) @ (point - ca.DM(frame.translation))
    if isinstance(shape, Sphere):
        return ca.sqrt(ca.sumsqr(own) + _ROUND) - shape.radius
    if isinstance(shape, HalfSpace):
        return own[2]
    if isinstance(shape, Box):
        half = 0.5 * np.asarray(shape.size, dtype=float)
        return _beyond([_size(own[i]) - float(half[i]) for i in range(3)])
    if isinstance(shape, Cylinder):
        across = ca.sqrt(own[0] ** 2 + own[1] ** 2 + _ROUND)
        return _beyond([across - shape.radius, _size(own[2]) - 0.5 * shape.length])
    if isinstance(shape, Capsule):
        along = _positive(_size(own[2]) - 0.5 * shape.length)
        return ca.sqrt(own[0] ** 2 + own[1] ** 2 + along**2 + _ROUND) - shape.radius
    remedy = "Give boxes, cylinders, capsules, spheres or half-spaces that hold it"
    raise InputError(f"is a {type(shape).__name__}", element=f"obstacle '{obstacle.name}'", remedy=remedy)


def _beyond(ways: list[ca.SX]) -> ca.SX:
    """Distance of a point that is so far beyond faces that are perpendicular to one another."""
    outside = ca.sqrt(sum((_positive(way) ** 2 for way in ways), ca.SX(_ROUND)))
    most = ways[0]
    for way in ways[1:]:
        most = way + _positive(most - way)
    return outside - _positive(-most)


def _least(values: list[ca.SX]) -> ca.SX:
    """Return the least of values, rather less."""
    found = values[0]
    for value in values[1:]:
        found = value - _positive(value - found)
    return found


def _size(x: ca.SX) -> ca.SX:
    return ca.sqrt(x**2 + _ROUND)


def _positive(x: ca.SX) -> ca.SX:
    return 0.5 * (x + _size(x))
