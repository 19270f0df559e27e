# SPDX-License-Identifier: Apache-2.0
"""A mechanism that runs follows its newest commands without jumps, and is switched while it moves."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import JointGoal, JointVelocity, Mechanism, ToolGoal, ToolMotion, ToolVelocity, load_mechanism
from humanoid_kinematics.live.live_mechanism import LiveMechanism
from humanoid_kinematics.live.newest_commands import LiveLimits
from humanoid_kinematics.solver.thesis_solver import ThesisSolver
from humanoid_model import InputError, load_robot
from humanoid_model.joint_trajectory import JointTrajectory

pytestmark = pytest.mark.filterwarnings("ignore:.*E10")
DT = 0.001


def run(live, seconds, dt=DT):
    for _ in range(round(seconds / dt)):
        live.tick(dt)


def where(live, tool):
    """Where a tool is, by Pinocchio."""
    return live.mechanism.robot.link_placements(live.q)[tool]


def turned(live, joint):
    return live.q[live.mechanism.robot.index_q(joint)]


def test_a_velocity_lasts_as_long_as_it_comes_and_then_a_timeout():
    live = LiveMechanism(load_mechanism("cross"), limits=LiveLimits(timeout=0.1))
    begin = where(live, "link_5").translation
    for _ in range(100):
        live.give(ToolVelocity("link_5", (0.0, 0.0, -0.2)))
        live.tick(DT)
    assert where(live, "link_5").translation - begin == pytest.approx([0.0, 0.0, -0.02], abs=1e-5)
    assert live.v != pytest.approx(np.zeros(15))
    run(live, 0.3)
    assert where(live, "link_5").translation - begin == pytest.approx([0.0, 0.0, -0.04], abs=6e-4)
    assert live.v == pytest.approx(np.zeros(15))
    assert live.status == "idle"


@pytest.mark.parametrize("count", [1, 10])
def test_steps_of_a_tick_change_nothing_of_where_it_ends(count):
    live = LiveMechanism(load_mechanism("cross"))
    begin, before = where(live, "link_5").translation, live.q
    live.give(ToolVelocity("link_5", (0.1, 0.0, 0.0)))
    live.tick(0.02, count)
    assert where(live, "link_5").translation - begin == pytest.approx([0.002, 0.0, 0.0], abs=1e-6)
    assert live.time == pytest.approx(0.02)
    assert live.v == pytest.approx((live.q - before) / 0.02)


@pytest.mark.feature("002-F084")
def test_a_place_is_reached_no_faster_than_allowed_and_kept():
    live = LiveMechanism(load_mechanism("cross"), limits=LiveLimits(linear=0.5))
    begin = where(live, "link_5").translation
    live.give(ToolGoal.position("link_5", begin + np.array([0.0, 0.1, 0.0])))
    last = begin
    for _ in range(300):
        live.tick(DT)
        now = where(live, "link_5").translation
        assert np.linalg.norm(now - last) < 0.5 * DT + 1e-8
        last = now
        if live.status == "reached":
            break
    assert live.time == pytest.approx(0.2, abs=0.002)
    assert last == pytest.approx(begin + np.array([0.0, 0.1, 0.0]), abs=1e-7)
    assert live.commanded == ("link_5",)
    live.release("link_5")
    live.tick(DT)
    assert live.commanded == ()


def test_a_place_out_of_reach_is_approached_as_the_solver_would_and_the_way_named():
    arm, beside = (LiveMechanism(load_mechanism("macdac")) for _ in range(2))
    goal = ToolGoal.position("link_5", [50.0, 20.0, 10.0])
    arm.give(goal)
    run(arm, 8.0, 0.02)
    for _ in range(300):
        beside.solver.command(goal)
    assert where(arm, "link_5").translation == pytest.approx(where(beside, "link_5").translation, abs=1e-3)
    assert arm.state().in_the_way


@pytest.mark.feature("002-F084")
@pytest.mark.parametrize("turn", [0.5, 2.5])
def test_a_pose_whose_orientation_is_out_of_reach_is_come_near_to_at_full_speed(turn):
    live = LiveMechanism(load_mechanism("cross"))  # its plate doesn't turn
    begin = last = where(live, "link_5")
    goal = pin.SE3(pin.exp3(np.array([turn, 0.0, 0.0])), begin.translation + np.array([0.05, 0.03, -0.05]))
    live.give(ToolGoal("link_5", goal))
    for _ in range(100):
        live.tick(DT)
        now = where(live, "link_5")
        assert np.linalg.norm(now.translation - last.translation) < DT * (1.0 + 1e-5)
        last = now
    assert now.translation == pytest.approx(goal.translation, abs=1e-6)
    assert now.rotation == pytest.approx(begin.rotation, abs=1e-6)
    assert live.status == "nearest"
    live.give(ToolGoal("link_5", pin.SE3(goal.rotation, begin.translation)))
    run(live, 0.01)
    assert np.linalg.norm(where(live, "link_5").translation - goal.translation) < 0.01 * (1.0 + 1e-5)


def test_a_motion_is_made_once_at_the_speed_allowed():
    live = LiveMechanism(load_mechanism("cross"))
    begin = where(live, "link_5").translation
    for _ in range(2):
        live.give(ToolMotion("link_5", (0.005, 0.0, 0.0)))
    live.tick(DT)
    assert np.linalg.norm(where(live, "link_5").translation - begin) == pytest.approx(DT, rel=1e-3)
    run(live, 0.02)
    assert where(live, "link_5").translation - begin == pytest.approx([0.01, 0.0, 0.0], abs=1e-6)


@pytest.mark.feature("002-F074")
def test_while_joints_are_commanded_the_other_drives_stay_and_tools_follow():
    mechanism = dataclasses.replace(load_mechanism("syntaxeur_delta"), driven=("joint_1", "joint_11", "joint_21"))
    live = LiveMechanism(mechanism)
    first, second, third = mechanism.driven
    before = {joint: turned(live, joint) for joint in mechanism.driven}
    live.give(JointGoal(first, before[first] + 0.2))
    run(live, 0.2)
    assert turned(live, first) == pytest.approx(before[first] + 0.2, abs=1e-6)
    assert turned(live, second) == pytest.approx(before[second], abs=1e-9)
    assert turned(live, third) == pytest.approx(before[third], abs=1e-9)
    tool = mechanism.tools[0].name
    live.give(ToolMotion(tool, (0.0, 0.0, -0.002), rows=("x", "y", "z")))
    run(live, 0.01)
    assert abs(turned(live, second) - before[second]) > 1e-3


def test_joints_follow_a_path_in_its_time():
    live = LiveMechanism(load_mechanism("fourbar"))
    live.follow(JointTrajectory(["joint_1"], [0.0, 0.5, 1.0], [[turned(live, "joint_1")], [1.5], [1.2]]))
    run(live, 0.5)
    assert turned(live, "joint_1") == pytest.approx(1.5, abs=1e-6)
    run(live, 0.25)
    assert turned(live, "joint_1") == pytest.approx(1.35, abs=1e-6)
    run(live, 1.0)
    assert (turned(live, "joint_1"), live.commands.idle) == (pytest.approx(1.2, abs=1e-6), True)


@pytest.mark.feature("002-F084")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (ToolVelocity("link_1", (np.nan, 0.0, 0.0)), "nan"),
        (ToolVelocity("link_1", (0.0, 0.0)), "5 numbers"),
        (ToolVelocity("link_1", frame="moon"), "moon"),
        (ToolVelocity("link_1", rows=("w",)), "rows"),
        (ToolGoal("hand", pin.SE3.Identity()), "hand"),
        (ToolGoal.position("link_1", [np.inf, 0.0, 0.0]), "inf"),
        (JointGoal("joint_9", 0.0), "joint_9"),
        (JointVelocity("joint_1", np.nan), "nan"),
        (JointVelocity("joint_1", 1e100), "command of 'joint_1': is 1e.100.*at most 10000"),
        (JointGoal("joint_1", 1e100), "command of 'joint_1': is 1e.100.*at most 10000"),
        (ToolGoal.position("link_1", [0.0, 1e100, 0.0]), "command of 'link_1'.*at most 10000"),
        (ToolGoal.position("link_1", np.zeros(3), point=(1e100, 0.0, 0.0)), "command of 'link_1'.*at most 10000"),
        (ToolVelocity("link_1", (1e200, 0.0, 0.0)), "command of 'link_1'.*at most 10000"),
    ],
)
def test_of_commands_of_which_one_can_not_be_used_none_is_taken(command, words):
    live = LiveMechanism(load_mechanism("fourbar"))
    with pytest.raises(InputError, match=words):
        live.give(JointVelocity("joint_1", 1.0), command)
    before = live.q
    run(live, 0.01)
    assert live.q == pytest.approx(before, abs=1e-12)
    assert live.commands.idle


def test_a_path_or_a_base_out_of_this_world_is_refused():
    live = LiveMechanism(load_mechanism("fourbar"))
    with pytest.raises(InputError, match=r"positions: is .*1e.100.*at most 10000"):
        live.follow(JointTrajectory(["joint_1"], [1.0], [[1e100]]))
    with pytest.raises(InputError, match=r"base: is .*1e.100.*at most 10000"):
        live.move_base(pin.SE3(np.eye(3), np.array([1e100, 0.0, 0.0])))
    assert live.solver.base.isIdentity()


def test_the_thesis_profile_is_its_solver_and_the_way_back_closes_the_loops():
    live = LiveMechanism(load_mechanism("cross"))
    beside = ThesisSolver(live.mechanism)
    beside.q = live.q
    live.set_profile("thesis")
    for _ in range(20):
        live.give(ToolVelocity("link_5", angular=(0.0, 0.5, 0.0)))  # which the plate can't
        live.tick(0.01)
        beside.command(ToolMotion("link_5", angular=(0.0, 0.005, 0.0)))
    assert live.q == pytest.approx(beside.q, abs=1e-12)
    state = live.state()
    assert (state.profile, state.shape, state.rank) == ("thesis", (18, 15), 15)
    assert max(np.abs(gap).max() for gap in state.loop_residuals.values()) > 1e-3  # loops give way in the thesis
    live.set_profile("robust")
    assert live.gap < 1e-9
    with pytest.raises(InputError, match="best"):
        live.set_profile("best")
    floating = LiveMechanism(Mechanism.from_robot(load_robot("bip", floating_base=True)))
    floating.give(ToolMotion("right_foot" if "right_foot" in floating.mechanism.robot.parts.links else next(
        reversed(floating.mechanism.robot.parts.links)), (0.001, 0.0, 0.0)))  # fmt: skip
    floating.tick(DT)
    assert floating.status == "reached"


@pytest.mark.feature("002-F090")
def test_a_loop_is_let_go_of_and_held_again():
    live = LiveMechanism(load_mechanism("walking_leg"))
    loop = live.mechanism.loops[0].name
    foot = where(live, "frame_9").translation
    live.open_loop(loop)
    live.give(ToolGoal.position("frame_9", foot + np.array([0.05, 0.0, 0.05])))
    run(live, 0.2)
    assert where(live, "frame_9").translation - foot == pytest.approx([0.05, 0.0, 0.05], abs=1e-6)
    assert (live.open_loops, live.gap) == ((loop,), 0.0)
    assert np.linalg.norm(live.state().loop_residuals[loop][:3]) == pytest.approx(0.05 * 2**0.5, abs=1e-6)
    live.release()
    live.hold_loop(loop)
    assert where(live, "frame_9").translation == pytest.approx(foot, abs=1e-9)
    live.open_loop(loop)
    live.lock(*live.mechanism.robot.joint_names[:6])
    live.give(JointGoal("joint_5", turned(live, "joint_5") + 0.3))
    live.unlock("joint_5")
    run(live, 0.2)
    live.lock("joint_5")
    before = live.q
    with pytest.raises(InputError, match="doesn't close from here"):
        live.hold_loop(loop)
    assert (live.open_loops, live.q) == ((loop,), pytest.approx(before))


def test_the_state_tells_what_others_compute():
    live = LiveMechanism(load_mechanism("cross"))
    live.lock("joint_1")
    live.solver.set_limits("joint_6", turned(live, "joint_6"), 2.0)
    live.give(ToolVelocity("link_5", (0.0, 0.1, 0.0)))
    live.tick(DT)
    state = live.state()
    J = np.vstack([live.solver.scaled_loop_jacobian(), live.solver.tool_jacobian("link_5") * live.solver.scale])
    J[-6:-3] /= live.solver.length
    sigma = np.linalg.svd(J, compute_uv=False)
    assert state.singular_values == pytest.approx(sigma)
    assert state.condition == pytest.approx(np.linalg.cond(J))
    assert (state.mobility, state.rank, state.shape) == (3, 15, (18, 15))
    assert state.locked == ("joint_1",)
    data = live.mechanism.model.createData()
    pin.computeJointJacobians(live.mechanism.model, data, live.q)
    joint = live.mechanism.robot.parts.links["link_5"].joint_id
    achieved = pin.getJointJacobian(live.mechanism.model, data, joint, pin.LOCAL_WORLD_ALIGNED) @ live.v
    assert state.command_residuals["link_5"] == pytest.approx(np.array([0, 0.1, 0, 0, 0, 0]) - achieved, abs=1e-9)
    assert "lock of joint_1" in state.in_the_way


@pytest.mark.feature("002-F168")
def test_a_configuration_is_shown_with_its_loops_closed_or_refused():
    live = LiveMechanism(load_mechanism("fourbar"))
    before = live.q
    gap = live.place(before + np.array([0.0, 0.01, 0.0]), 0.1)
    assert gap == pytest.approx(0.26 * 0.01, rel=0.01)
    assert live.gap < 1e-9
    assert live.v == pytest.approx((live.q - before) / 0.1)
    before = live.q
    for wrong in ([0.0], [np.nan] * 3):
        with pytest.raises(InputError):
            live.place(wrong, 0.1)
    assert live.q == pytest.approx(before)


@pytest.mark.feature("002-F050")
def test_a_base_that_moves_carries_the_mechanism_and_stays_over_an_edit_but_not_in_the_thesis_solver():
    live = LiveMechanism(load_mechanism("fourbar"))
    base = pin.SE3(pin.utils.rotate("z", 0.4), np.array([1.0, 0.0, 0.2]))
    live.move_base(base)
    there = base.act(where(live, "link_2").translation)
    assert live.solver.placement("link_2").translation == pytest.approx(there)
    live.rebuild(live.mechanism, ())
    assert live.solver.placement("link_2").translation == pytest.approx(there)
    with pytest.raises(InputError, match="base"):
        live.set_profile("thesis")
    live.move_base(pin.SE3.Identity())
    live.set_profile("thesis")
    with pytest.raises(InputError, match="thesis"):
        live.move_base(base)


def test_what_kept_a_position_from_being_reached_is_told_for_a_second():
    live = LiveMechanism(load_mechanism("fourbar"))
    live.lock("joint_1")
    live.give(JointGoal("joint_1", turned(live, "joint_1") + 0.3))
    run(live, 0.1)
    assert (live.state().status, live.state().in_the_way) == ("idle", ("lock of joint_1",))
    run(live, 1.0)
    assert live.state().in_the_way == ()


@pytest.mark.feature("002-F073")
@pytest.mark.parametrize("name", ["fourbar", "gough"])
def test_joints_that_are_sent_out_of_reach_come_back_in_the_same_assembly_mode(name):
    mechanism = load_mechanism(name)
    if name == "fourbar":  # its rocker has an end; where the crank drives, there is none
        mechanism = dataclasses.replace(mechanism, driven=("joint_3",))
    live, rng = LiveMechanism(mechanism), np.random.default_rng(1)
    begin, ended = live.q, 0
    drives = {joint: turned(live, joint) for joint in mechanism.driven}
    for _ in range(6):
        ended += not_all_reached(live, {joint: at + rng.uniform(-1.5, 1.5) for joint, at in drives.items()})
        assert not not_all_reached(live, drives)
        np.testing.assert_allclose(pin.difference(mechanism.model, begin, live.q), 0.0, atol=1e-5)
    assert ended > 1


def not_all_reached(live, goals):
    """Send joints somewhere; whether the assembly mode ended on the way."""
    live.give(*(JointGoal(joint, position) for joint, position in goals.items()))
    ways = set()
    for _ in range(100):
        live.tick(0.02, 4)
        ways |= {*live.state().in_the_way}
    live.tick(1.1)  # what was in the way is forgotten
    return "end of the assembly mode" in ways


@pytest.mark.feature("002-F073")
def test_a_tool_is_brought_through_the_end_of_an_assembly_mode():
    live = LiveMechanism(dataclasses.replace(load_mechanism("fourbar"), driven=("joint_3",)))
    sides = set()
    for _ in range(2000):
        live.give(ToolVelocity("link_2", (0.0, 0.0, 0.0), (0.0, 0.0, 3.0), rows=("rz",)))
        live.tick(0.002)
        sides.add(np.sign(np.sin(turned(live, "joint_2"))))
    assert {-1.0, 1.0} <= sides
