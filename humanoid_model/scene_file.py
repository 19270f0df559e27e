# SPDX-License-Identifier: Apache-2.0
"""Loading a scene by name or from a file of either kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from humanoid_model.errors import SceneError
from humanoid_model.resources import list_resources, resource_folders
from humanoid_model.scene import Scene
from humanoid_model.scene_xml import read_scene_xml
from humanoid_model.scene_yaml import read_scene_yaml

_FOLDER = "config/scenes"
# In order of preference where one folder holds a scene twice.
_READERS: dict[str, Callable[[Path], Scene]] = {
    ".yaml": read_scene_yaml,
    ".yml": read_scene_yaml,
    ".xml": read_scene_xml,
}


def load_scene(name_or_path: str | Path) -> Scene:
    """Load a scene that comes with the stack, or any YAML, XML or MJCF scene file.

    Args:
        name_or_path: ``"stand"``, ``"stairs"``, ... or the path of a file.

    Raises:
        SceneError: unknown scene, or a file that can't be used; it names file, line, field and remedy.
        InputError: a file that the scene names, a robot's (then a RobotError) or a mesh, can't be used.
    """
    path = Path(name_or_path)
    if not path.suffix and len(path.parts) == 1 and not isinstance(name_or_path, Path):
        path = _find(path.name)
    if path.suffix.lower() not in _READERS:
        raise SceneError(
            f"'{path}' is no scene file", remedy=f"Give a file that ends in {', '.join(_READERS)}"
        )
    return _READERS[path.suffix.lower()](path)


def _find(name: str) -> Path:
    for folder in resource_folders():
        for suffix in _READERS:
            path = folder / _FOLDER / f"{name}{suffix}"
            if path.is_file():
                return path
    raise SceneError(
        f"unknown scene '{name}'",
        remedy=f"Give the path of a scene file or one of {', '.join(list_resources(_FOLDER, _READERS))}",
    )
