# SPDX-License-Identifier: Apache-2.0
"""The answer to a verify_plan request."""

from __future__ import annotations

from humanoid_stack.msg import PlanViolation
from humanoid_stack.srv import VerifyPlan

from humanoid_planner.contacts import PlanLimits, verify_plan
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_ros.contact_planner.plan_messages import read_plan
from humanoid_ros.messages.field_values import read_fields


def answer_verify_plan(cache: PlanningCache, request: VerifyPlan.Request, response: VerifyPlan.Response) -> None:
    """Fill a response with what is wrong with the plan of a request.

    Args:
        cache: where robots and scenes are kept.
        request: the request.
        response: to fill.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    limits = PlanLimits(**read_fields(PlanLimits, request))
    plan = read_plan(cache, request.plan, "plan")
    verdict = verify_plan(plan.robot, plan.scene, plan.stances, plan.postures, limits)
    response.valid = verdict.success
    response.violations = [
        PlanViolation(step=one.stance, sample=one.sample, kind=one.kind, what=one.what) for one in verdict.violations
    ]
    response.postures = verdict.postures
    response.max_drift, response.min_margin = float(verdict.drift), float(verdict.margin)
    response.max_torque = float(verdict.torque)
