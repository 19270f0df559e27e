# SPDX-License-Identifier: Apache-2.0
"""Answers to requests for gaits without the node: what is told when the robot's other leg can't walk its step."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.gait_requests import BIP, cycle
from humanoid_stack.msg import Gait, GaitSolverOptions
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_planner.gait import GaitDefaults, generation
from humanoid_planner.gait.solvers.exchange_legs import exchange_legs
from humanoid_ros.gait_generator.gait_worker import generate


def bip_step() -> bytes:
    return bytes(serialize_message(cycle(BIP, options=GaitSolverOptions(method="direct"))))


def test_the_other_legs_step_is_told_as_it_is_solved() -> None:
    news: list[Any] = []
    answer = generate(bip_step(), GaitDefaults(), news.append)
    assert answer.message.startswith("converged, but "), answer.message
    stages = [item for item in news if item.stage.startswith("legs exchanged")]
    assert {item.part for item in stages} == {1}
    # What is told before has no trajectory yet: it would have the first leg's torques.
    partial = [deserialize_message(item.result, Gait) for item in news if item.result is not None]
    assert [len(gait.phases) for gait in partial] == [1, 2]
    assert not any(gait.trajectory.joints.points for gait in partial)
    assert deserialize_message(answer.content, Gait).trajectory.joints.points


def test_without_the_other_legs_step_there_is_no_trajectory(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(gait: Any, options: Any, cycles: int, progress: Any) -> Any:
        return exchange_legs(gait, dataclasses.replace(options, time_limit=1e-3), cycles, lambda *_: True)

    monkeypatch.setattr(generation, "exchange_legs", stopped)
    answer = generate(bip_step(), GaitDefaults(), lambda _: None)
    gait = deserialize_message(answer.content, Gait)
    assert not answer.success
    assert answer.message.startswith("There is no trajectory: phases[1] with the legs in each other's parts: not conv")
    assert len(gait.phases) == 2
    assert not gait.trajectory.joints.points
    assert gait.figure.times
