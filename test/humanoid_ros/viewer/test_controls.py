# SPDX-License-Identifier: Apache-2.0
"""Three controls are one number; calls of other threads wait for the executor, also those that come meanwhile."""

from __future__ import annotations

import threading

import pytest
from fixtures.person import use

from humanoid_ros.viewer import controls
from humanoid_ros.viewer.controls import CoupledNumber, Later
from humanoid_ros.viewer.page import Page


@pytest.fixture
def number(page: Page) -> tuple[CoupledNumber, list[float]]:
    sent: list[float] = []
    return CoupledNumber(page.server.gui, "r [mm]", (-50.0, 100.0), 25.0, sent.append), sent


@pytest.mark.feature("002-F123", "002-F129")
@pytest.mark.parametrize("moved", ["_field", "_slider"])
def test_what_a_person_sets_in_one_control_all_show_and_it_is_sent_once(
    number: tuple[CoupledNumber, list[float]], moved: str
) -> None:
    control, sent = number
    use(getattr(control, moved), 40.0)
    assert (control._field.value, control._slider.value, control.value) == (40.0, 40.0, 40.0)
    assert sent == [40.0]


@pytest.mark.feature("002-F128")
def test_what_the_model_says_is_shown_and_not_sent_back(number: tuple[CoupledNumber, list[float]]) -> None:
    control, sent = number
    control.show(60.0)
    assert (control._field.value, control._slider.value) == (60.0, 60.0)
    control.show(1000.0)
    assert control._slider.value == 100.0  # as far as the slider goes
    assert sent == []


def test_the_echo_of_an_older_value_does_not_pull_a_slider_back(
    number: tuple[CoupledNumber, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    control, _ = number
    use(control._slider, 40.0)
    control.show(30.0)
    assert control._slider.value == 40.0
    monkeypatch.setattr(controls, "HELD", 0.0)
    control.show(30.0)
    assert control._slider.value == 30.0


def test_what_a_person_sets_in_a_number_that_is_taken_off_meanwhile_is_dropped(
    number: tuple[CoupledNumber, list[float]],
) -> None:
    control, sent = number
    control.remove()
    use(control._field, 40.0)
    assert sent == []


def test_a_slider_alone_shows_and_sends_as_well(page: Page) -> None:
    sent: list[float] = []
    control = CoupledNumber(page.server.gui, "q [°]", (-100.0, 100.0), 10.0, sent.append, field=False)
    assert control.label == "q [°]"
    use(control._slider, 40.0)
    assert sent == [40.0]
    assert control.value == 40.0


@pytest.mark.feature("002-F123")
@pytest.mark.parametrize("value", [876.235833, 900.0, 476.234167, 400.0])
def test_a_number_at_a_bound_of_more_digits_than_are_shown_stays_within_it(page: Page, value: float) -> None:
    """As of `gough`'s drives: rounded, a bound lies beyond itself, and the page takes no such number."""
    lower, upper = 476.234167, 876.235833
    control = CoupledNumber(page.server.gui, "q [mm]", (lower, upper), value, [].append)
    bound = upper if value > 600.0 else lower
    assert control.value == bound
    control.show(600.0)
    control.show(value)
    assert control.value == control._slider.value == bound


@pytest.mark.feature("002-F123")
def test_a_number_whose_bounds_are_the_same_is_shown(page: Page) -> None:
    control = CoupledNumber(page.server.gui, "q [°]", (12.3456, 12.3456), 0.0, [].append)
    assert control.value == control._field.value == 12.3456


def test_calls_are_made_by_who_takes_them_in_their_order() -> None:
    later, made = Later(), []

    def note(name: str, value: int = 0) -> None:
        made.append((name, value, threading.current_thread()))
        if name == "first":
            later(note, "meanwhile")

    caller = threading.Thread(target=lambda: (later(note, "first", 1), later(note, "second", 2)))
    caller.start()
    caller.join()
    assert made == []
    names = []
    for call in later.due():
        names.append(call.func.__name__)
        call()
    here = threading.current_thread()
    assert made == [("first", 1, here), ("second", 2, here), ("meanwhile", 0, here)]
    assert names == ["note"] * 3
    assert not list(later.due())
