# SPDX-License-Identifier: Apache-2.0
"""Postures that a solver begins with stand where they are to stand, knees bent, joints in their ranges."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_gait import GaitSolver, WalkRequest
from humanoid_gait.guess import posture_guess
from humanoid_gait.placement import posture_at
from humanoid_model import load_robot

pytestmark = pytest.mark.feature("003-F031")


@pytest.mark.parametrize("name", ["bip_planar", "bip", "hrp2"])
@pytest.mark.parametrize("length", [0.15, 0.25, 0.32])
def test_postures_hold_what_is_held_and_lift_what_swings(name: str, length: float) -> None:
    robot = load_robot(name, geometry=False)
    problem = WalkRequest(length, intervals=(3, 8)).problem(robot)
    postures = posture_guess(problem)
    assert (postures >= robot.limits.lower - 1e-9)[:, -8:].all()
    assert (postures <= robot.limits.upper + 1e-9)[:, -8:].all()
    node = 0
    for phase in problem.phases:
        for q in postures[node : node + phase.intervals + 1]:
            links = robot.link_placements(q)
            for hold in phase.holds:
                own = hold.contact.location
                off = pin.log6((links[own.link] * own.placement_link_patch).actInv(hold.placement)).vector
                assert np.abs(off).max() < 0.05
            for swinging in phase.swinging:
                own = robot.contacts[swinging]
                assert min(links[own.link].act(corner)[2] for corner in own.vertices_link) > -0.02
        node += phase.intervals


def test_a_joint_at_its_end_leaves_the_way_to_the_others() -> None:
    """Straight knees can't give the height; the hips' planar base does."""
    robot = load_robot("bip_planar", geometry=False)
    q = robot.default_posture
    places = {}
    for name, location in robot.contacts.items():
        place = robot.link_placements(q)[location.link] * location.placement_link_patch
        places[name] = pin.SE3(np.eye(3), np.array([0.0, place.translation[1], 0.05]))
    found = posture_at(robot, q, places)
    for name, place in places.items():
        location = robot.contacts[name]
        own = robot.link_placements(found)[location.link] * location.placement_link_patch
        np.testing.assert_allclose(own.translation, place.translation, atol=2e-3)


@pytest.mark.parametrize(("single", "double"), [(0.5, 0.1), (0.7, 0.2)])
@pytest.mark.parametrize("length", [0.15, 0.28, 0.32])
def test_planar_walks_with_straight_knees_at_rest_are_found(length: float, single: float, double: float) -> None:
    request = WalkRequest(length, single=single, double=double, intervals=(3, 8))
    result = GaitSolver(request.problem(load_robot("bip_planar", geometry=False))).solve()
    assert result.success, result.report()
    assert result.solution.iterations < 40
