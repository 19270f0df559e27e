# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of the legs of walking robots."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_control.walking.leg_kinematics import LegKinematics
from humanoid_model import load_robot
from humanoid_model.errors import InputError


def test_it_finds_the_configuration_that_made_the_task() -> None:
    """Random bent legs of HRP-2: forward kinematics gives the task, the solution is the configuration again."""
    robot = load_robot("hrp2", geometry=False)
    legs = LegKinematics(robot)
    model = robot.model
    data = model.createData()
    rng = np.random.default_rng(3)
    start = robot.postures["half_sitting"]
    for _ in range(20):
        q = start.copy()
        q[:2] += rng.uniform(-0.05, 0.05, 2)
        joints = [robot.index_q(name) for sole in legs.soles for name in legs.leg_joints[sole]]
        q[joints] += rng.uniform(-0.15, 0.15, len(joints))
        centre = pin.centerOfMass(model, data, q).copy()
        pin.framesForwardKinematics(model, data, q)
        soles = {}
        for sole in legs.soles:
            contact = robot.contacts[sole]
            soles[sole] = data.oMf[robot.parts.links[contact.link].frame_id] * contact.placement_link_patch
        solution = legs.solve(start, np.eye(3), q[2], centre[:2], soles)
        assert solution.reached
        assert_allclose(solution.q, q, atol=1e-8)


def test_a_leg_that_is_too_short_says_by_how_much() -> None:
    """A sole straight below HRP-2's hip, 0.705 m with the leg stretched: 5 cm lower it stays 5 cm short."""
    robot = load_robot("hrp2", geometry=False)
    legs = LegKinematics(robot)
    q = robot.postures["zero"].copy()
    data = robot.model.createData()
    centre = pin.centerOfMass(robot.model, data, q)[:2]
    soles = {
        "right_sole": pin.SE3(np.eye(3), np.array([0.03, -0.095, -0.05])),
        "left_sole": pin.SE3(np.eye(3), np.array([0.03, 0.095, 0.0])),
    }
    bent = robot.postures["half_sitting"].copy()
    solution = legs.solve(bent, np.eye(3), q[2], centre, soles)
    assert not solution.reached
    assert solution.missed["right_sole"] == pytest.approx(0.05, rel=0.15)


def test_ball_joints_in_legs_are_refused() -> None:
    with pytest.raises(InputError, match=r"more than one coordinate|support contacts"):
        LegKinematics(load_robot("avatar", geometry=False))
