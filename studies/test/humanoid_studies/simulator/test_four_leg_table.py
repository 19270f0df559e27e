# SPDX-License-Identifier: Apache-2.0
"""Experiment E1 of specification 000 §27 (N1, F074)."""

from __future__ import annotations

from humanoid_studies.simulator import four_leg_table


def test_all_solvers_carry_the_table_as_statics_says() -> None:
    result = four_leg_table.run()
    assert result.passes
    for method in four_leg_table.METHODS:
        assert abs(result.row(f"{method}: sum").ours - 9.8) < 1e-6
        assert result.row(f"{method}: what is not of that form").ours < 1e-6
        share = result.row(f"{method}: multiple of (-1, 1, -1, 1)").ours
        assert abs(result.row(f"{method}: least loaded leg").ours - (2.45 - abs(share))) < 1e-6
        assert abs(share) <= 2.45 + 1e-6
