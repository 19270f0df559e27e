# SPDX-License-Identifier: Apache-2.0
"""Diagnostics' levels; the status itself is seen in test_simulator_node.py."""

from __future__ import annotations

import pytest

pytest.importorskip("diagnostic_msgs", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from humanoid_stack.msg import SimulationStatus, StageTime

from humanoid_ros.node.answering_node import Refusals
from humanoid_ros.simulator.simulation_report import UnsolvedSteps, diagnostics
from humanoid_sim import Simulation
from humanoid_sim.stepping.run_steps import UnsolvedSteps as UnsolvedOfLibrary


@pytest.mark.parametrize("method", ["jacobi", "nsgs"])
def test_unsolved_steps_are_counted_and_warned_of(method: str) -> None:
    simulation = Simulation("box_on_slope", method=method, tolerance=1e-300, max_iterations=3)
    unsolved, residuals = UnsolvedSteps(), []
    for _ in range(7):
        simulation.step()
        unsolved.take(simulation)
        residuals.append(simulation.residual)
    assert (unsolved.total, unsolved.recent, unsolved.iterations) == (7, 7, 3)
    assert unsolved.worst == max(residuals)
    status = SimulationStatus(requested_real_time_factor=1.0, real_time_factor=1.0)
    answer = diagnostics(status, unsolved, "simulator", Refusals(None), Time()).status[0]
    assert answer.level == DiagnosticStatus.WARN
    assert f"contacts of 7 steps not solved to the tolerance: residual up to {max(residuals):.2g}" in answer.message
    unsolved.forget()
    assert diagnostics(status, unsolved, "simulator", Refusals(None), Time()).status[0].level == DiagnosticStatus.OK
    assert unsolved.total == 7
    twin = Simulation("box_on_slope", method=method, tolerance=1e-300, max_iterations=3)
    twin.step(7)  # in one call
    assert twin.take_unsolved() == UnsolvedOfLibrary(7, max(residuals), 3)
    assert twin.take_unsolved().count == 0
    solved = Simulation("box_on_slope")
    solved.step()
    unsolved.take(solved)
    assert unsolved.total == 7


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
    refusals = Refusals(None)
    refusals.count, refusals.last = 2, "step: steps: is 0."
    answer = diagnostics(status, UnsolvedSteps(), "simulator", refusals, Time(sec=7)).status[0]
    assert answer.level == level
    assert message in answer.message
    values = {value.key: value.value for value in answer.values}
    assert values["scene"] == "stand"
    assert values["refused requests"] == "2"
    assert values["last refusal"] == "step: steps: is 0."
    assert values["dynamics [us]"] == "20.0"
