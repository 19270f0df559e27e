# SPDX-License-Identifier: Apache-2.0
"""Experiment E11 of specification 000 §27 (F119): both ways of interaction in one session, a fall above a threshold."""

from __future__ import annotations

import pytest

from humanoid_studies.simulator import collaborative_carrying


@pytest.mark.feature("000-F119")
@pytest.mark.slow
def test_a_board_is_carried_and_only_hard_pushes_fell_the_robot() -> None:
    result = collaborative_carrying.run((0.05, 0.2))
    assert result.passes, result.table()
    assert result.row("hardest push that is survived").ours < result.row("weakest push that fells the robot").ours
    assert result.row("user carries it when lifted").ours == pytest.approx(14.7, rel=0.1)
    assert result.row("arms carry the board again").ours == pytest.approx(14.7, rel=0.05)
