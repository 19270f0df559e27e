# SPDX-License-Identifier: Apache-2.0
"""Reader of scenes in YAML."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.contact import Surface, polygon_problem
from humanoid_model.description import (
    DEFAULT_COLOUR,
    Box,
    Capsule,
    Cylinder,
    Geometry,
    HalfSpace,
    Mesh,
    Shape,
    Sphere,
)
from humanoid_model.errors import SceneError
from humanoid_model.inertia import inertia_problem
from humanoid_model.mesh_path import resolve_mesh_path
from humanoid_model.robot import Robot, load_robot
from humanoid_model.scene import (
    DEFAULT_TIME_STEP,
    STANDARD_GRAVITY,
    Camera,
    Light,
    PairRule,
    Scene,
    SceneBody,
    SceneRobot,
    place_robot,
)
from humanoid_model.uniform_body import uniform_inertia
from humanoid_model.yaml_node import YamlNode, read_placement, read_yaml

_KEYS = (
    "name", "gravity", "time_step", "robots", "bodies", "surfaces", "pairs", "camera", "lights",
)  # fmt: skip
_PLACE = ("xyz", "rpy")
_ROBOT_KEYS = ("robot", "posture", "label", "floating_base", *_PLACE)
_BODY_KEYS = ("label", "mass", "com", "inertia", "twist", "simulated", "shapes", *_PLACE)
_SHAPES = ("box", "sphere", "cylinder", "capsule", "half_space", "mesh")
_SHAPE_KEYS = (*_SHAPES, "scale", "colour", "name", *_PLACE)
_LIGHT_KEYS = ("position", "ambient", "diffuse", "specular")


def read_scene_yaml(path: Path) -> Scene:
    """Read a scene.

    Args:
        path: the file.

    Raises:
        SceneError: broken YAML, unknown key, value or name; it names file, line, field and remedy.
        RobotError: a robot of the scene can't be read.
    """
    return _Reader(read_yaml(path, SceneError), path).read()


class _Reader:
    def __init__(self, top: YamlNode, path: Path) -> None:
        self.top = top
        self.values = top.mapping(_KEYS)
        self.path = path
        self.names: set[str] = set()

    def read(self) -> Scene:
        values = self.values
        robots = tuple(self.read_robot(name, node) for name, node in self.section("robots"))
        bodies = tuple(self.read_body(name, node) for name, node in self.section("bodies"))
        scene = Scene(
            name=values["name"].string() if "name" in values else self.path.stem,
            robots=robots,
            bodies=bodies,
            surfaces=tuple(
                self.read_surface(name, node, bodies) for name, node in self.section("surfaces")
            ),
            gravity=(
                values["gravity"].numbers(3) if "gravity" in values else np.array(STANDARD_GRAVITY)
            ),
            time_step=(
                values["time_step"].number(above=0.0) if "time_step" in values else DEFAULT_TIME_STEP
            ),
            camera=self.read_camera(values["camera"]) if "camera" in values else None,
            lights=tuple(self.read_light(node) for node in self.items("lights")),
            source=str(self.path),
        )
        rules = tuple(self.read_rule(node, scene) for node in self.items("pairs"))
        return Scene(**{**vars(scene), "rules": rules})

    def section(self, key: str) -> list[tuple[str, YamlNode]]:
        return list(self.values[key].mapping().items()) if key in self.values else []

    def items(self, key: str) -> list[YamlNode]:
        return self.values[key].items() if key in self.values else []

    def claim(self, name: str, node: YamlNode) -> None:
        """Robots and bodies share one set of names; ``/`` separates a robot from its links."""
        if "/" in name or "*" in name:
            raise node.fail(f"the name '{name}' holds / or *", "Use letters, digits, - and _")
        if name in self.names:
            raise node.fail(f"the name '{name}' is taken already", "Give each robot and body its own name")
        self.names.add(name)

    def read_robot(self, name: str, node: YamlNode) -> SceneRobot:
        self.claim(name, node)
        values = node.mapping(_ROBOT_KEYS)
        if "robot" not in values:
            raise node.fail("names no robot", "Add 'robot: hrp2', or the path of a URDF")
        floating = values["floating_base"].boolean() if "floating_base" in values else None
        robot = self.load(values["robot"].string(), floating)
        posture = values["posture"].string(robot.postures) if "posture" in values else "zero"
        placement = read_placement(values)
        return SceneRobot(
            name=name,
            robot=robot,
            posture=posture,
            placement=placement,
            q=place_robot(robot, posture, placement),
            label=values["label"].string() if "label" in values else name,
        )

    def load(self, name_or_path: str, floating_base: bool | None) -> Robot:
        """A robot by name, or by a path that starts from the scene's folder."""
        path = Path(name_or_path)
        if path.suffix:
            return load_robot(self.path.parent / path, floating_base=floating_base)
        return load_robot(name_or_path, floating_base=floating_base)

    def read_body(self, name: str, node: YamlNode) -> SceneBody:
        self.claim(name, node)
        values = node.mapping(_BODY_KEYS)
        if "shapes" not in values:
            raise node.fail("has no shapes", "Add 'shapes:' with a list such as '- {box: [1, 1, 1]}'")
        geometries = tuple(self.read_shape(item) for item in values["shapes"].items())
        mass = values["mass"].number(lowest=0.0) if "mass" in values else 0.0
        com, inertia = np.zeros(3), np.zeros((3, 3))
        if mass > 0.0:
            com, inertia = self.read_inertia(values, geometries, mass, node)
        return SceneBody(
            name=name,
            label=values["label"].string() if "label" in values else name,
            mass=mass,
            com=com,
            inertia=inertia,
            placement_world_body=read_placement(values),
            twist=values["twist"].numbers(6) if "twist" in values else np.zeros(6),
            geometries=geometries,
            simulated=values["simulated"].boolean() if "simulated" in values else True,
        )

    def read_inertia(
        self,
        values: dict[str, YamlNode],
        geometries: tuple[Geometry, ...],
        mass: float,
        node: YamlNode,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass and inertia as given, else those of a uniform body of the shapes."""
        if "inertia" in values:
            inertia = values["inertia"].numbers(9).reshape(3, 3)
            if np.abs(inertia - inertia.T).max() > 1e-9 * max(np.abs(inertia).max(), 1e-30):
                raise values["inertia"].fail("is not symmetric", "Give the 9 entries row by row")
            problem = inertia_problem(inertia)
            if problem:
                raise values["inertia"].fail(problem, "Give the inertia about the centre of mass")
            return (values["com"].numbers(3) if "com" in values else np.zeros(3)), inertia
        uniform = uniform_inertia(geometries, mass)
        if uniform is None:
            raise node.fail(
                "has a mass, but its shapes enclose no volume", "Give 'inertia' and 'com', or leave the mass out"
            )
        if "com" in values:
            raise values["com"].fail("is given without an inertia", "Give both, or neither for a uniform body")
        return np.array(uniform.lever), np.array(uniform.inertia)

    def read_shape(self, node: YamlNode) -> Geometry:
        values = node.mapping(_SHAPE_KEYS)
        kinds = [kind for kind in _SHAPES if kind in values]
        if len(kinds) != 1:
            raise node.fail(f"names {len(kinds)} shapes", f"Give one of {', '.join(_SHAPES)}")
        if "scale" in values and kinds[0] != "mesh":
            raise values["scale"].fail("only a mesh has a scale", "Remove it")
        colour = values["colour"].numbers(4) if "colour" in values else np.array(DEFAULT_COLOUR)
        if colour.min() < 0.0 or colour.max() > 1.0:
            raise values["colour"].fail(f"is {colour.tolist()}", "Give r, g, b, a, each in 0..1")
        return Geometry(
            name=values["name"].string() if "name" in values else "",
            shape=self.read_solid(kinds[0], values),
            placement=read_placement(values),
            colour=colour,
        )

    def read_solid(self, kind: str, values: dict[str, YamlNode]) -> Shape:
        value = values[kind]
        if kind == "half_space":
            if not value.boolean():
                raise value.fail("is false", "Write 'half_space: true'")
            return HalfSpace()
        if kind == "mesh":
            path = resolve_mesh_path(value.string(), self.path.parent)
            if path is None:
                raise value.fail(f"there is no file '{value.string()}'", "Give the path of a mesh file")
            scale = values["scale"].numbers(3) if "scale" in values else np.ones(3)
            if scale.min() <= 0.0:
                raise values["scale"].fail(f"is {scale.tolist()}", "Give three positive numbers")
            return Mesh(path, scale)
        if kind == "sphere":
            return Sphere(value.number(above=0.0))
        sizes = value.numbers(3 if kind == "box" else 2)
        if sizes.min() <= 0.0:
            raise value.fail(f"is {sizes.tolist()}", "Give positive sizes in metres")
        if kind == "box":
            return Box(sizes)
        radius, length = float(sizes[0]), float(sizes[1])
        return Cylinder(radius, length) if kind == "cylinder" else Capsule(radius, length)

    def read_surface(self, name: str, node: YamlNode, bodies: tuple[SceneBody, ...]) -> Surface:
        values = node.mapping(("body", "polygon", *_PLACE))
        if "body" not in values:
            raise node.fail("names no body", "Add 'body:' with the name of one of the scene's bodies")
        body = values["body"].string([body.name for body in bodies])
        polygon = None
        if "polygon" in values:
            polygon = values["polygon"].polygon(3)
            problem = polygon_problem(polygon)
            if problem:
                raise values["polygon"].fail(problem, "List the corners once around, counter-clockwise")
        return Surface(name, body, read_placement(values), polygon)

    def read_rule(self, node: YamlNode, scene: Scene) -> PairRule:
        values = node.mapping(("between", "friction", "restitution", "collide"))
        if "between" not in values:
            raise node.fail("names no pair", "Add 'between: [name, name]'; * stands for anything")
        names = [item.string() for item in values["between"].items()]
        if len(names) != 2:
            raise values["between"].fail(f"holds {len(names)} names", "Give two")
        for pattern in names:
            if not any(PairRule(pattern, "*").matches(body, body) for body in scene.body_names()):
                raise values["between"].fail(
                    f"nothing in the scene is called '{pattern}'",
                    "Name a body, 'robot/link' or a pattern with *",
                )
        restitution = values["restitution"].number(lowest=0.0) if "restitution" in values else None
        if restitution is not None and restitution > 1.0:
            raise values["restitution"].fail(f"is {restitution:g}", "Give a coefficient in 0..1")
        return PairRule(
            names[0],
            names[1],
            friction=values["friction"].number(lowest=0.0) if "friction" in values else None,
            restitution=restitution,
            collide=values["collide"].boolean() if "collide" in values else None,
        )

    def read_camera(self, node: YamlNode) -> Camera:
        values = node.mapping(("look_at", *_PLACE))
        placement = read_placement(values)
        if "look_at" not in values:
            return Camera(placement)
        if "rpy" in values:
            raise node.fail("gives both rpy and look_at", "Give one of them")
        ahead = values["look_at"].numbers(3) - placement.translation
        if np.linalg.norm(ahead) < 1e-9:
            raise values["look_at"].fail("is where the camera is", "Give another point")
        return Camera(look_at(placement.translation, values["look_at"].numbers(3)))

    def read_light(self, node: YamlNode) -> Light:
        values = node.mapping(_LIGHT_KEYS)
        if "position" not in values:
            raise node.fail("has no position", "Add 'position: [x, y, z, w]', w = 0 for a direction")
        dark, white = np.array([0.0, 0.0, 0.0, 1.0]), np.ones(4)
        defaults = {"ambient": dark, "diffuse": white, "specular": white}
        colours = {key: values[key].numbers(4) if key in values else defaults[key] for key in defaults}
        return Light(values["position"].numbers(4), **colours)


def look_at(eye: np.ndarray, target: np.ndarray) -> pin.SE3:
    """Placement of a camera (looking along -z, y up) at ``eye`` that looks at ``target``, both (3,) in the world."""
    back = (eye - target) / np.linalg.norm(eye - target)
    up = np.array([0.0, 0.0, 1.0]) if abs(back[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    return pin.SE3(np.column_stack([right, np.cross(back, right), back]), eye)
