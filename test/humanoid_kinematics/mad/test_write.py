# SPDX-License-Identifier: Apache-2.0
"""Any chain of turning and sliding joints can be said in MAD, loops included."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_urdf import random_urdf

from humanoid_kinematics import Mechanism, load_mechanism
from humanoid_kinematics.mad.build import build_mechanism
from humanoid_kinematics.mad.load import EXTENSIONS
from humanoid_kinematics.mad.read import parse_mad
from humanoid_kinematics.mad.syntax import MadLink
from humanoid_kinematics.mad.write import describe_mechanism, write_mad
from humanoid_kinematics.solver.mechanism import Tool
from humanoid_model import RobotError, load_robot
from humanoid_model.loop_closure import KINDS, LoopClosure


def said_in_mad(mechanism):
    scene = parse_mad(write_mad(describe_mechanism(mechanism)), extensions=EXTENSIONS)
    return build_mechanism(scene, scene.robots[0])


def random_mechanism(rng, joints=7):
    robot = load_robot(random_urdf(rng, joints + 1, ("revolute", "continuous", "prismatic")), floating_base=False)
    tools = tuple(Tool(link, link, pin.SE3.Random(), (1, 0)) for link in robot.parts.links)
    return dataclasses.replace(Mechanism.from_robot(robot, tools), initial=0.1 * rng.normal(size=robot.model.nq))


@pytest.mark.feature("002-F014")
def test_random_trees_are_where_pinocchio_puts_them():
    rng = np.random.default_rng(11)
    pin.seed(11)
    for _ in range(12):
        mechanism = random_mechanism(rng)
        again = said_in_mad(mechanism)
        assert again.model.nq == mechanism.model.nq
        for _ in range(3):
            step = rng.normal(size=mechanism.model.nq)
            before = mechanism.robot.link_placements(mechanism.initial + step)
            after = again.robot.link_placements(again.initial + step)
            for tool, other in zip(mechanism.tools, again.tools, strict=True):
                place = before[tool.link] * tool.placement
                assert np.abs(place.homogeneous - after[other.link].homogeneous).max() < 1e-7


def test_limits_count_from_the_same_place():
    mechanism = random_mechanism(np.random.default_rng(2))
    again = said_in_mad(mechanism)
    for bound in ("lower", "upper"):
        before = getattr(mechanism.robot.limits, bound) - mechanism.initial
        after = getattr(again.robot.limits, bound) - again.initial
        assert after == pytest.approx(before, abs=1e-9)


def test_serial_links_need_four_parameters():
    nodes = describe_mechanism(load_mechanism("puma")).robots[0].nodes
    for node in nodes:
        if isinstance(node, MadLink) and node.pred:
            assert "gamma" not in node.parameters
            assert "epsil" not in node.parameters


@pytest.mark.parametrize("name", ["cross", "innocenti", "hpr", "syntaxeur_delta", "fourbar", "gough"])
@pytest.mark.filterwarnings("ignore:.*E10")
def test_the_mechanisms_of_the_thesis_survive(name):
    mechanism = load_mechanism(name)
    again = said_in_mad(mechanism)
    assert (again.model.nq, again.length_unit) == (mechanism.model.nq, 0.001)
    driven = [[robot.robot.index_q(joint) for joint in robot.driven or ()] for robot in (mechanism, again)]
    assert driven[0] == driven[1]
    assert [loop.rows for loop in again.loops] == [loop.rows for loop in mechanism.loops]
    step = 0.2 * np.random.default_rng(1).normal(size=mechanism.model.nq)
    before = mechanism.robot.link_placements(mechanism.initial + step)
    after = again.robot.link_placements(again.initial + step)
    for loop, other in zip(mechanism.loops, again.loops, strict=True):
        one = before[loop.link_a].actInv(before[loop.link_b])
        two = after[other.link_a].actInv(after[other.link_b])
        assert np.abs(one.homogeneous - two.homogeneous).max() < 1e-9


@pytest.mark.parametrize("kind", ["axis", "slide"])
def test_a_cut_hinge_or_slide_becomes_a_link_behind_a_frame(kind):
    rng = np.random.default_rng(8)
    pin.seed(8)
    mechanism = random_mechanism(rng, 5)
    links = [*mechanism.robot.parts.links]
    # Closed in the initial posture, but for a turn or a slide along z.
    at = mechanism.robot.link_placements(mechanism.initial)
    free = pin.SE3(pin.exp3(np.array([0, 0, 0.7])), np.zeros(3)) if kind == "axis" else pin.SE3.Identity()
    free.translation = np.array([0, 0, 0.4 if kind == "slide" else 0.0])
    end = pin.SE3.Random()
    other = at[links[-1]].actInv(at[links[0]] * end * free)
    loop = LoopClosure("cut", links[0], end, links[-1], other, KINDS[kind])
    mechanism = dataclasses.replace(mechanism, robot=dataclasses.replace(mechanism.robot, loops=(loop,)))
    again = said_in_mad(mechanism)
    (closure,) = again.loops
    assert again.model.nq == mechanism.model.nq + 1
    places = again.robot.link_placements(again.initial)
    gap = places[closure.link_a].actInv(places[closure.link_b])
    assert np.abs(gap.homogeneous - np.eye(4)).max() < 1e-9


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("five_bar", "MAD has no word for loop 'O5', which holds x, z. Cut a point, axis, slide, frame"),
        ("hrp2", "MAD has no word for a floating base. Load it with floating_base=False"),
    ],
)
def test_what_mad_has_no_word_for_is_refused(name, told):
    with pytest.raises(RobotError) as caught:
        describe_mechanism(load_mechanism(name))
    assert told in str(caught.value)
