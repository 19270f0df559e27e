# SPDX-License-Identifier: Apache-2.0
"""All mechanisms of a file run: links are edited and loops switched while they move, all or none."""

import dataclasses

import numpy as np
import pytest

from humanoid_kinematics import JointGoal, JointVelocity, KleinfingerKhalil, LinkChange, LiveScene, ToolVelocity
from humanoid_kinematics.mad.syntax import MadError
from humanoid_model import InputError, RobotError

pytestmark = pytest.mark.filterwarnings("ignore:.*E10")
REVOLUTE, PRISMATIC = 2, 1


@pytest.fixture
def hybrid():
    scene = LiveScene.load("planar_hybrid")
    return scene, scene.mechanisms["hybride"]


def place(live, link):
    return live.mechanism.robot.link_placements(live.q)[link]


def parameters(live, joint, **changes):
    return dataclasses.replace(live.mechanism.parameters[joint], **changes)


@pytest.mark.feature("002-F046", "002-F184")
def test_a_link_grows_where_the_mechanism_stands_while_it_moves(hybrid):
    scene, live = hybrid
    live.give(JointGoal("joint_1", 0.5))
    for _ in range(300):
        live.tick(0.001)
    before = live.q
    live.give(ToolVelocity("frame_9", (0.01, 0.0, 0.0)))
    live.lock("joint_1")
    gap = scene.edit("hybride", [LinkChange("link_3", REVOLUTE, parameters(live, "joint_3", d=0.41))])
    assert gap < 1e-9
    assert np.linalg.norm(place(live, "link_3").translation - place(live, "link_2").translation) == pytest.approx(0.41)
    assert place(live, "link_7").translation == pytest.approx(place(live, "frame_8").translation, abs=1e-9)
    assert live.q[0] == pytest.approx(before[0], abs=1e-12)
    assert np.abs(live.q - before).max() < 0.1
    assert live.solver.locked == ("joint_1",)
    stands = live.q
    live.tick(0.001)
    assert live.commanded == ("frame_9",)
    again = LiveScene.read(scene.text).mechanisms["hybride"]
    assert again.q == pytest.approx(stands, abs=1e-3)
    assert again.solver.upper == pytest.approx(live.solver.upper)
    assert again.mechanism.parameters["joint_3"].d == pytest.approx(0.41)


@pytest.mark.feature("002-F121")
def test_a_turning_joint_becomes_a_slide_where_it_is(hybrid):
    scene, live = hybrid
    before = {link: place(live, link) for link in ("link_4", "frame_9")}
    now = live.q[live.mechanism.robot.index_q("joint_4")]
    scene.edit("hybride", [LinkChange("link_4", PRISMATIC, parameters(live, "joint_4", theta=now))])
    assert live.mechanism.robot.description.joints["joint_4"].type == "prismatic"
    for link, placement in before.items():
        assert place(live, link).homogeneous == pytest.approx(placement.homogeneous, abs=1e-9)
    live.give(JointGoal("joint_4", 0.02))
    for _ in range(50):
        live.tick(0.001)
    away = place(live, "frame_9").translation - before["frame_9"].translation
    assert away == pytest.approx([0.0, 0.0, 0.02], abs=1e-6)


@pytest.mark.feature("002-F046")
def test_limits_push_a_joint_and_the_loop_follows(hybrid):
    scene, live = hybrid
    here = live.q[1]
    scene.edit("hybride", [LinkChange("link_2", limits=(here - 0.5, here - 0.1))])
    assert live.q[1] <= here - 0.1 + 1e-12
    assert live.gap < 1e-9


@pytest.mark.feature("002-F047")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (LinkChange("link_3", REVOLUTE, KleinfingerKhalil(d=9.0)), "no longer close"),
        (LinkChange("link_8"), "there is no link 'link_8'"),
        (LinkChange("link_3", 3), "type is 3"),
        (LinkChange("link_3", REVOLUTE, KleinfingerKhalil(r=np.inf)), "r is inf"),
        (LinkChange("link_3", limits=(1.0, -1.0)), "lower one first"),
    ],
)
def test_of_changes_of_which_one_can_not_be_made_none_is(hybrid, change, words):
    scene, live = hybrid
    before, text = live.q, scene.text
    good = LinkChange("link_2", REVOLUTE, parameters(live, "joint_2", d=0.45), locked=True)
    with pytest.raises(InputError, match=words):
        scene.edit("hybride", [good, change])
    assert (scene.text, live.solver.locked) == (text, ())
    assert live.q == pytest.approx(before)
    assert live.gap < 1e-9
    with pytest.raises(InputError, match="there is no mechanism 'x'"):
        scene.edit("x", [good])


@pytest.mark.feature("002-F047")
def test_loops_and_profile_are_switched_together_or_not_at_all():
    scene = LiveScene.load("walking_leg")
    (live,) = scene.mechanisms.values()
    loop = live.mechanism.loops[0].name
    scene.switch("robust", [loop])
    live.give(JointGoal("joint_2", live.q[1] + 0.3))
    for _ in range(500):
        live.tick(0.001)
    live.lock(*live.mechanism.robot.joint_names)
    before = live.q
    for profile, loops, words in (
        ("thesis", (), "doesn't close"), ("thesis", (loop,), "are open"), ("robust", ("x",), "no loop 'x'"),
        ("best", (loop,), "best"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            scene.switch(profile, loops)
        assert (live.profile, live.open_loops) == ("robust", (loop,))
        assert live.q == pytest.approx(before)
    live.unlock(*live.mechanism.robot.joint_names)
    scene.switch("thesis", ())
    assert (live.profile, live.open_loops) == ("thesis", ())
    scene.switch("robust", ())
    assert live.gap < 1e-9


@pytest.mark.feature("002-F087")
def test_two_robots_of_a_file_run_apart():
    scene = LiveScene.load("two_robots")
    left, right = scene.mechanisms["left"], scene.mechanisms["right"]
    begin, still = place(left, "frame_4").translation, right.q
    left.give(ToolVelocity("frame_4", (0.0, 0.0, 0.1), rows=("x", "y", "z")))
    scene.tick(0.01)
    assert right.q == pytest.approx(still)
    assert place(left, "frame_4").translation - begin == pytest.approx([0.0, 0.0, 0.001], abs=1e-6)
    left.release()
    right.give(JointVelocity("joint_1", 0.5))
    before = left.q
    scene.tick(0.01)
    assert left.q == pytest.approx(before)
    assert right.q - still == pytest.approx([0.005, 0.0, 0.0], abs=1e-6)


def test_limits_and_locks_of_a_urdf_change_and_its_geometry_does_not():
    text = (
        "<robot name='arm'><link name='a'/><link name='b'/><joint name='j' type='continuous'><parent link='a'/>"
        "<child link='b'/><axis xyz='0 0 1'/></joint></robot>"
    )
    scene = LiveScene.read(text)
    live = scene.mechanisms["arm"]
    scene.edit("arm", [LinkChange("b", limits=(-0.1, 0.1))])
    live.give(JointGoal("j", 1.0))
    for _ in range(100):
        live.tick(0.001)
    assert live.q == pytest.approx([0.1])
    with pytest.raises(InputError, match="geometry can't be changed"):
        scene.edit("arm", [LinkChange("b", REVOLUTE)])
    assert LiveScene.read(scene.text).mechanisms["arm"].q == pytest.approx([0.0])


def test_what_can_not_run_is_told():
    apart = (
        "RAFF v1.1 x robot a { base { } link 1 { parameters { theta 0 r 0 alpha 0 d 0 } type 2 pred 0 } "
        "frame 2 { pos { 100 0 0 } ori { 0 0 0 } pred 1 } frame 3 { pos { 300 0 0 } ori { 0 0 0 } pred 0 } "
        "rotule { frame 2 frame 3 } }"
    )
    with pytest.raises(InputError, match=r"loops don't close: frame_2-frame_3 by 0\.2 m"):
        LiveScene.read(apart)
    with pytest.raises(MadError, match="text:1:"):
        LiveScene.read(apart.replace("rotule", "rotle"))
    with pytest.raises(RobotError):
        LiveScene.read("<robot")


def test_getting_ready_moves_nothing():
    scene = LiveScene.load("cross")
    live = scene.mechanisms["crossdelta"]
    before = live.q
    scene.prepare()
    np.testing.assert_array_equal(live.q, before)
    assert (live.status, live.commanded) == ("idle", ())
