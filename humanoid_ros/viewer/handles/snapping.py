# SPDX-License-Identifier: Apache-2.0
"""The surface of a scene that a handle is meant for, when it is near one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_model import Scene, Surface
from humanoid_model.contact import SurfaceForm

NEAR = 0.05
"""Distance from a surface up to which a handle is meant for it [m]."""
TILT = math.radians(30.0)
"""Angle between the normals up to which it is [rad]."""


@dataclass(frozen=True)
class Snap:
    """A place on a surface.

    Attributes:
        surface: The surface.
        x: Of the handle's origin in the surface frame [m].
        y: Likewise.
        theta: Angle of the handle's x axis from the surface's, about the normal [rad].
    """

    surface: Surface
    x: float
    y: float
    theta: float


def snap(placement: pin.SE3, scene: Scene) -> Snap | None:
    """Return the nearest surface below a handle, None if there is none near it.

    Args:
        placement: Of the handle in the world; z points out of the surface.
        scene: Whose surfaces they are, its bodies where they are at the start.
    """
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    best, found = NEAR, None
    for surface in scene.surfaces:
        if surface.body not in bodies:
            continue
        local = (bodies[surface.body] * surface.placement_body_surface).actInv(placement)
        x, y, theta = surface.coordinates(local.translation, local.rotation[:, 0])
        above = surface.place(x, y, theta).actInv(local)
        height = float(above.translation[2])
        if abs(height) > best or above.rotation[2, 2] < math.cos(TILT):
            continue
        if surface.polygon is not None and not _inside(np.array([x, y]), surface.polygon):
            continue
        best = abs(height)
        found = Snap(surface, x, y, theta)
    return found


def pointed_at(origin: np.ndarray, direction: np.ndarray, scene: Scene) -> np.ndarray | None:
    """(3,) place where a ray first meets the outer side of a surface; None where it meets none.

    Args:
        origin: (3,) of the ray in the world [m].
        direction: (3,) of the ray.
        scene: Whose surfaces they are, its bodies where they are at the start.
    """
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    nearest, found = np.inf, None
    for surface in scene.surfaces:
        if surface.body not in bodies:
            continue
        placement = bodies[surface.body] * surface.placement_body_surface
        eye, ray = placement.actInv(origin), placement.rotation.T @ direction
        way = _way_to(surface, eye, ray)
        if not 0.0 < way < nearest:
            continue
        place = eye + way * ray
        x, y, _ = surface.coordinates(place, np.array([1.0, 0.0, 0.0]))
        if surface.polygon is None or _inside(np.array([x, y]), surface.polygon):
            nearest, found = way, placement.act(place)
    return found


def _way_to(surface: Surface, eye: np.ndarray, ray: np.ndarray) -> float:
    """Return how many rays, in the surface's frame, lead from the eye to where it enters the whole surface, or inf."""
    if surface.form is SurfaceForm.PLANE:
        return float(-eye[2] / ray[2]) if ray[2] < 0.0 else np.inf
    round_ = slice(1 if surface.form is SurfaceForm.CYLINDER else 0, 3)  # across the axis, or all three coordinates
    from_centre, along = (eye + np.array([0.0, 0.0, surface.radius]))[round_], ray[round_]
    a, b, c = along @ along, from_centre @ along, from_centre @ from_centre - surface.radius**2
    inside = b * b - a * c
    return float((-b - math.sqrt(inside)) / a) if inside > 0.0 and a > 0.0 else np.inf


def _inside(point: np.ndarray, polygon: np.ndarray) -> bool:
    """Return whether a point is in a convex polygon given counter-clockwise."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    to_point = point - polygon
    return bool((edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0] >= 0.0).all())
