# SPDX-License-Identifier: Apache-2.0
"""Distances from shapes of the scene are coal's, walks keep clear of them, and what can't be kept clear is refused."""

from __future__ import annotations

import casadi as ca
import coal
import numpy as np
import pinocchio as pin
import pytest

from humanoid_gait import GaitSolver, WalkRequest
from humanoid_gait.scene_clearance import shape_distance
from humanoid_model import InputError, Robot, load_robot
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Geometry, HalfSpace, Shape, Sphere
from humanoid_model.motion_verdict import judge_motion

pytestmark = pytest.mark.feature("003-F031")
SHAPES = [Box(np.array([0.3, 0.2, 0.4])), Cylinder(0.1, 0.4), Capsule(0.1, 0.3), Sphere(0.2), HalfSpace()]
REQUEST = WalkRequest(0.25, intervals=(3, 8))


def placed(shape: Shape, placement: pin.SE3, name: str = "thing") -> Geometry:
    return Geometry(name, shape, placement, np.ones(4))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_distances_are_coals_but_for_rounded_corners(shape: Shape) -> None:
    generator = np.random.default_rng(4)
    turn = pin.Quaternion(0.5, -0.5, 0.1, 0.7).normalized()
    frame = pin.SE3(turn.matrix(), np.array([0.2, 0.1, 0.3]))
    point = ca.SX.sym("point", 3)
    distance = ca.Function("distance", [point], [shape_distance(placed(shape, frame), point)])
    place = coal.Transform3s(frame.rotation, frame.translation)
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    seen = np.zeros(2, dtype=int)
    for at in frame.translation + 0.15 * generator.standard_normal((200, 3)):
        ball = coal.Transform3s(np.eye(3), at)
        expected = coal.distance(coal_geometry(shape), place, coal.Sphere(0.0), ball, request, result)
        seen[int(expected > 0.0)] += 1
        found = float(distance(at))
        # Inside coal gives a way out, which of round shapes isn't the shortest.
        assert expected - 2e-3 < found < max(expected, 0.0) + 2e-3
        assert expected > 0.0 or isinstance(shape, Cylinder) or found == pytest.approx(expected, abs=2e-3)
    assert seen.min() > 10


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2")


@pytest.mark.parametrize(
    ("size", "place"), [((4.0, 0.1, 2.0), (0.3, 0.55, 1.0)), ((4.0, 2.0, 0.1), (0.3, 0.0, 1.5))],
    ids=["beside a wall", "below a beam"],
)  # fmt: skip
def test_a_walk_keeps_clear(robot: Robot, size: tuple[float, ...], place: tuple[float, ...]) -> None:
    obstacle = placed(Box(np.array(size)), pin.SE3(np.eye(3), np.array(place)))
    free = GaitSolver(REQUEST.problem(robot)).solve()
    through = judge_motion(free.motion, free.problem.ground, REQUEST.friction, [obstacle])
    assert any("in thing" in violation.what and violation.value > 0.05 for violation in through)
    problem = WalkRequest(0.25, intervals=(3, 8), obstacles=(obstacle,)).problem(robot)
    clear = GaitSolver(problem).solve()
    assert clear.success, clear.report()
    assert clear.cost > free.cost
    assert not judge_motion(clear.motion, problem.ground, REQUEST.friction, [obstacle])


def test_what_cannot_be_kept_clear_is_refused(robot: Robot) -> None:
    egg = placed(Ellipsoid(np.array([0.1, 0.1, 0.2])), pin.SE3(np.eye(3), np.array([0.3, 0.5, 1.0])), "egg")
    with pytest.raises(InputError, match="'egg': is a Ellipsoid"):
        GaitSolver(WalkRequest(0.25, obstacles=(egg,)).problem(robot))
    bare = load_robot("hrp2", geometry=False)
    for request in (WalkRequest(0.25, apart=0.02), WalkRequest(0.25, obstacles=(egg,))):
        with pytest.raises(InputError, match="has no shapes to keep clear"):
            request.problem(bare)
