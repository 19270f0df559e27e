# SPDX-License-Identifier: Apache-2.0
"""Requests for contact plans as the library's problem, without a node."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.plan_requests import feet, stairs
from humanoid_stack.msg import ContactCandidates, ContactPair, ContactPlanRequest, StanceTerm

from humanoid_model.fields import descriptions
from humanoid_planner.contacts import ContactProblem
from humanoid_planner.contacts.contact_problem import POSTURE
from humanoid_planner.contacts.stance import Couples, Hold, PlannedStance
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_ros.contact_planner import plan_request
from humanoid_ros.contact_planner.plan_request import read_plan_request

pytestmark = pytest.mark.feature("001-F159")

#: What no message asks for: functions, another formulation, bounds of tasks of one's own, the scene's gravity.
NOT_OVER_ROS = {
    "stance_tasks", "way_exists", "goal_way_exists", "torque_variables", "extra_lower", "extra_upper", "gravity",
}  # fmt: skip


@pytest.fixture(scope="module")
def cache() -> PlanningCache:
    return PlanningCache(2, 0.004, 20.0)


def asked(cache: PlanningCache, **fields: Any) -> ContactProblem:
    return read_plan_request(cache, "stand", stairs(**fields))


def test_a_request_asks_for_all_that_the_library_takes() -> None:
    """Field by field: what isn't described is read by a line of its own, which names it."""
    source = inspect.getsource(plan_request.read_plan_request)
    for field in dataclasses.fields(ContactProblem):
        described = field.name in descriptions(ContactProblem) and hasattr(ContactPlanRequest, field.name)
        assert described or f" {field.name}=" in source or field.name in NOT_OVER_ROS, field.name


def test_settings_of_the_search_are_those_of_the_request(cache: PlanningCache) -> None:
    given = {"children": 2, "centre_margin": 0.011, "friction": 0.45, "reach": False, "balance": False}
    given |= {"max_potential": 9.0, "goal_potential": 1.0, "contact_spacing": 0.02, "failure_penalty": 0.5}
    holds = [ContactPair(location="left_sole", surface="step_5")]
    problem = asked(cache, **given, goal_holds=holds, max_iterations=20, optimality_tolerance=0.1)
    assert {name: getattr(problem, name) for name in given} == given
    assert problem.goal_holds == (("left_sole", "step_5"),)
    assert problem.options == dataclasses.replace(POSTURE, max_iterations=20, optimality_tolerance=0.1)


def test_what_a_request_leaves_open_is_as_the_library_has_it(cache: PlanningCache) -> None:
    usual = asked(cache, seed=0, collisions=True)
    described = descriptions(ContactProblem)
    assert len([name for name in described if hasattr(ContactPlanRequest, name)]) > 15
    left_open = {name: one.default for name, one in described.items() if name != "collisions"}
    assert {name: getattr(usual, name) for name in left_open} == left_open
    assert (usual.options, usual.goal_holds) == (POSTURE, ())


@pytest.mark.parametrize("kind", [ContactCandidates.DRAWN, ContactCandidates.CHOSEN])
def test_a_pre_contact_is_asked_for_as_the_request_says_wherever_places_come_from(
    cache: PlanningCache, kind: int
) -> None:
    """Left open, it is asked for where places are chosen."""
    made = {}
    for value in (ContactPlanRequest.WHERE_CHOSEN, ContactPlanRequest.ALWAYS, ContactPlanRequest.NEVER):
        wanted = asked(cache, candidates=ContactCandidates(kind=kind), pre_contact=value)
        made[value] = wanted.asks_pre_contact
    assert made == {0: kind == ContactCandidates.CHOSEN, 1: True, 2: False}


def test_feet_that_cross_cost_what_lacks_to_the_width(cache: PlanningCache) -> None:
    """The left sole 0.19 m left of the right one, where 0.25 m are asked for, and where the names are swapped."""
    cost = []
    for names in (["left_sole", "right_sole"], ["right_sole", "left_sole"]):
        term = StanceTerm(kind=StanceTerm.CROSSED, weight=2.0, width=0.25, names=names)
        wanted = asked(cache, terms=[term], start=feet())
        couples = Couples(wanted.robot, wanted.scene, wanted.locations, None, ())
        pairs = (couples.number_of(name, "floor") for name in ("left_sole", "right_sole"))
        stance = PlannedStance(tuple(Hold(pair, 0.0, y, 0.0) for pair, y in zip(pairs, (0.095, -0.095), strict=True)))
        cost.append(wanted.terms[0].value(stance, couples))
    np.testing.assert_allclose(cost, [2.0 * (0.25 - 0.19), 2.0 * (0.25 + 0.19)], atol=1e-12)
