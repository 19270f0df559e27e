# SPDX-License-Identifier: Apache-2.0
"""Experiment E16 of specification 000 §27 (N13)."""

from __future__ import annotations

import pytest

from humanoid_studies.simulator import toppling


def test_a_block_slides_as_far_as_coulomb_says() -> None:
    assert pytest.approx(0.127551, abs=1e-6) == toppling.SLIDE
    errors = [abs(toppling.slide(dt) / toppling.SLIDE - 1.0) for dt in (1e-3, 2.5e-4)]
    assert errors[0] < 0.01
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.slow
def test_it_topples_onto_its_legs_and_moves_the_object() -> None:
    result = toppling.run()
    assert result.passes, result.table()
    order = ("centre of mass leaves the soles", "legs hit the table", "the robot touches the object")
    times = [result.row(event).ours for event in order]
    assert times == sorted(times)
