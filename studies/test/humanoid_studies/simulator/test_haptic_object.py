# SPDX-License-Identifier: Apache-2.0
"""Experiment E9 of specification 000 §27 (N9); the same as a scenario is tested with the interaction."""

from __future__ import annotations

import pytest

from humanoid_studies.simulator import haptic_object


@pytest.mark.slow
def test_forces_felt_while_carrying() -> None:
    """The force while lifting is not the thesis', which prints no stiffness: see studies/docs/experiments.md."""
    result = haptic_object.run()
    missed = [row.quantity for row in result.rows if row.passes is False]
    assert missed == ["largest force along z while lifting"]
    assert result.row("steady force along z").ours == pytest.approx(-17.15, rel=0.01)
    assert result.row("displacement").ours == pytest.approx(1.1, abs=0.02)
    assert result.row("force after release").ours == 0.0
