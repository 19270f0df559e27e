# SPDX-License-Identifier: Apache-2.0
"""Charts: Pinocchio's velocities and accelerations are those of configurations that move."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_gait.coordinates import Coordinates
from humanoid_model import InputError, load_robot

pytestmark = pytest.mark.feature("003-F006")


@pytest.mark.parametrize(("name", "heading"), [("bip", 0.0), ("bip", 0.7), ("bip_planar", 0.0)])
def test_velocities_and_accelerations_are_those_of_the_configurations(name: str, heading: float) -> None:
    coordinates = Coordinates(load_robot(name, geometry=False), heading)
    model, generator = coordinates.robot.model, np.random.default_rng(3)
    y, rate, change = (0.3 * generator.standard_normal(coordinates.size) for _ in range(3))
    step = 1e-4
    t = step * np.arange(-1, 2)[:, None]
    q, v, a = coordinates.samples(y + t * rate + 0.5 * t**2 * change, rate + t * change, change + 0.0 * t)
    moved = pin.difference(model, q[0], q[2]) / (2.0 * step)
    np.testing.assert_allclose(moved, v[1], atol=1e-6)
    np.testing.assert_allclose((v[2] - v[0]) / (2.0 * step), a[1], atol=1e-6)
    np.testing.assert_allclose(coordinates.chart(q[1]), y, atol=1e-12)
    np.testing.assert_allclose(coordinates.rates(q[1], v[1]), rate, atol=1e-12)


def test_a_base_turned_round_is_refused() -> None:
    coordinates = Coordinates(load_robot("bip", geometry=False))
    q = coordinates.robot.default_posture
    q[3:7] = [0.0, 0.0, 1.0, 0.0]
    with pytest.raises(InputError, match="turned by 180 deg from the heading"):
        coordinates.chart(q)
