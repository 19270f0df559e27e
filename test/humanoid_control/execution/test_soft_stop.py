# SPDX-License-Identifier: Apache-2.0
"""Places to stop at: standing and braking have to keep their margins."""

from __future__ import annotations

import pytest

from humanoid_control.execution.path_timing import PathTiming
from humanoid_control.execution.soft_stop import StopPlace, led_to_stand, next_stop, stop_places

pytestmark = pytest.mark.feature("000-F029")


def test_one_stands_where_the_margin_is_and_brakes_where_braking_keeps_it() -> None:
    """Balance standing from 1 to 2 s, and braking from 1.2 s on: braking takes 0.25 s of path."""

    def margin(position: float, speed: float, acceleration: float) -> float:
        return position - 1.2 if acceleration else min(position - 1.0, 2.0 - position)

    places = stop_places(3.0, 1.0, (2.0,), margin)
    assert min(place.brake for place in places) >= 1.2
    assert max(place.stand for place in places) <= 2.0
    assert all(abs(place.stand - place.brake - 0.25) < 1e-9 for place in places)
    found = next_stop(places, 0.3)
    assert found == places[0]
    later = next_stop(places, 1.5)
    assert later is not None
    assert 1.5 <= later.brake < 1.541
    assert next_stop(places, 1.8) is None


def test_what_is_sent_leads_to_the_next_place_to_stand_unless_that_is_far() -> None:
    timing, places = PathTiming(10.0, 4.0), (StopPlace(0.5, 0.75, 2.0), StopPlace(2.0, 2.25, 2.0))
    led = led_to_stand(timing, places, 11.0, 2.0)
    assert led is not None
    tail, brakes = led
    assert brakes == pytest.approx(12.0)
    assert tail.at(11.9) == timing.at(11.9)
    assert (tail.end, tail.end_position) == (pytest.approx(12.5), 2.25)
    assert timing.end_position == 4.0
    assert led_to_stand(timing, places, 11.0, 1.4) is None
    assert led_to_stand(timing, places, 12.5, 2.0) == (timing, 14.0)  # its own end


def test_one_brakes_as_hard_as_the_balance_allows_and_stands_where_that_is_soonest() -> None:
    """Hard braking keeps the balance from 2 s on; before, only soft braking does."""

    def margin(position: float, speed: float, acceleration: float) -> float:
        return position - 2.0 if acceleration < -2.0 else 1.0

    places = stop_places(4.0, 1.0, (10.0, 2.0), margin)
    assert all(place.acceleration == (10.0 if place.brake >= 2.0 else 2.0) for place in places)
    assert all(abs(place.stand - place.brake - 0.5 / place.acceleration) < 1e-9 for place in places)
    assert [place.stand for place in places] == sorted(place.stand for place in places)
    late = next_stop(places, 2.5)
    assert late is not None
    assert late.acceleration == 10.0
    # Braking softly from 1.79 s on takes 0.5 s; going on to 2 s and braking hard takes 0.31 s.
    soon = next_stop(places, 1.79)
    assert soon is not None
    assert soon.acceleration == 10.0
    early = next_stop(places, 1.0)
    assert early is not None
    assert early.acceleration == 2.0
    assert early.brake >= 1.0 - 1e-9
