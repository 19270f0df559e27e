# SPDX-License-Identifier: Apache-2.0
"""The page tells what a person waits for while a mechanism is loaded, and what came of it."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_kinematics import KleinfingerKhalil, LinkChange  # noqa: E402
from humanoid_model.compiling import follower  # noqa: E402
from humanoid_model.errors import HumanoidError  # noqa: E402
from humanoid_ros.viewer.mechanism_studio import LONG, MechanismStudio  # noqa: E402


@pytest.fixture
def studio() -> tuple[Any, list[str]]:
    """A studio that says into a list; nothing else of it is there."""
    made, said = MechanismStudio.__new__(MechanismStudio), []
    made._panel = SimpleNamespace(say=lambda text, good=None: said.append(text))
    made._reading, made._fresh, made._waited, made._asked_at = None, False, False, np.inf
    made._loaded = "cross: 3 freedoms.", True
    return made, said


def test_a_compilation_is_named_and_then_what_was_loaded(
    studio: tuple[Any, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, said = studio
    made._reading = Future()
    made._tell_wait(0.0)
    assert said == []
    monkeypatch.setattr(follower, "kernel", "bounded step")
    made._tell_wait(0.0)
    assert said == ["The solver is compiled for this machine, once: bounded step."]
    made._reading.set_exception(HumanoidError("no"))
    made._read()
    assert said[1:] == ["cross: 3 freedoms.", "A mechanism can't be read here: no"]


def test_a_node_that_takes_long_is_told_until_it_answers(studio: tuple[Any, list[str]]) -> None:
    made, said = studio
    made._asked_at = 10.0
    made._tell_wait(10.0 + 0.9 * LONG)
    assert said == []
    made._tell_wait(15.0)
    assert said == ["Loading for 5 s. The first time on a machine the node compiles its solver."]
    answer = SimpleNamespace(loops=0, closure=0.0, names=["puma"], mobility=6, success=True, message="")
    made._on_loaded(answer)
    made._tell_wait(60.0)
    assert said[1:] == ["puma: 6 freedoms."]


def test_what_is_no_longer_in_the_way_takes_back_its_own_words_only(studio: tuple[Any, list[str]]) -> None:
    made, said = studio
    made._panel = panel = SimpleNamespace(said="")
    panel.say = lambda text, good=None: (said.append(text), setattr(panel, "said", text))
    made._in_the_way, made._sounds = (), SimpleNamespace(play=lambda place: None)
    made._all = {"": SimpleNamespace(place_of=lambda hindrance: None)}
    made._name = ""
    made._tell(("limit of joint_1",))
    made._tell(())
    assert said == ["As near as it comes. In the way: limit of joint_1.", ""]
    made._tell(("limit of joint_1",))
    panel.say("loop_1 is let go of.", True)
    made._tell(())
    assert said[-1] == "loop_1 is let go of."


def test_changes_that_no_node_took_hold_up_no_later_ones(studio: tuple[Any, list[str]]) -> None:
    made, _ = studio
    asked: list[Any] = []
    made._name, made._all, made._changing = "cross", {"cross": None}, False
    made._calls = SimpleNamespace(change=lambda name, changes, then: bool(asked.append(changes)))
    for change in ("first", "second"):
        made._changes = {"link_1": change}
        made._change()
    assert asked == [["first"], ["second"]]


def test_a_part_that_is_drawn_anew_is_not_dragged_before_it_is_placed(studio: tuple[Any, list[str]]) -> None:
    made, _ = studio
    robot = SimpleNamespace(description=SimpleNamespace(links={"link_1": None}))
    solver = SimpleNamespace(mechanism=SimpleNamespace(robot=robot))
    made._name, made._all = "arm", {"arm": SimpleNamespace(solver=solver)}
    made._drag, made._handles, made._robots = None, {}, {"arm": SimpleNamespace(placements={})}
    for phase in ("start", "update"):
        made.drag("link_1", (0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.0, 1.0), phase)
    assert made._drag is None


def test_an_answer_about_a_mechanism_that_was_left_limits_that_one(studio: tuple[Any, list[str]]) -> None:
    made, said = studio
    limited: dict[str, list[str]] = {"arm": [], "cross": []}
    made._all = {
        name: SimpleNamespace(limit=lambda change, links=links: links.append(change.link))
        for name, links in limited.items()
    }
    answers: list[Any] = []
    made._calls = SimpleNamespace(change=lambda name, changes, then: answers.append(then) or True)
    made._name, made._changing = "arm", False
    made._changes = {"link_1": LinkChange("link_1", None, KleinfingerKhalil(), (0.0, 1.0), False)}
    made._change()
    made._name = "cross"
    answers[0](SimpleNamespace(success=True, message=""))
    assert limited == {"arm": ["link_1"], "cross": []}
    assert said == ["Changed."]
