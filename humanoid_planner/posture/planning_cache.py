# SPDX-License-Identifier: Apache-2.0
"""Robots and scenes that requests name, kept as long as their files stay the same and there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path

from humanoid_model import Robot, Scene, load_robot, load_scene
from humanoid_model.description import Geometry, Mesh
from humanoid_model.errors import InputError
from humanoid_model.files import Shelf
from humanoid_planner.posture.tasks.collision_model import CollisionModel


class PlanningCache:
    """Robots with their shapes, scenes, and volumes around both; any thread may ask.

    Args:
        size: robots, scenes and pairs of them with volumes, kept.
        small_radius: of the volumes, a margin around the shapes [m].
        big_radius: of the volumes' faces [m].
    """

    def __init__(self, size: int, small_radius: float, big_radius: float) -> None:
        self._size = size
        self._radii = small_radius, big_radius
        self._robots = Shelf(size, _read_robot)
        self._scenes = Shelf(size, _read_scene)
        # By identity; what is kept holds robot and scene, so that no others can take their place.
        self._models: OrderedDict[tuple[int, int], tuple[Robot, Scene, CollisionModel]] = OrderedDict()
        self._lock = threading.Lock()

    def robot(self, name: str, field: str) -> Robot:
        """Return a robot by its name or the path of its URDF.

        Args:
            name: the name.
            field: that says it, for errors.

        Raises:
            InputError: the name is empty, or the robot can't be used.
        """
        if not name.strip():
            raise InputError("is empty", element=field, remedy="Give a name (hrp2) or the path of a URDF")
        return self._robots.get(name)

    def robot_in(self, scene: Scene, name: str, field: str) -> Robot:
        """Return robot by its name or its URDF's path: the scene's own where it is in the scene.

        Raises:
            InputError: the name is empty, or the robot can't be used.
        """
        robot = self.robot(name, field)
        source = robot.description.source
        return next((placed.robot for placed in scene.robots if placed.robot.description.source == source), robot)

    def collision_model(self, robot: Robot, scene: Scene) -> CollisionModel:
        """Return volumes of a robot and of the scene around it.

        Raises:
            InputError: a radius can't be used with them.
        """
        key = id(robot), id(scene)
        with self._lock:
            if key not in self._models:
                small, big = self._radii
                self._models[key] = robot, scene, CollisionModel(robot, scene, r=small, R=big)
            self._models.move_to_end(key)
            while len(self._models) > self._size:
                self._models.popitem(last=False)
            return self._models[key][2]

    def scene(self, name: str, field: str) -> Scene:
        """Return a scene by its name or the path of its file.

        Raises:
            InputError: the name is empty, or the scene can't be used.
        """
        if not name.strip():
            raise InputError("is empty", element=field, remedy="Give a name (stand) or the path of a scene file")
        return self._scenes.get(name)


def _read_robot(name: str) -> tuple[Robot, tuple[Path, ...]]:
    robot = load_robot(name)
    return robot, tuple(_files_of_robot(robot))


def _read_scene(name: str) -> tuple[Scene, tuple[Path, ...]]:
    scene = load_scene(name)
    files = [Path(scene.source)]
    for placed in scene.robots:
        files += _files_of_robot(placed.robot)
    files += _meshes(geometry for body in scene.bodies for geometry in body.geometries)
    return scene, tuple(files)


def _files_of_robot(robot: Robot) -> list[Path]:
    links = robot.description.links.values()
    source = Path(robot.description.source)
    meshes = _meshes(geometry for link in links for geometry in (*link.visuals, *link.collisions))
    return [source, source.with_suffix(".yaml"), *meshes]


def _meshes(geometries: Iterable[Geometry]) -> list[Path]:
    return sorted({Path(geometry.shape.path) for geometry in geometries if isinstance(geometry.shape, Mesh)})
