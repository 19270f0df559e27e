# SPDX-License-Identifier: Apache-2.0
"""Footsteps: their places, times and errors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_control.walking import Footstep, FootstepPlan, plan_footsteps
from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2", geometry=False)


def test_the_thesis_walk_has_six_steps_in_six_seconds(hrp2: Robot) -> None:
    """Feet alternate from the right one, swing 0.45 m at most, and stand side by side at the end."""
    plan = plan_footsteps(hrp2, "half_sitting")
    assert [foot.sole[0] for foot in plan.steps] == list("rlrlrl")
    assert_allclose([foot.x for foot in plan.steps], plan.start[0].x + 0.225 * np.array([1, 2, 3, 4, 5, 5]), atol=1e-9)
    assert_allclose([foot.y for foot in plan.steps], 0.095 * np.array([-1, 1, -1, 1, -1, 1]), atol=1e-9)
    swings = [phase.swing for phase in plan.phases if phase.swing is not None]
    assert max(math.dist((a.x, a.y), (b.x, b.y)) for a, b in swings) == pytest.approx(0.45)
    assert plan.phases[-2].end - plan.phases[1].start == pytest.approx(6.0)


def test_phases_follow_each_other(hrp2: Robot) -> None:
    """No gap; a foot that swings isn't among those that stand; it comes from where it stood."""
    plan = plan_footsteps(hrp2, "half_sitting", steps=3, step_time=0.8, double_support=0.25)
    phases = plan.phases
    assert phases[0].start == 0.0
    assert phases[-1].end == pytest.approx(plan.duration)
    for before, after in itertools.pairwise(phases):
        assert after.start == before.end
        if after.swing is not None:
            origin, goal = after.swing
            assert origin in before.supports
            assert [foot.sole for foot in after.supports] != [goal.sole]
            assert len(after.supports) == 1
            assert after.end - after.start == pytest.approx(0.75 * 0.8)
        if before.swing is not None:
            assert before.swing[1] in after.supports


def test_an_arc_turns_left(hrp2: Robot) -> None:
    """Eight steps of 10 degrees make a way whose feet stay as far apart as they were, and end side by side."""
    turn = math.radians(10.0)
    plan = plan_footsteps(hrp2, "half_sitting", steps=9, length=0.1, turn=turn, width=0.22)
    last, one = plan.steps[-1], plan.steps[-2]
    assert last.yaw == pytest.approx(8 * turn)
    assert one.yaw == pytest.approx(8 * turn)
    assert math.dist((last.x, last.y), (one.x, one.y)) == pytest.approx(0.22)
    # chords of a circle that turns by `turn` each
    radius = 0.5 * 0.1 / math.sin(0.5 * turn)
    middle = 0.5 * np.array([last.x + one.x, last.y + one.y])
    turned = 8 * turn
    assert_allclose(middle, [plan.start[0].x + radius * math.sin(turned), radius * (1.0 - math.cos(turned))], atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"length": math.nan}, "length is nan"),
        ({"width": -0.1}, "width is -0.1"),
        ({"first": "tail"}, "no sole 'tail'.*right_sole or left_sole"),
        ({"posture": "flying"}, "no posture 'flying'.*half_sitting"),
        ({"step_time": 0.0}, "step_time is 0"),
        ({"double_support": 1.0}, "double_support is 1"),
        ({"settle": math.inf}, "settle is inf"),
    ],
)
def test_wrong_requests_are_named(hrp2: Robot, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_footsteps(hrp2, **{"posture": "half_sitting", **change})


def test_wrong_plans_are_named(hrp2: Robot) -> None:
    right, left = Footstep("right_sole", 0.0, -0.1), Footstep("left_sole", 0.0, 0.1)
    ahead = Footstep("left_sole", 0.2, 0.1)
    for start, steps, message in (
        ((right, left), (), "no step"),
        ((right, right), (ahead,), "both start"),
        ((right, left), (ahead, ahead), r"steps\[1\].*twice in a row"),
        ((right, left), (Footstep("hand", 0.0, 0.0),), "no sole 'hand'"),
        ((right, left), (Footstep("left_sole", math.nan, 0.0),), r"steps\[0\].*x is nan"),
    ):
        with pytest.raises(InputError, match=message):
            FootstepPlan(start, steps)


def test_a_robot_without_two_soles_is_refused(hrp2: Robot) -> None:
    with pytest.raises(InputError, match="0 support contacts"):
        plan_footsteps(load_robot("tree4", floating_base=True), "zero")
    with pytest.raises(InputError, match="fixed base"):
        plan_footsteps(load_robot("hrp2", floating_base=False, geometry=False), "half_sitting")
    tilted = load_robot("hrp2", geometry=False)
    tilted.postures["half_sitting"][tilted.index_q("RLEG_JOINT4")] += 0.1
    with pytest.raises(InputError, match=r"right_sole.*mm high"):
        plan_footsteps(tilted, "half_sitting")
