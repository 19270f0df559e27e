# SPDX-License-Identifier: Apache-2.0
"""What long work tells: parts of a whole, bars on a terminal, and cancelling."""

import io

import pytest

from humanoid_model.progress import CancelledWorkError, Progress, as_part, progress_bar, tell


def test_a_part_is_told_as_one_and_passes_the_cancel_on():
    told = []
    callback = as_part(lambda item: told.append(item) or item.cost < 1.0, 3, "legs: ")
    assert not callback(Progress("half", 0.5, cost=2.0))
    assert callback(Progress("done", 1.0, cost=0.5))
    assert [(item.stage, item.part, item.fraction) for item in told] == [("legs: half", 3, 0.5), ("legs: done", 3, 1.0)]
    assert not as_part(None, 0)(Progress("nobody listens"))


def test_work_of_no_use_half_done_is_cancelled_by_an_error():
    tell(None, Progress("writing"))
    tell(lambda _: None, Progress("writing"))
    with pytest.raises(CancelledWorkError, match="was cancelled: writing"):
        tell(lambda _: True, Progress("writing"))


def test_a_bar_shows_share_and_stage():
    text = io.StringIO()
    with progress_bar(text, enabled=True) as callback:
        callback(Progress("compiling", 0.25))
        callback(Progress("linking"))
    shown = text.getvalue()
    assert "compiling:  25 %" in shown
    assert "linking:  25 %" in shown
