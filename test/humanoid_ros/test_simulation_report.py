# SPDX-License-Identifier: Apache-2.0
"""Diagnostics' levels; the status itself is seen in test_simulator_node.py."""

from __future__ import annotations

import pytest

pytest.importorskip("diagnostic_msgs", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from humanoid_stack.msg import SimulationStatus, StageTime

from humanoid_ros.simulation_report import diagnostics


@pytest.mark.parametrize(
    ("fields", "level", "message"),
    [
        ({"real_time_factor": 0.99}, DiagnosticStatus.OK, "real-time factor 0.990"),
        ({"real_time_factor": 0.5}, DiagnosticStatus.WARN, "asked for 1: the simulation is too slow"),
        (
            {"real_time_factor": 0.5, "requested_real_time_factor": 0.0},
            DiagnosticStatus.OK,
            "real-time factor 0.500",
        ),
        ({"paused": True}, DiagnosticStatus.OK, "paused"),
        ({"paused": True, "pause_reason": "it burst."}, DiagnosticStatus.ERROR, "it burst."),
    ],
)
def test_levels(fields: dict, level: bytes, message: str) -> None:
    status = SimulationStatus(**{"requested_real_time_factor": 1.0, "scene": "stand", **fields})
    status.profile = [StageTime(stage="dynamics", last=1e-5, mean=2e-5)]
    answer = diagnostics(status, "simulator", 2, "step: steps: is 0.", Time(sec=7)).status[0]
    assert answer.level == level
    assert message in answer.message
    values = {value.key: value.value for value in answer.values}
    assert values["scene"] == "stand"
    assert values["refused requests"] == "2"
    assert values["last refusal"] == "step: steps: is 0."
    assert values["dynamics [us]"] == "20.0"
