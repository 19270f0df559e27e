# SPDX-License-Identifier: Apache-2.0
"""Sliding joints, turned frames, branches, external forces, followers: specification 004 §4.7."""

import re
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_urdf import random_urdf

from humanoid_model.urdf import read_urdf

G = 9.81

TREE = {"j0": (0.3, 0.7, 1.2), "j1": (-0.5, -1.1, 0.6), "j2": (0.15, 0.4, -0.8), "j3": (0.8, 0.9, -1.5)}
TREE_EFFORTS = (5.251746900274131, 0.363425543684007, 15.425169274429395, 0.6604161058176897)
TREE_EFFORTS_FORCED = (5.073688146519936, 0.363425543684007, 14.203585083076794, 0.30408072252830737)


def link(name: str, com: str = "0 0 0", mass: float = 0, izz: float = 0) -> str:
    if not mass:
        return f'<link name="{name}"/>'
    inertia = f'<inertia ixx="{izz}" ixy="0" ixz="0" iyy="{izz}" iyz="0" izz="{izz}"/>'
    return f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>{inertia}</inertial></link>'


def joint(name: str, kind: str, parent: str, child: str, axis: str = "0 0 1", origin: str = "", more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/><origin {origin}/>{more}</joint>'
    )


def robot(*parts: str) -> str:
    return '<robot name="r"><link name="world"/>' + "".join(parts) + "</robot>"


def states(count: int) -> np.ndarray:
    return np.random.default_rng(count).normal(size=(20, count, 3))


def force(inner: str) -> str:
    return f'<force name="f"><link link="tool"/>{inner}</force>'


# Closed forms --------------------------------------------------------------------------------------------------------


@pytest.mark.feature("004-F14", "004-F56")
def test_vertical_slider(script_of):
    script = script_of(robot(link("a", "0.1 0.2 0", 3, 1), joint("j", "prismatic", "world", "a", "0 1 0")))
    for ((q, v, a),) in states(1):
        assert script.efforts([(q, v, a)])[0] == pytest.approx(3 * (a + G), rel=1e-14)


@pytest.mark.feature("004-F14")
def test_slider_then_revolute_joint(script_of):
    m1, m2, c, izz = 2.0, 3.0, 0.4, 0.7
    text = robot(
        link("a", mass=m1, izz=1),
        link("b", f"{c} 0 0", m2, izz),
        joint("p", "prismatic", "world", "a", "1 0 0"),
        joint("r", "continuous", "a", "b"),
    )
    script = script_of(text)
    for (_, _, a1), (q2, v2, a2) in states(2):
        expected = (
            (m1 + m2) * a1 - m2 * c * (np.sin(q2) * a2 + np.cos(q2) * v2**2),
            (izz + m2 * c**2) * a2 - m2 * c * np.sin(q2) * a1 + m2 * G * c * np.cos(q2),
        )
        found = script.efforts([(0.3, 0.2, a1), (q2, v2, a2)])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.feature("004-F14")
def test_polar_arm(script_of):
    I1, I2, m1, m2, c1, c2 = 0.5, 0.7, 2.0, 3.0, 0.3, 0.2
    text = robot(
        link("a", f"{c1} 0 0", m1, I1),
        link("b", f"{c2} 0 0", m2, I2),
        joint("r", "continuous", "world", "a"),
        joint("p", "prismatic", "a", "b", "1 0 0"),
    )
    script = script_of(text)
    for (q1, v1, a1), (q2, v2, a2) in states(2):
        rho = q2 + c2
        expected = (
            (I1 + I2 + m1 * c1**2 + m2 * rho**2) * a1
            + 2 * m2 * rho * v1 * v2
            + G * (m1 * c1 + m2 * rho) * np.cos(q1),
            m2 * (a2 - rho * v1**2 + G * np.sin(q1)),
        )
        found = script.efforts([(q1, v1, a1), (q2, v2, a2)])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_frames_of_figure_3_2(script_of):
    text = robot(
        link("link1"),
        link("link2", "1 0 0", 1, 1),
        joint("joint1", "continuous", "world", "link1", origin='xyz="1.5 1.5 0"'),
        joint("joint2", "continuous", "link1", "link2", origin='xyz="1 2 0" rpy="0 0 1.57"'),
    )
    script = script_of(text)
    for theta in (0, 0.3, -2):
        values = script.values([(theta, 0, 0), (0, 0, 0)])
        c, s = np.cos(theta), np.sin(theta)
        place = np.array([1.5 + c - 2 * s, 1.5 + s + 2 * c, 0])
        np.testing.assert_allclose(values["position_joint2"], place, rtol=0, atol=1e-14)
        turned = pin.rpy.rpyToMatrix(0, 0, theta + 1.57)  # 1.57, not a right angle
        np.testing.assert_allclose(values["rotation_joint2"], turned, rtol=0, atol=1e-14)
        np.testing.assert_allclose(values["position_link2"] - place, turned[:, 0], rtol=0, atol=1e-14)


def test_axis_is_that_of_the_joint_s_own_frame(script_of):
    """Yawed by a right angle, a slider along x moves along the world's y."""
    turned = joint("j", "prismatic", "world", "a", "1 0 0", 'rpy="0 0 1.5707963267948966"')
    text = robot(link("a", mass=1, izz=1), turned)
    values = script_of(text).values([(2, 3, 5)])
    np.testing.assert_allclose(values["position_j"], [0, 2, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(values["velocity_j"], [0, 3, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(values["acceleration_j"], [0, 5 + G, 0], rtol=0, atol=1e-14)


# The tree ------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("004-F19", "004-F35", "004-F41")
@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ((1, 0, 0), (3.9692749076670624, 0.279506042231857, 18.231664322183658, 0.5947180843759214)),
        ((1, 1, 0), (4.124761740449317, 0.3144739996272445, 18.008992723462473, 0.6432781641039107)),
        ((1, 1, 1), TREE_EFFORTS),
    ],
    ids=["at rest", "moving", "accelerated"],
)
def test_tree(script_of, keep, expected):
    motion = {name: np.multiply(row, keep) for name, row in TREE.items()}
    np.testing.assert_allclose(script_of("tree4").efforts(motion), expected, rtol=0, atol=1e-12)


def test_places_of_the_tree(script_of):
    values = script_of("tree4").values(TREE)
    np.testing.assert_allclose(values["position_jf"], (0.115327, 0.385679, 0.376556), rtol=0, atol=1e-6)
    np.testing.assert_allclose(values["position_j1"], (0.365950, 0.440296, 0.503784), rtol=0, atol=1e-6)


@pytest.mark.feature("004-F02")
def test_force_given_at_run_time(script_of):
    efforts = script_of("tree4").efforts(TREE, external_forces={"tool": [1, 2, -3, 0.1, -0.2, 0.3]})
    np.testing.assert_allclose(efforts, TREE_EFFORTS_FORCED, rtol=0, atol=1e-12)


def tree_with(urdf_folder, *forces: str) -> str:
    return (urdf_folder / "tree4.urdf").read_text().replace("</robot>", "".join(forces) + "</robot>")


@pytest.mark.feature("004-F29")
def test_force_given_in_the_urdf(script_of, urdf_folder):
    tag = force('<vector xyz="1 2 -3"/><moment xyz="0.1 -0.2 0.3"/>')
    efforts = script_of(tree_with(urdf_folder, tag)).efforts(TREE)
    np.testing.assert_allclose(efforts, TREE_EFFORTS_FORCED, rtol=0, atol=1e-12)


def test_forces_of_the_urdf_and_of_run_time_add_up(script_of, urdf_folder):
    tags = (
        force('<vector xyz="1 0 0"/>'),
        force('<vector xyz="0 2 0"/><moment xyz="0 0 0.3"/>').replace('name="f"', 'name="g"'),
    )
    script = script_of(tree_with(urdf_folder, *tags))
    efforts = script.efforts(TREE, external_forces={"tool": [0, 0, -3, 0.1, -0.2, 0]})
    np.testing.assert_allclose(efforts, TREE_EFFORTS_FORCED, rtol=0, atol=1e-12)


@pytest.mark.feature("004-F29")
@pytest.mark.parametrize("frame", ["world", "link"])
@pytest.mark.parametrize("moment_frame", ["world", "link", None])
def test_force_at_a_point_by_virtual_work(script_of, urdf_folder, frame, moment_frame):
    """The efforts' change is minus the work of force and moment per unit of joint motion.

    A moment that names no frame has the force's.
    """
    point, vector, moment = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -3.0]), np.array([0.4, -0.5, 0.6])
    words = [" ".join(map(str, triple)) for triple in (point, vector, moment)]
    tag = force(
        f'<origin xyz="{words[0]}"/><vector xyz="{words[1]}" frame="{frame}"/>'
        f'<moment xyz="{words[2]}"' + (f' frame="{moment_frame}"/>' if moment_frame else "/>")
    )
    change = script_of(tree_with(urdf_folder, tag)).efforts(TREE) - TREE_EFFORTS
    model = pin.buildModelFromUrdf(str(urdf_folder / "tree4.urdf"))
    data = model.createData()
    q = np.zeros(model.nq)
    columns = []
    for name, (angle, _, _) in TREE.items():
        own = model.joints[model.getJointId(name)]
        q[own.idx_q : own.idx_q + own.nq] = (np.cos(angle), np.sin(angle)) if own.nq == 2 else angle
        columns.append(own.idx_v)
    tool = model.getFrameId("tool")
    J = pin.computeFrameJacobian(model, data, q, tool, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    R = pin.updateFramePlacement(model, data, tool).rotation
    F = vector if frame == "world" else R @ vector
    M = moment if (moment_frame or frame) == "world" else R @ moment
    work = J.T @ np.concatenate([F, M + np.cross(R @ point, F)])
    np.testing.assert_allclose(change, -work[columns], rtol=0, atol=1e-12)


def test_force_on_an_empty_link_acts(script_of):
    script = script_of("tree4")
    on_tip = script.efforts(TREE, external_forces={"tip": [1, 2, 3, 0, 0, 0]})
    assert np.abs(on_tip - TREE_EFFORTS).max() > 0.1


@pytest.mark.parametrize(
    ("wrenches", "problem"),
    [
        ({"hand": [0] * 6}, "no joint moves link 'hand'"),
        ({"world": [0] * 6}, "no joint moves link 'world'"),
        ({"tool": [1, 2, 3]}, "external_forces of 'tool': give 6 numbers"),
    ],
)
def test_wrong_force_at_run_time_is_named(script_of, wrenches, problem):
    with pytest.raises(ValueError, match=problem):
        script_of("tree4").values(TREE, external_forces=wrenches)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (12,), (4, 3, 1)])
def test_array_of_another_shape_is_refused(script_of, shape):
    with pytest.raises(ValueError, match="array_of_variables: give 4 rows of 3"):
        script_of("tree4").values(np.zeros(shape))


def test_tree_in_any_order_of_elements(script_of, urdf_folder):
    top = ElementTree.fromstring((urdf_folder / "tree4.urdf").read_text())
    for seed in range(5):
        children = list(top)
        np.random.default_rng(seed).shuffle(children)
        top[:] = children
        for child in children:
            inner = list(child)
            np.random.default_rng(seed).shuffle(inner)
            child[:] = inner
        minified = re.sub(r">\s+<", "><", ElementTree.tostring(top, encoding="unicode"))
        np.testing.assert_allclose(script_of(minified).efforts(TREE), TREE_EFFORTS, rtol=0, atol=1e-12)


def test_root_may_be_undeclared(script_of, urdf_folder):
    text = (urdf_folder / "tree4.urdf").read_text().replace('<link name="world"/>', "")
    np.testing.assert_allclose(script_of(text).efforts(TREE), TREE_EFFORTS, rtol=0, atol=1e-12)


@pytest.mark.feature("004-F18")
def test_positions_beyond_the_limits_are_taken(script_of):
    motion = {**TREE, "j2": (7.0, 0, 0)}  # the limit is 1 m
    assert np.isfinite(script_of("tree4").efforts(motion)).all()


@pytest.mark.feature("004-F07")
def test_products_of_inertia_count(script_of, urdf_folder):
    text = (urdf_folder / "tree4.urdf").read_text()
    diagonal = re.sub(r'(i(?:xy|xz|yz))="[^"]*"', r'\1="0"', text)
    full = script_of(text).efforts(TREE)
    np.testing.assert_allclose(full, TREE_EFFORTS, rtol=0, atol=1e-12)
    change = script_of(diagonal).efforts(TREE) - full
    assert np.abs(change)[:2].min() > 1e-4


@pytest.mark.feature("004-F11")
def test_rotated_base(script_of, urdf_folder):
    """The whole robot turned and gravity with it: efforts stay, vectors turn."""
    R = pin.rpy.rpyToMatrix(0.4, -0.7, 1.9)
    text = (urdf_folder / "tree4.urdf").read_text()
    turned = joint("turn", "fixed", "ground", "world", origin='xyz="1 2 3" rpy="0.4 -0.7 1.9"')
    text = text.replace("</robot>", f'<link name="ground"/>{turned}</robot>')
    plain = script_of("tree4").values(TREE)
    script = script_of(text, tuple(R @ (0, -G, 0)))
    values = script.values(TREE)
    np.testing.assert_allclose(script.efforts(TREE), TREE_EFFORTS, rtol=0, atol=1e-12)
    for key in ("acceleration_tool", "velocity_tool", "forces_j0", "torques_j0", "forces_jf"):
        np.testing.assert_allclose(values[key], R @ plain[key], rtol=0, atol=1e-12, err_msg=key)
    np.testing.assert_allclose(values["position_tool"], R @ plain["position_tool"] + [1, 2, 3], rtol=0, atol=1e-12)


@pytest.mark.feature("004-F39")
def test_several_joints_on_the_root(script_of):
    """Two arms on the world are two robots."""
    arm = (link("{}a", "0.3 0.1 0", 2, 1), joint("{}j", "continuous", "world", "{}a", "1 2 3", 'xyz="1 0 2"'))
    both = script_of(robot(*("".join(arm).format(side, side, side) for side in ("left", "right"))))
    alone = script_of(robot("".join(arm).format("left", "left", "left")))
    rows = states(2)[0]
    np.testing.assert_array_equal(both.efforts(rows), [alone.efforts([row])[0] for row in rows])
    for side in ("left", "right"):
        np.testing.assert_array_equal(both.values(rows)[f"position_{side}j"], [1, 0, 2])


def test_massive_root_has_values_and_moves_nothing(script_of):
    text = robot(link("a", "1 0 0", 1, 1), joint("j", "continuous", "world", "a"))
    heavy = text.replace('<link name="world"/>', link("world", "0.5 0.5 0.5", 3, 2))
    values = script_of(heavy).values([(0.1, 0.2, 0.3)])
    np.testing.assert_array_equal(values["position_world"], [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(values["acceleration_world"], [0, G, 0])
    assert values["effort_j"] == script_of(text).values([(0.1, 0.2, 0.3)])["effort_j"]


def test_robot_without_joints(script_of):
    script = script_of(robot())
    assert script.joints == []
    assert set(script.values([])) == {"position_world", "velocity_world", "acceleration_world"}


def test_follower_moves_with_its_leader_and_loads_it(script_of):
    """Γ_leader = Γ_a + 2 Γ_b of the robot where both move by themselves (virtual work)."""
    parts = (
        link("a", "0.3 0 0.1", 2, 1), link("b", "0.2 0.1 0", 1, 0.5), link("c", "0.2 0 0.3", 1, 0.4),
        joint("ja", "continuous", "world", "a", "0 0.6 0.8"),
        joint("jb", "continuous", "a", "b", "0 0 1", 'xyz="0.5 0 0"', "{}"),
        joint("jc", "prismatic", "b", "c", "1 0 0", 'xyz="0.1 0.2 0"', "{}"),
    )  # fmt: skip
    free = script_of(robot(*parts).replace("{}", ""))
    first = '<mimic joint="ja" multiplier="2" offset="0.1"/>'
    second = '<mimic joint="jb" multiplier="-1.5" offset="0.2"/>'
    follower = script_of(robot(*parts).replace("{}", first, 1).replace("{}", second, 1))
    assert follower.joints == ["ja"]
    for ((q, v, a),) in states(1):
        rows = {
            "ja": (q, v, a),
            "jb": (2 * q + 0.1, 2 * v, 2 * a),
            "jc": (-3 * q - 0.15 + 0.2, -3 * v, -3 * a),
        }
        efforts = free.efforts(rows)
        values = follower.values([(q, v, a)])
        assert values["effort_ja"] == pytest.approx(efforts @ (1, 2, -3), rel=1e-12, abs=1e-12)
        assert values["effort_jb"] == pytest.approx(efforts[1], rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(values["position_c"], free.values(rows)["position_c"], rtol=0, atol=1e-13)


# Pinocchio -----------------------------------------------------------------------------------------------------------


def pinocchio_values(text: str, joints: list[str], rows: np.ndarray) -> tuple[np.ndarray, pin.Model, pin.Data]:
    model = pin.buildModelFromXML(text)
    model.gravity.linear = np.array([0, -G, 0])
    data = model.createData()
    q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    order = []
    for name, (position, velocity, acceleration) in zip(joints, rows, strict=True):
        own = model.joints[model.getJointId(name)]
        at = own.idx_q
        q[at : at + own.nq] = (np.cos(position), np.sin(position)) if own.nq == 2 else position
        v[own.idx_v], a[own.idx_v] = velocity, acceleration
        order.append(own.idx_v)
    tau = pin.rnea(model, data, q, v, a)[order]
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    return tau, model, data


CHAINS = ["PP", "PR", "RP", "RR", "PPR", "PRP", "RPP", "RPR", "PFR", "RFP", "FP", "FR", "PFP", "RRPPRR"]


@pytest.mark.feature("004-F38")
@pytest.mark.parametrize("kinds", CHAINS)
def test_chain_of_each_pair_of_joint_types(script_of, kinds):
    rng = np.random.default_rng(len(kinds))

    def triple() -> str:
        return " ".join(f"{value:.6f}" for value in rng.normal(size=3))

    text = robot()[: -len("</robot>")]
    for index, kind in enumerate(kinds):
        name = {"P": "prismatic", "R": "continuous", "F": "fixed"}[kind]
        parent = f"l{index - 1}" if index else "world"
        text += link(f"l{index}", triple(), 1 + index, 2)
        limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
        text += joint(f"j{index}", name, parent, f"l{index}", triple(), f'xyz="{triple()}" rpy="{triple()}"', limit)
    text += "</robot>"
    script = script_of(text)
    rows = rng.normal(size=(len(script.joints), 3))
    expected, _, _ = pinocchio_values(text, script.joints, rows)
    np.testing.assert_allclose(script.efforts(rows), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["avatar", "bip", "bip_planar", "hrp2", "hrp2_bushing", "syn3p33r", "tree4"])
def test_robots_of_the_repository(script_of, urdf_folder, name):
    script = script_of(name)
    rows = np.random.default_rng(7).normal(size=(len(script.joints), 3))
    expected, _, _ = pinocchio_values(read_urdf(urdf_folder / f"{name}.urdf").text, script.joints, rows)
    np.testing.assert_allclose(script.efforts(rows), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.feature("004-F12")
@pytest.mark.parametrize("seed", range(25))
def test_random_trees(script_of, seed):
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, int(rng.integers(2, 25)), ("revolute", "continuous", "prismatic", "fixed"))
    script = script_of(text)
    rows = rng.normal(size=(len(script.joints), 3))
    expected, model, data = pinocchio_values(text, script.joints, rows)
    scale = max(1.0, np.abs(expected).max(initial=0))
    values = script.values(rows)
    np.testing.assert_allclose(script.efforts(rows), expected, rtol=0, atol=1e-11 * scale)
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for key, value in values.items():
        quantity, name = key.split("_", 1)
        if quantity not in ("position", "rotation", "velocity", "acceleration") or not name.startswith("joint"):
            continue
        frame = model.getFrameId(name)
        if quantity == "position":
            reference = data.oMf[frame].translation
        elif quantity == "rotation":
            reference = data.oMf[frame].rotation
        elif quantity == "velocity":
            reference = pin.getFrameVelocity(model, data, frame, aligned).linear
        else:
            reference = pin.getFrameClassicalAcceleration(model, data, frame, aligned).linear - model.gravity.linear
        np.testing.assert_allclose(value, reference, rtol=0, atol=1e-11 * scale, err_msg=key)
