# SPDX-License-Identifier: Apache-2.0
"""Volumes around the bodies of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_model.description import Geometry
from humanoid_model.description import HalfSpace as HalfSpaceShape
from humanoid_model.errors import InputError
from humanoid_model.scene import Scene
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
    return volumes_around(scene_shapes(scene), r, R, bulge)


def scene_shapes(scene: Scene) -> list[PlacedVolume]:
    """Return the bodies of a scene as they are, without margin: half-spaces and plain convex hulls.

    There is one for each of the :func:`scene_volumes`, in their order and with their names.

    Raises:
        InputError: a mesh can't be read; the message names the body.
    """
    shapes = []
    for body in scene.bodies:
        try:
            parts = convex_parts(body.geometries)
        except InputError as problem:
            raise _of_body(problem, body.name) from None
        placement = body.placement_world_body
        built: list[tuple[str, HalfSpace | RoundedHull]] = [
            (geometry.name, _half_space(geometry, placement))
            for geometry in body.geometries
            if isinstance(geometry.shape, HalfSpaceShape)
        ]
        built += [(part.name, part.moved(placement)) for part in parts]
        names = part_names(body.name, [name for name, _ in built])
        shapes += [PlacedVolume(name, 0, shape, body.name) for name, (_, shape) in zip(names, built, strict=True)]
    return shapes


def volumes_around(
    shapes: Sequence[PlacedVolume], r: float = 0.01, R: float = 20.0, bulge: float = 0.005
) -> list[PlacedVolume]:
    """Volumes around :func:`scene_shapes`; the arguments and errors are those of :func:`scene_volumes`."""
    volumes = []
    for placed in shapes:
        if isinstance(placed.volume, RoundedHull):
            try:
                placed = replace(placed, volume=_volume(placed.volume, r, R, bulge))
            except InputError as problem:
                raise _of_body(problem, placed.owner) from None
        volumes.append(placed)
    return volumes


def _of_body(problem: InputError, name: str) -> InputError:
    """Return the same problem, with the name of the body."""
    return InputError(
        problem.problem,
        source=problem.source,
        element=f"body '{name}'" + (f", {problem.element}" if problem.element else ""),
        remedy=problem.remedy,
    )


def _half_space(geometry: Geometry, placement: pin.SE3) -> HalfSpace:
    there = placement * geometry.placement
    normal = np.array(there.rotation[:, 2])
    return HalfSpace(normal, float(normal @ there.translation))


def _volume(part: RoundedHull, r: float, R: float, bulge: float) -> SphereTorusVolume:
    margin = r + part.radius
    longest = float(np.linalg.norm(np.ptp(part.points, axis=0)))  # no edge is longer than the bounding box' diagonal
    return stored_volume(part.points, margin, max(R, margin + longest**2 / (6.0 * bulge)))
