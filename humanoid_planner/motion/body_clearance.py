# SPDX-License-Identifier: Apache-2.0
"""Distances of a moving body's true shapes from a scene, along its path and where it stands."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.contact import ContactLocation
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.motion.body_path import BodyPath

#: How far a body may sink into what it leaves or comes to [m].
SUNK = 5e-4
#: Way of a moving body from one look at its distances to the next [m].
_LOOKED = 2e-3


class _Shape(NamedTuple):
    """A shape of a link, its place in the contact frame, and the reach of its points from that frame [m]."""

    geometry: coal.CollisionGeometry
    placement: pin.SE3
    reach: float


class BodyClearance:
    """Distances of links from the bodies of a scene."""

    def __init__(self, robot: Robot, scene: Scene) -> None:
        """Take the robot whose links move, and the scene around it."""
        self._robot = robot
        self._scene = [
            (body.name, coal_geometry(geometry.shape), body.placement_world_body * geometry.placement)
            for body in scene.bodies
            for geometry in body.geometries
        ]
        self._links: dict[str, list[_Shape]] = {}

    def gap(self, location: ContactLocation, place: pin.SE3, bodies: frozenset[str]) -> float:
        """Return the distance of a link from bodies when its contact frame is at a place [m]."""
        pairs = itertools.product((item for item in self._scene if item[0] in bodies), self._of(location))
        return min(_gap(shape, place, body, where) for (_, body, where), shape in pairs)

    def problem(
        self, location: ContactLocation, path: BodyPath, own: frozenset[str], clearance: float, approach: float
    ) -> str:
        """Return what a link would touch on its path; empty if nothing.

        A shape whose distance is d can't come nearer than the clearance before its farthest point has gone the rest of
        d: so far the next look is, 2 mm at least (conservative advancement).

        Args:
            location: of the link.
            path: of its contact frame.
            own: bodies that it leaves and comes to.
            clearance: from all others, and from these too but beside the contacts [m].
            approach: way from a contact on which it may be as near to its own bodies as it likes [m].
        """
        count = max(math.ceil(path.length / _LOOKED), 2)
        free = [k for k in range(count + 1) if not path.near_end(k / count, approach)] or [0, count]
        places: dict[int, pin.SE3] = {}

        def gap(k: int, shape: _Shape, body: coal.CollisionGeometry, where: pin.SE3) -> float:
            if k not in places:
                places[k] = path.placement(k / count)
            return _gap(shape, places[k], body, where)

        for (name, body, where), shape in itertools.product(self._scene, self._of(location)):
            pair = shape, body, where
            # Where it stands nearer than the clearance at an end, it may come as near on its way. What it leaves or
            # comes to it may touch on the straight pieces.
            first, last = (free[0], free[-1]) if name in own else (0, count)
            least = min(clearance, gap(first, *pair) - 1e-3, gap(last, *pair) - 1e-3)
            most, look = max(least, -SUNK), path.length * (1.0 + path.turn * shape.reach) / count
            k = 0
            while k <= count:
                distance = gap(k, *pair)
                if distance < (least if first <= k <= last else -SUNK):
                    return f"{location.link} comes {1e3 * distance:.0f} mm near {name} at {k / count:.0%} of its way"
                k += max(int((distance - most) / look), 1)
        return ""

    def _of(self, location: ContactLocation) -> list[_Shape]:
        """Shapes of a location's link, in the contact frame."""
        if location.name not in self._links:
            link = self._robot.parts.links[location.link]
            to_joint = (link.placement_joint_link * location.placement_link_patch).inverse()
            self._links[location.name] = [
                _shape(item.geometry, to_joint * item.placement)
                for item in self._robot.collision_model.geometryObjects
                if item.parentJoint == link.joint_id
            ]
        return self._links[location.name]


def _shape(geometry: coal.CollisionGeometry, placement: pin.SE3) -> _Shape:
    geometry.computeLocalAABB()
    middle = placement.act(np.asarray(geometry.aabb_center))
    return _Shape(geometry, placement, float(np.linalg.norm(middle)) + geometry.aabb_radius)


def _gap(one: _Shape, frame: pin.SE3, other: coal.CollisionGeometry, where: pin.SE3) -> float:
    """Return the distance of a shape, whose contact frame is given, from another one [m]; below zero in it."""
    place, result = frame * one.placement, coal.DistanceResult()
    coal.distance(
        one.geometry,
        coal.Transform3s(place.rotation, place.translation),
        other,
        coal.Transform3s(where.rotation, where.translation),
        coal.DistanceRequest(),
        result,
    )
    return float(result.min_distance)
