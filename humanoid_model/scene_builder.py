# SPDX-License-Identifier: Apache-2.0
"""What the readers of scene files share: every check of a scene's content, and the scene made of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pinocchio as pin

from humanoid_model.checks import check_name, listed
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.contact import Surface, SurfaceForm, curve_problem, polygon_problem
from humanoid_model.convex_polygon import convex_pieces
from humanoid_model.description import (
    DEFAULT_COLOUR,
    MESH_COLLISIONS,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HalfSpace,
    HeightField,
    Mesh,
    Shape,
    Sphere,
)
from humanoid_model.errors import InputError, RobotError
from humanoid_model.files import Growth, resolve_mesh_path
from humanoid_model.height_field import GENERATORS, GRAIN_KINDS, generate_heights, grains, read_heights
from humanoid_model.inertia import inertia_problem, uniform_inertia
from humanoid_model.loop_closure import ROWS, LoopClosure
from humanoid_model.robot import Robot, load_robot
from humanoid_model.scene import (
    CONTACT_METHODS,
    DEFAULT_TIME_STEP,
    STANDARD_GRAVITY,
    Light,
    PairRule,
    Scene,
    SceneBody,
    SceneRobot,
    place_robot,
)
from humanoid_model.sensor import FIELD_OF_VIEW, Camera

#: Kinds of shapes, by the name of the field that holds the size (the file of a mesh; nothing of a half-space; the file
#: or the rule of a height field; the kind of grains).
SHAPES = ("box", "sphere", "cylinder", "capsule", "ellipsoid", "half_space", "mesh", "height_field", "grains")
#: Further fields, by the kinds that have them.
SHAPE_FIELDS = {
    "scale": ("mesh",),
    "collision": ("mesh",),
    "size": ("height_field", "grains"),
    "height": ("height_field",),
    "cells": ("height_field",),
    "wavelength": ("height_field",),
    "seed": ("height_field", "grains"),
    "count": ("grains",),
    "radius": ("grains",),
    "sunk": ("grains",),
}


class SceneField(Protocol):
    """A value of a scene file that knows its file, line and name; the reading methods raise :meth:`fail`."""

    def fail(self, problem: str, remedy: str | None = None) -> InputError:
        """Return the error to raise for this value."""

    def string(self, choices: Iterable[str] | None = None) -> str:
        """Return a non-empty text, one of ``choices`` if given."""

    def boolean(self) -> bool:
        """Return true or false."""

    def number(self) -> float:
        """Return a finite number."""

    def numbers(self, count: int) -> np.ndarray:
        """(count,) finite numbers."""

    def polygon(self, minimum: int) -> np.ndarray:
        """(k, 2) vertices, k at least ``minimum``."""


#: How far the two frames of a loop may be apart at the start [m or rad].
MEETING = 1e-3
#: The values of one thing in a scene by key, as far as the file gives them; the reader refuses unknown keys.
Fields = Mapping[str, SceneField]


_AT_LEAST_ZERO = (
    "friction",
    "dynamic_friction",
    "torsional_friction",
    "rolling_friction",
    "viscous_friction",
    "compliance",
)
#: What a scene file may say of a pair of bodies, see :class:`~humanoid_model.scene.PairProperties`.
PAIR_FIELDS = (*_AT_LEAST_ZERO, "restitution", "collide", "method")


class SceneBuilder:
    """Gathers a scene piece by piece, and refuses a piece that can't be used.

    Surfaces, loops and pairs name bodies: add these, and the robots, first; loops before pairs, whose rules come after
    those of welds.
    """

    def __init__(self, path: Path) -> None:
        """Start an empty scene.

        Args:
            path: of the scene's file; robots and meshes given by a path are looked for from its folder.
        """
        self._path = path
        self._robots: list[SceneRobot] = []
        self._bodies: list[SceneBody] = []
        self._surfaces: list[Surface] = []
        self._rules: list[PairRule] = []
        self._loops: list[LoopClosure] = []
        self._lights: list[Light] = []
        self._camera: Camera | None = None
        self._names: set[str] = set()
        self._growth = Growth()

    def build(self, fields: Fields) -> Scene:
        """Return the scene.

        Args:
            fields: ``name``, ``gravity``, ``time_step``, ``self_collision``.

        Raises:
            SceneError: a value can't be used.
        """
        gravity = fields["gravity"].numbers(3) if "gravity" in fields else np.array(STANDARD_GRAVITY)
        return Scene(
            name=_name(fields["name"]) if "name" in fields else self._path.stem,
            robots=tuple(self._robots),
            bodies=tuple(self._bodies),
            surfaces=tuple(self._surfaces),
            rules=tuple(self._rules),
            loops=tuple(self._loops),
            gravity=gravity,
            time_step=_positive(fields["time_step"]) if "time_step" in fields else DEFAULT_TIME_STEP,
            self_collision=fields["self_collision"].boolean() if "self_collision" in fields else False,
            camera=self._camera,
            lights=tuple(self._lights),
            source=str(self._path),
        )

    # Robots and bodies ---------------------------------------------------------------------------------

    def add_robot(self, name: str, fields: Fields, placement: pin.SE3, where: SceneField) -> None:
        """Add a robot.

        Args:
            name: of the robot in the scene.
            fields: ``robot`` (needed: a name or the path of a URDF), ``posture``, ``floating_base``, ``label``.
            placement: of its footprint, or of its root link if it is fixed to the world.
            where: the whole robot in the file.

        Raises:
            SceneError: a value can't be used.
            RobotError: the robot's own files can't be used.
        """
        self._claim(name, where)
        self._growth.add(1, "robots", where.fail)
        if "robot" not in fields:
            raise where.fail("names no robot", "Give the name of a robot, such as hrp2, or the path of a URDF")
        floating = fields["floating_base"].boolean() if "floating_base" in fields else None
        robot = self._load_robot(fields["robot"], floating)
        self._growth.add(robot.model.nv, "moving coordinates", where.fail)
        posture = fields["posture"].string(robot.postures) if "posture" in fields else "zero"
        self._robots.append(
            SceneRobot(
                name=name,
                robot=robot,
                posture=posture,
                placement=placement,
                q=place_robot(robot, posture, placement),
                label=_name(fields["label"]) if "label" in fields else name,
            )
        )

    def add_body(
        self,
        name: str,
        fields: Fields,
        geometries: Sequence[Geometry],
        placement: pin.SE3,
        where: SceneField,
    ) -> None:
        """Add a body; without a mass it is fixed.

        Args:
            name: of the body.
            fields: ``mass``, ``com``, ``inertia``, ``twist``, ``simulated``, ``label``.
            geometries: its shapes, from :meth:`shapes`.
            placement: of the body frame in the world.
            where: the whole body in the file.

        Raises:
            SceneError: a value can't be used.
        """
        self._claim(name, where)
        self._growth.add(1, "bodies", where.fail)
        if not geometries:
            raise where.fail("has no shape", f"Give one of {', '.join(SHAPES)} or more")
        mass = _at_least_zero(fields["mass"]) if "mass" in fields else 0.0
        self._growth.add(6 if mass > 0.0 else 0, "moving coordinates", where.fail)
        com, inertia = _mass_properties(fields, geometries, mass, where)
        twist = fields["twist"].numbers(6) if "twist" in fields else np.zeros(6)
        if mass == 0.0 and twist.any():
            raise fields["twist"].fail(
                f"is {twist.tolist()}, but the body has no mass and stays where it is", "Give a mass, or no twist"
            )
        self._bodies.append(
            SceneBody(
                name=name,
                label=_name(fields["label"]) if "label" in fields else name,
                mass=mass,
                com=com,
                inertia=inertia,
                placement_world_body=placement,
                twist=twist,
                geometries=tuple(geometries),
                simulated=fields["simulated"].boolean() if "simulated" in fields else True,
            )
        )

    def shapes(self, kind: str, fields: Fields, placement: pin.SE3, where: SceneField) -> list[Geometry]:
        """Return a shape of a body, or the many of grains.

        Args:
            kind: one of ``SHAPES``.
            fields: the kind with its size in metres: ``box`` x y z, ``sphere`` radius, ``ellipsoid`` three radii,
                ``cylinder`` and ``capsule`` radius and length, ``mesh`` and ``height_field`` file or rule, ``grains``
                kind; those of ``SHAPE_FIELDS``; ``colour``, ``name``.
            placement: of the shape in the body frame.
            where: the whole shape in the file.

        Raises:
            SceneError: a value can't be used.
            InputError: a mesh or grid file can't be read.
        """
        for name, kinds in SHAPE_FIELDS.items():
            if name in fields and kind not in kinds:
                raise fields[name].fail(f"only a {' or '.join(kinds)} has a {name}, this is a {kind}", "Remove it")
        colour = fields["colour"].numbers(4) if "colour" in fields else np.array(DEFAULT_COLOUR)
        if colour.min() < 0.0 or colour.max() > 1.0:
            raise fields["colour"].fail(f"is {colour.tolist()}", "Give r, g, b, a, each in 0..1")
        if kind == "grains":
            return self._grains(fields, placement, colour, where)
        self._growth.add(1, "shapes", where.fail)
        return [
            Geometry(
                name=_name(fields["name"]) if "name" in fields else "",
                shape=self._solid(kind, fields, where),
                placement=placement,
                colour=colour,
            )
        ]

    # Touching ------------------------------------------------------------------------------------------

    def add_surface(self, name: str, fields: Fields, placement: pin.SE3, where: SceneField) -> None:
        """Add a surface that may be touched; of one with inner corners, its convex pieces, their names numbered.

        Args:
            name: of the surface.
            fields: ``body`` (needed), ``polygon``; ``cylinder`` or ``sphere``, the radius of a curved one.
            placement: of the surface in the body frame, z the outward normal.
            where: the whole surface in the file.

        Raises:
            SceneError: a value can't be used.
        """
        if "body" not in fields:
            raise where.fail("names no body", "Give the name of one of the scene's bodies")
        body = fields["body"].string([body.name for body in self._bodies])
        polygon = fields["polygon"].polygon(3) if "polygon" in fields else None
        problem = None if polygon is None else polygon_problem(polygon, convex=False)
        if problem:
            raise fields["polygon"].fail(problem, "List the corners once around, counter-clockwise")
        forms = [form for form in SurfaceForm if form.value in fields]
        form, radius = (forms[0], fields[forms[0].value].number()) if forms else (SurfaceForm.PLANE, math.inf)
        if len(forms) > 1:
            raise where.fail("is a cylinder and a sphere", "Give the radius of one of them")
        if forms and (problem := curve_problem(polygon, form, radius)):
            raise where.fail(
                f"the outline doesn't fit a {form.value}: {problem}",
                "Give a radius above 0 and a rectangle along x and y, at most half way round",
            )
        pieces = [None] if polygon is None else convex_pieces(polygon)
        self._growth.add(len(pieces), "surfaces", where.fail)
        for number, piece in enumerate(pieces, start=1):
            own = name if len(pieces) == 1 else f"{name}_{number}"
            if any(own == surface.name for surface in self._surfaces):
                raise where.fail(f"the name '{own}' is taken already", "Give each surface its own name")
            self._surfaces.append(Surface(own, body, placement, piece, form, radius))

    def add_loop(self, loop: LoopClosure, where: SceneField, *, where_it_is: bool) -> None:
        """Hold two bodies together; those that are welded don't touch each other, unless a later rule says so.

        Args:
            loop: with names of the scene; its placements are in the frames of the bodies.
            where: the whole loop in the file.
            where_it_is: whether the second frame is where the first one is at the start.

        Raises:
            SceneError: a name can't be used, or the two frames aren't together at the start.
        """
        self._growth.add(1, "loops", where.fail)
        ends = loop.link_a, loop.link_b
        known = self._scene_names()
        for name in ends:
            if name not in known:
                raise where.fail(f"nothing in the scene is called '{name}'", f"Name one of {', '.join(known)}")
        fixed = {body.name for body in self._bodies if body.mass == 0.0 or not body.simulated}
        if ends[0] == ends[1] or fixed.issuperset(ends):
            raise where.fail(f"holds '{ends[0]}' and '{ends[1]}'", "Name two bodies, of which one moves at least")
        if any(loop.name == other.name for other in self._loops):
            raise where.fail(f"the name '{loop.name}' is taken already", "Give each loop its own name")
        first, second = (self._start(name) for name in ends)
        if where_it_is:
            loop = replace(loop, placement_b=second.actInv(first * loop.placement_a))
        apart = (first * loop.placement_a).actInv(second * loop.placement_b)
        errors = dict(zip(ROWS, (*apart.translation, *pin.log3(apart.rotation)), strict=True))
        row = max(loop.rows, key=lambda row: abs(errors[row]))
        if abs(errors[row]) > MEETING:
            raise where.fail(
                f"its two frames are {errors[row]:.4g} apart along {row} at the start",
                "Give them where they meet, or no placement of b: it is then where a's frame is",
            )
        self._loops.append(loop)
        if len(loop.rows) == len(ROWS):
            self._rules.append(PairRule(*ends, collide=False))

    def add_rule(self, first: SceneField, second: SceneField, fields: Fields) -> None:
        """Add the properties of pairs.

        Args:
            first: name or pattern of one of the two.
            second: of the other.
            fields: those of :data:`PAIR_FIELDS`, by name.

        Raises:
            SceneError: a value can't be used, or nothing in the scene has a name.
        """
        self._growth.add(1, "rules of pairs", first.fail)
        names = [placed.name for placed in self._robots] + [body.name for body in self._bodies]
        bodies = self._scene_names()
        for pattern in (first.string(), second.string()):
            if not any(PairRule(pattern, "*").matches(body, body) for body in bodies):
                field = first if pattern == first.string() else second
                raise field.fail(
                    f"nothing in the scene is called '{pattern}'",
                    f"Name a body, robot/link, or a pattern with * for anything; the scene holds {listed(names)}",
                )
        restitution = _at_least_zero(fields["restitution"]) if "restitution" in fields else None
        if restitution is not None and restitution > 1.0:
            raise fields["restitution"].fail(f"is {restitution:g}", "Give a coefficient in 0..1")
        self._rules.append(
            PairRule(
                first.string(),
                second.string(),
                restitution=restitution,
                collide=fields["collide"].boolean() if "collide" in fields else None,
                method=fields["method"].string(CONTACT_METHODS) if "method" in fields else None,
                **{name: _at_least_zero(fields[name]) for name in _AT_LEAST_ZERO if name in fields},
            )
        )

    # View ----------------------------------------------------------------------------------------------

    def set_camera(self, placement: pin.SE3, fields: Fields, rotation: str, unit: float = 1.0) -> None:
        """Set the view point.

        Args:
            placement: of the camera in the world, looking along -z, y up.
            fields: ``look_at`` (a point, instead of a rotation), ``field_of_view``.
            rotation: name of the field that turns the camera.
            unit: of the field of view [rad].

        Raises:
            SceneError: rotation and point are both given, the point is where the camera is, or no picture has such a
                field of view.
        """
        target, turned = fields.get("look_at"), fields.get(rotation)
        if target is not None:
            if turned is not None:
                raise turned.fail("is given beside a point to look at", "Give one of the two")
            point = target.numbers(3)
            if np.linalg.norm(point - placement.translation) < 1e-9:
                raise target.fail(f"is {point.tolist()}, where the camera is", "Give another point to look at")
            placement = Camera.looking_at(placement.translation, point).placement
        angle = unit * fields["field_of_view"].number() if "field_of_view" in fields else FIELD_OF_VIEW
        if not 0.0 < angle < np.pi:
            raise fields["field_of_view"].fail(
                f"is {angle / unit:g}", f"Give an angle between 0 and {np.pi / unit:.4g}"
            )
        self._camera = Camera(placement, angle)

    def add_light(self, fields: Fields, where: SceneField) -> None:
        """Add a light.

        Args:
            fields: ``position`` (needed: x y z w, w = 0 for a direction), ``ambient``, ``diffuse``, ``specular``
                (r g b a).
            where: the whole light in the file.

        Raises:
            SceneError: a value can't be used.
        """
        self._growth.add(1, "lights", where.fail)
        if "position" not in fields:
            raise where.fail("has no position", "Give x, y, z, w; w = 0 for a direction")
        colours = {"ambient": np.array([0.0, 0.0, 0.0, 1.0]), "diffuse": np.ones(4), "specular": np.ones(4)}
        colours = {key: fields[key].numbers(4) if key in fields else dark for key, dark in colours.items()}
        self._lights.append(Light(fields["position"].numbers(4), **colours))

    # Parts ---------------------------------------------------------------------------------------------

    def _claim(self, name: str, where: SceneField) -> None:
        """Robots and bodies share one set of names; ``/`` separates a robot from its links."""
        special = sorted(set(name) & set("/*?[]"))
        if special or not name:
            raise where.fail(
                f"the name '{name}' holds {special[0]}" if special else "the name is empty",
                "Use letters, digits, - and _",
            )
        if name in self._names:
            raise where.fail(f"the name '{name}' is taken already", "Give each robot and body its own name")
        self._names.add(name)

    def _scene_names(self) -> list[str]:
        return Scene("", robots=tuple(self._robots), bodies=tuple(self._bodies)).body_names()

    def _start(self, name: str) -> pin.SE3:
        """Return the placement of a body or link in the world at the start."""
        robot, _, link = name.partition("/")
        for placed in self._robots:
            if link and placed.name == robot:
                return placed.robot.link_placements(placed.q)[link]
        return next(body.placement_world_body for body in self._bodies if body.name == name)

    def _load_robot(self, field: SceneField, floating_base: bool | None) -> Robot:
        """Return a robot by name, or by a path that starts from the scene's folder."""
        given: str | Path = field.string()
        if Path(given).suffix or "/" in str(given):
            found = resolve_mesh_path(str(given), self._path.parent, field.fail)
            if found is None:
                raise field.fail(f"there is no file '{given}'", "Give the path of a URDF from the scene's folder")
            given = found
        try:
            return load_robot(given, floating_base=floating_base)
        except RobotError as problem:
            if problem.source is None:  # nothing is wrong in the robot's files: it is what the scene asks for
                raise field.fail(problem.problem, problem.remedy) from None
            raise

    def _file(self, field: SceneField, what: str) -> Path:
        path = resolve_mesh_path(field.string(), self._path.parent, field.fail)
        if path is None:
            raise field.fail(
                f"there is no file '{field.string()}'", f"Give the path of a {what} from the scene's folder"
            )
        return path

    def _height_field(self, fields: Fields, where: SceneField) -> HeightField:
        source = fields["height_field"]
        size = _sizes(_needed(fields, "size", where, "Give the extent along x and y [m]"), 2)
        if Path(source.string()).suffix:
            for name in ("cells", "wavelength", "seed"):
                if name in fields:
                    raise fields[name].fail("is given beside a file", "Remove it, the grid is the file's")
            heights = read_heights(self._file(source, "grid"))
            self._growth.add(heights.size, "points of height fields", where.fail)
            return HeightField(size, heights * (fields["height"].number() if "height" in fields else 1.0))
        rule = source.string(GENERATORS)
        height = _needed(fields, "height", where, "Give the height [m]").number()
        cells = _needed(fields, "cells", where, "Give the number of cells along x and y")
        counts = cells.numbers(2)
        if counts.min() < 1.0 or (counts != np.floor(counts)).any():
            raise cells.fail(f"is {counts.tolist()}", "Give two whole numbers, 1 or more")
        nx, ny = (int(count) for count in counts)
        self._growth.add((nx + 1) * (ny + 1), "points of height fields", cells.fail)
        wavelength = 1.0
        if rule == "waves":
            wavelength = _positive(_needed(fields, "wavelength", where, "Give the length of a wave [m]"))
        made = generate_heights(rule, size, (nx, ny), height, wavelength, _seed(fields))
        return HeightField(size, made)

    def _grains(self, fields: Fields, placement: pin.SE3, colour: np.ndarray, where: SceneField) -> list[Geometry]:
        kind = fields["grains"].string(GRAIN_KINDS)
        count = _count(_needed(fields, "count", where, "Give the number of grains"))
        self._growth.add(count, "shapes", fields["count"].fail)
        size = _sizes(_needed(fields, "size", where, "Give the extent along x and y [m]"), 2)
        radius = _sizes(_needed(fields, "radius", where, "Give the least and the largest radius [m]"), 2)
        if radius[0] > radius[1]:
            raise fields["radius"].fail(f"is {radius.tolist()}", "Give the smaller one first")
        sunk = _at_least_zero(fields["sunk"]) if "sunk" in fields else 0.0
        if sunk > 1.0:
            raise fields["sunk"].fail(f"is {sunk:g}", "Give a part in 0..1")
        return grains(kind, count, size, radius, sunk, _seed(fields), placement, colour)

    def _solid(self, kind: str, fields: Fields, where: SceneField) -> Shape:
        if kind == "half_space":
            return HalfSpace()
        size = fields[kind]
        if kind == "mesh":
            collision = fields["collision"].string(MESH_COLLISIONS) if "collision" in fields else MESH_COLLISIONS[0]
            scale = _sizes(fields["scale"], 3) if "scale" in fields else np.ones(3)
            mesh = Mesh(self._file(size, "mesh"), scale, collision)
            coal_geometry(mesh)  # refuses a file that is no mesh here, not at the first step of a simulation
            return mesh
        if kind == "height_field":
            return self._height_field(fields, where)
        if kind == "sphere":
            return Sphere(_positive(size))
        if kind == "box":
            return Box(_sizes(size, 3))
        if kind == "ellipsoid":
            return Ellipsoid(_sizes(size, 3))
        radius, length = (float(value) for value in _sizes(size, 2))
        return Cylinder(radius, length) if kind == "cylinder" else Capsule(radius, length)


def _needed(fields: Fields, key: str, where: SceneField, remedy: str) -> SceneField:
    if key not in fields:
        raise where.fail(f"has no {key}", remedy)
    return fields[key]


def _name(field: SceneField) -> str:
    return check_name(field.string(), field.fail)


def _count(field: SceneField) -> int:
    value = field.number()
    if value < 1.0 or value != int(value):
        raise field.fail(f"is {value:g}", "Give a whole number, 1 or more")
    return int(value)


def _seed(fields: Fields) -> int:
    value = _at_least_zero(fields["seed"]) if "seed" in fields else 0.0
    if value != int(value):
        raise fields["seed"].fail(f"is {value:g}", "Give a whole number, 0 or more")
    return int(value)


def _mass_properties(
    fields: Fields, geometries: Sequence[Geometry], mass: float, where: SceneField
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre of mass and inertia about it: as given, else those of a uniform body of the shapes."""
    if mass > 0.0 and any(isinstance(geometry.shape, HalfSpace) for geometry in geometries):
        raise where.fail("has a mass, but a half-space is endless", "Leave the mass out, or give another shape")
    com = fields["com"].numbers(3) if "com" in fields else np.zeros(3)
    if "inertia" in fields:
        inertia = fields["inertia"].numbers(9).reshape(3, 3)
        if np.abs(inertia - inertia.T).max() > 1e-9 * np.abs(inertia).max():
            raise fields["inertia"].fail(
                f"is {inertia.tolist()}, which is not symmetric", "Give the 9 entries row by row"
            )
        problem = inertia_problem(inertia)
        if problem is None and mass > 0.0 and np.linalg.eigvalsh(inertia)[0] <= 0.0:
            problem = f"is {inertia.tolist()}: the body could spin about an axis without inertia"
        if problem:
            raise fields["inertia"].fail(problem, "Give the inertia about the centre of mass, kg m^2")
        return com, inertia
    if mass == 0.0:
        return com, np.zeros((3, 3))
    if "com" in fields:
        raise fields["com"].fail("is given without an inertia", "Give both, or neither for a uniform body")
    uniform = uniform_inertia(geometries, mass)
    if uniform is None:
        raise where.fail(
            f"has a mass of {mass:g} kg, but its shapes enclose no volume",
            "Give the inertia and the centre of mass, close open meshes, or leave the mass out",
        )
    return np.array(uniform.lever), np.array(uniform.inertia)


def _positive(field: SceneField) -> float:
    value = field.number()
    if value <= 0.0:
        raise field.fail(f"is {value:g}", "Give more than 0")
    return value


def _at_least_zero(field: SceneField) -> float:
    value = field.number()
    if value < 0.0:
        raise field.fail(f"is {value:g}", "Give 0 or more")
    return value


def _sizes(field: SceneField, count: int) -> np.ndarray:
    values = field.numbers(count)
    if values.min() <= 0.0:
        raise field.fail(f"is {values.tolist()}", f"Give {count} numbers, each more than 0")
    return values
