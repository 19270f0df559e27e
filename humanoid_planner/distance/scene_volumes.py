# SPDX-License-Identifier: Apache-2.0
"""Volumes around the bodies of a scene."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_model.description import Geometry
from humanoid_model.description import HalfSpace as HalfSpaceShape
from humanoid_model.errors import InputError
from humanoid_model.scene import Scene, SceneBody
from humanoid_planner.distance.convex_parts import convex_parts
from humanoid_planner.distance.half_space import HalfSpace
from humanoid_planner.distance.placed_volume import PlacedVolume, part_names
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_store import stored_volume


def scene_volumes(scene: Scene, r: float = 0.01, R: float = 20.0, bulge: float = 0.005) -> list[PlacedVolume]:
    """Volumes around the bodies of a scene where they are at its start, all carried by the world (body 0).

    A face of length a bulges by a^2 / (6 R): parts for which that is more than ``bulge`` get a larger R. Half-spaces
    stay half-spaces, without margin. A body with one part gives its name to it, else they are ``body/shape`` or
    ``body/0``...

    Args:
        scene: the scene; its robots are left out.
        r: margin around the shapes [m].
        R: radius of the volumes' faces [m].
        bulge: how far faces may stick out beyond that margin [m].

    Raises:
        InputError: a mesh can't be read, or a radius can't be used; the message names the body.
    """
    volumes = []
    for body in scene.bodies:
        try:
            built = _body_volumes(body, r, R, bulge)
        except InputError as problem:
            raise InputError(
                problem.problem,
                source=problem.source,
                element=f"body '{body.name}'" + (f", {problem.element}" if problem.element else ""),
                remedy=problem.remedy,
            ) from None
        names = part_names(body.name, [name for name, _ in built])
        volumes += [PlacedVolume(name, 0, volume, body.name) for name, (_, volume) in zip(names, built, strict=True)]
    return volumes


def _body_volumes(
    body: SceneBody, r: float, R: float, bulge: float
) -> list[tuple[str, SphereTorusVolume | HalfSpace]]:
    placement = body.placement_world_body
    half_spaces = [
        (geometry.name, _half_space(geometry, placement))
        for geometry in body.geometries
        if isinstance(geometry.shape, HalfSpaceShape)
    ]
    parts = [part.moved(placement) for part in convex_parts(body.geometries)]
    return [*half_spaces, *((part.name, _volume(part, r, R, bulge)) for part in parts)]


def _half_space(geometry: Geometry, placement: pin.SE3) -> HalfSpace:
    there = placement * geometry.placement
    normal = np.array(there.rotation[:, 2])
    return HalfSpace(normal, float(normal @ there.translation))


def _volume(part: RoundedHull, r: float, R: float, bulge: float) -> SphereTorusVolume:
    margin = r + part.radius
    longest = float(np.linalg.norm(np.ptp(part.points, axis=0)))  # no edge is longer than the bounding box' diagonal
    return stored_volume(part.points, margin, max(R, margin + longest**2 / (6.0 * bulge)))
