# SPDX-License-Identifier: Apache-2.0
"""What the normal velocity must reach: gaps, impacts and penetrations, case by case."""

import numpy as np
import pytest

from humanoid_sim.stepping.rows_and_forces import (
    CORRECTED_FRACTION,
    CORRECTION_SPEED,
    PENETRATION_SLOP,
    TOUCHING_GAP,
    approach_shift,
    correction_velocity,
    first_not_finite,
)

DT = 1e-3


def shift(gap: float, before: float, free: float, restitution: float) -> float:
    return float(approach_shift(gap, before, free, restitution, 0.02, DT))


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


def test_penetrations_are_taken_back_in_part_and_not_too_fast() -> None:
    v, needed = correction_velocity(-1e-5, DT)
    assert needed
    assert v == pytest.approx(-CORRECTED_FRACTION * (1e-5 - PENETRATION_SLOP) / DT)
    v, needed = correction_velocity(-1e-2, DT)
    assert needed
    assert v == -CORRECTION_SPEED


def test_no_penetration_no_correction() -> None:
    for gap in (1e-4, 0.0, -0.5 * PENETRATION_SLOP):
        v, needed = correction_velocity(gap, DT)
        assert not needed
        assert v == pytest.approx(max(gap, 0.0) / DT)


def test_first_not_finite() -> None:
    v = np.zeros(4)
    assert first_not_finite(v) == -1
    v[2] = np.nan
    assert first_not_finite(v) == 2
    v[1] = -np.inf
    assert first_not_finite(v) == 1
