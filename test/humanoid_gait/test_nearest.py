# SPDX-License-Identifier: Apache-2.0
"""A walk that can't be comes with the nearest one that can."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from humanoid_gait import GaitSolver, WalkRequest, generate_gait
from humanoid_gait.nearest import in_words, nearest_request
from humanoid_model import load_robot

pytestmark = pytest.mark.feature("003-F031")
REQUEST = WalkRequest(2.4, single=0.5, double=0.1, intervals=(3, 8))


def test_it_is_a_share_of_what_was_asked_for_and_a_little_more_has_no_solution() -> None:
    robot = load_robot("bip_planar", geometry=False)
    found = nearest_request(robot, REQUEST)
    assert found is not None
    request, result = found
    assert result.success, result.report()
    assert (request.length * 64 / REQUEST.length) % 1.0 == pytest.approx(0.0, abs=1e-9)
    assert 0.3 < request.length < 1.2
    further = replace(request, length=request.length + REQUEST.length / 64)
    assert not GaitSolver(further.problem(robot)).solve(result).success


def test_on_stairs_the_length_stays() -> None:
    robot = load_robot("bip_planar", geometry=False)
    found = nearest_request(robot, replace(REQUEST, length=0.36, rise=0.9))
    assert found is not None
    assert found[0].length == 0.36
    assert 0.0 < found[0].rise < 0.45
    assert in_words(found[0]) == f"length 0.36, rise {found[0].rise:.3g}"


def test_it_ends_when_asked() -> None:
    robot = load_robot("bip_planar", geometry=False)
    assert nearest_request(robot, REQUEST, lambda _: True) is None
    assert nearest_request(robot, REQUEST, time_limit=0.0) is None
    assert nearest_request(robot, replace(REQUEST, length=math.pi), time_limit=1e-3) is None


@pytest.mark.slow
def test_a_walk_says_what_is_nearest() -> None:
    robot = load_robot("bip", geometry=False)
    walk = generate_gait(robot, replace(REQUEST, single=0.6, double=0.15, length=1.6))
    assert not walk.success
    assert walk.nearest is not None
    assert walk.message.endswith(f"the nearest that walks has length {walk.nearest.length:.3g}")
    assert GaitSolver(walk.nearest.problem(robot)).solve().success
