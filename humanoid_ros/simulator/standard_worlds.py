# SPDX-License-Identifier: Apache-2.0
"""Scenes as worlds of ``simulation_interfaces``, and refusals with the standard's codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simulation_interfaces.msg import Resource, Result, WorldResource
from simulation_interfaces.srv import GetAvailableWorlds, LoadWorld

from humanoid_model import Scene, load_scene
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.files import list_resources
from humanoid_ros.node.requested_files import check_requested, requested_reading
from humanoid_ros.simulator.scene_text import read_scene_text

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
