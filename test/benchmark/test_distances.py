# SPDX-License-Identifier: Apache-2.0
"""The benchmark of distances measures both libraries on both motions and draws what it measured."""

from __future__ import annotations

from benchmark.distances import plot, sizes


def test_every_series_is_measured_and_drawn(tmp_path) -> None:
    rows = sizes([12], 1)
    assert {kind for kind, _ in rows} == {"small", "large"}
    for series in rows.values():
        assert {"warm", "cold", "coal warm", "coal cold"} <= set(series)
        assert all(value > 0.0 for value in series.values())
    plot(rows, tmp_path / "distances.png")
    assert (tmp_path / "distances.png").stat().st_size > 1000
