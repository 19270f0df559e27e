# SPDX-License-Identifier: Apache-2.0
"""The benchmark of integrators measures every scheme it names, and draws what it measured."""

from __future__ import annotations

import math

import pytest

from benchmark.integration import (
    FAMILIES,
    bouncing_ball,
    drop,
    falling_arm,
    largest_stable_step,
    order,
    plot,
    sliding_block,
    work_and_precision,
)
from humanoid_studies.baselines.penalty import Penalty

COUNTS = (20, 40)


def test_every_scheme_is_measured_and_drawn(tmp_path) -> None:
    results = []
    for problem in (falling_arm(), bouncing_ball(), sliding_block()):
        series = work_and_precision(problem, COUNTS)
        assert set(series) == set(problem.schemes)
        assert all(sample.evaluations > 0 and sample.seconds > 0.0 for some in series.values() for sample in some)
        assert order(series["potra_trapezoid"], COUNTS) == pytest.approx(2.0, abs=0.4)
        results.append((problem, series))
    plot(results, tmp_path / "integration.png")
    assert (tmp_path / "integration.png").stat().st_size > 1000


def test_constraints_come_to_rest_where_penalty_creeps() -> None:
    constraints = drop(FAMILIES["constraints, Anitescu-Hart"](), 2e-3, 1.5)
    penalty = drop(Penalty(1e4, 40.0), 2e-3, 1.5)
    assert constraints.stable
    assert penalty.stable
    assert constraints.penetration < 1e-4 < penalty.penetration
    assert constraints.creep < 1e-9 < penalty.creep


def test_steps_that_are_too_long_are_told_apart() -> None:
    """A stiff penalty is unstable at 2 ms and said to be; the largest stable step is below that."""
    unstable = drop(Penalty(1e7, 100.0), 2e-3, 0.5)
    assert not unstable.stable
    assert math.isnan(unstable.tremble)
    assert not largest_stable_step(lambda: Penalty(1e7, 100.0), 0.3) >= 2e-3
