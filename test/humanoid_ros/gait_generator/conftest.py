# SPDX-License-Identifier: Apache-2.0
"""A walk of HRP-2 on a coarse mesh, answered once."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.msg import Gait, GaitRequest
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_model.progress import Progress

COARSE: dict[str, Any] = {"robot": "hrp2", "length": 0.2, "intervals": [3, 8], "steps": 3}


def answered(request: GaitRequest, tell: Any = lambda _: None) -> tuple[Any, Gait]:
    from humanoid_ros.gait_generator.gait_request import GaitDefaults
    from humanoid_ros.gait_generator.gait_worker import generate

    answer = generate(bytes(serialize_message(request)), GaitDefaults(time_limit=300.0), tell)
    return answer, deserialize_message(answer.content, Gait)


@pytest.fixture(scope="session")
def told() -> list[Progress]:
    return []


@pytest.fixture(scope="session")
def gait(told: list[Progress]) -> Gait:
    answer, found = answered(GaitRequest(**COARSE, proof=True), told.append)
    assert answer.success, answer.message
    return found
