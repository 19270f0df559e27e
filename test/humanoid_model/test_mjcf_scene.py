# SPDX-License-Identifier: Apache-2.0
"""MJCF files are simulated as MuJoCo reads them; what can't be held is told with file and line."""

import contextlib
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_model import InputError, RobotWarning, load_scene
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, Sphere
from humanoid_model.errors import SceneError
from humanoid_model.urdf import read_urdf
from humanoid_sim import Simulation

FIXTURES = Path(__file__).parents[1] / "fixtures"
ORACLES = json.loads((FIXTURES / "mjcf_oracles.json").read_text())
"""What MuJoCo says, recorded by benchmark/peers/mujoco_mjcf.py."""


def fixture(name):
    return FIXTURES / "mjcf" / f"{name}.xml"


def written(folder, world, rest=""):
    path = folder / "scene.xml"
    path.write_text(f"<mujoco>\n{rest}\n<worldbody>\n{world}\n</worldbody></mujoco>")
    return path


def scene_name(scene, body):
    return next(name for name in scene.body_names() if name.rpartition("/")[2] == body)


@pytest.mark.feature("000-F010")
@pytest.mark.parametrize("name", ["arm", "pile", "pendulum"])
def test_masses_inertias_and_places_are_mujocos(name):
    simulation = Simulation(fixture(name))
    scene = simulation.scene
    links = {
        link.name: link.inertial for placed in scene.robots for link in placed.robot.description.links.values()
    }
    for body, told in ORACLES["bodies"][name].items():
        place = simulation.placement(scene_name(scene, body))
        np.testing.assert_allclose(place.translation, told["position"], atol=1e-9)
        np.testing.assert_allclose(place.rotation, told["rotation"], atol=1e-9)
        if body in links:
            own, turn = links[body], links[body].placement_link_com.rotation
            mass, centre = own.mass, own.placement_link_com.translation
            inertia = turn @ own.inertia @ turn.T
        else:
            own = next(item for item in scene.bodies if item.name == body)
            mass, centre, inertia = own.mass, own.com, own.inertia
        assert mass == pytest.approx(told["mass"], rel=1e-9)
        np.testing.assert_allclose(centre, told["centre"], atol=1e-9)
        np.testing.assert_allclose(inertia, told["inertia"], atol=2e-7)


@pytest.mark.feature("000-F010")
def test_a_pendulum_moves_as_in_mujoco():
    def motion(dt):
        simulation, found = Simulation(fixture("pendulum"), dt=dt), []
        for time in ORACLES["motion"]["times"]:
            simulation.run(time - simulation.time)
            found.append(np.array(simulation.robots["first"].q))
        return np.array(found)

    coarse, fine = motion(2e-4), motion(1e-4)
    np.testing.assert_allclose(fine, ORACLES["motion"]["pendulum"], atol=2e-3)
    # Springs and friction of joints are of first order in the step: what is left without that part is less by far.
    np.testing.assert_allclose(2.0 * fine - coarse, ORACLES["motion"]["pendulum"], atol=1e-4)


def test_a_mechanism_of_the_same_file_has_the_same_places():
    mechanism = load_mechanism(fixture("arm"))
    places = mechanism.robot.link_placements(mechanism.initial)
    for body, told in ORACLES["bodies"]["arm"].items():
        np.testing.assert_allclose(places[body].translation, told["position"], atol=1e-9)
        np.testing.assert_allclose(places[body].rotation, told["rotation"], atol=1e-9)
    assert mechanism.driven == ("pan", "tilt", "slider")
    assert read_urdf(mechanism.robot.urdf).links["hand"].visuals


def test_a_pile_comes_to_rest_on_its_shapes():
    simulation = Simulation(fixture("pile"))
    simulation.run(1.5)
    height = {name: body.placement_world_body.translation[2] for name, body in simulation.bodies.items()}
    expected = {"box": 0.06, "ball": 0.1, "can": 0.1, "lying": 0.05, "top": 0.17}
    for name, rest in expected.items():
        assert height[name] == pytest.approx(rest, abs=1e-4)
    # Its contype and conaffinity meet nothing, not even the floor.
    assert height["ghost"] == pytest.approx(0.1 - 0.5 * 9.81 * 1.5**2, rel=1e-6)


@pytest.mark.feature("000-F010")
def test_the_larger_friction_of_two_bodies_counts(tmp_path):
    slope = '<geom name="ramp" type="box" size="5 5 0.1" euler="0 20 0" friction="0.2"/>'
    boxes = "".join(
        f'<body name="{name}" pos="{0.15 * np.sin(a)} {y} {0.15 * np.cos(a)}" euler="0 20 0"><freejoint/>'
        f'<geom type="box" size="0.1 0.1 0.05" friction="{friction}"/></body>'
        for a in (np.radians(20.0),)
        for name, y, friction in (("smooth", -1, 0.1), ("rough", 1, 0.5))
    )
    simulation = Simulation(written(tmp_path, slope + boxes))
    start = {name: body.placement_world_body.translation for name, body in simulation.bodies.items()}
    simulation.run(0.5)
    end = {name: body.placement_world_body.translation for name, body in simulation.bodies.items()}
    slid = {name: np.linalg.norm(end[name] - start[name]) for name in start}
    a = np.radians(20.0)
    assert slid["smooth"] == pytest.approx(0.5 * 9.81 * (np.sin(a) - 0.2 * np.cos(a)) * 0.25, rel=5e-3)
    assert slid["rough"] < 1e-4
    assert simulation.dt == 0.002
    pair = simulation.scene.pairs("smooth", "ramp")
    assert (pair.friction, pair.torsional_friction, pair.rolling_friction) == (0.2, 0.0, 0.0)


def test_torsional_and_rolling_friction_count_where_condim_says_so(tmp_path):
    world = '<geom name="floor" type="plane" size="1 1 1"/>' + "".join(
        f'<body name="b{condim}" pos="{condim} 0 1"><freejoint/><geom size="0.1" condim="{condim}" '
        'friction="1.5 0.02 0.003"/></body>'
        for condim in (1, 3, 4, 6)
    )
    scene = load_scene(written(tmp_path, world))
    found = [scene.pairs(f"b{condim}", "floor") for condim in (1, 3, 4, 6)]
    assert [pair.friction for pair in found] == [1.0, 1.5, 1.5, 1.5]  # of b1 the floor's
    assert [pair.torsional_friction for pair in found] == [0.0, 0.0, 0.02, 0.02]
    assert [pair.rolling_friction for pair in found] == [0.0, 0.0, 0.0, 0.003]


@pytest.mark.feature("000-F010")
def test_shapes_have_whole_sizes_and_lie_between_their_ends(tmp_path):
    geoms = (
        '<geom type="box" size="1 2 3"/><geom type="sphere" size="0.5"/><geom type="cylinder" size="0.1 0.4"/>'
        '<geom type="capsule" size="0.1" fromto="1 0 0 1 2 0"/><geom type="plane" size="1 1 1" zaxis="1 0 0"/>'
        '<geom type="box" size="0.1 0.2" fromto="0 0 0 0 0 3"/><geom type="ellipsoid" size="1 2 3"/>'
        '<geom type="ellipsoid" size="0.1" fromto="0 0 0 0 0 3"/>'
    )
    bodies = load_scene(written(tmp_path, geoms)).bodies
    box, sphere, cylinder, capsule, plane, beam, egg, lens = (body.geometries[0] for body in bodies)
    assert isinstance(box.shape, Box)
    assert box.shape.size.tolist() == [2, 4, 6]
    assert sphere.shape == Sphere(0.5)
    assert cylinder.shape == Cylinder(0.1, 0.8)
    assert capsule.shape == Capsule(0.1, 2.0)
    np.testing.assert_allclose(capsule.placement.translation, [1, 1, 0])
    np.testing.assert_allclose(np.abs(capsule.placement.rotation[:, 2]), [0, 1, 0], atol=1e-12)
    assert plane.shape == HalfSpace()
    np.testing.assert_allclose(plane.placement.rotation[:, 2], [1, 0, 0], atol=1e-12)
    assert beam.shape.size.tolist() == [0.2, 0.2, 3.0]  # MuJoCo 4.0: one size beside fromto
    np.testing.assert_allclose(beam.placement.translation, [0, 0, 1.5])
    assert isinstance(egg.shape, Ellipsoid)
    assert egg.shape.radii.tolist() == [1, 2, 3]
    assert lens.shape.radii.tolist() == [0.1, 0.1, 1.5]


@pytest.mark.parametrize("ground", ["plane", "box"])
def test_an_ellipsoid_rocks_and_rolls_as_its_curvature_says(ground, tmp_path):
    """On its flat side it rocks about y like a pendulum, w^2 = g (a^2 / c - c) / ((a^2 + c^2) / 5 + c^2)."""
    a, c = 0.1, 0.06
    world = f'<geom name="floor" type="{ground}" size="2 2 0.1" pos="0 0 {0 if ground == "plane" else -0.1}"/>'
    world += f'<body name="egg" pos="0 0 {c}"><freejoint/><geom type="ellipsoid" size="{a} 0.15 {c}"/></body>'
    simulation = Simulation(written(tmp_path, world), dt=5e-4)
    egg = simulation.bodies["egg"]
    lean = 0.03
    height = np.hypot(a * np.sin(lean), c * np.cos(lean))
    egg.set_state(pin.SE3(pin.rpy.rpyToMatrix(0, lean, 0), np.array([0, 0, height])), np.zeros(6))
    crossings, before = [], lean
    for _ in range(2400):
        simulation.step()
        at = egg.placement_world_body
        now = pin.log3(at.rotation)[1]
        if before < 0.0 <= now or now <= 0.0 < before:
            crossings.append(simulation.time - simulation.dt * now / (now - before))
        before = now
        lowest = np.hypot(a * at.rotation[2, 0], c * at.rotation[2, 2])
        assert at.translation[2] == pytest.approx(lowest, abs=2e-6)
    frequency = np.sqrt(9.81 * (a * a / c - c) / ((a * a + c * c) / 5.0 + c * c))
    assert np.diff(crossings).mean() == pytest.approx(np.pi / frequency, rel=3e-3)
    assert abs(pin.log3(egg.placement_world_body.rotation)[[0, 2]]).max() < 1e-4


def test_meshes_colours_view_and_defaults_are_those_of_the_files():
    scene = load_scene(fixture("arm"))
    robot = scene.robots[0].robot
    wedge = robot.description.links["hand"].visuals[0]
    assert isinstance(wedge.shape, Mesh)
    assert wedge.shape.path == fixture("meshes/wedge").with_suffix(".obj")
    assert wedge.shape.scale.tolist() == [0.1, 0.2, 0.05]
    assert wedge.colour.tolist() == [0.8, 0.7, 0.3, 1.0]
    assert robot.description.links["upper"].visuals[0].colour.tolist() == [0.3, 0.5, 0.8, 1.0]
    joints = robot.description.joints
    assert (joints["tilt"].damping, joints["elbow"].damping, joints["slider"].friction) == (0.05, 0.2, 0.5)
    assert np.degrees([joints["tilt"].limit.lower, joints["tilt"].limit.upper]) == pytest.approx([-90, 100])
    assert not np.isfinite(joints["elbow"].limit.upper)
    assert scene.gravity.tolist() == [0, 0, -9.8]
    assert scene.time_step == 0.0005
    assert np.degrees(scene.camera.field_of_view) == pytest.approx(40)
    np.testing.assert_allclose(scene.camera.placement.rotation[:, 0], [0.6, 0.8, 0], atol=1e-12)
    assert scene.lights[0].position.tolist() == [-0.3, -0.4, 1.0, 0.0]
    assert set(robot.postures) >= {"bent", "straight", "qpos0"}
    assert robot.postures["straight"][robot.index_q("pan")] == pytest.approx(np.radians(20))


def test_actuators_drive_and_others_are_passive():
    simulation = Simulation(fixture("arm"))
    actuators = simulation.scene.robots[0].robot.actuators
    assert (actuators["pan"].stiffness, actuators["pan"].damping, actuators["pan"].effort) == (0.0, 0.0, 50.0)
    assert (actuators["tilt"].stiffness, actuators["tilt"].damping, actuators["tilt"].effort) == (80.0, 4.0, 30.0)
    assert (actuators["slider"].stiffness, actuators["slider"].damping) == (200.0, 7.0)
    assert (actuators["elbow"].stiffness, actuators["elbow"].effort, actuators["elbow"].armature) == (0.0, 0.0, 0.003)
    assert "knuckle" not in actuators


def test_equalities_hold(tmp_path):
    world = (
        '<body name="a" pos="0 0 2" euler="10 0 0"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>'
        '<body name="b" pos="0.3 0 2"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>'
        '<body name="c" pos="1 0 2"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>'
        '<body name="p" pos="3 0 1"><joint name="one" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/>'
        '<body name="r" pos="0.4 0 0"><joint name="two" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body></body>'
    )
    rest = (
        '<equality><weld body1="a" body2="b"/><connect body1="c" anchor="0.3 0 0"/>'
        '<joint joint1="two" joint2="one" polycoef="0 -0.5 0 0 0"/></equality>'
    )
    simulation = Simulation(written(tmp_path, world, rest), dt=1e-3)
    a, b, c = (simulation.bodies[name] for name in "abc")
    between = a.placement_world_body.actInv(b.placement_world_body)
    a.set_state(a.placement_world_body, [0, 0, 0, 0, 3.0, 0])
    simulation.run(0.3)
    now = a.placement_world_body.actInv(b.placement_world_body)
    assert np.abs(pin.log6(between.actInv(now)).vector).max() < 1e-4
    np.testing.assert_allclose(c.placement_world_body.act(np.array([0.3, 0, 0])), [1.3, 0, 2], atol=1e-4)
    assert c.placement_world_body.translation[2] < 1.95
    mimic = simulation.scene.robots[0].robot.mimics["two"]
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("one", -0.5, 0.0)


@pytest.mark.feature("000-F010")
def test_a_coupling_of_two_trees_is_refused_with_its_line(tmp_path):
    """Each tree is a robot; a joint follows one of its own robot only."""
    world = "".join(
        f'<body name="{name}"><joint name="{name}" axis="0 1 0"/><geom size="0.1" pos="1 0 0"/></body>\n'
        for name in ("motor", "arm")
    )
    for names in ('joint1="motor" joint2="arm"', 'joint1="arm" joint2="motor"'):
        path = written(tmp_path, world, f'<equality>\n<joint {names} polycoef="0 3"/>\n</equality>')
        with pytest.raises(InputError, match=r"scene.xml:3: <joint>: couples '\w+' and '\w+' of two robots. Couple"):
            load_scene(path)


@pytest.mark.feature("000-F010")
def test_who_touches_whom_is_as_the_file_says(tmp_path):
    world = (
        '<geom name="floor" type="plane" size="1 1 1" conaffinity="3"/>'
        '<body name="top" pos="0 0 1"><joint/><geom size="0.1"/><body name="arm"><joint/><geom size="0.1" pos="1 0 0"/>'
        '<body name="tip" pos="1 0 0"><joint/><geom size="0.1"/></body></body></body>'
        '<body name="x"><freejoint/><geom size="0.1" contype="2" conaffinity="2"/></body>'
        '<body name="y"><freejoint/><geom size="0.1"/></body><geom name="paint" size="1" contype="0" conaffinity="0"/>'
    )
    rest = '<contact><exclude body1="y" body2="tip"/></contact>'
    scene = load_scene(written(tmp_path, world, rest))
    touching = {
        ("floor", "x"): True, ("floor", "y"): True, ("x", "y"): False, ("y", "top/tip"): False, ("y", "top/arm"): True,
        ("top/top", "top/arm"): False, ("top/top", "top/tip"): True, ("paint", "y"): False,
    }  # fmt: skip
    assert {pair: scene.collides(*pair) for pair in touching} == touching
    assert scene.self_collision


@pytest.mark.feature("000-F010")
def test_what_is_repeated_stands_where_mujoco_puts_it(tmp_path):
    world = (
        '<replicate count="3" offset="1 0 0" euler="0 0 90" sep="-"><body name="b" pos="0 1 0"><freejoint/>'
        '<geom size="0.1"/></body></replicate><replicate count="11" offset="0 0 1"><body name="c" pos="5 1 0">'
        '<freejoint/><geom size="0.1"/></body></replicate><body name="p"><replicate count="2" euler="0 90 0">'
        '<replicate count="2" offset="0 0 1"><geom name="q" size="0.1" pos="1 0 0"/></replicate></replicate></body>'
    )
    bodies = {body.name: body for body in load_scene(written(tmp_path, world)).bodies}
    told = {"b-0": (0, 1, 0), "b-1": (0, 0, 0), "b-2": (1, 0, 0), "c00": (5, 1, 0), "c10": (5, 1, 10)}  # MuJoCo 3.10
    for name, place in told.items():
        np.testing.assert_allclose(bodies[name].placement_world_body.translation, place, atol=1e-12)
    np.testing.assert_allclose(bodies["b-2"].placement_world_body.rotation, np.diag([-1, -1, 1]), atol=1e-12)
    assert len(bodies) == 15
    shapes = {shape.name: shape.placement.translation for shape in bodies["p"].geometries}
    for name, place in {"q00": (1, 0, 0), "q10": (1, 0, 1), "q01": (0, 0, -1), "q11": (1, 0, -1)}.items():
        np.testing.assert_allclose(shapes[name], place, atol=1e-12)


@pytest.mark.feature("000-F010")
def test_a_height_field_has_mujocos_heights_and_carries(tmp_path):
    asset = '<asset><hfield name="h" nrow="3" ncol="2" size="1 2 0.5 0.1" elevation="1 2  3 4  5 9"/></asset>'
    world = '<geom type="hfield" hfield="h"/><body name="a" pos="0 0 0.6"><freejoint/><geom size="0.1"/></body>'
    simulation = Simulation(written(tmp_path, world, asset))
    field = simulation.scene.bodies[0].geometries[0].shape
    np.testing.assert_allclose(field.size, (2.0, 4.0))
    np.testing.assert_allclose(field.heights, 0.5 * np.array([[0.5, 1.0], [0.25, 0.375], [0.0, 0.125]]))  # MuJoCo 3.10
    simulation.run(0.3)
    assert len(simulation.contacts) > 0


@pytest.mark.feature("000-F010")
def test_a_pair_touches_whatever_its_bits_with_its_own_friction(tmp_path):
    world = '<geom name="f" type="plane" size="1 1 1" contype="0" conaffinity="0"/>' + "".join(
        f'<body name="{name}" pos="{place} 0 0.1"><freejoint/>'
        f'<geom name="g_{name}" size="0.1" condim="4" contype="0" conaffinity="0"/></body>'
        for place, name in enumerate("abc")
    )
    pairs = '<pair geom1="f" geom2="g_a"/><pair geom1="g_b" geom2="f" condim="4" friction="0.7 0.7 0.1"/>'
    simulation = Simulation(written(tmp_path, world, f"<contact>{pairs}</contact>"))
    simulation.run(0.5)
    heights = {name: body.placement_world_body.translation[2] for name, body in simulation.bodies.items()}
    assert (heights["a"], heights["b"]) == pytest.approx((0.1, 0.1), abs=1e-6)
    assert simulation.robots["c"].q[2] < -1.0  # what touches nothing falls
    # What MuJoCo says of both: without numbers of its own a pair has the geoms', but its own condim, 3.
    for name, friction in {"a": (1.0, 0.0, 0.0), "b": (0.7, 0.1, 0.0)}.items():
        pair = simulation.scene.pairs("f", name)
        assert (pair.friction, pair.torsional_friction, pair.rolling_friction) == friction


@pytest.mark.feature("000-F010")
def test_what_is_left_out_is_warned_of_with_its_line(tmp_path):
    world = (
        '<geom name="floor" type="plane" size="1 1 1" solref="0.01 1"/>\n'
        '<body name="a"><joint name="j" margin="0.1"/><geom size="0.1" solref="0.01 1"/></body>'
    )
    rest = '<option cone="elliptic"/><sensor><gyro site="s"/></sensor><actuator><muscle joint="j"/></actuator>'
    with pytest.warns(RobotWarning) as caught:
        load_scene(written(tmp_path, world, rest))
    told = [str(item.message) for item in caught]
    for part in (
        "scene.xml:2: <option>: cone='elliptic' is not read.",
        "scene.xml:2: <sensor>: the element is not read.",
        "scene.xml:2: <muscle>: the element is not read.",
        "scene.xml:4: <geom name='floor'>: solref='0.01 1' is not read, as in 1 more places.",
        "scene.xml:5: <joint name='j'>: margin='0.1' is not read.",
    ):
        assert any(text.endswith(part) for text in told), (part, told)
    assert len(told) == 5


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused_or_read_but_never_break_the_reader(seed, tmp_path):
    text = fixture("arm").read_text().replace('"meshes"', f'"{fixture("meshes/x").parent}"')
    (tmp_path / "parts.xml").write_text(fixture("parts").read_text())
    random, path = np.random.default_rng(seed), tmp_path / "scene.xml"
    values = [match.span(1) for match in re.finditer(r'="([^"]*)"', text)]
    junk = ["", "nan", "1", "-1", "0 0 0", "1 2 3 4 5 6 7", "x", "1e400", "upper", "../..", "é", "1 a 3", "&lt;"]
    for _ in range(40):
        begin, end = values[random.integers(len(values))]
        path.write_text(text[:begin] + str(random.choice(junk)) + text[end:])
        with warnings.catch_warnings(), contextlib.suppress(InputError):
            warnings.simplefilter("ignore")
            load_scene(path)


def test_nothing_is_warned_of_in_files_that_are_read_whole():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("arm", "pile", "pendulum"):
            load_scene(fixture(name))


BALL = '<geom size="0.1"/>'
HINGE = f'<body name="b"><joint name="j"/>{BALL}</body>'
FIXED, COEF = '<fixed name="t"', '<joint joint="j" coef="1"/>'


@pytest.mark.feature("000-F010")
@pytest.mark.parametrize(
    ("world", "rest", "told"),
    [
        ("<body>", "", "scene.xml:5: not well-formed XML"),
        (f'<body name="a">{BALL}</body><body name="a"/>', "", ":4: <body name='a'>: a second body is called 'a'. Give"),
        ('<geom type="sdf" size="1 2 3"/>', "", ":4: <geom type='sdf'>: is of type sdf. Use plane"),
        ('<geom type="ellipsoid" size="1 2"/>', "", ":4: <geom type='ellipsoid'>: size is '1 2'. Give 3 half sizes"),
        ('<geom type="ellipsoid" size="1 2 0"/>', "", ":4: <geom type='ellipsoid'>: size is '1 2 0'. Give more than 0"),
        ('<geom type="box" size="1 2"/>', "", ":4: <geom type='box'>: size is '1 2'. Give 3 half sizes [m]"),
        ('<geom size="-1"/>', "", ":4: <geom>: size is '-1'. Give more than 0"),
        ('<geom size="nan"/>', "", ":4: <geom>: attribute 'size' is 'nan': nan is not finite"),
        ('<geom type="mesh" mesh="m"/>', "", ":4: <geom type='mesh'>: names the unknown mesh 'm'. Known: none"),
        (
            '<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" file="no.stl"/></asset>',
            ":2: <mesh name='m'>: there is no file",
        ),
        ('<geom class="no" size="1"/>', "", ":4: <geom>: unknown class 'no'. Classes are main"),
        ('<geom size="1" condim="2"/>', "", ":4: <geom>: condim is 2. Give 1, 3, 4 or 6"),
        ('<geom size="1" quat="0 0 0 0"/>', "", ":4: <geom>: quat is '0 0 0 0'. Give a direction that isn't zero"),
        ('<body name="a"><joint type="screw"/></body>', "", ":4: <joint type='screw'>: is of kind 'screw'"),
        ('<body name="a"><joint axis="0 0 0"/></body>', "", ":4: <joint>: axis is '0 0 0'. Give an axis"),
        ('<body name="a"><joint range="2 1"/></body>', "", ":4: <joint>: range is '2 1'. Give the lower limit first"),
        ('<body name="a"><joint damping="-1"/></body>', "", ":4: <joint>: damping is -1. Give 0 or more"),
        ('<body name="a"><joint name="j"/></body>', "", ":4: <body name='a'>: moves and has no mass. Give it shapes"),
        ('<body name="a"><freejoint/></body>', "", ":4: <body name='a'>: moves and has no mass. Give it shapes"),
        (f'<body name="a"><freejoint/><joint/>{BALL}</body>', "", ":4: <freejoint>: stands beside other joints"),
        ("<joint/>", "", ":4: <joint>: moves the world. Put it into a body"),
        ("<composite/>", "", ":4: <composite>: is not read. Save the model from MuJoCo"),
        ("<gem/>", "", ":4: <gem>: unknown element in <worldbody>. Known: body"),
        (f'<body name="a/b"><freejoint/>{BALL}</body>', "", ":4: <body name='a/b'>: the name holds /. Use letters"),
        (BALL, "<deformable/>", ":2: <deformable>: is not read. Leave it out"),
        *(
            (f'<site name="a"/>{HINGE}', f"<tendon>{tendon}</tendon>{rest}", told)
            for tendon, rest, told in (
                ("<fixed/>", "", ":2: <fixed>: has no joint. Give it joints with their coef"),
                ('<fixed><joint joint="k" coef="1"/></fixed>', "", ":2: <joint>: names the unknown joint 'k'. Joints"),
                ('<fixed><joint joint="j"/></fixed>', "", ":2: <joint>: attribute 'coef' is missing"),
                ('<cable/>', "", ":2: <cable>: is no tendon. Use fixed and spatial ones"),
                ('<spatial><site site="a"/></spatial>', "", ":2: <spatial>: has a branch of 1 sites. Give each"),
                ('<spatial><site site="c"/></spatial>', "", ":2: <site>: names the unknown site 'c'. Sites are a"),
                ('<spatial><site site="a"/><geom geom="g"/></spatial>', "", ":2: <geom>: wraps the tendon around a"),
                ('<spatial><pulley divisor="0"/></spatial>', "", ":2: <pulley>: divisor is 0. Give more than 0"),
                (f'{FIXED} stiffness="-1">{COEF}</fixed>', "", ":2: <fixed name='t'>: stiffness is -1. Give 0 or more"),
                (f'{FIXED} range="2 1">{COEF}</fixed>', "", ":2: <fixed name='t'>: range is '2 1'. Give the lower"),
                (
                    f'{FIXED} stiffness="1" springlength="2 1">{COEF}</fixed>', "",
                    ":2: <fixed name='t'>: springlength is '2 1'. Give one length, or two, the shorter first",
                ),
                (f"{FIXED}>{COEF}</fixed>" * 2, "", ":2: <fixed name='t'>: a second tendon is called 't'"),
                (
                    f"{FIXED}>{COEF}</fixed>", '<actuator><motor tendon="no"/></actuator>',
                    ":2: <motor>: names the unknown tendon 'no'. Tendons are t",
                ),
            )
        ),
        (BALL, '<include file="no.xml"/>', ":2: <include>: there is no file"),
        (BALL, '<option timestep="0"/>', ":2: <option>: timestep is 0. Give more than 0 [s]"),
        (BALL, '<keyframe><key qpos="1 2"/></keyframe>', ":2: <key>: attribute 'qpos' is '1 2', 2 values"),
        (BALL, '<contact><pair geom1="a" geom2="b"/></contact>', ":2: <pair>: names the unknown geom 'a'. Name two"),
        (
            '<body name="a"><geom name="a" size="1"/><geom name="b" size="1"/></body>',
            '<contact><pair geom1="a" geom2="b"/></contact>', ":2: <pair>: 'a' is one of several shapes of a body",
        ),
        (BALL, '<contact><pair friction="1 2"/></contact>', ":2: <pair>: friction is '1 2'. Give one number twice"),
        ('<replicate count="0"/>', "", ":4: <replicate>: count is 0. Give a whole number, 1 or more"),
        (f'<replicate count="1e5">{BALL}</replicate>', "", ":4: <replicate>: comes to 2000"),
        ('<geom type="hfield" hfield="h"/>', "", ":4: <geom type='hfield'>: names the unknown hfield 'h'. Known: none"),
        (
            '<geom type="hfield" hfield="h"/>', '<asset><hfield name="h" nrow="1" ncol="2" size="1 1 1 1"/></asset>',
            ":2: <hfield name='h'>: has 1 rows and 2 columns. Give at least 2",
        ),
        (BALL, '<actuator><motor joint="no"/></actuator>', ":2: <motor>: names the unknown joint 'no'"),
        (BALL, '<equality><tendon/></equality>', ":2: <tendon>: equality <tendon> is not read. Use connect"),
        ('<geom size="1" euler="1 2 3"/>', '<compiler eulerseq="xya"/>', ":4: <geom>: the compiler's eulerseq is 'xya"),
        (BALL, '<compiler coordinate="global"/>', ":2: <compiler>: coordinate is 'global'"),
    ],
)  # fmt: skip
def test_what_cant_be_is_refused_with_its_line(world, rest, told, tmp_path):
    with pytest.raises(SceneError) as caught:
        load_scene(written(tmp_path, world, rest))
    assert told in str(caught.value)
    assert "scene.xml:" in str(caught.value)
