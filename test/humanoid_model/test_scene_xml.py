# SPDX-License-Identifier: Apache-2.0
"""Scenes in XML: the sample of specification 000 section 1.6, the same content as in YAML, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from fixtures.scene_files import ONE_LINK_URDF, TETRAHEDRON_WRL
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.description import Mesh
from humanoid_model.errors import SceneError
from humanoid_model.files import find_resource
from humanoid_model.scene import Scene
from humanoid_model.scene_file import read_scene_yaml
from humanoid_model.scene_xml import read_scene_xml


def read(folder: Path, text: str) -> Scene:
    (folder / "scene.xml").write_text(text, encoding="utf-8")
    return read_scene_xml(folder / "scene.xml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "arm.urdf").write_text(ONE_LINK_URDF, encoding="utf-8")
    (tmp_path / "robot_vrml.xml").write_text(ONE_LINK_URDF, encoding="utf-8")
    (tmp_path / "shape.wrl").write_text(TETRAHEDRON_WRL, encoding="utf-8")
    (tmp_path / "groundBlueLight.wrl").write_text(TETRAHEDRON_WRL, encoding="utf-8")
    return tmp_path


# The values of Fig. 3.2.
SAMPLE = """\
<?xml version="1.0"?>
<Universe>
  <MultiBody id="robot">
    <File>robot_vrml.xml</File>
    <Rotation angle="0" x="0" y="1" z="0"/>
    <Translation x="-0.6" y="0.7" z="0.725"/>
  </MultiBody>
  <Body id="ground">
    <File>groundBlueLight.wrl</File>
    <Mass>0</Mass>
    <CoM>0 0 0</CoM>
    <Inertia>0 0 0 0 0 0 0 0 0</Inertia>
    <Translation x="1.0" y="1.0" z="0.02"/>
    <Label>Ground1</Label>
  </Body>
  <Configurations>
    <Camera>
      <Rotation angle="120.0" x="-0.577" y="-0.577" z="-0.577"/>
      <Translation x="0" y="1" z="4"/>
    </Camera>
    <Light>
      <LightAttribute type="position" x="0.5" y="0.5" z="0.1" w="0"/>
      <LightAttribute type="ambient" r="0.15" g="0.15" b="0.25" a="1"/>
      <LightAttribute type="diffuse" r="0.95" g="0.95" b="1" a="1"/>
      <LightAttribute type="specular" r="1" g="1" b="1" a="1"/>
    </Light>
    <Light>
      <LightAttribute type="position" x="0" y="-5" z="3" w="0"/>
      <LightAttribute type="ambient" r="0.2" g="0.2" b="0.6" a="1"/>
      <LightAttribute type="diffuse" r="0.825" g="0.66" b="0.165" a="1"/>
      <LightAttribute type="specular" r="1" g="1" b="1" a="1"/>
    </Light>
  </Configurations>
</Universe>
"""


@pytest.mark.feature("000-F008", "000-F009", "000-F010", "000-F011", "000-F012", "000-F013")
def test_sample_of_the_thesis(folder: Path) -> None:
    scene = read(folder, SAMPLE)
    (robot,) = scene.robots
    assert (robot.name, robot.robot.name) == ("robot", "arm")
    assert_array_equal(robot.placement.translation, [-0.6, 0.7, 0.725])
    assert_array_equal(robot.placement.rotation, np.eye(3))
    (ground,) = scene.bodies
    assert (ground.name, ground.label, ground.mass, ground.fixed) == ("ground", "Ground1", 0.0, True)
    assert_array_equal(ground.placement_world_body.translation, [1.0, 1.0, 0.02])
    assert [geometry.shape for geometry in ground.geometries] == [
        Mesh(folder.resolve() / "groundBlueLight.wrl", np.ones(3))
    ]
    first, second = scene.lights
    assert_array_equal(first.position, [0.5, 0.5, 0.1, 0])
    assert_array_equal(first.ambient, [0.15, 0.15, 0.25, 1])
    assert_array_equal(first.diffuse, [0.95, 0.95, 1, 1])
    assert_array_equal(first.specular, [1, 1, 1, 1])
    assert_array_equal(second.position, [0, -5, 3, 0])
    assert_array_equal(second.ambient, [0.2, 0.2, 0.6, 1])
    assert_array_equal(second.diffuse, [0.825, 0.66, 0.165, 1])
    assert_array_equal(second.specular, [1, 1, 1, 1])
    # A view of the robot: from 4 m in front of the origin and 1 m high, towards -x, with z up and y to the right.
    assert scene.camera is not None
    camera = scene.camera.placement
    assert_allclose(camera.translation, [4, 0, 1], atol=1e-12)
    assert_allclose(camera.rotation, [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=1e-12)


def test_rotation_in_degrees_about_an_axis_of_any_length(folder: Path) -> None:
    scene = read(
        folder,
        '<Universe><Body id="b"><Sphere radius="1"/><Rotation angle="90" x="0" y="0" z="2"/></Body></Universe>',
    )
    turned = scene.bodies[0].placement_world_body
    assert_allclose(turned.act(np.array([1.0, 0.0, 0.0])), [0, 1, 0], atol=1e-15)


def test_vectors_as_text_and_as_attributes(folder: Path) -> None:
    start = '<Universe><Body id="b"><Sphere radius="1"/>'
    as_text = read(folder, f"{start}<Translation>1 2\n3</Translation></Body></Universe>")
    as_attributes = read(folder, f'{start}<Translation z="3" x="1" y="2"/></Body></Universe>')
    assert as_text == as_attributes
    assert_array_equal(as_text.bodies[0].placement_world_body.translation, [1, 2, 3])


def test_stand_is_the_same_in_both_formats() -> None:
    xml = read_scene_xml(find_resource("config/scenes/stand.xml"))
    yaml = read_scene_yaml(find_resource("config/scenes/stand.yaml"))
    assert xml == yaml
    assert [placed.robot.name for placed in xml.robots] == [placed.robot.name for placed in yaml.robots]


EVERYTHING_XML = """\
<Universe id="everything">
  <Gravity x="0.1" y="0" z="-9.8"/>
  <TimeStep>0.002</TimeStep>
  <Pair first="*" second="*" friction="0.7" restitution="0.2"/>
  <Pair first="arm/*" second="floor" friction="0.5"/>
  <Pair first="ball" second="thing" collide="false"/>
  <Surface id="top" body="thing">
    <Translation x="0" y="0" z="1.5"/>
    <Polygon>0 0  1 0  0 1</Polygon>
  </Surface>
  <Surface id="ground" body="floor"/>
  <MultiBody id="arm">
    <File>arm.urdf</File>
    <Posture>zero</Posture>
    <FloatingBase>true</FloatingBase>
    <Label>An arm</Label>
    <Translation x="1" y="2" z="3"/>
    <Rotation angle="90" x="0" y="0" z="1"/>
  </MultiBody>
  <Body id="floor"><HalfSpace/></Body>
  <Body id="thing">
    <Label>A thing</Label>
    <Mass>2</Mass>
    <CoM x="0.1" y="0" z="0"/>
    <Inertia>1 0.1 0 0.1 2 0 0 0 2.5</Inertia>
    <Twist>1 2 3 4 5 6</Twist>
    <Simulated>false</Simulated>
    <Translation x="0" y="0" z="1"/>
    <File>shape.wrl</File>
    <Box id="a" x="1" y="2" z="3">
      <Colour r="0.1" g="0.2" b="0.3" a="0.4"/>
      <Translation x="1" y="0" z="0"/>
    </Box>
    <Sphere radius="0.5"/>
    <Cylinder radius="0.1" length="2"/>
    <Capsule radius="0.2" length="3"/>
    <Ellipsoid x="0.1" y="0.2" z="0.3"/>
    <Mesh id="m"><File>shape.wrl</File><Scale x="1" y="2" z="3"/></Mesh>
  </Body>
  <Body id="ball"><Mass>10</Mass><Sphere radius="0.5"/></Body>
  <Configurations>
    <Camera><Translation x="3" y="0" z="1"/><LookAt x="0" y="0" z="1"/><FieldOfView>60</FieldOfView></Camera>
    <Light>
      <LightAttribute type="position" x="1" y="2" z="3" w="0"/>
      <LightAttribute type="ambient" r="0.1" g="0.1" b="0.1" a="1"/>
    </Light>
  </Configurations>
</Universe>
"""

EVERYTHING_YAML = """\
name: everything
gravity: [0.1, 0, -9.8]
time_step: 0.002
robots:
  arm:
    robot: arm.urdf
    posture: zero
    floating_base: true
    label: An arm
    xyz: [1, 2, 3]
    rpy: [0, 0, 1.5707963267948966]
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
      - {mesh: shape.wrl}
      - {name: a, box: [1, 2, 3], colour: [0.1, 0.2, 0.3, 0.4], xyz: [1, 0, 0]}
      - {sphere: 0.5}
      - {cylinder: [0.1, 2]}
      - {capsule: [0.2, 3]}
      - {ellipsoid: [0.1, 0.2, 0.3]}
      - {name: m, mesh: shape.wrl, scale: [1, 2, 3]}
  ball: {mass: 10, shapes: [{sphere: 0.5}]}
surfaces:
  top: {body: thing, xyz: [0, 0, 1.5], polygon: [[0, 0], [1, 0], [0, 1]]}
  ground: {body: floor}
pairs:
  - {between: ["*", "*"], friction: 0.7, restitution: 0.2}
  - {between: ["arm/*", floor], friction: 0.5}
  - {between: [ball, thing], collide: false}
camera: {xyz: [3, 0, 1], look_at: [0, 0, 1], field_of_view: 1.0471975511965976}
lights:
  - {position: [1, 2, 3, 0], ambient: [0.1, 0.1, 0.1, 1]}
"""


@pytest.mark.feature("000-F009", "000-F010", "000-F016")
def test_everything_is_the_same_in_both_formats(folder: Path) -> None:
    xml = read(folder, EVERYTHING_XML)
    (folder / "scene.yaml").write_text(EVERYTHING_YAML, encoding="utf-8")
    yaml = read_scene_yaml(folder / "scene.yaml")
    # The quarter turn is rounded differently from degrees and from rad.
    (in_xml,), (in_yaml,) = xml.robots, yaml.robots
    assert_allclose(in_xml.placement.homogeneous, in_yaml.placement.homogeneous, atol=1e-15)
    assert_allclose(in_xml.q, in_yaml.q, atol=1e-15)
    robots = (dataclasses.replace(in_xml, placement=in_yaml.placement, q=in_yaml.q),)
    assert dataclasses.replace(xml, robots=robots) == yaml
    # The robot stands on its footprint: a ball of radius 0.1 m, turned by a quarter.
    assert_allclose(in_xml.q, [1, 2, 3.1, 0, 0, 0.5**0.5, 0.5**0.5], atol=1e-12)
    thing = xml.bodies[1]
    assert_array_equal(thing.com, [0.1, 0, 0])
    assert_array_equal(thing.inertia, [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]])
    # Equality would notice: each of these is in one of them only.
    assert dataclasses.replace(xml, robots=robots, time_step=0.001) != yaml
    assert dataclasses.replace(xml, robots=robots, bodies=xml.bodies[:2]) != yaml


def scene_of(*lines: str) -> str:
    return "\n".join(("<Universe>", '<Body id="ball"><Mass>1</Mass><Sphere radius="1"/></Body>', *lines, "</Universe>"))


def body(*lines: str) -> str:
    return scene_of('<Body id="b">', *lines, "</Body>")


def camera(*lines: str) -> str:
    return scene_of("<Configurations>", "<Camera>", *lines, "</Camera>", "</Configurations>")


SPHERE = '<Sphere radius="1"/>'

BAD = {
    "not XML": ("gravity: 1", 1, None, "not well-formed XML: syntax error", "Mend the XML there"),
    "unclosed element": ("<Universe>\n<Body>\n</Universe>", 3, None, "mismatched tag", "Mend"),
    "empty file": ("", 1, None, "no element found", "Mend"),
    "another document": (ONE_LINK_URDF, 1, "<robot name='arm'>", "root is <robot>, not <Universe>", "Give a Universe"),
    "unknown element": (
        scene_of("<Bodie/>"), 3, "<Bodie>", "unknown element in <Universe>",
        "Gravity, TimeStep, SelfCollision, MultiBody, Body",
    ),
    "unknown element of a body": (
        body(SPHERE, "<Mas>1</Mas>"), 5, "<Mas>", "unknown element in <Body id='b'>", "File, Mass, CoM",
    ),
    "unknown attribute": (
        body('<Sphere radius="1" diameter="2"/>'), 4, "<Sphere>", "unknown attribute 'diameter'", "id, radius",
    ),
    "attributes and text": (
        body(SPHERE, '<Translation x="0" y="0" z="0">1 2 3</Translation>'),
        5, "<Translation>", "has attributes and the text '1 2 3'", "Give one of the two",
    ),
    "a value twice": (
        body(SPHERE, "<Mass>1</Mass>", "<Mass>2</Mass>"), 6, "<Mass>", "second <Mass> in <Body id='b'>", "Keep one",
    ),
    "two cameras": (
        scene_of("<Configurations>", "<Camera/>", "<Camera/>", "</Configurations>"),
        5, "<Camera>", "second <Camera> in <Configurations>", "Keep one <Camera>",
    ),
    "NaN gravity": (
        scene_of('<Gravity x="0" y="0" z="nan"/>'), 3, "<Gravity> of <Universe>", "'nan' is not finite", "finite",
    ),
    "gravity of two numbers": (
        scene_of("<Gravity>0 1</Gravity>"), 3, "<Gravity> of <Universe>", "is '0 1', 2 values", "Give 3 numbers",
    ),
    "gravity without z": (
        scene_of('<Gravity x="0" y="0"/>'), 3, "<Gravity> of <Universe>", "attribute 'z' is missing", "Give x, y, z",
    ),
    "zero time step": (
        scene_of("<TimeStep>0</TimeStep>"), 3, "<TimeStep> of <Universe>", "is 0", "Give more than 0",
    ),
    "robot without id": (
        scene_of("<MultiBody><File>hrp2</File></MultiBody>"), 3, "<MultiBody>", "attribute 'id' is missing", 'id="',
    ),
    "robot without file": (
        scene_of('<MultiBody id="r"/>'), 3, "<MultiBody id='r'>", "names no robot", "such as hrp2",
    ),
    "unknown robot": (
        scene_of('<MultiBody id="r">', "<File>hrp22</File>", "</MultiBody>"),
        4, "<File> of <MultiBody id='r'>", "unknown robot 'hrp22'", "Give the path of a URDF",
    ),
    "robot file missing": (
        scene_of('<MultiBody id="r"><File>no.xml</File></MultiBody>'),
        3, "<File> of <MultiBody id='r'>", "there is no file 'no.xml'", "path of a URDF",
    ),
    "unknown posture": (
        scene_of('<MultiBody id="r"><File>arm.urdf</File>', "<Posture>siting</Posture>", "</MultiBody>"),
        4, "<Posture> of <MultiBody id='r'>", "is 'siting'", "Use one of zero",
    ),
    "name taken": (
        scene_of('<Body id="ball">', SPHERE, "</Body>"), 3, "<Body id='ball'>", "'ball' is taken already", "own name",
    ),
    "name with a star": (
        scene_of('<Body id="a*">', SPHERE, "</Body>"), 3, "<Body id='a*'>", "the name 'a*' holds *", "Use letters",
    ),
    "no shape": (body("<Mass>1</Mass>"), 3, "<Body id='b'>", "has no shape", "Give one of box, sphere"),
    "missing mesh": (
        body("<File>no.wrl</File>"), 4, "<File> of <Body id='b'>", "there is no file 'no.wrl'", "path of a mesh",
    ),
    "mesh without file": (body("<Mesh/>"), 4, "<Mesh>", "has no <File>", "path of a mesh"),
    "negative size": (
        body('<Box x="1" y="-1" z="1"/>'), 4, "<Box>", "is [1.0, -1.0, 1.0]", "each more than 0",
    ),
    "cylinder without length": (
        body('<Cylinder radius="1"/>'), 4, "<Cylinder>", "attribute 'length' is missing", "Give radius and length",
    ),
    "size that is a word": (body('<Sphere radius="big"/>'), 4, "<Sphere>", "'big' is not a number", "finite"),
    "negative mass": (body(SPHERE, "<Mass>-1</Mass>"), 5, "<Mass> of <Body id='b'>", "is -1", "Give 0 or more"),
    "empty mass": (body(SPHERE, "<Mass/>"), 5, "<Mass> of <Body id='b'>", "is '', 0 values", "Give 1 number"),
    "mass of a half-space": (
        body("<HalfSpace/>", "<Mass>1</Mass>"), 3, "<Body id='b'>", "a half-space is endless", "Leave the mass out",
    ),
    "mass without volume": (
        body("<File>flat.wrl</File>", "<Mass>3</Mass>"),
        3, "<Body id='b'>", "has a mass of 3 kg, but its shapes enclose no volume", "Give the inertia",
    ),
    "asymmetric inertia": (
        body(SPHERE, "<Mass>1</Mass>", "<Inertia>1 2 0 0 1 0 0 0 1</Inertia>"),
        6, "<Inertia> of <Body id='b'>", "which is not symmetric", "row by row",
    ),
    "inertia of six numbers": (
        body(SPHERE, "<Mass>1</Mass>", "<Inertia>1 1 1 0 0 0</Inertia>"),
        6, "<Inertia> of <Body id='b'>", "is '1 1 1 0 0 0', 6 values", "Give 9 numbers",
    ),
    "simulated that is a number": (
        body(SPHERE, "<Simulated>1</Simulated>"), 5, "<Simulated> of <Body id='b'>", "is '1'", "true or false",
    ),
    "empty label": (body(SPHERE, "<Label> </Label>"), 5, "<Label> of <Body id='b'>", "is empty", "Give a text"),
    "zero rotation axis": (
        body(SPHERE, '<Rotation angle="30" x="0" y="0" z="0"/>'),
        5, "<Rotation> of <Body id='b'>", "turns by 30 degrees about (0, 0, 0)", "Give a non-zero axis",
    ),
    "rotation without angle": (
        body(SPHERE, '<Rotation x="0" y="0" z="1"/>'), 5, "<Rotation> of <Body id='b'>", "'angle' is missing", "angle,",
    ),
    "surface of no body": (scene_of('<Surface id="s"/>'), 3, "<Surface id='s'>", "names no body", "scene's bodies"),
    "surface of an unknown body": (
        scene_of('<Surface id="s" body="bal"/>'), 3, "body of <Surface id='s'>", "is 'bal'", "Use one of ball",
    ),
    "surface twice": (
        scene_of('<Surface id="s" body="ball"/>', '<Surface id="s" body="ball"/>'),
        4, "<Surface id='s'>", "the name 's' is taken already", "Give each surface its own name",
    ),
    "clockwise polygon": (
        scene_of('<Surface id="s" body="ball">', "<Polygon>0 0 0 1 1 0</Polygon>", "</Surface>"),
        4, "<Polygon> of <Surface id='s'>", "counter-clockwise order", "once around",
    ),
    "half a corner": (
        scene_of('<Surface id="s" body="ball"><Polygon>0 0 0 1 1</Polygon></Surface>'),
        3, "<Polygon> of <Surface id='s'>", "holds 5 numbers", "x and y of each vertex",
    ),
    "polygon of two corners": (
        scene_of('<Surface id="s" body="ball"><Polygon>0 0 0 1</Polygon></Surface>'),
        3, "<Polygon> of <Surface id='s'>", "holds 2 vertices", "Give 3 or more",
    ),
    "pair of one": (scene_of('<Pair first="*"/>'), 3, "second of <Pair>", "'second' is missing", "Give second"),
    "unknown body in a pair": (
        scene_of('<Pair first="ball" second="bell"/>'),
        3, "second of <Pair>", "nothing in the scene is called 'bell'", "the scene holds ball",
    ),
    "negative friction": (
        scene_of('<Pair first="*" second="*" friction="-0.1"/>'), 3, "friction of <Pair>", "is -0.1", "0 or more",
    ),
    "restitution above 1": (
        scene_of('<Pair first="*" second="*" restitution="1.5"/>'), 3, "restitution of <Pair>", "is 1.5", "in 0..1",
    ),
    "camera that looks at itself": (
        camera("<Translation>1 2 3</Translation>", "<LookAt>1 2 3</LookAt>"),
        6, "<LookAt> of <Camera>", "is [1.0, 2.0, 3.0], where the camera is", "another point",
    ),
    "camera turned twice": (
        camera("<LookAt>1 2 3</LookAt>", '<Rotation angle="3" x="0" y="0" z="1"/>'),
        6, "<Rotation> of <Camera>", "is given beside a point to look at", "one of the two",
    ),
    "light without position": (
        scene_of("<Configurations>", "<Light/>", "</Configurations>"), 4, "<Light>", "has no position", "w = 0",
    ),
    "unknown light attribute": (
        scene_of("<Configurations><Light>", '<LightAttribute type="glow"/>', "</Light></Configurations>"),
        4, "type of <LightAttribute type='glow'>", "is 'glow'", "position, ambient, diffuse, specular",
    ),
    "light's position of three numbers": (
        scene_of("<Configurations><Light>", '<LightAttribute type="position" x="1" y="1" z="1"/>',
                 "</Light></Configurations>"),
        4, "<LightAttribute type='position'>", "attribute 'w' is missing", "Give x, y, z, w",
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
    assert caught.value.source == str(folder / "scene.xml")
    assert problem in caught.value.problem
    assert remedy in (caught.value.remedy or "")


def test_message_as_a_person_reads_it(folder: Path) -> None:
    with pytest.raises(SceneError) as caught:
        read(folder, body(SPHERE, "<Mass>-1</Mass>"))
    assert str(caught.value) == f"{folder}/scene.xml:5: <Mass> of <Body id='b'>: is -1. Give 0 or more."


def test_missing_file(folder: Path) -> None:
    with pytest.raises(SceneError, match=r"no\.xml: can't be read: No such file or directory"):
        read_scene_xml(folder / "no.xml")


def test_ground_methods_and_meshes_as_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    (tmp_path / "scene.xml").write_text(
        """<Universe id="scene"><SelfCollision>true</SelfCollision>
        <Body id="ground">
          <HeightField from="waves"><Size x="2" y="1"/><Height>0.1</Height><Cells>4 2</Cells>
            <Wavelength>0.7</Wavelength></HeightField>
          <HeightField from="random"><Size>2 1</Size><Height>0.1</Height><Cells>4 2</Cells><Seed>3</Seed></HeightField>
          <Grains kind="spheres"><Size>2 1</Size><Count>5</Count><Radius least="0.01" largest="0.02"/><Sunk>0.5</Sunk>
            <Seed>4</Seed></Grains>
          <Mesh><File>t.obj</File><Collision>exact</Collision></Mesh>
        </Body>
        <Pair first="ground" second="ground" method="distance"/></Universe>""",
        encoding="utf-8",
    )
    (tmp_path / "scene.yaml").write_text(
        """
self_collision: true
bodies:
  ground:
    shapes:
      - {height_field: waves, size: [2, 1], height: 0.1, cells: [4, 2], wavelength: 0.7}
      - {height_field: random, size: [2, 1], height: 0.1, cells: [4, 2], seed: 3}
      - {grains: spheres, size: [2, 1], count: 5, radius: [0.01, 0.02], sunk: 0.5, seed: 4}
      - {mesh: t.obj, collision: exact}
pairs: [{between: [ground, ground], method: distance}]
""",
        encoding="utf-8",
    )
    assert read_scene_xml(tmp_path / "scene.xml") == read_scene_yaml(tmp_path / "scene.yaml")
