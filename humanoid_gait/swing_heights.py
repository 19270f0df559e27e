# SPDX-License-Identifier: Apache-2.0
"""Heights of a sole that swings above the ground, as smooth expressions."""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from humanoid_gait.robot_model import RobotModel
from humanoid_model.arrays import Array
from humanoid_model.ground_profile import GroundProfile

_RAMP = 0.01
"""Length over which the height below a corner changes at an edge [m]."""
_NEAR = 0.1
"""Edges that are nearer than this to where a sole goes are in its way [m]."""


def swing_heights(model: RobotModel, ground: GroundProfile, location: str, y: ca.SX, ends: Array) -> ca.SX:
    """Return heights of a sole's corners above the ground, and of its sides above edges on its way [m].

    Corners alone don't do on stairs: an edge may come through the sole between them.

    Args:
        model: of the robot.
        ground: that it swings over.
        location: the sole's name.
        y: (n,) coordinates.
        ends: (2, n) coordinates near which it leaves and lands.
    """
    corners = model.corners(location, model.configuration(y))
    return ca.vertcat(
        corners[:, 2] - smooth_height(ground, corners[:, 0]), *_over_edges(model, ground, location, y, ends)
    )


def _over_edges(model: RobotModel, ground: GroundProfile, name: str, y: ca.SX, ends: Array) -> Iterator[ca.SX]:
    """How far both sides of a sole are above each edge on its way; more before its heel and beyond its toes."""
    location = model.coordinates.robot.contacts[name]
    frame = location.placement_link_patch
    own = np.array([frame.actInv(corner) for corner in location.vertices_link])
    R, p = model.placement(location.link, model.configuration(y))
    turn, origin = R @ ca.DM(frame.rotation), p + R @ ca.DM(frame.translation)
    way = ca.Function("x", [y], [origin[0]])
    first, last = sorted(float(way(end)) for end in ends)
    heights = np.maximum(ground.heights[:-1], ground.heights[1:])
    for x, rise, height in zip(ground.edges.tolist(), np.diff(ground.heights), heights, strict=True):
        if not first + own[:, 0].min() - _NEAR < x < last + own[:, 0].max() + _NEAR:
            continue
        steep = 0.5 * abs(float(rise)) / _RAMP
        for side in (own[:, 1].min(), own[:, 1].max()):
            at = turn.T @ (ca.vertcat(x, origin[1] + float(side), float(height)) - origin)
            beyond = _positive(at[0] - own[:, 0].max() - _RAMP) + _positive(own[:, 0].min() - _RAMP - at[0])
            yield steep * beyond - at[2]


def _positive(value: ca.SX) -> ca.SX:
    """Return the value where it is positive, else nothing, smoothly."""
    return 0.5 * (value + ca.sqrt(value**2 + (0.3 * _RAMP) ** 2))


def smooth_height(ground: GroundProfile, x: ca.SX) -> ca.SX:
    """Heights of a ground at x (k,) whose edges are ramps outside of the stairs [m]."""
    found = float(ground.heights[0]) + ground.slope * x
    for edge, rise in zip(ground.edges.tolist(), np.diff(ground.heights).tolist(), strict=True):
        begin = edge - np.sign(rise) * 2.0 * _RAMP
        found += 0.5 * rise * (1.0 + ca.tanh((x - begin) / _RAMP))
    return found
