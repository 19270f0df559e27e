# SPDX-License-Identifier: Apache-2.0
"""The benchmark of distances measures both libraries on both motions and draws what it measured."""

from __future__ import annotations

import math

import pytest

from benchmark import distances
from benchmark.distances import plot, sizes

pytestmark = pytest.mark.feature("001-F135")


def test_every_series_is_measured_and_drawn(tmp_path) -> None:
    rows = sizes([12], 1)
    assert {kind for kind, _ in rows} == {"small", "large"}
    for series in rows.values():
        assert {"warm", "cold", "coal warm", "coal cold"} <= set(series)
        # Coal's are differences, which other work on the machine may turn into anything.
        assert all(math.isfinite(value) for value in series.values())
        assert min(series["warm"], series["cold"]) > 0.0
    plot(rows, tmp_path / "distances.png")
    assert (tmp_path / "distances.png").stat().st_size > 1000


def test_times_are_nanoseconds_of_a_call_and_coals_are_less_those_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"warm": 1e-3, "cold": 2e-3, "coal warm": 5e-3, "coal cold": 6e-3, "empty warm": 1e-3, "empty cold": 4e-3}
    monkeypatch.setattr(distances, "medians", lambda contestants, rounds: {name: seconds[name] for name in contestants})
    assert distances.CALLS == 2000
    for series in sizes([12], 1).values():
        assert series == pytest.approx({"warm": 500.0, "cold": 1000.0, "coal warm": 2000.0, "coal cold": 1000.0})
