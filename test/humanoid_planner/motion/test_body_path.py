# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_planner.motion.body_path import BodyPath

START = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.0]))
END = pin.SE3(pin.utils.rotate("z", 0.6), np.array([0.3, 0.1, 0.15]))


def sampled(path: BodyPath, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    s = np.linspace(0.0, 1.0, count + 1)
    return s, np.array([path.placement(x).translation for x in s])


@pytest.mark.feature("001-F223")
def test_it_leaves_and_comes_along_the_normals() -> None:
    path = BodyPath(START, END, leaves=True, arrives=True, approach=0.02, lift=0.05)
    s, places = sampled(path)
    up = s * path.length <= 0.02
    down = (1.0 - s) * path.length <= 0.02
    np.testing.assert_allclose(places[up, :2], 0.0, atol=1e-12)
    np.testing.assert_allclose(places[up, 2], s[up] * path.length, atol=1e-12)
    np.testing.assert_allclose(places[down, :2], np.broadcast_to([0.3, 0.1], (down.sum(), 2)), atol=1e-12)
    np.testing.assert_allclose(places[-1], END.translation, atol=1e-12)
    wall = pin.SE3(pin.utils.rotate("y", np.pi / 2), np.array([0.3, 0.0, 0.8]))  # normal along x
    to_wall = BodyPath(START, wall, leaves=False, arrives=True, approach=0.02, lift=0.05)
    _, places = sampled(to_wall)
    np.testing.assert_allclose(places[-3, 1:], [0.0, 0.8], atol=1e-12)
    assert 0.3 < places[-3, 0] < 0.32


@pytest.mark.feature("001-F224")
def test_speed_and_direction_are_continuous() -> None:
    path = BodyPath(START, END, leaves=True, arrives=True, approach=0.02, lift=0.05)
    s, places = sampled(path, 4000)
    velocities = np.diff(places, axis=0) / np.diff(s)[:, None]
    speeds = np.linalg.norm(velocities, axis=1)
    np.testing.assert_allclose(speeds, path.length, rtol=0.015)  # the parameter is a share of the length
    turns = np.linalg.norm(np.diff(velocities, axis=0), axis=1)
    assert turns.max() < 0.03 * path.length


@pytest.mark.feature("001-F225")
def test_the_orientation_turns_at_constant_speed_about_one_axis_between_the_straight_pieces() -> None:
    path = BodyPath(START, END, leaves=True, arrives=True, approach=0.02, lift=0.05)
    inner = np.linspace(0.02 / path.length, 1.0 - 0.02 / path.length, 21)
    turns = np.array([pin.log3(path.placement(s).rotation) for s in inner])
    np.testing.assert_allclose(turns[:, :2], 0.0, atol=1e-9)
    np.testing.assert_allclose(turns[:, 2], np.linspace(0.0, 0.6, 21), atol=1e-6)
    np.testing.assert_allclose(path.placement(0.5 * inner[0]).rotation, np.eye(3), atol=1e-12)


@pytest.mark.feature("001-F226")
def test_a_higher_lift_goes_higher_and_via_points_are_passed() -> None:
    heights = [
        sampled(BodyPath(START, END, leaves=True, arrives=True, approach=0.02, lift=lift))[1][:, 2].max()
        for lift in (0.03, 0.15)
    ]
    assert heights[1] > heights[0] + 0.05
    via = [0.1, 0.4, 0.3]
    path = BodyPath(START, END, leaves=True, arrives=True, approach=0.02, lift=0.03, via=[via])
    _, places = sampled(path, 4000)
    assert np.linalg.norm(places - via, axis=1).min() < 1e-3


def test_a_path_without_contacts_goes_straight() -> None:
    path = BodyPath(START, END, leaves=False, arrives=False, approach=0.02)
    assert path.length == pytest.approx(np.linalg.norm(END.translation), rel=1e-6)
