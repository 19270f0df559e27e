# SPDX-License-Identifier: Apache-2.0
"""A mistyped name leads to the one that was meant, here and where robots, bodies and joints are named."""

from __future__ import annotations

import pytest

from humanoid_model.errors import InputError, did_you_mean
from humanoid_sim import Simulation

pytestmark = pytest.mark.feature("000-F006")

LINKS = ["floor", "hrp2/CHEST_LINK0", "hrp2/CHEST_LINK1", "hrp2/RLEG_LINK5"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hrp2/CHEST_LINK_1", "hrp2/CHEST_LINK1"),
        ("CHEST_LINK1", "hrp2/CHEST_LINK1"),
        ("hrp2/chest_link1", "hrp2/CHEST_LINK1"),
        ("hpr2/CHEST_LINK1", "hrp2/CHEST_LINK1"),
        ("CHEST_LNK1", "hrp2/CHEST_LINK1"),
        ("Floor", "floor"),
        ("flor", "floor"),
    ],
)
def test_the_nearest_name_is_told(typed, meant):
    assert did_you_mean(typed, LINKS) == f"Did you mean '{meant}'? "


@pytest.mark.parametrize(("typed", "known"), [("table", LINKS), ("", LINKS), ("floor", [])])
def test_nothing_is_told_where_nothing_is_like_it(typed, known):
    assert did_you_mean(typed, known) == ""


def test_of_two_robots_the_one_that_was_named_is_meant():
    assert did_you_mean("left/HEAD_1", ["left/HEAD1", "right/HEAD1"]) == "Did you mean 'left/HEAD1'? "
    assert did_you_mean("lft/HEAD1", ["left/HEAD1", "right/HEAD1"]) == "Did you mean 'left/HEAD1'? "


@pytest.fixture(scope="module")
def simulation():
    return Simulation("stand")


@pytest.mark.parametrize(
    ("use", "problem"),
    [
        (
            lambda sim: sim.apply_wrench("CHEST_LINK1", [1, 0, 0], duration=0.1),
            r"there is no body 'CHEST_LINK1'. Did you mean 'hrp2/CHEST_LINK1'\? Name one of floor",
        ),
        (lambda sim: sim.robots["hrp-2"], r"no robot 'hrp-2'. Did you mean 'hrp2'\? There are hrp2"),
        (lambda sim: sim.bodies["flor"], r"no body 'flor'. Did you mean 'floor'\? There are floor"),
        (
            lambda sim: sim.robots["hrp2"].set_effort([0.0], ["RLEG_JOINT_0"]),
            r"has no joint 'RLEG_JOINT_0'. Did you mean 'RLEG_JOINT0'\? Its joints are",
        ),
    ],
)
def test_errors_of_a_simulation_ask_what_was_meant(simulation, use, problem):
    with pytest.raises(InputError, match=problem):
        use(simulation)


def test_one_number_is_the_gain_of_all_joints_that_are_named():
    robot = Simulation("stand").robots["hrp2"]
    servos, legs = robot._simulation.servos, ["RLEG_JOINT0", "LLEG_JOINT0"]
    rest = [name for name in robot.joint_names if name not in legs]
    rows, others = ([robot._slices.v.start + robot.robot.index_v(name) for name in names] for names in (legs, rest))
    before = servos.servo_stiffness[others].copy()
    robot.set_gains(1234.0, 56, joints=legs)
    assert servos.servo_stiffness[rows].tolist() == [1234.0, 1234.0]
    assert servos.servo_damping[rows].tolist() == [56.0, 56.0]
    assert servos.servo_stiffness[others].tolist() == before.tolist()
    robot.set_gains(7.0, 8.0)
    assert servos.servo_stiffness[others].tolist() == [7.0] * len(others)
    with pytest.raises(InputError, match=r"stiffness\[0\] is -1.0. Gains are zero or positive"):
        robot.set_gains(-1.0, 1.0)
    with pytest.raises(InputError, match=r"damping has 2 values\. Give 30"):
        robot.set_gains(1.0, [1.0, 2.0])
