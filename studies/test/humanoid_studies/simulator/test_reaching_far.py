# SPDX-License-Identifier: Apache-2.0
"""Experiment E2 of specification 000 §27: the events in their order, no yaw, no penetration."""

from __future__ import annotations

import pytest

from humanoid_studies.simulator import reaching_far


@pytest.mark.slow
def test_feet_lift_slip_back_and_stop_when_the_legs_touch() -> None:
    result = reaching_far.run()
    assert result.passes, result.table()
    times = [result.row(q).ours for q in ("heels lift", "feet slip backward from", "slip stops")]
    assert times == sorted(times)
    assert result.row("feet slip backward from").ours < result.row("legs touch the table").ours + 0.05
    assert result.row("largest yaw").ours < 5.0
    assert result.row("largest penetration").ours < 1.0
    assert result.row("fastest joint at the end").ours < 0.05
