# SPDX-License-Identifier: Apache-2.0
"""Loading a scene by name or from a file of either kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from humanoid_model.errors import SceneError
from humanoid_model.resources import find_resource, list_resources
from humanoid_model.scene import Scene
from humanoid_model.scene_yaml import read_scene_yaml

_FOLDER = "config/scenes"
_READERS: dict[str, Callable[[Path], Scene]] = {".yaml": read_scene_yaml, ".yml": read_scene_yaml}


def load_scene(name_or_path: str | Path) -> Scene:
    """Load a scene that comes with the stack, or any YAML or XML scene file.

    Args:
        name_or_path: ``"stand"``, ``"stairs"``, ... or the path of a file.

    Raises:
        SceneError: unknown scene, or a file that can't be used; it names file, line, field and remedy.
        RobotError: a robot of the scene can't be read.
    """
    path = Path(name_or_path)
    if not path.suffix and len(path.parts) == 1 and not isinstance(name_or_path, Path):
        known = list_resources(_FOLDER, _READERS)
        if path.name not in known:
            raise SceneError(
                f"unknown scene '{name_or_path}'",
                remedy=f"Give the path of a scene file or one of {', '.join(known)}",
            )
        path = find_resource(f"{_FOLDER}/{path.name}.yaml")
    if path.suffix.lower() not in _READERS:
        raise SceneError(
            f"'{path}' is no scene file", remedy=f"Give a file that ends in {', '.join(_READERS)}"
        )
    return _READERS[path.suffix.lower()](path)
