# SPDX-License-Identifier: Apache-2.0
"""Walks on slopes and stairs, backwards, aside, round bends, from rest and to it."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from humanoid_gait import AccelerationCost, ForceCost, GaitProblem, GaitSolver, State, TorqueCost, WalkRequest
from humanoid_gait.guess import posture_guess
from humanoid_gait.swing_heights import smooth_height
from humanoid_gait.transcription import Transcription
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


def test_a_stair_has_room_for_a_sole() -> None:
    with pytest.raises(InputError, match=r"length: is 0\.25\. Give more than 0\.29 m"):
        WalkRequest(0.25, rise=0.1).problem(load_robot("bip", geometry=False))


def test_no_edge_comes_through_a_sole_between_its_corners() -> None:
    """Signs of the rows are those of an edge's height above the plane of the sole, told by Pinocchio."""
    robot = load_robot("bip", geometry=False)
    problem = WalkRequest(0.4, rise=0.11, single=0.8, double=0.3, intervals=(6, 20)).problem(robot)
    t = Transcription(problem, posture_guess(problem))
    index = next(i for i, phase in enumerate(problem.phases) if phase.swinging)
    (name,) = problem.phases[index].swinging
    location = robot.contacts[name]
    kind = next(kind for kind in t.node_rows if kind.name == f"{name} swings")
    q = robot.default_posture
    sole = robot.link_placements(q)[location.link] * location.placement_link_patch
    x, height = float(problem.ground.edges[2]), float(problem.ground.heights[3])
    for above in (-0.01, 0.01):
        place = pin.SE3(pin.utils.rotate("y", -0.4), np.array([x, 0.1, height + above]))
        moved = robot.place_base(q, place * sole.inverse() * robot.placement_base(q))
        corners = [place.act(location.placement_link_patch.actInv(corner)) for corner in location.vertices_link]
        clear = min(corner[2] - problem.ground.height(corner[0]) for corner in corners)
        assert clear > 0.02  # only the edge is in its way
        state = np.zeros(t.layout.state)
        state[: t.model.n] = t.coordinates.chart(moved[None])[0]
        rows = np.asarray(kind.function(state, kind.parameters)).ravel()
        assert (rows.min() < 0.0) == (above < 0.0)
        assert rows.min() == pytest.approx(above * np.cos(0.4), abs=3e-3)


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
def test_long_soles_go_over_the_edges_of_stairs() -> None:
    request = WalkRequest(0.4, rise=0.114, single=0.836, double=0.387, intervals=(6, 20))
    result = GaitSolver(request.problem(load_robot("bip", geometry=False))).solve()
    assert result.success, result.report()


@pytest.mark.slow
def test_it_starts_and_stops() -> None:
    robot, request = load_robot("hrp2", geometry=False), WalkRequest(0.25, intervals=(5, 15))
    motion = GaitSolver(request.problem(robot)).solve().motion
    for way in (request.starting, request.stopping):
        result = GaitSolver(way(robot, motion.q[0], motion.v[0])).solve()
        assert result.success, result.report()


def test_it_lands_on_the_heel_and_rolls_over_the_toes() -> None:
    costs = (TorqueCost(), AccelerationCost(1e-4), ForceCost())
    request = WalkRequest(0.3, single=0.5, double=0.1, heel=0.08, toe=0.12, intervals=(4, 8), costs=costs)
    robot = load_robot("bip_planar", geometry=False)
    result = GaitSolver(request.problem(robot)).solve()
    assert result.success, result.report()
    motion, tilts = result.motion, []
    for q in motion.q:
        links = robot.link_placements(q)
        tilts.append([(links[own.link] * own.placement_link_patch).rotation[2, 0] for own in robot.contacts.values()])
    ends = np.cumsum(result.durations)
    names = list(robot.contacts)
    rear, front = names.index("rear_sole"), names.index("front_sole")
    both = (motion.times > ends[0] + 1e-9) & (motion.times < ends[1] - 1e-9)
    np.testing.assert_allclose(np.array(tilts)[both], 0.0, atol=2e-5)
    assert np.interp(0.0, motion.times, np.array(tilts)[:, front]) > np.radians(1.0)  # toes up
    assert np.interp(ends[2], motion.times, np.array(tilts)[:, rear]) < -np.radians(1.0)  # heel up
    rolling = [force for k, force in enumerate(motion.forces) if ends[1] < motion.times[k] < ends[2]]
    toes = {tuple(np.round(force.place, 4)) for sample in rolling for force in sample if force.location == "rear_sole"}
    location = robot.contacts["rear_sole"]
    hindmost = location.vertices_link[np.argmin(location.patch[:, 0])]
    links = robot.link_placements(motion.q[np.flatnonzero(motion.times > ends[1])[0]])
    heel = links[location.link].act(hindmost)
    assert toes
    assert all(place[0] > heel[0] + 0.1 for place in toes)


def test_a_given_state_may_be_at_a_limit() -> None:
    robot = load_robot("bip_planar", geometry=False)
    costs = (TorqueCost(), AccelerationCost(1e-4), ForceCost())
    cycle = GaitSolver(WalkRequest(0.3, intervals=(2, 6), costs=costs).problem(robot)).solve()
    motion, at = cycle.motion, cycle.durations[0]
    ends = [State(motion.q[k], motion.v[k]) for k in (np.flatnonzero(motion.times == at)[-1], -1)]
    limits = robot.limits
    fast = float(np.abs(np.asarray(ends[1].v)[3:]).max())
    slower = replace(robot, limits=replace(limits, velocity=np.where(limits.velocity > fast, fast, limits.velocity)))
    result = GaitSolver(GaitProblem(slower, cycle.problem.phases[1:], *ends, costs)).solve()
    assert result.solution.converged


def test_standing_before_a_start_lasts_as_long_as_the_slowest_joint_takes() -> None:
    robot = load_robot("hrp2", geometry=False)
    q, v = robot.default_posture, np.zeros(robot.model.nv)
    request = WalkRequest(0.2)
    assert request.starting(robot, q, v).phases[0].range == (0.6, 0.6)
    far = q.copy()
    far[robot.index_q("LARM_JOINT0")] += (turn := 5.0)
    fastest = robot.limits.velocity[robot.index_v("LARM_JOINT0")]
    for stand in (request.starting(robot, far, v).phases[0], request.stopping(robot, far, v).phases[-1]):
        # With the swing twice the time that the joint takes at its greatest speed.
        assert stand.range[0] + 0.6 == pytest.approx(2.0 * turn / fastest, rel=1e-6)
        assert stand.intervals == pytest.approx(16 * stand.range[0] / 0.6, abs=1.0)
