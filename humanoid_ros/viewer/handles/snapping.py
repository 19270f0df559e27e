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
    """(3,) place where a ray first meets the upper side of a plane surface; None where it meets none.

    Args:
        origin: (3,) of the ray in the world [m].
        direction: (3,) of the ray.
        scene: Whose surfaces they are, its bodies where they are at the start.
    """
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    nearest, found = np.inf, None
    for surface in scene.surfaces:
        if surface.body not in bodies or surface.form is not SurfaceForm.PLANE:
            continue
        placement = bodies[surface.body] * surface.placement_body_surface
        eye, ray = placement.actInv(origin), placement.rotation.T @ direction
        if eye[2] <= 0.0 or ray[2] >= 0.0:
            continue
        way = -eye[2] / ray[2]
        place = eye + way * ray
        if way < nearest and (surface.polygon is None or _inside(place[:2], surface.polygon)):
            nearest, found = way, placement.act(place)
    return found


def _inside(point: np.ndarray, polygon: np.ndarray) -> bool:
    """Return whether a point is in a convex polygon given counter-clockwise."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    to_point = point - polygon
    return bool((edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0] >= 0.0).all())
