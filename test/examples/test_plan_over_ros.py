# SPDX-License-Identifier: Apache-2.0
"""What the example tells of a plan."""

from __future__ import annotations

import os
import re

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.plan_requests import stairs
from humanoid_stack.msg import ContactPlan
from rclpy.serialization import deserialize_message, serialize_message

from examples.plan_over_ros import report
from humanoid_model import load_robot
from humanoid_planner.contacts import PlanVerdict
from humanoid_planner.contacts.verify_plan import PlanViolation
from humanoid_ros.client import PlanAnswer
from humanoid_ros.contact_planner.plan_request import PlanDefaults
from humanoid_ros.contact_planner.planning_worker import plan


@pytest.mark.feature("001-F259", "001-F260")
def test_the_report_names_machine_and_model_and_tells_steps_calls_and_what_is_wrong() -> None:
    answer = plan(
        bytes(serialize_message(stairs(max_nodes=8))), PlanDefaults(plan_nodes=8), (2, 0.01, 20.0), lambda _: None
    )
    robot, found = load_robot("hrp2", geometry=False), deserialize_message(answer.content, ContactPlan)
    wrong = PlanVerdict(False, (PlanViolation(2, 0, "drift", "left_sole is off"),), len(found.steps), 0.002, 0.01, 0.9)
    text = report(robot, PlanAnswer(False, answer.message, (), found), wrong)
    machine, model, reason, _, *rest = text.splitlines()
    assert f"{os.cpu_count()} cores" in machine
    assert f"hrp2, 30 joints, {robot.total_mass:.1f} kg" in model
    assert reason == answer.message
    steps = [line for line in rest if re.match(r" +\d+ (left|right)_sole (lifts off|to) ", line)]
    assert len(steps) == len(found.steps) - 1  # all but the start
    calls = [re.match(r" +(\d+) [a-z ]+\d+\.\d\d s, +\d+\.\d ms each", line) for line in rest]
    assert sum(int(match[1]) for match in calls if match) == found.statistics.posture_calls
    assert rest[-1] == "  step 2: drift: left_sole is off"
