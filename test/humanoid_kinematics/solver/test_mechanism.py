# SPDX-License-Identifier: Apache-2.0
"""Kleinfinger-Khalil parameters place a joint's frame."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.generated_functions import compute

from humanoid_codegen import DynamicModel
from humanoid_kinematics import KleinfingerKhalil, Mechanism, load_mechanism
from humanoid_kinematics.solver.mechanism import CLOSURE, HIERARCHY, TRACKING, Coupling, Edge, MechanismGraph, Tool
from humanoid_model import RobotError, load_robot

pytestmark = pytest.mark.filterwarnings("ignore:.*E10")


@pytest.mark.feature("002-F013", "002-F060")
def test_the_matrix_has_the_printed_digits():
    parameters = KleinfingerKhalil(
        theta=np.radians(60), r=70, alpha=np.radians(40), d=50, gamma=np.radians(20), epsilon=30
    )
    printed = [
        [0.24294538, -0.94479900, 0.21984631, 62.37387277],
        [0.79441526, 0.06372502, -0.60402277, -25.18058698],
        [0.55667040, 0.32139380, 0.76604444, 83.62311102],
        [0, 0, 0, 1],
    ]
    assert np.abs(parameters.placement.homogeneous - printed).max() < 1e-8


@pytest.mark.feature("002-F013")
def test_the_matrix_is_the_product_of_the_six_steps():
    rng = np.random.default_rng(3)

    def turn(axis, angle):
        return pin.SE3(pin.exp3(angle * np.eye(3)[axis]), np.zeros(3))

    def shift(axis, distance):
        return pin.SE3(np.eye(3), distance * np.eye(3)[axis])

    for theta, r, alpha, d, gamma, epsilon in rng.normal(size=(50, 6)):
        steps = turn(2, gamma) * shift(2, epsilon) * turn(0, alpha) * shift(0, d) * turn(2, theta) * shift(2, r)
        placement = KleinfingerKhalil(theta, r, alpha, d, gamma, epsilon).placement
        assert placement.isApprox(steps, 1e-12)


def test_any_placement_has_parameters():
    rng = np.random.default_rng(4)
    pin.seed(4)
    special = [
        pin.SE3(pin.exp3(angle * np.eye(3)[axis]), shift)
        for angle in (0.0, np.pi / 2, np.pi, -np.pi / 2)
        for axis in range(3)
        for shift in (np.zeros(3), np.array([0.0, 0.0, 0.3]), rng.normal(size=3))
    ]
    for placement in [pin.SE3.Random() for _ in range(200)] + special:
        found = KleinfingerKhalil.from_placement(placement)
        assert np.abs(found.placement.homogeneous - placement.homogeneous).max() < 1e-8
        assert abs(found.gamma) <= np.pi
    for placement in [pin.SE3.Random() for _ in range(200)]:
        found = KleinfingerKhalil.from_placement(placement)
        assert np.abs(found.placement.homogeneous - placement.homogeneous).max() < 1e-12


def test_parameters_of_serial_links_are_found_again():
    rng = np.random.default_rng(5)
    for theta, r, alpha, d in rng.uniform(-1.5, 1.5, size=(50, 4)):
        given = KleinfingerKhalil(theta, r, alpha, abs(d))
        found = KleinfingerKhalil.from_placement(given.placement)
        for key in ("theta", "r", "alpha", "d", "gamma", "epsilon"):
            assert abs(getattr(found, key) - getattr(given, key)) < 1e-9


INERTIA = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LINKS = "".join(f'<link name="{name}">{INERTIA}</link>' for name in ("world", "a", "b", "c"))
URDF = f"""<robot name="r">{LINKS}
  <joint name="i" type="continuous"><parent link="world"/><child link="a"/></joint>
  <joint name="k" type="continuous"><parent link="a"/><child link="b"/>
    <mimic joint="i" multiplier="-2" offset="0.5"/></joint>
  <joint name="f" type="floating"><parent link="b"/><child link="c"/></joint>
</robot>"""


def test_the_model_generator_sees_the_same_loops():
    mechanism = load_mechanism("rssr")
    model = DynamicModel(mechanism.robot, loops=mechanism.loops)
    (loop,) = mechanism.loops
    for seed in range(3):
        q = mechanism.initial + 0.1 * np.random.default_rng(seed).normal(size=mechanism.model.nq)
        places = mechanism.robot.link_placements(q)
        a, b = places[loop.link_a], places[loop.link_b]
        residual = compute(model, "loop_closure", q=q, v=np.zeros(mechanism.model.nv))["residual"]
        assert np.abs(residual) == pytest.approx(np.abs(a.rotation.T @ (b.translation - a.translation)), abs=1e-12)


@pytest.mark.feature("002-F187")
def test_mimic_joints_are_coupled():
    mechanism = Mechanism.from_robot(load_robot(URDF))
    (coupling,) = mechanism.couplings
    assert (coupling.name, dict(coupling.factors), coupling.offset) == ("k", {"k": 1.0, "i": 2.0}, 0.5)
    q = mechanism.initial
    total = sum(factor * q[mechanism.robot.index_q(joint)] for joint, factor in coupling.factors.items())
    assert total == pytest.approx(coupling.offset)
    assert mechanism.driven == ("i",)
    assert mechanism.passive == ("k", "f")


def test_any_robot_is_a_mechanism_with_its_loops_and_drives():
    robot = load_robot("five_bar")
    mechanism = Mechanism.from_robot(robot, (Tool("middle", "bar_2", pin.SE3.Identity()),))
    assert mechanism.loops == robot.loops
    assert mechanism.driven == robot.joint_names
    assert np.array_equal(mechanism.initial, robot.default_posture)
    assert load_mechanism("bip_ankle").driven == ("l_ankle_right_screw", "l_ankle_left_screw")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"driven": ("x",)}, "unknown driven joint 'x'. There are i, k, f"),
        ({"tools": (Tool("t", "x"),)}, "unknown tool 't', link 'x'. There are world, a, b, c"),
        ({"couplings": (Coupling("g", {"x": 1.0}),)}, "unknown coupling 'g', joint 'x'. There are i, k, f"),
        ({"couplings": (Coupling("g", {"f": 1.0}),)}, "coupling 'g': joint 'f' has several coordinates"),
        ({"driven": ("i",), "locked": ("i",)}, "joint 'i': is driven and locked. Keep one of the two"),
    ],
)
def test_what_the_robot_does_not_have_is_refused(more, told):
    robot = load_robot(URDF)
    with pytest.raises(RobotError) as caught:
        Mechanism(robot, robot.default_posture, **more)
    assert told in str(caught.value)


@pytest.mark.feature("002-F040")
def test_the_planar_hybrid_is_the_graph_of_the_thesis():
    assert MechanismGraph(load_mechanism("planar_hybrid")).text().splitlines() == [
        "world",
        "  base",
        "    link_1",
        "      link_2",
        "        link_3",
        "          link_4",
        "            frame_9  <- tool",
        "          frame_8  = link_7",
        "      link_5",
        "        link_6",
        "          link_7  = frame_8",
    ]


@pytest.mark.feature("002-F040")
def test_edges_say_what_they_join():
    graph = MechanismGraph(load_mechanism("planar_hybrid"))
    kinds = [edge.kind for edge in graph.edges]
    assert [kinds.count(kind) for kind in (HIERARCHY, CLOSURE, TRACKING)] == [10, 1, 1]
    assert Edge(CLOSURE, "link_7", "frame_8", "link_7-frame_8") in graph.edges
    assert Edge(HIERARCHY, "link_1", "link_5", "joint_5") in graph.edges
    assert Edge(TRACKING, "frame_9", "frame_9", "frame_9") in graph.edges


@pytest.mark.feature("002-F042")
def test_branches_meet_at_their_last_common_link():
    graph = MechanismGraph(load_mechanism("planar_hybrid"))
    assert graph.branch("frame_8") == ("frame_8", "link_3", "link_2", "link_1", "base", "world")
    for first, second, common in (
        ("link_7", "frame_8", "link_1"),
        ("frame_9", "frame_8", "link_3"),
        ("link_3", "frame_9", "link_3"),
        ("base", "link_7", "base"),
    ):
        assert graph.ancestor(first, second) == graph.ancestor(second, first) == common
    cross = MechanismGraph(load_mechanism("cross"))
    assert [cross.ancestor(edge.first, edge.second) for edge in cross.edges if edge.kind == CLOSURE] == ["base", "base"]
