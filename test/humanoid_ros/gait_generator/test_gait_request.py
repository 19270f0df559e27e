# SPDX-License-Identifier: Apache-2.0
"""Requests for gaits are the library's, field by field, and refusals name fields as messages do."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.msg import GaitRequest

from humanoid_gait import TorqueCost, WalkRequest
from humanoid_model.description import Box, Geometry
from humanoid_model.errors import InputError
from humanoid_ros.gait_generator.gait_request import DURATIONS, LOCAL, gait_request_message, read_gait_request

pytestmark = pytest.mark.feature("003-F111")
NODES = {"robot", "steps", "start", "stop", "proof", "time_limit"}
"""Fields that aren't of a cycle."""


def test_fields_are_the_librarys() -> None:
    own = {field.name for field in dataclasses.fields(WalkRequest)} - set(LOCAL)
    assert set(GaitRequest.get_fields_and_field_types()) - NODES == {DURATIONS.get(name, name) for name in own}


@pytest.mark.parametrize(
    "request_",
    [
        WalkRequest(0.25),
        WalkRequest(-0.1, side=0.1, width=0.2, single=(0.4, 0.8), double=0.2, settle=0.5, intervals=(3, 9)),
        WalkRequest(0.3, heel=0.08, toe=(0.1, 0.2), apart=0.02),
        WalkRequest(0.3, slope=0.1, rise=0.0, turn=0.0, clearance=0.0, friction=0.0),
    ],
)
def test_what_is_written_is_read(request_: WalkRequest) -> None:
    read = read_gait_request(gait_request_message(request_))
    assert dataclasses.replace(read, costs=()) == dataclasses.replace(request_, costs=())


def test_what_is_left_open_is_the_librarys_default() -> None:
    read = read_gait_request(GaitRequest(length=0.2))
    assert dataclasses.replace(read, costs=()) == dataclasses.replace(WalkRequest(0.2), costs=())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"length": float("nan")}, "length: is nan"),
        ({"rise": float("inf")}, "rise: is inf"),
        ({"slope": 1.0}, "slope: is 1.0"),
        ({"width": -0.2}, "width: is -0.2"),
        ({"single_support": [0.0]}, "single_support: is 0.0. Give seconds above 0"),
        ({"double_support": [0.3, 0.1]}, r"double_support: is \(0.3, 0.1\)"),
        ({"settle": [0.1, 0.2, 0.3]}, "settle: is .*Give one duration, or the least and the greatest"),
        ({"intervals": [8]}, r"intervals: are \[8\]. Give two numbers, or none"),
        ({"intervals": [0, 8]}, r"intervals: are \(0, 8\)"),
        ({"clearance": -0.1}, "clearance: is -0.1"),
        ({"friction": -1.0}, "friction: is -1"),
        ({"heel": [-0.1]}, "heel: is -0.1. Give seconds above 0"),
        ({"apart": -0.01}, "apart: is -0.01"),
    ],
)
def test_what_cannot_be_used_is_named(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_gait_request(GaitRequest(**{"length": 0.2, **fields}))


@pytest.mark.parametrize("field", LOCAL)
def test_what_messages_do_not_have_stays_here(field: str) -> None:
    beam = Geometry("beam", Box(np.ones(3)), pin.SE3.Identity(), np.ones(4))
    given: dict[str, Any] = {"costs": (TorqueCost(),), "obstacles": (beam,), "impacts": True}
    with pytest.raises(InputError, match=f"{field}: can't be sent"):
        gait_request_message(dataclasses.replace(WalkRequest(0.2), **{field: given[field]}))
