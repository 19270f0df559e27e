# SPDX-License-Identifier: Apache-2.0
"""A mirrored configuration has every link where the other side's link is in the mirror."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from humanoid_gait.coordinates import Coordinates
from humanoid_gait.mirror import Mirror
from humanoid_gait.mirrored_name import mirrored_name
from humanoid_model import InputError, load_robot

pytestmark = pytest.mark.feature("003-F055")
FLIP = np.diag([1.0, -1.0, 1.0])


def test_a_robot_that_is_heavier_on_one_side_is_refused() -> None:
    with pytest.raises(InputError, match="'trunk_pitch' moves is heavier on one side"):
        Mirror.of(load_robot("bip", geometry=False))


def test_soles_of_the_image_are_images_of_the_soles() -> None:
    robot = load_robot("hrp2", geometry=False)
    coordinates, generator = Coordinates(robot, 0.2), np.random.default_rng(4)
    n = coordinates.size
    state = 0.2 * generator.standard_normal(2 * n)
    x = ca.SX.sym("x", 2 * n)
    step = pin.SE3(pin.utils.rotate("z", 0.3), np.array([0.3, 0.1, 0.05]))
    image = np.asarray(ca.Function("image", [x], [Mirror.of(robot).image(coordinates, step, x)])(state)).ravel()
    postures = [coordinates.samples(y[None, :n], np.zeros((1, n)), np.zeros((1, n)))[0][0] for y in (state, image)]
    before, after = (robot.link_placements(q) for q in postures)
    for location in (robot.contacts["right_sole"], robot.contacts["left_sole"]):
        other = robot.contacts[mirrored_name(location.name)]
        place = before[location.link] * location.placement_link_patch
        expected = step * pin.SE3(FLIP @ place.rotation @ FLIP, FLIP @ place.translation)
        reached = after[other.link] * other.placement_link_patch
        np.testing.assert_allclose(reached.homogeneous, expected.homogeneous, atol=1e-3)
