# SPDX-License-Identifier: Apache-2.0
"""Conditions of an object on the ground and of the feet (000-F154): thesis (5.19)-(5.24)."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_studies.lifting.object_constraints import GroundedObject, feet_margins


@pytest.mark.feature("000-F154")
def test_boundaries_are_those_of_the_specification() -> None:
    """Section 21.5, with x_h = 0 and no moment: the four lines of Fig. 5.21."""
    box = GroundedObject()
    for fz in (-30.0, 0.0, 20.0):
        assert box.margins(17.64 - 0.4 * fz, fz)[0] == pytest.approx(0.0, abs=1e-12)
        assert box.margins(-13.363636, fz)[1] == pytest.approx(0.0, abs=1e-5)
        assert box.margins(13.363636 - 0.6060606 * fz, fz)[2] == pytest.approx(0.0, abs=1e-4)
        assert (box.margins(0.0, fz) > 0.0).all()
    np.testing.assert_allclose(box.margins([17.7, -17.7], 0.0)[:, 0], -0.06)
    assert box.margins(0.0, 44.1)[3] == pytest.approx(0.0, abs=1e-12)
    assert box.margins(-13.4, 0.0)[1] < 0.0 < box.margins(13.4, 0.0)[1]
    assert box.margins(13.4, 0.0)[2] < 0.0 < box.margins(-13.4, 0.0)[2]


@pytest.mark.feature("000-F154")
def test_margins_are_the_grounds_moments_about_the_edges() -> None:
    """Of a box that rests, the ground's force times its distance from each edge; hands anywhere, with a moment."""
    generator = np.random.default_rng(2)
    for _ in range(10):
        x_o, x_h, pressed = generator.uniform(0.0, 0.3, 3)
        box = GroundedObject(centre_x=x_o, hand_x=x_h, hand_z=generator.uniform(0.1, 0.6))
        fx, fz = generator.uniform(-20.0, 20.0, 2)
        ground = np.array([-fx, box.mass * box.gravity - fz])
        # Equilibrium about the rear edge, from forward to up.
        moment = -(x_h * fz - box.hand_z * fx - x_o * box.mass * box.gravity + pressed * ground[1])
        _, rear, front, lift = box.margins(fx, fz, moment)
        assert rear == pytest.approx(pressed * ground[1])
        assert front == pytest.approx((0.3 - pressed) * ground[1])
        assert lift == pytest.approx(ground[1])


@pytest.mark.feature("000-F154")
def test_feet_hold_within_friction() -> None:
    np.testing.assert_allclose(
        feet_margins([100.0, -100.0, 300.0, 0.0], [400.0, 400.0, 400.0, -5.0], 0.5),
        [[100.0, 400.0], [100.0, 400.0], [-100.0, 400.0], [-2.5, -5.0]],
    )
