# SPDX-License-Identifier: Apache-2.0
"""The cam curve (000-F153): thesis (5.15)-(5.18)."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_studies.lifting.cam_profile import CamMotion, CamProfile


@pytest.mark.feature("000-F153")
@pytest.mark.parametrize("ramp", [0.2, 0.45])
def test_the_curve_goes_from_rest_to_rest_and_is_straight_in_between(ramp: float) -> None:
    profile, T = CamProfile(ramp), np.linspace(0.0, 1.0, 20001)
    np.testing.assert_allclose(profile.position([0.0, 0.5, 1.0]), [0.0, 0.5, 1.0], atol=1e-15)
    np.testing.assert_allclose(profile.velocity([0.0, 0.5, 1.0]), [0.0, 1.0 / (1.0 - ramp), 0.0], atol=1e-12)
    np.testing.assert_allclose(np.gradient(profile.position(T), T)[1:-1], profile.velocity(T)[1:-1], atol=1e-6)
    inner = np.abs(np.abs(T - 0.5) - (0.5 - ramp)) > 1e-3
    slopes = np.gradient(profile.velocity(T), T)
    np.testing.assert_allclose(slopes[1:-1][inner[1:-1]], profile.acceleration(T)[1:-1][inner[1:-1]], atol=1e-5)
    straight = (ramp < T) & (1.0 - ramp > T)
    assert not profile.acceleration(T[straight]).any()


@pytest.mark.feature("000-F153")
@pytest.mark.parametrize("impact", [0.5, 0.6])
def test_the_impact_is_met_with_its_velocities(impact: float) -> None:
    """(5.17), (5.18): the way is gone, speed and turn rate are those asked for; what T = 0.5 makes of them by hand."""
    cam = CamMotion.to_impact(CamProfile(0.2), 0.1, 0.48, -0.7, impact)
    value, rate, _ = cam.at([0.0, cam.duration])
    np.testing.assert_allclose(value[0], 0.0, atol=1e-15)
    assert value[1, 0] == pytest.approx(0.1)
    np.testing.assert_allclose(rate[1], [0.48, -0.7])
    if impact == 0.5:
        assert (cam.path, cam.whole) == pytest.approx((0.2, 0.2 * 1.25 / 0.48))
        assert cam.turn == pytest.approx(-0.7 * cam.whole / 1.25)
    fine = np.linspace(0.0, cam.duration, 4001)
    value, rate, bend = cam.at(fine)
    np.testing.assert_allclose(np.gradient(value, fine, axis=0)[1:-1], rate[1:-1], atol=1e-5)
    np.testing.assert_allclose(np.gradient(rate, fine, axis=0)[1:-1], bend[1:-1], atol=2e-2)


def test_bad_curves_are_refused() -> None:
    with pytest.raises(InputError, match=r"ramp: is 0\.6"):
        CamProfile(0.6)
    with pytest.raises(InputError, match="cam motion"):
        CamMotion.to_impact(CamProfile(), 0.1, -1.0, 0.0)
