# SPDX-License-Identifier: Apache-2.0
"""Markers of the ground and the bodies of a scene."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.description import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HalfSpace,
    HeightField,
    Mesh,
    Sphere,
)
from humanoid_model.height_field import grid_triangles
from humanoid_model.scene import Scene
from humanoid_ros.messages.conversions import fill_pose, fill_vector

GROUND_SIZE = 20.0
"""Edge of the plate that stands for a half-space [m]."""
GROUND_THICKNESS = 0.02
"""Its thickness [m]; its upper face is the plane."""


def scene_markers(scene: Scene, world: str, bodies_with_frame: set[str]) -> MarkerArray:
    """All bodies of a scene; the first marker deletes what was drawn before.

    Args:
        scene: the scene.
        world: name of the world frame, in which the other bodies are placed.
        bodies_with_frame: bodies that have a frame of their own name in /tf, which their markers follow.
    """
    message = MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
    message.markers[0].header.frame_id = world
    for body in scene.bodies:
        moves = body.name in bodies_with_frame
        frame = body.name if moves else world
        placement = pin.SE3.Identity() if moves else body.placement_world_body
        number = 0
        for geometry in body.geometries:
            for marker in shape_markers(geometry, placement * geometry.placement):
                marker.ns, marker.id = body.name, number
                marker.header.frame_id = frame
                # With time 0 and this flag a display moves the marker with its frame.
                marker.frame_locked = moves
                marker.text = body.label
                message.markers.append(marker)
                number += 1
    return message


def shape_markers(geometry: Geometry, placement: pin.SE3) -> list[Marker]:
    """Return markers of one shape, of a body or of a link; namespace, number and frame are the caller's.

    Args:
        geometry: shape and colour; its own placement is not read.
        placement: of the shape in the markers' frame.
    """
    shape = geometry.shape
    if isinstance(shape, Box):
        parts = [(Marker.CUBE, pin.SE3.Identity(), shape.size)]
    elif isinstance(shape, Sphere):
        parts = [(Marker.SPHERE, pin.SE3.Identity(), np.full(3, 2.0 * shape.radius))]
    elif isinstance(shape, Ellipsoid):
        parts = [(Marker.SPHERE, pin.SE3.Identity(), 2.0 * shape.radii)]
    elif isinstance(shape, Cylinder):
        parts = [(Marker.CYLINDER, pin.SE3.Identity(), _round(shape.radius, shape.length))]
    elif isinstance(shape, Capsule):
        ends = [pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5 * sign * shape.length])) for sign in (-1, 1)]
        ball = np.full(3, 2.0 * shape.radius)
        parts = [(Marker.CYLINDER, pin.SE3.Identity(), _round(shape.radius, shape.length))]
        parts += [(Marker.SPHERE, end, ball) for end in ends]
    elif isinstance(shape, HalfSpace):
        below = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5 * GROUND_THICKNESS]))
        parts = [(Marker.CUBE, below, np.array([GROUND_SIZE, GROUND_SIZE, GROUND_THICKNESS]))]
    elif isinstance(shape, HeightField):
        parts = [(Marker.TRIANGLE_LIST, pin.SE3.Identity(), np.ones(3))]
    else:
        assert isinstance(shape, Mesh)
        parts = [(Marker.MESH_RESOURCE, pin.SE3.Identity(), shape.scale)]
    markers = []
    for kind, local, scale in parts:
        marker = Marker(type=kind, action=Marker.ADD)
        fill_pose(marker.pose, placement * local)
        fill_vector(marker.scale, scale)
        r, g, b, a = (float(value) for value in geometry.colour)
        marker.color = ColorRGBA(r=r, g=g, b=b, a=a)
        if isinstance(shape, Mesh):
            marker.mesh_resource = shape.path.resolve().as_uri()
        elif isinstance(shape, HeightField):
            points, corners = grid_triangles(shape.size, shape.heights)
            marker.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in points[corners.reshape(-1)]]
        markers.append(marker)
    return markers


def _round(radius: float, length: float) -> np.ndarray:
    return np.array([2.0 * radius, 2.0 * radius, length])
