# SPDX-License-Identifier: Apache-2.0
"""Timing along a path: stops, slow-downs and restarts, against integration in small steps."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control.execution.path_timing import PathTiming
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import PathPlace

pytestmark = pytest.mark.feature("000-F029")


def integrated(timing: PathTiming, start: float, end: float) -> np.ndarray:
    """Positions by summing speeds up, and speeds by summing accelerations up."""
    times = np.linspace(start, end, 20001)
    places = [timing.at(float(time)) for time in times]
    dt = times[1] - times[0]
    moved = np.cumsum([place.speed for place in places]) * dt
    gained = np.cumsum([place.acceleration for place in places]) * dt
    return np.array([moved[-1], gained[-1]])


def test_it_stops_at_the_place_with_the_bounded_deceleration() -> None:
    timing = PathTiming(10.0, 3.0, acceleration=2.0)
    timing.stop(11.0, 1.8)
    assert timing.at(11.5).speed == 1.0
    assert timing.at(timing.end) == PathPlace(1.8, 0.0, 0.0)
    assert timing.at(timing.end - 0.1).speed == pytest.approx(0.2)
    np.testing.assert_allclose(integrated(timing, 10.0, timing.end), [1.8, -1.0], atol=1e-3)


def test_a_place_that_is_too_near_is_refused() -> None:
    timing = PathTiming(0.0, 3.0, acceleration=2.0)
    with pytest.raises(InputError, match=r"1.1 s. Give 1.25 to 3 s"):
        timing.stop(1.0, 1.1)


@pytest.mark.parametrize("position", [0.3, 1.2, 1.6, 1.75, 1.8])
def test_a_place_is_reached_at_its_time(position: float) -> None:
    timing = PathTiming(10.0, 3.0)
    timing.stop(11.0, 1.8)
    assert timing.at(timing.law.time_at(position)).position == pytest.approx(position)
    assert timing.law.time_at(1.9) == np.inf


def test_what_controllers_are_left_with_ends_at_rest_within_the_slow_down() -> None:
    timing = PathTiming(0.0, 3.0, speed=0.8)
    tail = timing.braked(1.0, 0.04)
    assert tail.at(1.0) == timing.at(1.0)._replace(acceleration=-20.0)
    assert tail.end == pytest.approx(1.04)
    assert tail.end_position == pytest.approx(0.8 + 0.5 * 0.8 * 0.04)
    assert timing.braked(3.74, 0.04).end == timing.end  # the end is nearer than the slow-down


def test_it_goes_on_from_where_late_controllers_stand_and_still_stops_in_place() -> None:
    timing = PathTiming(0.0, 3.0, acceleration=2.0)
    timing.stop(0.5, 2.0)
    timing.restart(1.2, PathPlace(1.0, 0.0, 0.0))
    assert timing.at(1.3).speed == pytest.approx(0.2)
    assert timing.end_position == 2.0
    np.testing.assert_allclose(integrated(timing, 1.2, timing.end), [1.0, 0.0], atol=1e-3)


def test_a_short_way_is_gone_as_fast_as_one_can_brake() -> None:
    timing = PathTiming(0.0, 3.0, acceleration=2.0)
    timing.stop(0.5, 1.0)
    timing.restart(2.0, PathPlace(0.9, 0.0, 0.0))
    peak = max(timing.at(float(time)).speed for time in np.linspace(2.0, timing.end, 1001))
    assert peak == pytest.approx(np.sqrt(2.0 * 0.1), abs=1e-3)  # v² = 2 a s/2
    assert timing.at(timing.end).position == pytest.approx(1.0)
