# SPDX-License-Identifier: Apache-2.0
"""Experiments E5 and E6 of specification 000 §27 (N3, N4)."""

from __future__ import annotations

from humanoid_studies.simulator import delassus_one_branch, delassus_standing


def test_counts_operators_and_choice_of_a_standing_robot() -> None:
    result = delassus_standing.run()
    assert result.passes, result.table()
    counts = [row.ours for row in result.rows if row.quantity.endswith("operations")]
    assert counts == [13824, 9833, 9504]
    errors = [row.ours for row in result.rows if "J M^-1 J^T" in row.quantity]
    assert len(errors) == 3
    assert max(errors) < 1e-10
    assert result.rows[-1].ours == 0


def test_counts_operators_and_choice_of_one_limb() -> None:
    result = delassus_one_branch.run()
    assert result.passes, result.table()
    counts = [row.ours for row in result.rows if row.quantity.startswith("leg") and "operations" in row.quantity]
    assert counts == [6323, 7590]
    assert all(row.ours == 1 for row in result.rows if "is chosen" in row.quantity)
    assert max(row.ours for row in result.rows if "J M^-1 J^T" in row.quantity) < 1e-10
