# SPDX-License-Identifier: Apache-2.0
"""Scenes in YAML: what is read, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scene_files import ONE_LINK_URDF, TETRAHEDRON_WRL
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.contact import SurfaceForm
from humanoid_model.convex_polygon import polygon_area
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, Sphere
from humanoid_model.errors import InputError, RobotError, SceneError
from humanoid_model.scene import DEFAULT_TIME_STEP, PairRule, Scene
from humanoid_model.scene_file import read_scene_yaml


def read(folder: Path, text: str) -> Scene:
    (folder / "scene.yaml").write_text(text, encoding="utf-8")
    return read_scene_yaml(folder / "scene.yaml")


FULL = """\
name: everything
gravity: [0.1, 0, -9.8]
time_step: 0.002
robots:
  arm: {robot: arm.urdf, floating_base: true, label: "An arm", xyz: [1, 2, 3], rpy: [0, 0, 1.5707963267948966]}
bodies:
  floor: {shapes: [{half_space: true}]}
  thing:
    label: A thing
    mass: 2
    com: [0.1, 0, 0]
    inertia: [1, 0.1, 0, 0.1, 2, 0, 0, 0, 2.5]
    twist: [1, 2, 3, 4, 5, 6]
    simulated: false
    xyz: [0, 0, 1]
    shapes:
      - {name: a, box: [1, 2, 3], colour: [0.1, 0.2, 0.3, 0.4], xyz: [1, 0, 0]}
      - {sphere: 0.5}
      - {cylinder: [0.1, 2]}
      - {capsule: [0.2, 3]}
      - {ellipsoid: [0.1, 0.2, 0.3]}
      - {mesh: shape.wrl, scale: [1, 2, 3]}
  ball: {mass: 1e1, shapes: [{sphere: 0.5}]}
surfaces:
  top: {body: thing, xyz: [0, 0, 1.5], polygon: [[0, 0], [1, 0], [0, 1]]}
  ground: {body: floor}
pairs:
  - {between: ["*", "*"], friction: 0.7, restitution: 0.2}
  - {between: ["arm/*", floor], friction: 0.5}
  - {between: [ball, thing], collide: false}
camera: {xyz: [3, 0, 1], look_at: [0, 0, 1]}
lights:
  - {position: [1, 2, 3, 0], ambient: [0.1, 0.1, 0.1, 1]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "arm.urdf").write_text(ONE_LINK_URDF, encoding="utf-8")
    (tmp_path / "shape.wrl").write_text(TETRAHEDRON_WRL, encoding="utf-8")
    return tmp_path


def test_everything_that_a_file_can_say(folder: Path) -> None:
    scene = read(folder, FULL)
    assert (scene.name, scene.time_step) == ("everything", 0.002)
    assert_array_equal(scene.gravity, [0.1, 0.0, -9.8])
    assert scene.source == str(folder / "scene.yaml")

    (arm,) = scene.robots
    assert (arm.name, arm.label, arm.posture, arm.robot.floating_base) == ("arm", "An arm", "zero", True)
    # The sphere of 0.1 m rests on the footprint, which is at z = 3, turned to +y.
    assert_allclose(arm.q, [1, 2, 3.1, 0, 0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-12)

    floor, thing, ball = scene.bodies
    assert (floor.fixed, thing.fixed) == (True, False)
    assert floor.geometries[0].shape == HalfSpace()
    assert (thing.label, thing.mass, thing.simulated) == ("A thing", 2.0, False)
    assert_array_equal(thing.com, [0.1, 0, 0])
    assert_array_equal(thing.inertia, [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]])
    assert_array_equal(thing.twist, [1, 2, 3, 4, 5, 6])
    assert_array_equal(thing.placement_world_body.translation, [0, 0, 1])
    assert [geometry.shape for geometry in thing.geometries] == [
        Box(np.array([1.0, 2.0, 3.0])),
        Sphere(0.5),
        Cylinder(0.1, 2.0),
        Capsule(0.2, 3.0),
        Ellipsoid(np.array([0.1, 0.2, 0.3])),
        Mesh(folder.resolve() / "shape.wrl", np.array([1.0, 2.0, 3.0])),
    ]
    assert thing.geometries[0].name == "a"
    assert_array_equal(thing.geometries[0].colour, [0.1, 0.2, 0.3, 0.4])
    assert_array_equal(thing.geometries[0].placement.translation, [1, 0, 0])
    assert (ball.label, ball.simulated) == ("ball", True)
    assert_allclose(ball.inertia, np.eye(3) * 0.4 * 10 * 0.25)

    top, ground = scene.surfaces
    assert (top.name, top.body, ground.polygon) == ("top", "thing", None)
    assert_array_equal(top.polygon, [[0, 0], [1, 0], [0, 1]])
    assert_array_equal(top.placement_body_surface.translation, [0, 0, 1.5])

    assert scene.rules[1] == PairRule("arm/*", "floor", friction=0.5)
    assert scene.pairs("floor", "arm/base").friction == 0.5
    assert scene.pairs("floor", "arm/base").restitution == 0.2
    assert not scene.collides("thing", "ball")
    assert scene.collides("thing", "floor")

    assert scene.camera is not None
    # From (3, 0, 1) towards -x: right is +y, up is +z, back is +x.
    assert_allclose(scene.camera.placement.rotation, [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=1e-15)
    (light,) = scene.lights
    assert_array_equal(light.position, [1, 2, 3, 0])
    assert_array_equal(light.ambient, [0.1, 0.1, 0.1, 1])
    assert_array_equal(light.diffuse, np.ones(4))


def test_what_is_left_out(folder: Path) -> None:
    scene = read(folder, "bodies: {ball: {mass: 1, shapes: [{sphere: 1}]}}")
    assert (scene.name, scene.time_step, scene.camera, scene.lights) == ("scene", DEFAULT_TIME_STEP, None, ())
    assert_array_equal(scene.gravity, [0, 0, -9.81])
    assert scene.bodies[0].placement_world_body == pin.SE3.Identity()
    assert scene.pairs("ball", "ball").friction == 0.4
    assert scene.surfaces == scene.robots == scene.rules == ()


def test_a_surface_may_be_part_of_a_cylinder_or_of_a_sphere(folder: Path) -> None:
    path = folder / "round.yaml"
    outline = "polygon: [[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]]"
    rail, knob = (f"{{body: ball, {form}, {outline}}}" for form in ("cylinder: 0.07", "sphere: 0.2"))
    path.write_text(BALL + f"surfaces:\n  rail: {rail}\n  knob: {knob}")
    rail, knob = read_scene_yaml(path).surfaces
    assert (rail.form, rail.radius) == (SurfaceForm.CYLINDER, 0.07)
    assert (knob.form, knob.radius) == (SurfaceForm.SPHERE, 0.2)


@pytest.mark.feature("001-F010")
def test_a_surface_with_an_inner_corner_becomes_convex_ones(folder: Path) -> None:
    path = folder / "corner.yaml"
    shape = "[[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]]"
    path.write_text(BALL + f"surfaces:\n  s: {{body: ball, polygon: {shape}, xyz: [0, 0, 1]}}")
    first, second = read_scene_yaml(path).surfaces
    assert (first.name, second.name, first.body) == ("s_1", "s_2", "ball")
    assert first.placement_body_surface.translation[2] == second.placement_body_surface.translation[2] == 1.0
    assert polygon_area(first.polygon) + polygon_area(second.polygon) == pytest.approx(4.0)


def test_camera_turned_and_camera_that_looks_straight_down(folder: Path) -> None:
    ball = "bodies: {ball: {mass: 1, shapes: [{sphere: 1}]}}\n"
    turned = read(folder, ball + "camera: {xyz: [0, 0, 5], rpy: [0, 0, 0.5]}").camera
    assert turned is not None
    assert_allclose(turned.placement.rotation, pin.rpy.rpyToMatrix(0, 0, 0.5))
    down = read(folder, ball + "camera: {xyz: [0, 0, 5], look_at: [0, 0, 0]}").camera
    assert down is not None
    assert_allclose(down.placement.rotation, np.eye(3), atol=1e-15)


BALL = "bodies:\n  ball: {mass: 1, shapes: [{sphere: 1}]}\n"

BAD = {
    "not YAML": ("bodies: {ball: [", 1, None, "not YAML: ", "Mend the YAML there"),
    "empty file": ("# nothing\n", None, None, "is empty", "Give key: value pairs"),
    "a list at the top": ("- 1", 1, None, "is a list, not a mapping", "Give key: value pairs"),
    "unknown key": (BALL + "gravitation: 1", 3, "gravitation", "unknown key", "Known keys: name, gravity"),
    "unknown key of a body": (
        "bodies:\n  b:\n    mas: 1\n    shapes: [{sphere: 1}]", 3, "bodies.b.mas", "unknown key", "label, mass, com",
    ),
    "a key twice": (BALL + BALL, 3, "bodies", "key given twice", "Keep one"),
    "NaN gravity": (BALL + "gravity: [0, 0, nan]", 3, "gravity[2]", "is nan", "Give a finite number"),
    "gravity of two numbers": (BALL + "gravity: [0, 1]", 3, "gravity", "holds 2 values", "Give 3 numbers"),
    "zero time step": (BALL + "time_step: 0", 3, "time_step", "is 0", "Give more than 0"),
    "time step that is a word": (BALL + "time_step: fast", 3, "time_step", "is 'fast', not a number", "finite"),
    "unknown robot": (
        "robots:\n  r: {robot: hrp22}", 2, "robots.r.robot", "unknown robot 'hrp22'", "Give the path of a URDF",
    ),
    "no robot": ("robots:\n  r: {posture: zero}", 2, "robots.r", "names no robot", "such as hrp2"),
    "robot file missing": (
        "robots:\n  r: {robot: no/arm.urdf}", 2, "robots.r.robot", "there is no file 'no/arm.urdf'", "path of a URDF",
    ),
    "unknown posture": (
        "robots:\n  r: {robot: arm.urdf, posture: siting}", 2, "robots.r.posture", "is 'siting'", "Use one of zero",
    ),
    "floating base that is a number": (
        "robots:\n  r: {robot: arm.urdf, floating_base: 2}", 2, "robots.r.floating_base", "is '2'", "true or false",
    ),
    "name taken": (
        "robots:\n  ball: {robot: arm.urdf}\n" + BALL, 4, "bodies.ball", "the name 'ball' is taken", "its own name",
    ),
    "name with a slash": (
        "bodies:\n  a/b: {shapes: [{sphere: 1}]}", 2, "bodies.a/b", "the name 'a/b' holds /", "Use letters, digits",
    ),
    "empty name": ("bodies:\n  '': {shapes: [{sphere: 1}]}", 2, "bodies.", "the name is empty", "Use letters"),
    "no shapes": ("bodies:\n  b: {mass: 1}", 2, "bodies.b", "has no shape", "Give one of box, sphere"),
    "two shapes in one": (
        "bodies:\n  b: {shapes: [{sphere: 1, box: [1, 1, 1]}]}", 2, "bodies.b.shapes[0]", "names 2 shapes", "Give one",
    ),
    "half-space false": (
        "bodies:\n  b: {shapes: [{half_space: false}]}", 2, "bodies.b.shapes[0].half_space", "is false", "true",
    ),
    "negative size": (
        "bodies:\n  b: {shapes: [{box: [1, -1, 1]}]}", 2, "bodies.b.shapes[0].box", "is [1.0, -1.0, 1.0]", "than 0",
    ),
    "zero radius": (
        "bodies:\n  b: {shapes: [{sphere: 0}]}", 2, "bodies.b.shapes[0].sphere", "is 0", "Give more than 0",
    ),
    "cylinder of three numbers": (
        "bodies:\n  b: {shapes: [{cylinder: [1, 1, 1]}]}", 2, "bodies.b.shapes[0].cylinder", "holds 3 values", "Give 2",
    ),
    "missing mesh": (
        "bodies:\n  b: {shapes: [{mesh: no.wrl}]}", 2, "bodies.b.shapes[0].mesh", "there is no file 'no.wrl'", "mesh",
    ),
    "scale of a sphere": (
        "bodies:\n  b: {shapes: [{sphere: 1, scale: [1, 1, 1]}]}",
        2, "bodies.b.shapes[0].scale", "only a mesh has a scale, this is a sphere", "Remove it",
    ),
    "zero scale": (
        "bodies:\n  b: {shapes: [{mesh: shape.wrl, scale: [1, 0, 1]}]}",
        2, "bodies.b.shapes[0].scale", "is [1.0, 0.0, 1.0]", "each more than 0",
    ),
    "colour out of range": (
        "bodies:\n  b: {shapes: [{sphere: 1, colour: [1, 2, 0, 1]}]}",
        2, "bodies.b.shapes[0].colour", "is [1.0, 2.0, 0.0, 1.0]", "each in 0..1",
    ),
    "negative mass": (
        "bodies:\n  b: {mass: -1, shapes: [{sphere: 1}]}", 2, "bodies.b.mass", "is -1", "Give 0 or more",
    ),
    "mass of a half-space": (
        "bodies:\n  b: {mass: 1, shapes: [{half_space: true}]}", 2, "bodies.b", "half-space is endless", "mass out",
    ),
    "mass without volume": (
        "bodies:\n  b: {mass: 3, shapes: [{mesh: flat.wrl}]}",
        2, "bodies.b", "has a mass of 3 kg, but its shapes enclose no volume", "Give the inertia",
    ),
    "centre of mass without inertia": (
        "bodies:\n  b: {mass: 1, com: [0, 0, 0], shapes: [{sphere: 1}]}",
        2, "bodies.b.com", "is given without an inertia", "Give both",
    ),
    "asymmetric inertia": (
        "bodies:\n  b:\n    mass: 1\n    inertia: [1, 2, 0, 0, 1, 0, 0, 0, 1]\n    shapes: [{sphere: 1}]",
        4, "bodies.b.inertia", "[[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], which is not symmetric", "row",
    ),
    "impossible inertia": (
        "bodies:\n  b: {mass: 1, inertia: [1, 0, 0, 0, 1, 0, 0, 0, 3], shapes: [{sphere: 1}]}",
        2, "bodies.b.inertia", "principal moments (1, 1, 3)", "about the centre of mass, kg m^2",
    ),
    "no inertia about an axis": (
        "bodies:\n  b: {mass: 1, inertia: [1, 0, 0, 0, 1, 0, 0, 0, 0], shapes: [{sphere: 1}]}",
        2, "bodies.b.inertia", "could spin about an axis without inertia", "kg m^2",
    ),
    "inertia of six numbers": (
        "bodies:\n  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], shapes: [{sphere: 1}]}",
        2, "bodies.b.inertia", "holds 6 values", "Give 9 numbers",
    ),
    "fixed body that moves": (
        "bodies:\n  b: {twist: [1, 0, 0, 0, 0, 0], shapes: [{sphere: 1}]}",
        2, "bodies.b.twist", "is [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], but the body has no mass", "Give a mass",
    ),
    "loop of nothing": (
        BALL + "loops:\n  l: {a: {link: ball}, b: {link: bat}, kind: frame}",
        4, "loops.l", "nothing in the scene is called 'bat'", "Name one of ball",
    ),
    "loop of one body": (
        BALL + "loops:\n  l: {a: {link: ball}, b: {link: ball}, kind: frame}",
        4, "loops.l", "holds 'ball' and 'ball'", "of which one moves",
    ),
    "loop that is open": (
        BALL + "  wall: {shapes: [{half_space: true}]}\nloops:\n"
        "  l: {a: {link: ball, xyz: [0, 0, 1]}, b: {link: wall, xyz: [0, 0, 0]}, kind: point}",
        5, "loops.l", "apart along z at the start", "Give them where they meet",
    ),
    "infinite place": (
        "bodies:\n  b: {xyz: [0, .inf, 0], shapes: [{sphere: 1}]}", 2, "bodies.b.xyz[1]", "is .inf", "finite number",
    ),
    "curved surface without an outline": (
        BALL + "surfaces:\n  s: {body: ball, cylinder: 0.1}", 4, "surfaces.s", "cylinder: there is none", "rectangle",
    ),
    "curved surface of no radius": (
        BALL + "surfaces:\n  s: {body: ball, sphere: 0}", 4, "surfaces.s", "the radius is 0 m", "above 0",
    ),
    "curved surface of another outline": (
        BALL + "surfaces:\n  s: {body: ball, cylinder: 0.1, polygon: [[0, 0], [0.1, 0], [0, 0.1]]}",
        4, "surfaces.s", "it is no rectangle along x and y", "rectangle",
    ),
    "more than half of a cylinder": (
        BALL + "surfaces:\n  s: {body: ball, cylinder: 0.1, polygon: [[0, 0], [1, 0], [1, 0.4], [0, 0.4]]}",
        4, "surfaces.s", "0.4 m wide in y, and half way round is 0.314159 m", "half way round",
    ),
    "a sphere's pole": (
        BALL + "surfaces:\n  s: {body: ball, sphere: 0.1, polygon: [[0, 0], [0.2, 0], [0.2, 0.1], [0, 0.1]]}",
        4, "surfaces.s", "reaches to 0.2 m in x, and the poles are at 0.15708 m", "rectangle",
    ),
    "surface of two forms": (
        BALL + "surfaces:\n  s: {body: ball, sphere: 0.1, cylinder: 0.1}",
        4, "surfaces.s", "a cylinder and a sphere", "one",
    ),
    "surface of no body": (BALL + "surfaces:\n  s: {}", 4, "surfaces.s", "names no body", "one of the scene's bodies"),
    "surface of an unknown body": (
        BALL + "surfaces:\n  s: {body: bal}", 4, "surfaces.s.body", "is 'bal'", "Use one of ball",
    ),
    "clockwise polygon": (
        BALL + "surfaces:\n  s: {body: ball, polygon: [[0, 0], [0, 1], [1, 0]]}",
        4, "surfaces.s.polygon", "not an outline in counter-clockwise order", "once around",
    ),
    "polygon whose edges cross": (
        BALL + "surfaces:\n  s: {body: ball, polygon: [[0, 0], [3, 0], [3, 2], [1, -1], [1, 1], [0, 1]]}",
        4, "surfaces.s.polygon", "edges cross", "once around",
    ),
    "polygon of two corners": (
        BALL + "surfaces:\n  s: {body: ball, polygon: [[0, 0], [0, 1]]}",
        4, "surfaces.s.polygon", "holds 2 vertices", "Give 3 or more",
    ),
    "pair of nothing": (BALL + "pairs:\n  - {friction: 1}", 4, "pairs[0]", "names no pair", "between: [name, name]"),
    "pair of three": (
        BALL + "pairs:\n  - {between: [ball, ball, ball]}", 4, "pairs[0].between", "holds 3 names", "Give two",
    ),
    "unknown body in a pair": (
        BALL + "pairs:\n  - {between: [ball, bell]}",
        4, "pairs[0].between[1]", "nothing in the scene is called 'bell'", "the scene holds ball",
    ),
    "negative friction": (
        BALL + "pairs:\n  - {between: ['*', '*'], friction: -0.1}", 4, "pairs[0].friction", "is -0.1", "0 or more",
    ),
    "restitution above 1": (
        BALL + "pairs:\n  - {between: ['*', '*'], restitution: 1.5}", 4, "pairs[0].restitution", "is 1.5", "in 0..1",
    ),
    "camera that looks at itself": (
        BALL + "camera: {xyz: [1, 2, 3], look_at: [1, 2, 3]}",
        3, "camera.look_at", "is [1.0, 2.0, 3.0], where the camera is", "another point",
    ),
    "camera that sees more than half of the world": (
        BALL + "camera: {xyz: [1, 2, 3], field_of_view: 3.2}",
        3, "camera.field_of_view", "is 3.2", "between 0 and 3.142",
    ),
    "camera turned twice": (
        BALL + "camera: {xyz: [1, 2, 3], rpy: [0, 0, 1], look_at: [0, 0, 0]}",
        3, "camera.rpy", "is given beside a point to look at", "Give one of the two",
    ),
    "light without position": (BALL + "lights: [{diffuse: [1, 1, 1, 1]}]", 3, "lights[0]", "has no position", "w = 0"),
    "light's position of three numbers": (
        BALL + "lights: [{position: [1, 1, 1]}]", 3, "lights[0].position", "holds 3 values", "Give 4 numbers",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_refused(folder: Path, case: str) -> None:
    text, line, element, problem, remedy = BAD[case]
    flat = TETRAHEDRON_WRL.split("coordIndex")[0] + "coordIndex [0 1 2 -1] } }\n"
    (folder / "flat.wrl").write_text(flat, encoding="utf-8")
    with pytest.raises(SceneError) as caught:
        read(folder, text)
    assert (caught.value.line, caught.value.element) == (line, element)
    assert caught.value.source == str(folder / "scene.yaml")
    assert problem in caught.value.problem
    assert remedy in (caught.value.remedy or "")


def test_message_as_a_person_reads_it(folder: Path) -> None:
    with pytest.raises(SceneError) as caught:
        read(folder, BALL + "time_step: -1")
    assert str(caught.value) == f"{folder}/scene.yaml:3: time_step: is -1. Give more than 0."


def test_missing_file(folder: Path) -> None:
    with pytest.raises(SceneError, match=r"no\.yaml: can't be read: No such file or directory"):
        read_scene_yaml(folder / "no.yaml")


def test_errors_of_the_files_that_a_scene_names_keep_their_place(folder: Path) -> None:
    (folder / "arm.urdf").write_text(ONE_LINK_URDF.replace('value="1"', 'value="-1"'), encoding="utf-8")
    with pytest.raises(RobotError, match=r"arm\.urdf:4: <mass>: .*-1 kg"):
        read(folder, "robots: {arm: {robot: arm.urdf}}")
    (folder / "shape.wrl").write_text("solid", encoding="utf-8")
    with pytest.raises(InputError, match=r"shape\.wrl:1: starts with 'solid'"):
        read(folder, "bodies: {b: {shapes: [{mesh: shape.wrl}]}}")
    (folder / "shape.stl").write_text("no mesh", encoding="utf-8")
    with pytest.raises(InputError, match=r"shape\.stl: mesh can't be loaded"):
        read(folder, "bodies: {b: {shapes: [{mesh: shape.stl}]}}")


def test_methods_of_pairs_self_collision_and_what_meshes_collide_as(tmp_path: Path) -> None:
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    path = tmp_path / "scene.yaml"
    path.write_text(
        "self_collision: true\nbodies:\n  a: {mass: 1, shapes: [{mesh: t.obj, collision: exact}]}\n"
        "  b: {shapes: [{box: [1, 1, 1]}]}\n"
        "pairs:\n  - {between: [a, b], method: penetration}\n  - {between: [b, b], method: boolean}\n"
    )
    scene = read_scene_yaml(path)
    assert scene.self_collision
    assert scene.bodies[0].geometries[0].shape.collision == "exact"
    assert scene.pairs("b", "a").method == "penetration"
    assert scene.pairs("a", "a").method == "patch"


def test_height_fields_and_grains(tmp_path: Path) -> None:
    np.save(tmp_path / "grid.npy", np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    path = tmp_path / "scene.yaml"
    path.write_text(
        "bodies:\n  ground:\n    shapes:\n"
        "      - {height_field: grid.npy, size: [2, 1], height: 0.1}\n"
        "      - {height_field: slope, size: [2, 1], cells: [4, 2], height: 0.5}\n"
        "      - {grains: boxes, count: 20, size: [1, 0.5], radius: [0.01, 0.02], sunk: 0.25, seed: 3,"
        " xyz: [0, 0, 1]}\n"
    )
    read, slope, *stones = read_scene_yaml(path).bodies[0].geometries
    assert_allclose(read.shape.heights, [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]])
    assert_allclose(slope.shape.heights[0], [0, 0.125, 0.25, 0.375, 0.5])
    assert slope.shape.heights.shape == (3, 5)
    assert len(stones) == 20
    for stone in stones:
        radius = (np.prod(stone.shape.size) * 3.0 / (4.0 * np.pi)) ** (1 / 3)  # of the ball of the same volume
        assert 0.01 <= radius <= 0.02
        assert stone.placement.translation[2] == pytest.approx(1.0 + 0.5 * radius)
        assert np.abs(stone.placement.translation[:2] / [0.5, 0.25]).max() <= 1.0
    again = read_scene_yaml(path).bodies[0].geometries[2:]
    assert all(a == b for a, b in zip(stones, again, strict=True))


@pytest.mark.parametrize(
    ("shape", "element", "problem"),
    [
        ("{mesh: t.obj, collision: round}", "collision", "'round'"),
        ("{box: [1, 1, 1], collision: exact}", "collision", "only a mesh"),
        ("{height_field: slope, cells: [2, 2], height: 1}", "shapes[0]", "has no size"),
        ("{height_field: slope, size: [2, 1], height: 1, cells: [0, 2]}", "cells", "[0.0, 2.0]"),
        ("{height_field: waves, size: [2, 1], height: 1, cells: [2, 2]}", "shapes[0]", "has no wavelength"),
        ("{height_field: bumps, size: [2, 1], height: 1, cells: [2, 2]}", "height_field", "'bumps'"),
        ("{height_field: none.npy, size: [2, 1]}", "height_field", "no file 'none.npy'"),
        ("{grains: spheres, count: 1.5, size: [1, 1], radius: [1, 2]}", "count", "1.5"),
        ("{grains: spheres, count: 2, size: [1, 1], radius: [2, 1]}", "radius", "[2.0, 1.0]"),
        ("{grains: spheres, count: 2, size: [1, -1], radius: [1, 2]}", "size", "-1"),
        ("{grains: spheres, count: 2, size: [1, 1], radius: [1, 2], sunk: 2}", "sunk", "2"),
        ("{grains: pebbles, count: 2, size: [1, 1], radius: [1, 2]}", "grains", "'pebbles'"),
    ],
)
def test_refused_ground(tmp_path: Path, shape: str, element: str, problem: str) -> None:
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    path = tmp_path / "scene.yaml"
    path.write_text(f"bodies:\n  b: {{shapes: [{shape}]}}\n")
    with pytest.raises(SceneError) as caught:
        read_scene_yaml(path)
    assert str(caught.value.element).endswith(element)
    assert problem in caught.value.problem


def test_refused_method(tmp_path: Path) -> None:
    path = tmp_path / "scene.yaml"
    path.write_text("bodies:\n  b: {shapes: [{sphere: 1}]}\npairs:\n  - {between: [b, b], method: exact}\n")
    with pytest.raises(SceneError, match="patch, distance, boolean, penetration, continuous"):
        read_scene_yaml(path)
