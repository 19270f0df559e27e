# SPDX-License-Identifier: Apache-2.0
"""Described fields of dataclasses in messages: what is left open, words and their constants, names in refusals."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.action import GenerateMotion
from humanoid_stack.msg import ContactPlanRequest
from humanoid_stack.srv import GeneratePosture

from humanoid_model.errors import InputError
from humanoid_model.fields import descriptions
from humanoid_planner.contacts import ContactProblem
from humanoid_planner.motion import MotionSettings
from humanoid_planner.posture.problem import PostureRequirements
from humanoid_ros.messages.request_fields import constants_of, read_fields, within, write_word


def test_a_plain_message_says_what_the_library_has_by_itself() -> None:
    assert MotionSettings(**read_fields(MotionSettings, GenerateMotion.Goal())) == MotionSettings()
    given = read_fields(ContactProblem, ContactPlanRequest(), GeneratePosture.Request)
    assert given == {name: descriptions(ContactProblem)[name].default for name in given}
    assert {"seed", "children", "max_potential", "stability", "collision_margin"} < given.keys()


def test_words_are_told_by_the_constants_that_a_message_has() -> None:
    request = GeneratePosture.Request(stability=GeneratePosture.Request.FORCE_POLYTOPE)
    assert read_fields(PostureRequirements, request)["stability"] == "polytope"
    words = descriptions(PostureRequirements)["stability"].words
    assert "auto" not in constants_of(words, GeneratePosture.Request)
    assert constants_of(words, ContactPlanRequest, GeneratePosture.Request)["auto"] == ContactPlanRequest.AUTO
    for word, number in constants_of(words, GeneratePosture.Request).items():
        assert write_word(words, word, "stability", GeneratePosture.Request) == number
    with pytest.raises(InputError, match=r"stability: there is no stability 'auto'\. Known are: none, polygon"):
        write_word(words, "auto", "stability", GeneratePosture.Request)


def test_a_number_that_is_no_constant_is_told_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"law: is 7\. Give one of 0 \(FASTEST\), 1 \(SINUSOIDAL\)"):
        read_fields(MotionSettings, GenerateMotion.Goal(law=7))


def test_a_part_is_named_as_the_request_does() -> None:
    with pytest.raises(InputError, match=r"steps\[2\]\.speed: is 0"), within("steps[2]"):
        MotionSettings(speed=0.0)
