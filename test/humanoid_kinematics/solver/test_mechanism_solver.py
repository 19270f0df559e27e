# SPDX-License-Identifier: Apache-2.0
"""Mechanisms moved by commands, against closed forms and the oracles of specification 002."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import Mechanism, load_mechanism
from humanoid_kinematics.solver.commands import POSITION, CentreOfMassGoal, JointGoal, ToolGoal, ToolMotion
from humanoid_kinematics.solver.mechanism import Coupling, Tool
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver, SolverOptions
from humanoid_kinematics.solver.tick import linearise
from humanoid_model import InputError, load_robot
from humanoid_model.files import find_resource

MM = 1e-3
FIXTURES = (
    "planar_hybrid", "macdac", "cross", "innocenti", "hpr", "syntaxeur_delta", "redont", "gough", "rssr", "fourbar",
)  # fmt: skip
EXACT = SolverOptions(reach=1e-11)

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")


def mad(tmp_path, links, constraints=""):
    """Load a mechanism from links and constraints of a MAD file."""
    path = tmp_path / "mechanism.mad"
    path.write_text(f"RAFF v1.1 test\nsensor 0 {{ }}\nrobot test {{\nbase {{ }}\n{links}\n{constraints}\n}}\n")
    return load_mechanism(path)


def arm_2r(tmp_path, limits=""):
    return mad(
        tmp_path,
        f"link 1 {{ parameters {{ theta 30 r 0 alpha 0 d 0 }} type 2 pred 0 {limits} filename ( auto ) }}\n"
        "link 2 { parameters { theta 60 r 0 alpha 0 d 300 } type 2 pred 1 filename ( auto ) }\n"
        "frame 3 { pos { 200 0 0 } ori { 0 0 0 } pred 2 filename ( ) }",
    )


def four_bar(tmp_path, rod=350.0):
    """Crank 100, rod, rocker 300, base 400 [mm]: a crank that goes round."""
    return mad(
        tmp_path,
        "link 1 { parameters { theta 90 r 0 alpha 0 d 0 } type 2 pred 0 filename ( auto ) }\n"
        "link 2 { parameters { theta -60 r 0 alpha 0 d 100 } type 2 pred 1 filename ( auto ) }\n"
        "frame 9 { pos { 400 0 0 } ori { 0 0 0 } pred 0 filename ( ) }\n"
        "link 3 { parameters { theta 100 r 0 alpha 0 d 0 } type 2 pred 9 filename ( auto ) }\n"
        f"link 4 {{ parameters {{ theta 0 r 0 alpha 0 d {rod} }} type 2 pred 2 filename ( auto ) }}\n"
        "frame 5 { pos { 300 0 0 } ori { 0 0 0 } pred 3 filename ( ) }",
        "constraint { link 4 frame 5 }",
    )


def driven_to(solver, goals, ticks=200):
    for _ in range(ticks):
        motion = solver.command(*(JointGoal(joint, value) for joint, value in goals.items()))
        if motion.status != "moving":
            break
    return motion


@pytest.mark.feature("002-F030", "002-F065", "002-F080", "002-F081")
@pytest.mark.parametrize("name", FIXTURES)
def test_every_fixture_closes_its_loops_when_loaded(name):
    solver = MechanismSolver(load_mechanism(name))
    assert solver.closing.closed
    assert solver.closing.gap <= 1e-10
    assert solver.closing.iterations <= 3


@pytest.mark.feature("002-F190")
def test_hybrid_closes_by_the_shortest_way_orc_07():
    hybrid = MechanismSolver(load_mechanism("planar_hybrid"))
    expected = [0, 51.208138, -120.037888, 60, -51.208138, 120.037888, -59.659499]
    np.testing.assert_allclose(np.degrees(hybrid.q), expected, atol=1e-5)


def test_a_held_joint_stays_while_the_loop_closes_orc_08():
    hybrid = MechanismSolver(load_mechanism("planar_hybrid"))
    before, q = hybrid.q.copy(), hybrid.q.copy()
    q[1] += np.radians(5.0)
    assert hybrid.close(q, held=("joint_2",)).closed
    expected = [0, 5.0, -2.24613, 0, 3.30386, 0.73018, -1.28017]
    # One freedom is left: rows exact at an open loop share it a little otherwise than the thesis' on the way.
    np.testing.assert_allclose(np.degrees(hybrid.q - before), expected, atol=1e-3)


@pytest.mark.feature("002-F073", "002-F193")
@pytest.mark.parametrize(
    ("sliders", "plate"),
    [
        ((1785.65, 994.43, -994.43), (-858.751670, 0, 158.337624)),
        ((1600, 994.43, -994.43), (-831.506606, 0, -41.400854)),
        ((1785.65, 1200, -800), (-852.992055, 200, 167.900667)),
        ((2000, 1300, -1300), (-311.951903, 0, 186.636823)),
    ],
)
def test_sliders_of_the_cross_delta_bring_its_plate_where_the_closed_form_says_orc_13(sliders, plate):
    cross = MechanismSolver(load_mechanism("cross"), EXACT)
    positions = MM * np.array([-sliders[0], -sliders[1], sliders[2]])
    goals = dict(zip(("joint_1", "joint_6", "joint_11"), positions, strict=True))
    assert driven_to(cross, goals).status == "reached"
    np.testing.assert_allclose(cross.placement("link_5").translation / MM, plate, atol=1e-4)


def cross_sliders(x, y, z):
    """Sliders of the cross-Delta from its plate (ORC-13) [mm]."""
    long = (40 + np.sqrt(1800**2 - y**2)) ** 2 - x**2
    short = (40 + np.sqrt(1200**2 - (z - 170) ** 2)) ** 2 - x**2
    return z + np.sqrt(long), y + 100 + np.sqrt(short), y - 100 - np.sqrt(short)


@pytest.mark.feature("002-F071")
def test_plate_of_the_cross_delta_follows_a_path_with_the_sliders_of_the_closed_form_orc_13():
    cross = MechanismSolver(load_mechanism("cross"), EXACT)
    start = cross.placement("link_5").translation
    for t in np.linspace(0.0, 1.0, 60):
        goal = start + MM * np.array([100 * np.sin(6 * t), 200 * np.sin(4 * t), -150 * t])
        motion = cross.command(ToolGoal.position("link_5", goal))
        assert motion.status == "reached"
        sliders = cross_sliders(*goal / MM)
        np.testing.assert_allclose(cross.q[[0, 5, 10]] / MM, [-sliders[0], -sliders[1], sliders[2]], atol=1e-4)


@pytest.mark.feature("002-F068", "002-F078")
def test_a_turn_the_cross_delta_cannot_make_moves_nothing_and_names_its_loops_orc_06():
    cross = MechanismSolver(load_mechanism("cross"))
    before = cross.placement("link_5")
    for _ in range(100):
        motion = cross.command(ToolMotion("link_5", angular=(0.0, np.radians(1.0), 0.0)))
        assert motion.loop_gap <= 1e-10
    assert motion.status == "nearest"
    moved = before.actInv(cross.placement("link_5"))
    np.testing.assert_allclose(pin.log6(moved).vector, 0.0, atol=1e-9)
    assert set(cross.in_the_way()) == {"loop link_5-frame_16", "loop link_5-frame_17"}


@pytest.mark.feature("002-F070")
def test_small_steps_are_shared_as_the_pseudo_inverse_does_orc_07b_orc_16():
    hybrid = MechanismSolver(load_mechanism("planar_hybrid"))
    before = hybrid.q.copy()
    hybrid.command(ToolMotion("frame_9", (1e-5, 0.0, 0.0)))
    expected = [0.02496, -0.65611, 1.30350, -0.67235, 0.80432, -1.33075, 1.17383]
    np.testing.assert_allclose(np.degrees(hybrid.q - before) * 1e3, expected, atol=2e-3)
    arm = MechanismSolver(load_mechanism("redont"))
    before = arm.q.copy()
    arm.command(ToolMotion("frame_7", (0.0, 1e-5, 0.0), rows=POSITION))
    np.testing.assert_allclose(
        np.degrees(arm.q - before) * 1e3, [0, -0.14651, 0.05314, 0.13630, 0.13251, 0.08290], atol=2e-3
    )


@pytest.mark.feature("002-F114")
def test_new_points_of_a_tool_build_no_new_arrays_and_few_sets_of_commands_are_kept():
    cross, rng = MechanismSolver(load_mechanism("cross")), np.random.default_rng(0)
    plate = cross.placement("link_5")
    for point in rng.uniform(-0.05, 0.05, (20, 3)):
        goal = plate.act(point) + 1e-3 * rng.uniform(-1.0, 1.0, 3)
        assert cross.command(ToolGoal.position("link_5", goal, point=tuple(point))).status == "reached"
        np.testing.assert_allclose(cross.placement("link_5").act(point), goal, atol=1e-7)
    assert len(cross._problems) == 2  # that of the loops, and one with the command
    for weight in np.linspace(1.0, 2.0, 200):
        cross.command(ToolGoal.position("link_5", plate.translation, weight=weight))
    assert len(cross._problems) <= 64
    assert cross.command(JointGoal("joint_1", cross.q[0])).status == "reached"


@pytest.mark.feature("002-F075", "002-F195")
def test_two_tools_at_once_orc_16():
    arm = MechanismSolver(load_mechanism("redont"))
    tip, elbow = arm.placement("frame_7"), arm.placement("link_4").translation.copy()
    for _ in range(20):
        elbow[2] += 0.005
        goals = ToolGoal.position("frame_7", tip.translation), ToolGoal.position("link_4", elbow)
        motion = arm.command(*goals)
    assert motion.status == "reached"
    np.testing.assert_allclose(arm.placement("frame_7").translation, tip.translation, atol=1e-6)
    np.testing.assert_allclose(arm.placement("link_4").translation, elbow, atol=1e-6)


@pytest.mark.feature("002-F073")
def test_crank_goes_round_and_the_rocker_follows_the_closed_form(tmp_path):
    solver = MechanismSolver(four_bar(tmp_path), EXACT)
    crank, rocker = (solver.mechanism.robot.index_v(f"joint_{n}") for n in (1, 3))
    start = solver.q[crank]
    for angle in start + np.linspace(0.0, 2 * np.pi, 120)[1:]:
        motion = solver.command(JointGoal("joint_1", angle))
        assert motion.status == "reached"
        # Freudenstein: base along x, the rocker's angle from the law of cosines, open assembly.
        x, y = 0.1 * np.cos(angle) - 0.4, 0.1 * np.sin(angle)
        d = np.hypot(x, y)
        beta = np.arccos((0.3**2 + d**2 - 0.35**2) / (2 * 0.3 * d))
        expected = np.arctan2(y, x) - beta
        off = np.angle(np.exp(1j * (solver.q[rocker] - expected)))
        assert abs(off) < 1e-8
    assert solver.q[crank] - start == pytest.approx(2 * np.pi)


def test_slider_crank_follows_its_closed_form(tmp_path):
    mechanism = mad(
        tmp_path,
        "link 1 { parameters { theta 60 r 0 alpha 0 d 0 } type 2 pred 0 filename ( auto ) }\n"
        "link 2 { parameters { theta -80 r 0 alpha 0 d 100 } type 2 pred 1 filename ( auto ) }\n"
        "frame 5 { pos { 300 0 0 } ori { 0 0 0 } pred 2 filename ( ) }\n"
        "link 3 { parameters { theta 0 r 330 alpha 90 d 0 gamma 90 } type 1 pred 0 filename ( auto ) }\n"
        "link 4 { parameters { theta 0 r 0 alpha -90 d 0 } type 2 pred 3 filename ( auto ) }",
        "constraint { link 4 frame 5 }",
    )
    solver = MechanismSolver(mechanism, EXACT)
    start = solver.q[mechanism.robot.index_v("joint_1")]
    for angle in start + np.linspace(0.0, 2 * np.pi, 90)[1:]:
        assert solver.command(JointGoal("joint_1", angle)).status == "reached"
        piston = solver.placement("link_4").translation
        expected = 0.1 * np.cos(angle) + np.sqrt(0.3**2 - (0.1 * np.sin(angle)) ** 2)
        np.testing.assert_allclose(piston, [expected, 0.0, 0.0], atol=1e-8)


@pytest.mark.feature("002-F196")
@pytest.mark.parametrize(
    ("angles", "plate"),
    [
        ((0, 0, 0), (0, 0, 51.2348)),
        ((45, 45, 45), (0, 0, 270.6096)),
        ((0, 20, 40), (36.0793, 24.4107, 139.6017)),
        ((10, -10, 30), (2.6832, 28.2097, 94.5844)),
    ],
)
def test_delta_plate_is_at_the_intersection_of_three_spheres_orc_18(angles, plate):
    delta = MechanismSolver(load_mechanism("syntaxeur_delta"), EXACT)
    goals = dict(zip(("joint_1", "joint_11", "joint_21"), np.radians(angles), strict=True))
    assert driven_to(delta, goals).status == "reached"
    np.testing.assert_allclose(delta.placement("frame_103").translation / MM, plate, atol=1e-4)


@pytest.mark.feature("002-F071")
def test_legs_of_the_gough_platform_are_as_long_as_the_closed_form_says():
    gough = MechanismSolver(load_mechanism("gough"), EXACT)
    plate = gough.placement("frame_1")
    feet = [gough.placement(f"frame_{10 * leg}").translation for leg in range(1, 7)]
    ends = [plate.actInv(gough.placement(f"link_{10 * leg + 3}").translation) for leg in range(1, 7)]
    legs = [gough.mechanism.robot.index_v(f"joint_{10 * leg + 3}") for leg in range(1, 7)]
    for t in np.linspace(0.0, 1.0, 40)[1:]:
        turn = pin.exp3(np.array([0.2 * np.sin(5 * t), 0.3 * t, -0.2 * t]))
        goal = plate * pin.SE3(turn, np.array([0.1 * t, 0.05 * np.sin(6 * t), 0.08 * t]))
        assert gough.command(ToolGoal("frame_1", goal)).status == "reached"
        lengths = [np.linalg.norm(goal.act(end) - foot) for end, foot in zip(ends, feet, strict=True)]
        np.testing.assert_allclose(gough.q[legs], lengths, atol=1e-8)
    # Direct: the lengths bring the plate back there.
    there, q = gough.placement("frame_1"), gough.q[legs].copy()
    gough.command(ToolGoal("frame_1", plate))
    driven_to(gough, {f"joint_{10 * leg + 3}": length for leg, length in zip(range(1, 7), q, strict=True)})
    np.testing.assert_allclose(pin.log6(there.actInv(gough.placement("frame_1"))).vector, 0.0, atol=1e-7)


@pytest.mark.feature("002-F082")
def test_driven_and_passive_joints_of_a_stretched_arm_stay_bounded_and_the_tip_gets_as_near_as_it_can(tmp_path):
    arm = MechanismSolver(arm_2r(tmp_path))
    goal = np.array([2.0, 1.0, 0.0])  # far outside: the arm is 0.5 long
    last = arm.q.copy()
    for _ in range(100):
        motion = arm.command(ToolGoal.position("frame_3", goal))
        assert np.isfinite(motion.q).all()
        assert abs(motion.q - last).max() <= np.radians(5.0) * 10 + 1e-9  # ten steps of 5 degrees
        last = motion.q
    assert motion.status == "nearest"
    tip = arm.placement("frame_3").translation
    np.testing.assert_allclose(tip, 0.5 * goal / np.linalg.norm(goal), atol=1e-4)
    assert arm.in_the_way() == ("reach",)


@pytest.mark.feature("002-F082", "002-F084")
def test_a_goal_beyond_reach_is_followed_without_jumps(tmp_path):
    arm = MechanismSolver(arm_2r(tmp_path))
    last, largest = arm.q.copy(), 0.0
    for t in np.linspace(0.0, 1.0, 400):
        goal = [0.3 + 0.4 * t, 0.2 * np.cos(9 * t), 0.0]
        motion = arm.command(ToolGoal.position("frame_3", goal))
        largest = max(largest, abs(motion.q - last).max()) if t > 0.0 else 0.0
        last = motion.q
    assert largest < 0.15


@pytest.mark.feature("002-F083")
def test_a_joint_at_its_limit_stops_the_others_reach_on_and_it_is_named(tmp_path):
    arm = MechanismSolver(arm_2r(tmp_path, "limits { 0 40 }"))
    goal = [0.0, 0.4, 0.0]
    for _ in range(60):
        motion = arm.command(ToolGoal.position("frame_3", goal))
    assert motion.status == "nearest"
    assert motion.q[0] == pytest.approx(np.radians(40.0), abs=1e-12)
    assert motion.q[0] <= np.radians(40.0)
    # Nearest point to the goal on the circle that the second joint draws.
    elbow = 0.3 * np.array([np.cos(np.radians(40)), np.sin(np.radians(40)), 0.0])
    nearest = elbow + 0.2 * (goal - elbow) / np.linalg.norm(goal - elbow)
    np.testing.assert_allclose(arm.placement("frame_3").translation, nearest, atol=5e-6)
    assert arm.in_the_way() == ("upper limit of joint_1",)


@pytest.mark.feature("002-F083")
def test_sliders_driven_into_their_stops_open_no_loop():
    cross = MechanismSolver(load_mechanism("cross"))
    rng = np.random.default_rng(0)
    direction = np.zeros(3)
    for cycle in range(400):
        if cycle % 60 == 0:
            direction = rng.normal(size=3)
            direction *= 0.004 / np.linalg.norm(direction)
        motion = cross.command(ToolMotion("link_5", direction))
        assert motion.loop_gap <= 1e-10
        assert (motion.q >= cross.lower).all()
        assert (motion.q <= cross.upper).all()


def test_a_lock_holds_and_is_named(tmp_path):
    arm = MechanismSolver(arm_2r(tmp_path))
    arm.lock("joint_1")
    before = arm.q[0]
    for _ in range(30):
        arm.command(ToolGoal.position("frame_3", [-0.3, 0.0, 0.0]))
    assert arm.q[0] == before
    assert arm.in_the_way() == ("lock of joint_1",)
    arm.unlock("joint_1")
    for _ in range(60):
        motion = arm.command(ToolGoal.position("frame_3", [-0.3, 0.0, 0.0]))
    assert motion.status == "reached"


def test_commands_against_each_other_are_named(tmp_path):
    arm = MechanismSolver(arm_2r(tmp_path))
    for _ in range(40):
        arm.command(JointGoal("joint_1", 0.5), ToolGoal.position("link_2", [0.0, 0.3, 0.0]))
    assert set(arm.in_the_way()) == {"command of joint_1", "command of link_2"}


@pytest.mark.feature("002-F076")
def test_a_heavier_joint_moves_less(tmp_path):
    arm = MechanismSolver(load_mechanism("redont"))
    arm.set_weight("joint_3", 1e8)
    before = arm.q.copy()
    arm.command(ToolMotion("frame_7", (0.0, 0.05, 0.0), rows=POSITION))
    assert abs(arm.q - before)[2] < 1e-6
    assert abs(arm.q - before)[1] > 1e-3


@pytest.mark.feature("002-F084")
@pytest.mark.parametrize("weight", [1e-4, 1e4])
def test_no_joint_takes_a_longer_step_than_allowed_whatever_its_weight(weight):
    arm = MechanismSolver(load_mechanism("redont"))
    arm.set_weight("joint_3", weight)
    before = arm.q[2]
    motion = arm.command(JointGoal("joint_3", before + 1.8))
    assert motion.q[2] - before == pytest.approx(10 * np.radians(5.0))


@pytest.mark.feature("002-F082")
def test_a_command_out_of_reach_is_met_as_nearly_as_without_a_preferred_position():
    gaps = []
    for share in (0.0, 0.5):
        arm = MechanismSolver(load_mechanism("redont"))
        arm.prefer("joint_4", arm.q[3] + 1.0, share)
        statuses = []
        for _ in range(40):
            motion = arm.command(ToolGoal.position("frame_7", [0.0, 9.0, 1.0]))
            statuses.append(motion.status)
        assert set(statuses) == {"moving", "nearest"}
        gaps.append(motion.command_gap)
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-3)


def test_free_motion_tends_to_a_preferred_position_while_the_tool_stays():
    arm = MechanismSolver(load_mechanism("redont"))
    tip = arm.placement("frame_7").translation
    arm.prefer("joint_4", arm.q[3] + 0.5, share=0.2)
    for _ in range(200):
        arm.command(ToolGoal.position("frame_7", tip))
    arm.prefer("joint_4", 0.0, share=0.0)
    assert arm.command(ToolGoal.position("frame_7", tip)).status == "reached"
    assert arm.q[3] == pytest.approx(np.radians(-30.0) + 0.5, abs=0.02)
    np.testing.assert_allclose(arm.placement("frame_7").translation, tip, atol=1e-6)


@pytest.mark.feature("002-F074")
def test_direct_and_inverse_operation_alternate_without_a_jump():
    hybrid = MechanismSolver(load_mechanism("planar_hybrid"))
    last, largest = hybrid.q.copy(), 0.0
    for cycle in range(600):
        if (cycle // 100) % 2:
            motion = hybrid.command(JointGoal("joint_2", last[1] + 1e-3))
        else:
            motion = hybrid.command(ToolMotion("frame_9", (5e-4 * np.cos(cycle / 50), 5e-4, 0.0)))
        largest = max(largest, abs(motion.q - last).max())
        assert motion.loop_gap <= 1e-10
        last = motion.q
    assert largest < 0.02


@pytest.mark.feature("002-F079", "002-F192")
@pytest.mark.parametrize("defect", [1.0, 2.0])
def test_a_parallelogram_off_its_plane_still_works_where_its_gap_is_accepted_orc_15(defect, tmp_path):
    text = find_resource("urdf/mechanisms/hpr.mad").read_text()
    rod = "link 7 { parameters { theta -90 r 0 alpha 0"
    assert rod in text
    (tmp_path / "hpr.mad").write_text(text.replace(rod, f"link 7 {{ parameters {{ theta -90 r 0 alpha {defect}"))
    mechanism = load_mechanism(tmp_path / "hpr.mad")
    strict = MechanismSolver(mechanism, SolverOptions(length=0.5))
    assert not strict.closing.closed
    assert strict.command(ToolMotion("frame_10", (0.001, 0.0, 0.0))).status == "open"
    options = SolverOptions(length=0.5, rank=0.03, tolerance=0.05)
    hpr = MechanismSolver(mechanism, options)
    assert hpr.closing.closed
    before = hpr.placement("frame_10").translation
    for _ in range(100):
        hpr.command(ToolMotion("frame_10", (0.0, 0.0, -0.001)))
    moved = (hpr.placement("frame_10").translation - before) / MM
    assert np.linalg.norm(moved - [0, 0, -100]) < 2.0 * defect
    assert np.isfinite(hpr.q).all()


def test_a_loop_that_cannot_close_says_by_how_much_and_the_last_state_is_kept(tmp_path):
    solver = MechanismSolver(four_bar(tmp_path, rod=900.0))
    assert not solver.closing.closed
    # Stretched out: 100 + 400 + 300 from the rod's 900, missing by 100 mm along one line.
    ((distance, _),) = solver.closing.gaps.values()
    assert distance == pytest.approx(0.1, rel=0.02)
    before = solver.q.copy()
    motion = solver.command(JointGoal("joint_1", 1.0))
    assert motion.status == "open"
    np.testing.assert_array_equal(motion.q, before)


@pytest.mark.feature("002-F084")
def test_a_dead_point_stops_the_drive_and_the_loop_is_named(tmp_path):
    """The rocker drives: it can't go beyond where crank and rod are in line."""
    solver = MechanismSolver(four_bar(tmp_path))
    rocker = solver.mechanism.robot.index_v("joint_3")
    last, start = solver.q.copy(), solver.q[rocker]
    for _ in range(60):
        motion = solver.command(JointGoal("joint_3", start - 3.0))
        assert motion.loop_gap <= 1e-10
        assert abs(motion.q - last).max() < 1.0
        last = motion.q
    # In line: 450 (or 250) opposite the rocker in the triangle with sides 400 and 300.
    inner = [np.arccos((0.4**2 + 0.3**2 - side**2) / (2 * 0.4 * 0.3)) for side in (0.45, 0.25)]
    angle = abs(np.angle(np.exp(1j * motion.q[rocker])))
    assert min(abs(angle - (np.pi - a)) for a in inner) < 1e-3
    assert motion.status in ("nearest", "stuck")


@pytest.mark.feature("002-F090")
def test_a_loop_is_let_go_and_held_again():
    hybrid = MechanismSolver(load_mechanism("planar_hybrid"))
    loop = hybrid.mechanism.loops[0].name
    start = hybrid.placement("link_7").translation
    hybrid.command(ToolMotion("frame_9", (0.0, 0.0, 0.01)))
    assert hybrid.in_the_way()
    hybrid.open_loop(loop)
    assert hybrid.in_the_way() == ()
    for _ in range(20):
        hybrid.command(ToolMotion("link_7", (0.003, 0.0, 0.0)))
    assert np.linalg.norm(hybrid.placement("link_7").translation - start) > 0.05
    assert np.linalg.norm(hybrid.placement("link_7").translation - hybrid.placement("frame_8").translation) > 0.01
    closing = hybrid.hold_loop(loop)
    assert closing.closed
    gap = hybrid.placement("link_7").actInv(hybrid.placement("frame_8"))
    np.testing.assert_allclose(pin.log6(gap).vector, 0.0, atol=1e-9)


@pytest.mark.feature("002-F072", "002-F187")
def test_couplings_hold_and_count_as_loops_do(tmp_path):
    arm = arm_2r(tmp_path)
    geared = Mechanism(arm.robot, arm.initial, arm.tools, (Coupling("gear", {"joint_1": 2.0, "joint_2": 1.0}, 1.0),))
    solver = MechanismSolver(geared, EXACT)
    assert driven_to(solver, {"joint_1": 0.2}).status == "reached"
    np.testing.assert_allclose(solver.q, [0.2, 0.6], atol=1e-9)


def test_derivative_of_all_rows_against_finite_differences():
    robot = load_robot("hrp2")
    solver = MechanismSolver(Mechanism.from_robot(robot, (Tool("palm", "RARM_LINK6", pin.SE3.Random()),)))
    joint = robot.joint_names[3]
    solver.command(
        ToolGoal("palm", pin.SE3.Random()), ToolGoal.axis("CHEST_LINK1", (0.1, 0.2, 1.0)),
        JointGoal(joint, 0.3), CentreOfMassGoal((0.0, 0.0, 0.8)),
    )  # fmt: skip
    problem, q, h = solver._last, solver.q, 1e-6
    J = problem.J.copy()
    assert J.shape[0] == 6 + 2 + 1 + 3
    for k in range(robot.model.nv):
        step = np.zeros(robot.model.nv)
        step[k] = h * solver.scale[k]
        gaps = []
        for sign in (1.0, -1.0):
            gap = np.empty(problem.system.rows)
            linearise(problem.system, pin.integrate(robot.model, q, sign * step), solver._placed, gap, J.copy())
            gaps.append(gap)
        np.testing.assert_allclose(J[:, k], (gaps[0] - gaps[1]) / (2 * h), atol=1e-7)


def test_a_humanoid_reaches_with_its_feet_and_centre_of_mass_where_they_are():
    robot = load_robot("hrp2")
    solver = MechanismSolver(Mechanism.from_robot(robot))
    feet = [ToolGoal(foot, solver.placement(foot)) for foot in ("l_sole", "r_sole")]
    centre = pin.centerOfMass(robot.model, robot.model.createData(), solver.q).copy()
    hand = solver.placement("RARM_LINK6").translation + np.array([0.1, -0.05, 0.15])
    for _ in range(20):
        goals = *feet, ToolGoal.position("RARM_LINK6", hand), CentreOfMassGoal(centre)
        motion = solver.command(*goals)
    assert motion.status == "reached"
    np.testing.assert_allclose(pin.centerOfMass(robot.model, robot.model.createData(), solver.q), centre, atol=1e-6)
    np.testing.assert_allclose(solver.placement("RARM_LINK6").translation, hand, atol=1e-6)


def test_what_is_not_finite_or_not_there_is_refused_and_nothing_moves():
    cross = MechanismSolver(load_mechanism("cross"))
    before = cross.q.copy()
    for command in (
        ToolGoal.position("link_5", [np.nan, 0.0, 0.0]),
        JointGoal("joint_1", np.inf),
        ToolMotion("link_5", (0, 0, np.nan)),
    ):
        with pytest.raises(InputError, match="isn't finite"):
            cross.command(command)
    with pytest.raises(InputError, match=r"'link_99'.*There are link_5"):
        cross.command(ToolGoal.position("link_99", [0.0, 0.0, 0.0]))
    with pytest.raises(InputError, match="'joint_99'"):
        cross.command(JointGoal("joint_99", 0.0))
    with pytest.raises(InputError, match="15 finite numbers"):
        cross.close(np.zeros(3))
    with pytest.raises(InputError, match="lower one first"):
        cross.set_limits("joint_1", 1.0, 0.0)
    with pytest.raises(InputError, match="'loop x'"):
        cross.open_loop("loop x")
    np.testing.assert_array_equal(cross.q, before)
    assert cross.command(ToolMotion("link_5", (0.001, 0.0, 0.0))).status == "reached"


@pytest.mark.feature("002-F084")
def test_a_device_that_jumps_by_a_metre_moves_the_mechanism_by_its_longest_step():
    cross = MechanismSolver(load_mechanism("cross"))
    before = cross.q.copy()
    motion = cross.command(ToolMotion("link_5", (1.0, 0.0, 0.0)))
    assert motion.loop_gap <= 1e-10
    scaled = abs(motion.q - before) / cross.scale
    assert scaled.max() < 10 * np.radians(5.0) * 1.3
    arm = MechanismSolver(load_mechanism("scara"))
    joint = arm.mechanism.robot.joint_names[0]
    before = arm.q.copy()
    motion = arm.command(JointGoal(joint, before[0] + 1.5))
    assert motion.status == "moving"
    assert motion.q[0] - before[0] == pytest.approx(10 * np.radians(5.0))


@pytest.mark.feature("002-F066")
def test_a_ladder_of_ten_loops_that_share_joints_closes_and_follows(tmp_path):
    lines = ["frame 5 { pos { 120 0 0 } ori { 0 0 0 } pred 0 filename ( ) }"]
    constraints = []
    for n in range(0, 200, 20):
        bar_before, rail_before, turn = (n - 8, n - 5, 0) if n else (0, 5, 78)
        lines += [
            f"link {n + 11} {{ parameters {{ theta 80 r 0 alpha 0 d 0 }} type 2 pred {bar_before} filename ( ) }}",
            f"link {n + 12} {{ parameters {{ theta -80 r 0 alpha 0 d 100 }} type 2 pred {n + 11} filename ( ) }}",
            f"link {n + 14} {{ parameters {{ theta {turn} r 0 alpha 0 d 0 }} type 2 pred {rail_before} filename ( ) }}",
            f"frame {n + 15} {{ pos {{ 100 0 0 }} ori {{ 0 0 0 }} pred {n + 14} filename ( ) }}",
            f"frame {n + 16} {{ pos {{ 120 0 0 }} ori {{ 0 0 0 }} pred {n + 12} filename ( ) }}",
        ]
        constraints.append(f"rotule {{ frame {n + 15} frame {n + 16} }}")
    solver = MechanismSolver(mad(tmp_path, "\n".join(lines), "\n".join(constraints)))
    assert len(solver.mechanism.loops) == 10
    assert solver.closing.closed
    start = solver.placement("link_192").translation
    for _ in range(50):
        motion = solver.command(ToolMotion("link_192", (1e-3, 0.0, 0.0), rows=("x",)))
        assert motion.status == "reached"
        assert motion.loop_gap <= 1e-10
    np.testing.assert_allclose(solver.placement("link_192").translation[0] - start[0], 0.05, atol=1e-6)


@pytest.mark.feature("002-F082")
def test_a_rocker_that_is_led_to_its_dead_point_is_led_back():
    """Crank and coupler in line: to first order the rocker can't move, and the crank moves it by its square."""
    solver = MechanismSolver(load_mechanism("fourbar"))
    begin = solver.placement("link_3").rotation
    inner = (0.36**2 - 0.32**2 - 0.24**2) / (2.0 * 0.32 * 0.24)  # cosine law: crank and coupler stretched, 0.1 + 0.26
    furthest = np.arccos(inner)
    beyond = ToolGoal.orientation("link_3", pin.utils.rotate("z", furthest - 0.4))
    for _ in range(30):
        status = solver.command(beyond).status
    assert status == "nearest"
    assert solver.q[2] == pytest.approx(furthest, abs=1e-6)
    for _ in range(30):
        motion = solver.command(ToolGoal.orientation("link_3", begin))
    assert motion.status == "reached"
    assert motion.loop_gap < 1e-10
    np.testing.assert_allclose(solver.placement("link_3").rotation, begin, atol=1e-6)
