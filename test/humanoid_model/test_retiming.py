# SPDX-License-Identifier: Apache-2.0
"""Joints along a path: a controller that fits the points is where the path says, at every speed along it."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control.execution.path_timing import PathTiming
from humanoid_model.joint_trajectory import JointTrajectory, retimed

pytestmark = pytest.mark.feature("000-F029")

TIMES = np.linspace(0.0, 2.0, 11)
NAMES = ("a", "b")


@pytest.fixture
def path() -> JointTrajectory:
    def rows(function: np.ufunc, factor: float) -> np.ndarray:
        return factor * np.column_stack([function(np.pi * TIMES), function(2.0 * np.pi * TIMES)])

    positions, velocities = rows(np.cos, -1.0), rows(np.sin, np.pi) * [1.0, 2.0]
    accelerations = rows(np.cos, np.pi**2) * [1.0, 4.0]
    return JointTrajectory(
        NAMES, TIMES, positions, velocities, accelerations, efforts=np.column_stack([TIMES, -TIMES])
    )


@pytest.mark.parametrize("speed", [1.0, 0.4])
def test_at_constant_speed_a_controller_follows_the_paths_polynomials(path: JointTrajectory, speed: float) -> None:
    timing = PathTiming(5.0, path.end_time, speed=speed)
    points = retimed(path, timing.law, 5.0, np.inf)
    assert len(points.times) == len(TIMES)
    for time in np.linspace(5.0, timing.end - 1e-6, 77):
        expected = path.at((time - 5.0) * speed).positions
        np.testing.assert_allclose(points.at(float(time)).positions, expected, atol=1e-9)


def test_while_it_slows_down_a_controller_stays_on_the_path(path: JointTrajectory) -> None:
    timing = PathTiming(0.0, path.end_time)
    timing.stop(0.9, 1.3)
    controller = retimed(path, timing.law, 0.85, np.inf)
    for time in np.linspace(0.85, timing.end, 200):
        place = timing.at(float(time)).position
        np.testing.assert_allclose(
            controller.at(float(time)).positions, path.at(place).positions, atol=2e-5
        )
    assert np.abs(controller.at(timing.end - 1e-9).velocities).max() < 1e-6


def test_velocities_and_accelerations_are_those_of_the_slowed_motion(path: JointTrajectory) -> None:
    timing = PathTiming(0.0, path.end_time)
    timing.stop(0.5, 0.9)
    time, h = 0.8, 1e-5
    places = [timing.at(time + step) for step in (-h, 0.0, h)]
    before, _, after = (path.at(place.position).positions for place in places)
    rates = [place.rates(*path.at(place.position)[1:]) for place in places]
    np.testing.assert_allclose(rates[1][0], (after - before) / (2.0 * h), rtol=1e-6)
    np.testing.assert_allclose(rates[1][1], (rates[2][0] - rates[0][0]) / (2.0 * h), rtol=1e-5)


def test_a_window_ends_at_rest_where_the_slow_down_ends(path: JointTrajectory) -> None:
    timing = PathTiming(0.0, path.end_time)
    window = retimed(path, timing.braked(1.06, 0.04).law, 1.0, 1.1)
    assert (window.times[0], window.times[-1]) == (1.0, 1.1)
    np.testing.assert_allclose(window.positions[-1], path.at(1.08).positions, atol=1e-9)
    assert window.velocities is not None
    assert not window.velocities[-1].any()
    assert window.efforts is not None
    np.testing.assert_allclose(window.efforts[-1], [1.08, -1.08])


def test_a_path_of_positions_alone_has_points_of_positions_alone(path: JointTrajectory) -> None:
    alone = JointTrajectory(NAMES, TIMES, path.positions)
    points = retimed(alone, PathTiming(0.0, 2.0).law, 0.0, np.inf)
    assert (points.velocities, points.accelerations, points.efforts) == (None, None, None)
    np.testing.assert_allclose(points.positions[5], alone.at(1.0).positions)
