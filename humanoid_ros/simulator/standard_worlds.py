# SPDX-License-Identifier: Apache-2.0
"""Scenes as worlds of ``simulation_interfaces``, refusals with the standard's codes, boxes around robots and bodies."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simulation_interfaces.msg import Resource, Result, WorldResource
from simulation_interfaces.srv import GetAvailableWorlds, LoadWorld

from humanoid_model import Scene, load_scene
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import HalfSpace, Shape
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.files import list_resources
from humanoid_ros.node.requested_files import check_requested, requested_reading
from humanoid_ros.simulator.scene_requests import read_scene_text
from humanoid_sim import Simulation


class EntityBounds:
    """Boxes around collision shapes; each shape's own box is turned with it, so that they may be too large."""

    def __init__(self, simulation: Simulation) -> None:
        """Look at nothing yet.

        Args:
            simulation: whose robots and bodies they are.
        """
        self._simulation = simulation
        self._corners: dict[int, NDArray[np.float64]] = {}

    def box(self, entity: str) -> NDArray[np.float64]:
        """Return lowest and highest corner of a robot or body now [m], shape (2, 3); infinite where it has no end."""
        world = self._simulation.world
        bodies = [(own, self._simulation.placement(own.name)) for own in world.bodies if own.owner == entity]
        shapes = [(shape, place * placement) for own, place in bodies for shape, placement in own.shapes]
        if any(isinstance(shape, HalfSpace) for shape, _ in shapes):
            return np.array([[-np.inf] * 3, [np.inf] * 3])
        points = [self._own_corners(shape) @ place.rotation.T + place.translation for shape, place in shapes]
        found = np.vstack(points or [place.translation[None] for _, place in bodies])  # or where it is
        return np.array([found.min(axis=0), found.max(axis=0)])

    def _own_corners(self, shape: Shape) -> NDArray[np.float64]:
        if id(shape) not in self._corners:
            geometry = coal_geometry(shape)
            geometry.computeLocalAABB()
            ends = np.array([geometry.aabb_local.min_, geometry.aabb_local.max_])
            self._corners[id(shape)] = np.array(list(itertools.product(*ends.T)))
        return self._corners[id(shape)]


def overlaps_box(box: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """Return whether a box (2, 3) touches another one by its corners (3,)."""
    return bool((box[0] <= high).all() and (low <= box[1]).all())


def overlaps_sphere(box: NDArray[np.float64], centre: NDArray[np.float64], radius: float) -> bool:
    """Return whether a box (2, 3) touches a sphere."""
    return bool(np.linalg.norm(centre - np.clip(centre, box[0], box[1])) <= radius)


ENDINGS = (".xml", ".yaml", ".yml")


class Refused(HumanoidError):  # noqa: N818 - it is an answer
    """What can't be done, with a code of the standard."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


def available_worlds(request: GetAvailableWorlds.Request) -> list[WorldResource]:
    """Return the stack's own scenes.

    Raises:
        Refused: others are asked for, or some by their tags.
    """
    if request.filter.tags:
        raise Refused(Result.RESULT_FEATURE_UNSUPPORTED, "filter: worlds have no tags.")
    if request.additional_sources and not request.continue_on_error:
        raise Refused(Result.RESULT_OPERATION_FAILED, "additional_sources: only the stack's own scenes are searched.")
    names = list_resources("config/scenes", (".yaml", ".xml"))
    return [WorldResource(name=name, world_resource=Resource(uri=name)) for name in names]


def world_resource(scene: Scene) -> WorldResource:
    """Return what is told of a scene; one that came as a text has no uri."""
    uri = scene.source if Path(scene.source).is_file() else ""
    return WorldResource(name=scene.name, world_resource=Resource(uri=uri))


def requested_world(request: Any) -> Scene:
    """Return the scene that a request names or holds.

    Raises:
        Refused: it is none, or can't be read.
    """
    uri, text = request.world_resource.uri, request.world_resource.resource_string
    codes = LoadWorld.Response
    if not uri and not text.strip():
        raise Refused(codes.NO_RESOURCE, "world_resource: is empty. Give a uri, or the text of a scene.")
    suffix = Path(uri).suffix.lower()
    if suffix and suffix not in ENDINGS:
        raise Refused(codes.UNSUPPORTED_FORMAT, f"world_resource.uri: '{uri}' is no scene. Give XML or YAML.")
    try:
        if uri:
            with requested_reading(uri):
                return load_scene(check_requested(uri, "uri").removeprefix("file://"))
        return read_scene_text(text)
    except InputError as error:
        raise Refused(codes.RESOURCE_PARSE_ERROR, f"world_resource: {error}") from error
