# SPDX-License-Identifier: Apache-2.0
"""Walks on slopes and stairs, backwards, aside, round bends, from rest and to it."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from humanoid_gait import GaitSolver, State, WalkRequest
from humanoid_gait.transcription import smooth_height
from humanoid_model import InputError, load_robot
from humanoid_model.ground_profile import GroundProfile

pytestmark = pytest.mark.feature("003-F031")
STAIRS = WalkRequest(0.32, rise=0.15, single=1.0, double=0.4, intervals=(6, 20))


@pytest.mark.parametrize(
    "request_",
    [
        WalkRequest(0.2, slope=0.15), WalkRequest(-0.2, slope=-0.1, side=0.05), STAIRS, replace(STAIRS, rise=-0.1),
        replace(STAIRS, length=-0.35),
    ],
    ids=["up", "backwards down and aside", "stairs up", "stairs down", "stairs backwards"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["bip", "hrp2"])
def test_soles_stand_on_the_ground(name: str, request_: WalkRequest) -> None:
    robot = load_robot(name, geometry=False)
    problem = request_.problem(robot)
    for phase in problem.phases:
        for hold in phase.holds:
            place = hold.placement
            own = hold.contact.location
            corners = [place.act(own.placement_link_patch.actInv(corner)) for corner in own.vertices_link]
            heights = [corner[2] - problem.ground.height(corner[0]) for corner in corners]
            np.testing.assert_allclose(heights, 0.0, atol=1e-9)
            normal = [-problem.ground.slope, 0.0, 1.0] / np.hypot(1.0, problem.ground.slope)
            np.testing.assert_allclose(place.rotation[:, 2], normal, atol=1e-9)


def test_turns_are_for_level_ground() -> None:
    with pytest.raises(InputError, match="Turn on level ground"):
        WalkRequest(0.2, slope=0.1, turn=0.2).problem(load_robot("bip", geometry=False))


def test_ramps_lie_outside_of_the_stairs() -> None:
    ground = GroundProfile(np.array([0.0, 0.3, 0.6]), np.array([0.0, 0.15, 0.3, 0.1]))
    x = ca.SX.sym("x")
    function = ca.Function("height", [x], [smooth_height(ground, x)])
    at = np.linspace(-0.2, 0.8, 1001)
    above = np.asarray(function(at[None, :])).ravel() - ground.height(at)
    assert above.min() > -0.02 * 0.2  # of the greatest rise, right at its edge
    away = np.abs(at[:, None] - ground.edges).min(axis=1) > 0.06
    np.testing.assert_allclose(above[away], 0.0, atol=1e-3)


def test_rests_stand_where_the_cycle_begins_and_further_on() -> None:
    robot = load_robot("bip", geometry=False)
    request = WalkRequest(0.25)
    q, v = robot.default_posture, np.zeros(robot.model.nv)
    for problem, ahead in ((request.starting(robot, q, v), 0.0), (request.stopping(robot, q, v), 0.25)):
        rest = problem.start if ahead == 0.0 else problem.end
        assert isinstance(rest, State)
        links = robot.link_placements(np.asarray(rest.q))
        for hold in problem.phases[0 if ahead == 0.0 else -1].holds:
            location = hold.contact.location
            place = links[location.link] * location.placement_link_patch
            np.testing.assert_allclose(place.translation, hold.placement.translation, atol=1e-4)
            assert place.translation[0] == pytest.approx(ahead, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "request_",
    [
        WalkRequest(-0.15, intervals=(5, 15)), WalkRequest(0.2, slope=0.15, intervals=(5, 15)),
        WalkRequest(0.2, slope=-0.15, intervals=(5, 15)), STAIRS,
    ],
    ids=["backwards", "up", "down", "stairs"],
)  # fmt: skip
def test_it_walks(request_: WalkRequest) -> None:
    result = GaitSolver(request_.problem(load_robot("hrp2", geometry=False))).solve()
    assert result.success, result.report()


@pytest.mark.slow
def test_it_starts_and_stops() -> None:
    robot, request = load_robot("hrp2", geometry=False), WalkRequest(0.25, intervals=(5, 15))
    motion = GaitSolver(request.problem(robot)).solve().motion
    for way in (request.starting, request.stopping):
        result = GaitSolver(way(robot, motion.q[0], motion.v[0])).solve()
        assert result.success, result.report()
