# SPDX-License-Identifier: Apache-2.0
"""Loading a scene by name or from a file of either kind, and the reader of YAML; docs/scenes.md describes scenes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from humanoid_model.description import Geometry
from humanoid_model.errors import SceneError
from humanoid_model.files import list_resources, resource_folders
from humanoid_model.loop_closure import CUT_KEYS, END_KEYS, read_loop_closures
from humanoid_model.scene import Scene
from humanoid_model.scene_builder import PAIR_FIELDS, SHAPE_FIELDS, SHAPES, SceneBuilder
from humanoid_model.scene_xml import read_scene_xml
from humanoid_model.yaml_node import YamlNode, read_placement, read_yaml

_SCENE = (
    "name", "gravity", "time_step", "self_collision", "robots", "bodies", "surfaces", "loops", "pairs", "camera",
    "lights",
)  # fmt: skip
_PLACE = ("xyz", "rpy")
_ROBOT = ("robot", "posture", "label", "floating_base", *_PLACE)
_BODY = ("label", "mass", "com", "inertia", "twist", "simulated", "shapes", *_PLACE)
_SHAPE = (*SHAPES, *SHAPE_FIELDS, "colour", "name", *_PLACE)
_SURFACE = ("body", "polygon", "cylinder", "sphere", *_PLACE)
_PAIR = ("between", *PAIR_FIELDS)
_CAMERA = ("look_at", "field_of_view", *_PLACE)
_LIGHT = ("position", "ambient", "diffuse", "specular")


def read_scene_yaml(path: Path) -> Scene:
    """Read a scene.

    Args:
        path: the file.

    Raises:
        SceneError: broken YAML, unknown key, value or name; it names file, line, field and remedy.
        InputError: a file that the scene names, a robot's (then a RobotError) or a mesh, can't be used.
    """
    top = read_yaml(path, SceneError).mapping(_SCENE)
    builder = SceneBuilder(path)
    for name, node in _section(top, "robots"):
        values = node.mapping(_ROBOT)
        builder.add_robot(name, values, read_placement(values), node)
    for name, node in _section(top, "bodies"):
        values = node.mapping(_BODY)
        shapes = values["shapes"].items() if "shapes" in values else []
        geometries = [geometry for item in shapes for geometry in _read_shape(builder, item)]
        builder.add_body(name, values, geometries, read_placement(values), node)
    for name, node in _section(top, "surfaces"):
        values = node.mapping(_SURFACE)
        builder.add_surface(name, values, read_placement(values), node)
    if "loops" in top:
        for loop, node in zip(read_loop_closures(top["loops"]), top["loops"].mapping().values(), strict=True):
            end = node.mapping(CUT_KEYS)["b"].mapping(END_KEYS)
            builder.add_loop(loop, node, where_it_is=set(end) == {"link"})
    for node in _items(top, "pairs"):
        values = node.mapping(_PAIR)
        if "between" not in values:
            raise node.fail("names no pair", "Add 'between: [name, name]'; * stands for anything")
        between = values["between"].items()
        if len(between) != 2:
            raise values["between"].fail(f"holds {len(between)} names", "Give two")
        builder.add_rule(between[0], between[1], values)
    if "camera" in top:
        values = top["camera"].mapping(_CAMERA)
        builder.set_camera(read_placement(values), values, "rpy")
    for node in _items(top, "lights"):
        builder.add_light(node.mapping(_LIGHT), node)
    return builder.build(top)


def _section(top: dict[str, YamlNode], key: str) -> list[tuple[str, YamlNode]]:
    return list(top[key].mapping().items()) if key in top else []


def _items(top: dict[str, YamlNode], key: str) -> list[YamlNode]:
    return top[key].items() if key in top else []


def _read_shape(builder: SceneBuilder, node: YamlNode) -> list[Geometry]:
    values = node.mapping(_SHAPE)
    kinds = [kind for kind in SHAPES if kind in values]
    if len(kinds) != 1:
        raise node.fail(f"names {len(kinds)} shapes", f"Give one of {', '.join(SHAPES)}")
    if kinds == ["half_space"] and not values["half_space"].boolean():
        raise values["half_space"].fail("is false", "Write 'half_space: true'")
    return builder.shapes(kinds[0], values, read_placement(values), node)


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
