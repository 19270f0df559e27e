# SPDX-License-Identifier: Apache-2.0
"""Mechanisms built from MAD are where the specification's oracles say (002 §9, §10, appendices A and B)."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pinocchio as pin
import pytest
from fixtures.mad_files import FOLDER, THESIS, mad_link, mad_robot, mad_text

from humanoid_kinematics import Mechanism, Relay, load_mechanism, load_scene
from humanoid_kinematics.mad.build import build_mechanism
from humanoid_kinematics.mad.load import EXTENSIONS
from humanoid_kinematics.mad.read import parse_mad
from humanoid_model import RobotError, RobotWarning
from humanoid_model.actuator import DEFAULT_FREQUENCY, default_gains
from humanoid_model.loop_closure import KINDS, ROWS


def test_each_leg_of_a_platform_carries_its_share() -> None:
    """Twice the kinetic energy of the whole platform while one drive moves at unit speed, by the relay's velocities."""
    gough = load_mechanism("gough")
    relay, model = Relay(gough), gough.model
    here = gough.initial[[gough.robot.index_q(joint) for joint in relay.driven]]
    tree, _ = default_gains(model, ())
    omega = 2.0 * math.pi * DEFAULT_FREQUENCY
    for speeds, joint in zip(np.eye(6), relay.driven, strict=True):
        state = relay.update(here, velocities=speeds)
        inertia = 2.0 * pin.computeKineticEnergy(model, model.createData(), state.q, state.v)
        stiffness = max(inertia * omega**2, tree[gough.robot.index_v(joint)])
        actuator = gough.robot.actuators[joint]
        assert actuator.stiffness == pytest.approx(stiffness, rel=1e-4)
        assert actuator.damping == pytest.approx(2.0 * stiffness / omega, rel=1e-4)


def test_a_tree_keeps_its_gains() -> None:
    scara = load_mechanism("scara")
    stiffness, _ = default_gains(scara.model, ())
    assert [own.stiffness for own in scara.robot.actuators.values()] == pytest.approx(stiffness.tolist())


pytestmark = pytest.mark.filterwarnings("ignore:.*E10")


def built(text, **options):
    scene = parse_mad(text)
    return build_mechanism(scene, scene.robots[0], **options)


def places(mechanism, q=None):
    """Places of all nodes in the file's unit of length."""
    placements = mechanism.robot.link_placements(mechanism.initial if q is None else q)
    scale = 1 / mechanism.length_unit
    return {name: pin.SE3(place.rotation, scale * place.translation) for name, place in placements.items()}


def gaps(mechanism):
    """(6,) motion that brings the first end of each loop onto the second: unit of length, rad; world axes."""
    at = places(mechanism)
    return [
        np.r_[
            at[loop.link_b].translation - at[loop.link_a].translation,
            pin.log3(at[loop.link_b].rotation @ at[loop.link_a].rotation.T),
        ]
        for loop in mechanism.loops
    ]


@pytest.mark.feature("002-F001")
@pytest.mark.parametrize(
    ("name", "joints", "loops", "gap"),
    [
        ("planar_hybrid", 7, 1, 2.914209),
        ("macdac", 5, 0, 0),
        ("cross", 15, 2, 63.763307),
        ("innocenti", 9, 2, 0),
        ("hpr", 8, 1, 0),
        ("syntaxeur_delta", 15, 2, 0),
        ("redont", 6, 0, 0),
    ],
)
def test_the_mechanisms_of_the_thesis_have_their_joints_loops_and_gaps(name, joints, loops, gap):
    mechanism = load_mechanism(name)
    assert (mechanism.model.nq, mechanism.model.nv, len(mechanism.loops)) == (joints, joints, loops)
    assert np.linalg.norm(np.concatenate([*gaps(mechanism), [0]])) == pytest.approx(gap, abs=1e-6)
    assert all(loop.rows == ROWS for loop in mechanism.loops)
    assert mechanism.robot.joint_names == tuple(mechanism.parameters)


@pytest.mark.feature("002-F014", "002-F017")
def test_the_planar_hybrid_is_where_the_table_says():
    printed = {  # x, y, angle before closure (appendix B.1)
        "link_1": (0, 0, 0), "link_2": (500, 0, 51), "link_3": (751.728156, 310.858385, -69),
        "link_4": (966.748926, -249.289871, -9), "link_5": (475.528258, -154.508497, -69),
        "link_6": (618.875438, -527.940668, 51), "link_7": (928.501070, -145.584855, -9),
        "frame_8": (928.045188, -148.463185, -9), "frame_9": (1164.286594, -280.576764, -9),
    }  # fmt: skip
    at = places(load_mechanism("planar_hybrid"))
    for name, (x, y, angle) in printed.items():
        assert at[name].translation == pytest.approx([x, y, 0], abs=1e-6)
        assert np.degrees(pin.log3(at[name].rotation)) == pytest.approx([0, 0, angle], abs=1e-6)
    (gap,) = gaps(load_mechanism("planar_hybrid"))
    assert gap == pytest.approx([-0.455883, -2.878331, 0, 0, 0, 0], abs=1e-6)


@pytest.mark.feature("002-F017", "002-F021")
def test_the_cross_delta_is_where_the_table_says():
    printed = {  # before closure (appendix B.3)
        1: (0, 0, 1785.65), 2: (0, 0, 1785.65), 3: (-8.888889, 0, 1767.733872), 4: (-808.888890, 0, 155.282323),
        5: (-817.777779, 0, 137.366194), 6: (0, 994.43, 0), 7: (0, 994.43, 0), 8: (-13.333251, 979.522807, 0),
        9: (-813.328336, 85.091219, 0), 10: (-826.661587, 70.184026, 0), 11: (0, -994.43, 0), 12: (0, -994.43, 0),
        13: (-13.333251, -979.522807, 0), 14: (-813.328336, -85.091219, 0), 15: (-826.661587, -70.184026, 0),
        16: (-826.661587, -29.815974, 170), 17: (-826.661587, 29.815974, 170), 20: (16, 0, 0), 21: (0, 0, 1300),
        22: (0, 0, 0), 23: (0, -1250, 0), 24: (0, 0, 0), 25: (0, 1250, 0),
    }  # fmt: skip
    mechanism = load_mechanism("cross")
    at = places(mechanism)
    for number, place in printed.items():
        name = f"link_{number}" if f"link_{number}" in at else f"frame_{number}"
        assert at[name].translation == pytest.approx(place, abs=2e-6)
    printed_gaps = [(-8.883808, -29.815974, 32.633806, 0, 0, 0), (-8.883808, 29.815974, 32.633806, 0, 0, 0)]
    for gap, printed_gap in zip(gaps(mechanism), printed_gaps, strict=True):
        assert gap == pytest.approx(printed_gap, abs=1e-6)


@pytest.mark.feature("002-F017", "002-F061")
def test_macdac_and_hpr_are_where_the_tables_say():
    macdac = load_mechanism("macdac")
    printed = {
        "link_1": (0, 0, 73), "link_2": (122, -73, 73), "link_3": (-222.678111, 0, 272),
        "link_4": (161.760368, -73, 168.990020), "link_5": (12.803999, -73, 254.990020),
        "frame_6": (112.803999, -73, 428.195101),
    }  # fmt: skip
    at = places(macdac)
    for name, place in printed.items():
        assert at[name].translation == pytest.approx(place, abs=1e-6)
    assert at["frame_6"].rotation == pytest.approx(
        np.array([[0.5, 0, -0.866025], [0, 1, 0], [0.866025, 0, 0.5]]), abs=1e-6
    )
    tip = places(macdac, np.radians([0, 30, -60, 120, 180]))["frame_6"]
    assert tip.translation == pytest.approx([983.356221, -73, -127], abs=1e-6)
    assert tip.rotation == pytest.approx(np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]), abs=1e-12)
    model, scale = macdac.model, np.diag([1000.0] * 3 + [1.0] * 3)  # the file's millimetres
    data, frame = model.createData(), model.getFrameId("frame_6", pin.FrameType.BODY)
    printed_jacobian = [
        [73, 200, 399, 200, 0], [983.356221, 0, 0, 0, 200], [0, 861.356221, 516.678111, 172, 0],
        [0, 0, 0, 0, 1], [0, -1, -1, -1, 0], [1, 0, 0, 0, 0],
    ]  # fmt: skip
    for q, printed_values in (
        (np.radians([0, 30, -60, 120, 180]), [1103.649993, 1003.895336, 253.276281, 0.999419, 0.490848]),
        (macdac.initial, [484.318346, 322.487323, 228.632925, 0.781203, 0.255250]),
    ):
        jacobian = scale @ pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        assert np.linalg.svd(jacobian)[1] == pytest.approx(printed_values, abs=1e-6)
        if q is not macdac.initial:
            assert jacobian == pytest.approx(np.array(printed_jacobian), abs=1e-6)
    hpr = {2: (0, 0, 400), 3: (0, 0, 1000), 4: (800, 0, 1000), 5: (800, 0, 1000), 6: (0, 0, 400), 7: (-200, 0, 400),
           8: (-200, 0, 1000)}  # fmt: skip
    at = places(load_mechanism("hpr"))
    for number, place in hpr.items():
        assert at[f"link_{number}"].translation == pytest.approx(place, abs=1e-9)
    assert at["frame_10"].translation == pytest.approx([800, 0, 850], abs=1e-9)


@pytest.mark.feature("002-F035")
def test_the_redundant_robot_and_the_delta_are_where_the_tables_say():
    at = places(load_mechanism("redont"))
    printed = [(0, 0, 0), (0, 0, 0), (0, 1000, 1732.0508), (0, 2299.0381, 2482.0508), (0, 3299.0381, 2482.0508),
               (0, 3991.8584, 2082.0508)]  # fmt: skip
    for number, place in enumerate(printed, 1):
        assert at[f"link_{number}"].translation == pytest.approx(place, abs=1e-4)
    assert at["frame_7"].translation == pytest.approx([0, 4391.8584, 1389.2305], abs=1e-4)
    at = places(load_mechanism("syntaxeur_delta"))
    for number in (103, 113, 123):  # the plate from all three legs: ORC-18 at 30 degrees each
        assert at[f"frame_{number}"].translation == pytest.approx([0, 0, 195.3785], abs=1e-4)


@pytest.mark.feature("002-F018", "002-F019")
def test_limits_are_absolute_whichever_way_they_are_given():
    def degrees(mechanism, joint):
        index = mechanism.robot.index_q(joint)
        limits = mechanism.robot.limits
        return [round(float(np.degrees(bound[index])), 9) for bound in (limits.lower, limits.upper)]

    hybrid, cross = load_mechanism("planar_hybrid"), load_mechanism("cross")
    printed = [(-160, 160), (-69, 171), (-170, -10), (-60, 180), (-171, 69), (10, 170), (-210, 90)]
    assert [tuple(degrees(hybrid, f"joint_{number}")) for number in range(1, 8)] == printed
    assert degrees(cross, "joint_5") == [-196.3878, -36.3878]
    assert degrees(cross, "joint_10") == [-211.81, -51.81]
    limits = cross.robot.limits
    slider = cross.robot.index_q("joint_1")
    assert (limits.lower[slider], limits.upper[slider]) == pytest.approx((-2.5, -0.1))
    assert np.isinf(load_mechanism("innocenti").robot.limits.upper).all()


@pytest.mark.feature("002-F016")
def test_sliding_joints_vary_r_and_turning_ones_theta():
    cross = load_mechanism("cross")
    at, moved = places(cross), cross.initial.copy()
    moved[cross.robot.index_q("joint_1")] += 0.1
    step = places(cross, moved)["link_1"].translation - at["link_1"].translation
    assert step == pytest.approx([0, 0, -100])  # its axis points down
    assert cross.initial[cross.robot.index_q("joint_1")] == pytest.approx(-1.78565)
    assert np.degrees(cross.initial[cross.robot.index_q("joint_2")]) == pytest.approx(116.3878)
    assert cross.robot.description.joints["joint_1"].type == "prismatic"


@pytest.mark.feature("002-F020")
def test_nodes_hang_on_links_frames_and_the_base_in_any_order():
    text = mad_text("syntaxeur_delta")
    lines = text.splitlines()
    nodes = [line for line in lines if re.match(r"\s+(link|frame) \d", line)]
    others = [line for line in lines if line not in nodes]
    first = next(index for index, line in enumerate(others) if "constraint" in line)
    shuffled = built("\n".join([*others[:first], *reversed(nodes), *others[first:]]))
    at, again = places(built(text)), places(shuffled)
    assert at["frame_123"].translation == pytest.approx([0, 0, 195.3785], abs=1e-4)
    for name, place in at.items():
        assert again[name].isApprox(place, 1e-12)


@pytest.mark.feature("002-F020")
@pytest.mark.parametrize("name", ["syntaxeur_delta", "hpr", "cross", "macdac"])
def test_each_node_hangs_on_the_one_that_its_pred_names(name):
    text = mad_text(name)
    nodes = re.findall(r"\b(link|frame)\s+(\d+)\s*\{.*?\bpred\s+(\d+)", text, re.DOTALL)
    kinds = {"0": "base", **{number: f"{kind}_{number}" for kind, number, _ in nodes}}
    mechanism = built(text)
    parents = {joint.child: joint.parent for joint in mechanism.robot.description.joints.values()}
    assert parents == {"base": "world", **{kinds[number]: kinds[pred] for _, number, pred in nodes}}


@pytest.mark.feature("002-F020")
def test_joints_are_in_the_order_of_the_links_wherever_the_frames_between_them_stand():
    frame = "frame 7 { pos { 0 0 0 } ori { 0 0 0 } pred 1 }"
    links = mad_link(1, 0), mad_link(3, 7), mad_link(4, 1)
    for nodes in ((*links, frame), (frame, *links)):
        assert built(mad_robot(*nodes)).robot.joint_names == ("joint_1", "joint_3", "joint_4")


@pytest.mark.feature("002-F012")
def test_the_base_carries_the_whole_robot():
    plain = load_mechanism("macdac")
    moved = load_mechanism("mars_rover_arm")
    base = pin.SE3(pin.rpy.rpyToMatrix(0, 0, np.pi / 2), np.array([350.0, 0.0, 420.0]))
    for name, place in places(plain).items():
        if name != "world":
            assert places(moved)[name].isApprox(base * place, 1e-9)


@pytest.mark.feature("002-F021", "002-F041")
def test_euler_angles_turn_about_fixed_axes_as_the_loops_need_it():
    frame = "frame 2 { pos { 1 2 3 } ori { 10 20 30 } pred 0 }"
    place = places(built(mad_robot(mad_link(1, 0), frame)))["frame_2"]
    x, y, z = (pin.exp3(np.radians(angle) * axis) for angle, axis in zip((10, 20, 30), np.eye(3), strict=True))
    assert place.rotation == pytest.approx(z @ y @ x)
    assert place.translation == pytest.approx([1, 2, 3])


@pytest.mark.feature("002-F029")
def test_lengths_scale_with_the_unit():
    text = mad_text("planar_hybrid")
    small, large = built(text), built(text, length_unit=1.0)
    assert built(text.replace("RAFF v1.1 planar_hybrid", "RAFF v1.1 name length_unit_m 1")).length_unit == 1.0
    for name, place in small.robot.link_placements(small.initial).items():
        big = large.robot.link_placements(large.initial)[name]
        assert big.translation == pytest.approx(1000 * place.translation)
        assert big.rotation == pytest.approx(place.rotation)


@pytest.mark.feature("002-F028")
def test_ball_joints_hold_points_and_closures_frames():
    assert [loop.rows for loop in load_mechanism("rssr").loops] == [KINDS["point"]]
    gough = load_mechanism("gough")
    assert [loop.rows for loop in gough.loops] == [KINDS["point"]] * 5
    assert max(np.abs(gap[:3]).max() for gap in gaps(gough)) < 2e-5
    assert gough.driven == tuple(f"joint_{leg}3" for leg in range(1, 7))


@pytest.mark.feature("002-F025")
def test_a_loop_is_the_same_whichever_nodes_it_joins():
    nodes = [mad_link(1, 0), mad_link(2, 1), mad_link(3, 0, d=0.5), mad_link(4, 3)]
    nodes += [f"frame {5 + k} {{ pos {{ 0 0 0 }} ori {{ 0 0 0 }} pred {2 + 2 * k} }}" for k in (0, 1)]
    ways = ["link 2 link 4", "frame 5 frame 6", "link 2 frame 6", "frame 6 link 2"]
    mechanisms = [built(mad_robot(*nodes, f"constraint {{ {way} }}")) for way in ways]
    q = np.random.default_rng(0).normal(size=4)
    found = []
    for mechanism in mechanisms:
        at = places(mechanism, q)
        (loop,) = mechanism.loops
        found.append(at[loop.link_a].actInv(at[loop.link_b]).homogeneous)
        assert loop.rows == ROWS
    for other in found[1:]:
        assert np.abs(other - found[0]).max() < 1e-9


@pytest.mark.feature("002-F012", "002-F023", "002-F148")
def test_base_links_and_frames_show_their_graphics():
    link = "link 1 { parameters { theta 0 r 0 alpha 0 d 1 } type 2 pred 0 filename ( auto ) }"
    frame = "frame 2 { pos { 0 0 1 } ori { 0 0 0 } pred 1 filename ( auto ) }"
    text = mad_robot(link, frame, base="base { filename ( auto ) }")
    links = built(text).robot.description.links
    assert [bool(links[name].visuals) for name in ("base", "link_1", "frame_2")] == [True] * 3
    none = built(text.replace("auto", "")).robot.description.links
    assert [bool(none[name].visuals) for name in ("base", "link_1", "frame_2")] == [False] * 3


@pytest.mark.parametrize("name", ["fourbar", "rssr", "walking_leg"])
def test_the_loops_of_the_own_mechanisms_are_nearly_closed(name):
    assert max(np.abs(gap[:3]).max() for gap in gaps(load_mechanism(name))) < 0.3


@pytest.mark.feature("002-F026")
def test_tools_list_the_chosen_device_first():
    assert [(tool.name, tool.devices) for tool in load_mechanism("redont").tools] == [
        ("frame_7", (1, 0)), ("link_4", (2, 0))
    ]  # fmt: skip
    assert len(load_mechanism("tree_two_hands").tools) == 2


@pytest.mark.feature("002-F010")
def test_a_file_may_hold_several_robots_with_one_device():
    scene = load_scene("two_robots")
    assert [*scene.mechanisms] == ["left", "right"]
    assert load_mechanism("two_robots", "right").name == "right"
    assert {tool.devices for mechanism in scene.mechanisms.values() for tool in mechanism.tools} == {(1, 0)}
    assert places(scene.mechanisms["left"])["base"].translation == pytest.approx([0, 400, 0])
    with pytest.raises(RobotError, match=r"has 2 robots. Name one of left, right"):
        load_mechanism("two_robots")
    with pytest.raises(RobotError, match=r"has no robot 'middle'. Name one of left, right"):
        load_mechanism("two_robots", "middle")


@pytest.mark.feature("002-F033")
def test_driven_and_locked_joints_are_listed_by_their_links():
    text = mad_robot(mad_link(1, 0), mad_link(2, 1), mad_link(3, 2), "driven ( 1 )", "locked ( 3 )")
    with pytest.raises(RobotError, match=r"driven: there is no link 9 \[E09\]. Links are 1, 2, 3"):
        load_text(text.replace("driven ( 1 )", "driven ( 1 9 )"))
    with pytest.raises(RobotError, match=r"joint 'joint_1': is driven and locked. Keep one"):
        load_text(text.replace("locked ( 3 )", "locked ( 1 )"))
    mechanism = load_text(text)
    assert (mechanism.driven, mechanism.locked, mechanism.passive) == (("joint_1",), ("joint_3",), ("joint_2",))
    assert load_text(mad_robot(mad_link(1, 0))).driven is None


def load_text(text):
    scene = parse_mad(text, extensions=EXTENSIONS)
    return build_mechanism(scene, scene.robots[0])


@pytest.mark.feature("002-F011", "002-F024", "002-F144")
def test_automatic_shapes_join_the_joints_and_missing_files_are_told(tmp_path):
    hybrid = load_mechanism("planar_hybrid").robot.description
    assert [shape.name for shape in hybrid.links["link_1"].visuals] == ["hub", "bar_0", "bar_1"]
    assert hybrid.links["frame_8"].visuals == ()
    with pytest.warns(RobotWarning, match=r"planar_hybrid.mad:7:3: .*base.nff' not found, automatic .* \[E10\]"):
        load_mechanism("planar_hybrid")
    mesh = tmp_path / "models" / "part.stl"
    mesh.parent.mkdir()
    corners = "".join(f"vertex {x} {y} 0\n" for x, y in ((0, 0), (1, 0), (0, 1)))
    mesh.write_text(f"solid x\nfacet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\nendsolid x\n")
    link = 'link 1 { parameters { theta 0 r 0 alpha 0 d 1 } type 2 pred 0 filename ( "../models/part.stl" auto ) }'
    (tmp_path / "x.mad").write_text(mad_robot('path "models"', link))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        visuals = load_mechanism(tmp_path / "x.mad").robot.description.links["link_1"].visuals
    assert [shape.name for shape in visuals] == ["part", "hub"]


@pytest.mark.feature("002-F032")
def test_wrong_files_are_refused_before_graphics_are_looked_for(tmp_path):
    (tmp_path / "x.mad").write_text(mad_text("planar_hybrid").replace("pred 5", "pred 55"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RobotError, match="E03"):
            load_mechanism(tmp_path / "x.mad")


def test_too_many_joints_are_refused():
    text = mad_robot(*(mad_link(number, number - 1) for number in range(1, 302)))
    with pytest.raises(RobotError, match="has 301 velocity coordinates, more than 300"):
        built(text)


@pytest.mark.feature("002-F001")
def test_every_shipped_file_loads_and_has_masses():
    for path in sorted(FOLDER.glob("*.mad")):
        for mechanism in load_scene(path).mechanisms.values():
            assert isinstance(mechanism, Mechanism)
            data = mechanism.model.createData()
            mass = pin.crba(mechanism.model, data, mechanism.initial)
            assert np.linalg.eigvalsh(mass).min() > 0
    assert set(THESIS) <= {path.stem for path in FOLDER.glob("*.mad")}


def test_unknown_names_are_refused():
    with pytest.raises(RobotError, match=r"unknown mechanism 'nothing'. Give the path of .*planar_hybrid.*hrp2"):
        load_mechanism("nothing")
    assert load_mechanism("bip_screws").passive[:2] == ("r_ankle_pitch", "r_ankle_roll")
