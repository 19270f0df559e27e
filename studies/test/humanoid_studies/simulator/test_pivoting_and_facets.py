# SPDX-License-Identifier: Apache-2.0
"""Experiment E23 of specification 000 §27."""

from __future__ import annotations

import math

import pytest

from humanoid_studies.simulator import pivoting_and_facets
from humanoid_studies.simulator.pivoting_and_facets import boxes, tripod_error, worst_error


@pytest.mark.parametrize(("facets", "error"), [(4, 0.293), (8, 0.076), (16, 0.019)])
def test_facets_cost_friction(facets: int, error: float) -> None:
    assert worst_error(facets) == pytest.approx(error, abs=1e-3)


@pytest.mark.parametrize("facets", [4, 16])
def test_forces_point_along_the_nearest_facet(facets: int) -> None:
    """The force is that of a direction up to pi / k aside: an error of at most 2 sin(pi / 2k) of each force."""
    error = tripod_error(facets)
    assert 0.5 * math.pi / facets < error < 2.0 * math.sin(0.5 * math.pi / facets) + 1e-6


def test_problems_have_the_sizes_asked_for() -> None:
    assert boxes(1, 1, 2).mu.size == 2
    assert boxes(1, 1).mu.size == 4
    assert boxes(2, 1).mu.size == 8


def test_tables_and_curves() -> None:
    result = pivoting_and_facets.run(piles=(1,), facets=(4, 8, 16))
    assert result.passes, result.table()
    assert [len(panel.curves) for panel in result.panels] == [3, 4]
