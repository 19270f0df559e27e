# SPDX-License-Identifier: Apache-2.0
"""Outlines of a simulated scene seen along an axis, to draw what happened."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import Curve, Panel, curve

_ROUND = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]
_FIXED_COLOUR, _ROBOT_COLOUR, _BODY_COLOUR = "#777777", "#1f77b4", "#d62728"


def view(simulation: Simulation, title: str, *, from_above: bool = False) -> Panel:
    """Everything but half-spaces, height fields and meshes, seen from the side (along y) or from above.

    Args:
        simulation: as it is now.
        title: of the panel.
        from_above: whether x and y are shown instead of x and z.
    """
    axes = [0, 1] if from_above else [0, 2]
    curves: list[Curve] = []
    for body in simulation.world.bodies:
        at = simulation.placement(body.name)
        colour = _FIXED_COLOUR if body.joint == 0 else _ROBOT_COLOUR if "/" in body.name else _BODY_COLOUR
        for shape, placement in body.shapes:
            points = _surface_points(shape)
            if points is None:
                continue
            place: pin.SE3 = at * placement
            flat = (points @ place.rotation.T + place.translation)[:, axes]
            ring = ConvexHull(flat).vertices
            closed = flat[np.append(ring, ring[0])]
            curves.append(curve(closed[:, 0], closed[:, 1], colour=colour))
    return Panel("x [m]", "y [m]" if from_above else "z [m]", tuple(curves), title, equal=True)


def _surface_points(shape: Shape) -> NDArray[np.float64] | None:
    """Points whose convex hull is the shape, or nearly so."""
    if isinstance(shape, Box):
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.asarray(0.5 * signs * shape.size)
    circle = np.column_stack([np.cos(_ROUND), np.sin(_ROUND)])
    if isinstance(shape, Cylinder):
        rings = [np.column_stack([shape.radius * circle, np.full(16, s * 0.5 * shape.length)]) for s in (-1, 1)]
        return np.vstack(rings)
    if isinstance(shape, (Sphere, Capsule, Ellipsoid)):
        radius = 1.0 if isinstance(shape, Ellipsoid) else shape.radius
        ball = [
            radius * np.column_stack([np.cos(e) * circle, np.full(16, np.sin(e))])
            for e in np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
        ]
        ball_points = np.vstack(ball)
        if isinstance(shape, Ellipsoid):
            return ball_points * shape.radii
        if isinstance(shape, Sphere):
            return ball_points
        half = np.array([0.0, 0.0, 0.5 * shape.length])
        return np.vstack([ball_points + half, ball_points - half])
    return None
