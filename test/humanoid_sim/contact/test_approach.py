# SPDX-License-Identifier: Apache-2.0
"""What the normal velocity must reach: gaps, impacts and penetrations, case by case."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_sim.contact.approach import (
    CORRECTED_FRACTION,
    CORRECTION_SPEED,
    PENETRATION_SLOP,
    TOUCHING_GAP,
    correction_velocities,
    shift_normal_velocities,
)

DT = 1e-3


def shift(gap: float, before: float, free: float, restitution: float) -> float:
    v_free, shifts = np.array([free, 0.3, -0.2]), np.empty(1)
    v_before = np.array([before, 0.0, 0.0])
    shift_normal_velocities(v_free, v_before, np.array([gap]), np.array([restitution]), 0.02, DT, shifts)
    assert_allclose(v_free, [free + shifts[0], 0.3, -0.2])
    return float(shifts[0])


def test_a_gap_may_be_closed_but_not_passed() -> None:
    assert shift(1e-4, -1.0, -1.0, 0.0) == pytest.approx((1e-4 - TOUCHING_GAP) / DT)


def test_touching_and_penetrating_contacts_may_not_approach() -> None:
    assert shift(0.5 * TOUCHING_GAP, -0.01, -0.01, 0.0) == 0.0
    assert shift(-1e-3, -0.01, -0.01, 0.0) == 0.0


def test_impact_leaves_with_newtons_law() -> None:
    """v+ + e v- >= 0 where the contact arrives in this step and is fast enough."""
    assert shift(1e-4, -1.0, -1.0, 0.8) == pytest.approx(-0.8)
    assert shift(1e-2, -1.0, -1.0, 0.8) == pytest.approx(1e-2 / DT, rel=1e-6)
    assert shift(0.0, -0.01, -0.01, 0.8) == 0.0


def correction(gap: float) -> tuple[bool, np.ndarray]:
    v = np.full(3, np.nan)
    return correction_velocities(np.array([gap]), DT, v), v


def test_penetrations_are_taken_back_in_part_and_not_too_fast() -> None:
    needed, v = correction(-1e-5)
    assert needed
    assert_allclose(v, [-CORRECTED_FRACTION * (1e-5 - PENETRATION_SLOP) / DT, 0.0, 0.0])
    needed, v = correction(-1e-2)
    assert needed
    assert v[0] == -CORRECTION_SPEED


def test_no_penetration_no_correction() -> None:
    for gap in (1e-4, 0.0, -0.5 * PENETRATION_SLOP):
        needed, v = correction(gap)
        assert not needed
        assert v[0] == pytest.approx(max(gap, 0.0) / DT)
