# SPDX-License-Identifier: Apache-2.0
"""Control points moved by hand, judged, taken back and done again (000-F158)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from fixtures.lifting import hrp2

from humanoid_model.errors import InputError
from humanoid_studies.lifting.judgement import judge
from humanoid_studies.lifting.lift_editing import LiftEditing
from humanoid_studies.lifting.planar_lifter import PlanarLifter
from humanoid_studies.lifting.weight_lift import WeightLift
from humanoid_studies.simulator.weight_lifting import OBJECT, thesis_postures


@cache
def problem() -> WeightLift:
    lifter = PlanarLifter(hrp2(), OBJECT)
    return WeightLift(lifter, *thesis_postures(lifter), count=8)


@pytest.fixture
def editing() -> LiftEditing:
    return LiftEditing(problem(), problem().straight(1.2))


def test_every_step_is_judged_as_the_study_judges_it(editing: LiftEditing) -> None:
    editing.move(4, 5, -4.5)
    assert editing.motion.points[4, 5] == -4.5
    right = judge(problem(), problem().straight(1.2).edited(4, 5, -4.5)).violations
    assert editing.judgement.violations == right
    assert "angle of elbow" in right
    editing.stretch(3.5)
    assert editing.judgement.violations["duration"].excess == pytest.approx(0.5)


@pytest.mark.feature("000-F158")
def test_steps_are_taken_back_and_done_again(editing: LiftEditing) -> None:
    first = editing.motion
    assert not editing.can_undo
    editing.undo()
    assert editing.motion is first
    editing.move(4, 5, -4.5)
    editing.move(4, 1, 0.5)
    editing.stretch(2.0)
    last, judged = editing.motion, editing.judgement.violations
    editing.undo()
    editing.undo()
    assert editing.motion.points[4, 1] == first.points[4, 1]
    assert editing.motion.points[4, 5] == -4.5
    assert editing.judgement.violations == judge(problem(), first.edited(4, 5, -4.5)).violations
    editing.undo()
    assert editing.motion is first
    assert not editing.can_undo
    for _ in range(3):
        editing.redo()
    assert editing.motion is last
    assert editing.judgement.violations == judged
    assert not editing.can_redo


def test_what_is_done_anew_forgets_what_was_taken_back(editing: LiftEditing) -> None:
    editing.move(4, 5, -4.5)
    editing.undo()
    editing.move(3, 5, -1.0)
    assert not editing.can_redo
    editing.redo()
    assert editing.motion.points[4, 5] != -4.5


@pytest.mark.feature("000-F158")
def test_a_hand_that_drags_makes_one_step(editing: LiftEditing) -> None:
    first = editing.motion
    for angle in (-1.0, -1.1, -1.2):
        editing.move(4, 5, angle)
    editing.settle()
    editing.move(4, 5, -1.5)
    editing.undo()
    assert editing.motion.points[4, 5] == -1.2
    editing.undo()
    assert editing.motion is first
    # What was undone is no step that a later move goes on with.
    editing.redo()
    editing.move(4, 5, -1.7)
    editing.undo()
    assert editing.motion.points[4, 5] == -1.2


def test_reset_can_be_taken_back(editing: LiftEditing) -> None:
    first = editing.motion
    editing.reset()
    assert not editing.can_undo
    editing.move(4, 5, -1.0)
    editing.reset()
    assert editing.motion is first
    editing.undo()
    assert editing.motion.points[4, 5] == -1.0


@pytest.mark.parametrize(("point", "joint", "angle"), [(2, 5, 0.0), (5, 5, 0.0), (4, 7, 0.0), (4, 5, np.inf)])
def test_what_can_not_be_moved_changes_nothing(editing: LiftEditing, point: int, joint: int, angle: float) -> None:
    before = editing.motion
    with pytest.raises(InputError):
        editing.move(point, joint, angle)
    for duration in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="duration"):
            editing.stretch(duration)
    assert editing.motion is before
    assert not editing.can_undo


def test_control_points_are_where_a_straight_line_has_them() -> None:
    """Greville's times: with them as angles the curve is the time itself."""
    motion = problem().straight(1.2)
    motion.points[:] = motion.times[:, None]
    t = np.linspace(0.0, 1.2, 31)
    np.testing.assert_allclose(motion.at(t)[0], np.tile(t[:, None], 7), atol=1e-12)
